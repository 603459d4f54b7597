// SPDX-License-Identifier: Apache-2.0
// Forwards to where the two rules are that were here, until 0.3.
#pragma once

#include <spotter/rule/builtin/gradient_spike.hpp>
#include <spotter/rule/builtin/loss_spike.hpp>
