// SPDX-License-Identifier: Apache-2.0
// Report (L5): a run, or several side by side, as one page of HTML that needs nothing but itself.
#pragma once

#include <spotter/report/html/classes.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

namespace html::detail {

struct page {
    std::string navigation{};
    std::string body{};

    void add(section const& it, std::string const& id_end = {}, std::string const& of = {});
};

}  // namespace html::detail

// The page, as UTF-8: what rules found with its evidence, curves, layers, histograms, classes, trees, times. No script, nothing from
// elsewhere. Of several runs the curves lie over one another and their settings are compared. Damaged, unfinished and empty runs make a
// page, too, which says so on top. Walks over the rows of each run once (about 0.2 µs a scalar), reads 256 MiB of values at most, and
// takes memory for the tensors, not for the steps.
[[nodiscard]] std::string to_html(std::span<trial const> runs);
[[nodiscard]] inline std::string to_html(trial const& run) { return to_html(std::span{&run, 1}); }

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/report/html.ipp>
#endif
