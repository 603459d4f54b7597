// SPDX-License-Identifier: Apache-2.0
// Workbench, page: for a regression: predictions against labels, and the residuals.
#pragma once
#include "page/judged.hpp"
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// Statistics of the residuals.
struct residual_counts {
    std::uint64_t count = 0;                              // pairs of finite numbers; if 0, the others are 0
    double mean = 0, root_mean_square = 0, mean_abs = 0;  // of prediction minus label, in the unit of the labels
    double explained = 0;                                 // R²: 1 minus the mean square over the labels' variance
};
// Requires as many predictions as labels; ignores pairs with a number that is not finite.
[[nodiscard]] residual_counts residuals_of(std::span<double const> labels, std::span<double const> said);

// For the last evaluation, or else for the latest train steps; empty where labels are classes (whole numbers), or were
// not recorded.
[[nodiscard]] section residuals_section(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html
