// SPDX-License-Identifier: Apache-2.0
// Forward declarations of record (L4).
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

class recorder;
class ring_drain;
class segment_writer;
class shared_ring;
struct recovered;
struct run_place;
struct segment_state;

}  // namespace spotter::inline SPOTTER_ABI
