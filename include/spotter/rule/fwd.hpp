// SPDX-License-Identifier: Apache-2.0
// Forward declarations of rule (L2).
#pragma once

#include <spotter/stat/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

enum class decision : std::uint8_t;
enum class severity : std::uint8_t;

class step_alarm;
class findings;
struct coverage;
struct finding;
struct requirement;
struct rule_kind;

template <class Rule>
class machine;

}  // namespace spotter::inline SPOTTER_ABI
