// SPDX-License-Identifier: Apache-2.0
// The limits of spotter's diagnosis as a list, what each training would have reported with each of them smaller or
// larger, and which of these the other families choose for one that is left out.
#pragma once

#include "outcome.hpp"

#include <spotter/diagnosis/limits.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace diagnosis {

using diagnosis_limits = spotter::detail::diagnosis_limits;
using progress_limits = spotter::detail::progress_limits;

struct limit {
    using place = std::variant<double diagnosis_limits::*, double progress_limits::*, std::uint64_t progress_limits::*>;

    std::string_view name{};
    place where{};
    bool from_one = false;  // a number near one: what is made smaller or larger is what it differs from one by

    [[nodiscard]] double read(diagnosis_limits const& from) const;
    void scale(diagnosis_limits& all, double factor) const;
};
[[nodiscard]] std::span<limit const> limits();

// Candidate 0 is the limits as they are; then those with one limit times each factor.
inline constexpr std::array<double, 4> factors{0.25, 0.5, 2, 4};
[[nodiscard]] std::vector<diagnosis_limits> candidates();

// The result of a training with a candidate, as a letter of `outcome::candidates`.
enum class heard : char { nothing = '-', another = 'a', right = 'r' };

// For a family, the limits that do best in all others, each chosen separately: among those within one standard error of
// the best, the one that alarms least. An alarm in a healthy training costs as much as ten missed faults, a fault under
// a wrong name half a miss.
[[nodiscard]] diagnosis_limits chosen_without(std::string_view family, std::vector<outcome> const& all);

// What was chosen, a row a limit.
void print_chosen(std::span<diagnosis_limits const> chosen);

}  // namespace diagnosis
