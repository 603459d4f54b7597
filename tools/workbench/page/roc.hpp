// SPDX-License-Identifier: Apache-2.0
// Workbench, page: how well scores separate a class from all others, at every threshold (Fawcett, "An introduction to
// ROC analysis", 2006).
#pragma once

#include <spotter/config.hpp>

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI::html {

struct roc_curve {                                    // of one class against all others
    std::string label{};                              // name of the class; any characters
    std::vector<std::pair<double, double>> points{};  // false and true positive rate, from (0, 0) to (1, 1)
    double area = 0;                                  // under the curve: 0.5 for random scores
};

// `is_of_class` and finite scores, one for each sample. No points where all samples or none are of the class.
[[nodiscard]] roc_curve roc_of(std::string label, std::span<double const> scores, std::vector<bool> const& is_of_class);

// A <figure> with all curves, at most six; empty where none has points.
[[nodiscard]] std::string draw(std::span<roc_curve const> curves, std::string_view note);

}  // namespace spotter::inline SPOTTER_ABI::html
