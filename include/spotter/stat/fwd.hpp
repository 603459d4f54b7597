// SPDX-License-Identifier: Apache-2.0
// Forward declarations of stat (L1).
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

enum class terms : std::uint32_t;
struct summary;

}  // namespace spotter::inline SPOTTER_ABI
