// SPDX-License-Identifier: Apache-2.0
// Forward declarations of stat (L1).
#pragma once

#include <spotter/core/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

enum class relation : std::uint8_t;
enum class statistic_id : std::uint8_t;
enum class terms : std::uint32_t;

struct measurement;
struct statistic;
struct summary;

}  // namespace spotter::inline SPOTTER_ABI
