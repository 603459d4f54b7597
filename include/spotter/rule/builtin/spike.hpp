// SPDX-License-Identifier: Apache-2.0
// Includes the two rules that were here before. Until 0.3.
#pragma once

#include <spotter/rule/builtin/gradient_spike.hpp>
#include <spotter/rule/builtin/loss_spike.hpp>
