// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the workers of a run side by side; those that are slow, behind or gone are marked.
#pragma once
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// The most workers with curves: marked ones first, then others, evenly spaced, in the order of their numbers.
inline constexpr std::size_t most_drawn_workers = 8;
[[nodiscard]] std::vector<worker_times> drawn_workers(ranks_report const& of);

struct worker_look {      // one of several workers in every chart
    std::string label{};  // "worker 3", "worker 3, slow"
    unsigned colour = 0, dash = 0;
    bool marked = false;  // it is slow, behind or gone
};
[[nodiscard]] worker_look look_of(run_story const& story, std::uint32_t worker);

[[nodiscard]] std::size_t slow_workers(ranks_report const& of);  // how many

// For a run of several workers; otherwise empty.
[[nodiscard]] section workers_section(run_story const& story);

namespace detail {

// Says how many workers have no curve; empty where all have one.
[[nodiscard]] std::string workers_left_out(run_story const& story);

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI::html
