// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that judge records: replay, follow, side-by-side comparison, envelopes and the built-in rules.
#pragma once

#include <spotter/replay/envelope.hpp>
#include <spotter/replay/envelope_file.hpp>
#include <spotter/replay/follow.hpp>
#include <spotter/replay/replay.hpp>
#include <spotter/replay/side_by_side.hpp>
#include <spotter/rules.hpp>
