// SPDX-License-Identifier: Apache-2.0
// Forward declarations of ring (L1).
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

class byte_ring;
class ring_header;
struct ring_counters;
struct ring_entry;
struct ring_owner;

}  // namespace spotter::inline SPOTTER_ABI
