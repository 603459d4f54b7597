// SPDX-License-Identifier: Apache-2.0
// Workbench, page: gradients, updates and activations of every layer over time, and histograms of a few.
#pragma once
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

namespace detail {

using series_of = series const& (*)(mode_story const&);

[[nodiscard]] std::size_t known(std::vector<tensor_story const*> const& all, series_of pick);

inline constexpr series_of of_mean_abs = [](mode_story const& it) -> series const& { return it.mean_abs; };
inline constexpr series_of of_root_mean_square = [](mode_story const& it) -> series const& {
    return it.root_mean_square;
};
inline constexpr series_of of_change = [](mode_story const& it) -> series const& { return it.change; };
inline constexpr series_of of_zeros = [](mode_story const& it) -> series const& { return it.zeros; };
inline constexpr series_of of_idle = [](mode_story const& it) -> series const& { return it.idle; };

}  // namespace detail

// Gradients and updates; the weights themselves where no updates are known. Its body is empty where there are none.
[[nodiscard]] section layers_section(run_story const& story);

// Of a ReLU half of the outputs are zero when all is well; a unit that no sample activates is not.
[[nodiscard]] section activations_section(run_story const& story);

// Weights, gradients and activations of which histograms or values were kept, a few of each.
[[nodiscard]] section histograms_section(run_story const& story);

}  // namespace spotter::inline SPOTTER_ABI::html
