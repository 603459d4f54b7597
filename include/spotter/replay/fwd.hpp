// SPDX-License-Identifier: Apache-2.0
// Forward declarations of replay (L5).
#pragma once

#include <spotter/hook/fwd.hpp>
#include <spotter/trial/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

class envelope;
class streams;
struct replay_report;
struct side_by_side_report;

}  // namespace spotter::inline SPOTTER_ABI
