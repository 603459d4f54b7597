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

// Gradients and updates; the weights themselves where updates are unknown. Its body is empty where there are none.
[[nodiscard]] section layers_section(run_story const& story);

// Half of a healthy ReLU's outputs are zero; a unit that no sample activates is a fault.
[[nodiscard]] section activations_section(run_story const& story);

// A few weights, gradients and activations with recorded histograms or values.
[[nodiscard]] section histograms_section(run_story const& story);

}  // namespace spotter::inline SPOTTER_ABI::html
