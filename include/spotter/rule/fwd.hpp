// SPDX-License-Identifier: Apache-2.0
// Forward declarations of rule (L2).
#pragma once

#include <spotter/stat/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

enum class decision : std::uint8_t;
enum class relation : std::uint8_t;
enum class severity : std::uint8_t;

class alarm;
class findings;
struct coverage;
struct finding;
struct rule_kind;

}  // namespace spotter::inline SPOTTER_ABI
