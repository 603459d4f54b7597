// SPDX-License-Identifier: Apache-2.0
// Forward declarations of ring (L1).
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

class byte_ring;
struct ring_entry;

}  // namespace spotter::inline SPOTTER_ABI
