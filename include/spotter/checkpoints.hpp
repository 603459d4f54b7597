// SPDX-License-Identifier: Apache-2.0
// Umbrella for loops that keep checkpoints: docs/act.md.
#pragma once

#include <spotter/act/checkpoints.hpp>
#include <spotter/act/load_checkpoint.hpp>
