// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that read records.
#pragma once

#include <spotter/trial/examined.hpp>
#include <spotter/trial/trial.hpp>
