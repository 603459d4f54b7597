// SPDX-License-Identifier: Apache-2.0
// Umbrella for loops that compute a step again to confirm an alarm: docs/act.md.
#pragma once

#include <spotter/act/rerun.hpp>
