// SPDX-License-Identifier: Apache-2.0
// Umbrella for programs that judge records: replay, follow and the built-in rules.
#pragma once

#include <spotter/replay/follow.hpp>
#include <spotter/replay/replay.hpp>
#include <spotter/rules.hpp>
