// SPDX-License-Identifier: Apache-2.0
// Workbench, page: of a regression the predictions against the labels, and what lies between them.
#pragma once
#include "page/judged.hpp"
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// Numbers that a prediction missed by.
struct residual_counts {
    std::uint64_t count = 0;                              // pairs of finite numbers; 0 leaves the others 0
    double mean = 0, root_mean_square = 0, mean_abs = 0;  // of prediction minus label, in the labels' unit
    double explained = 0;                                 // R²: 1 minus the mean square over the labels' variance
};
// As many predictions as labels; pairs with a number that is not finite are left out.
[[nodiscard]] residual_counts residuals_of(std::span<double const> labels, std::span<double const> said);

// Of the last evaluation, or else of the latest train steps; empty where labels are classes (whole numbers), or were
// not kept.
[[nodiscard]] section residuals_section(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html
