// SPDX-License-Identifier: Apache-2.0
// Report (L5): a run, or several side by side, as one page of HTML that needs nothing but itself.
#pragma once

#include <spotter/report/html/classes.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

namespace html::detail {

struct page {
    std::span<std::string const> wanted{};  // ids of sections; none: all
    std::string navigation{};
    std::string body{};
    std::vector<std::string> ids{};  // of all sections that there are, "findings-2" as "findings" and by itself

    void add(section const& it, std::string const& id_end = {}, std::string const& of = {});
    void note(std::string_view text);
};

}  // namespace html::detail

// The page, as UTF-8: what rules found with its evidence, curves, layers, histograms, classes, trees, times. No script,
// nothing from elsewhere. Of several runs there is a table first, the curves lie over one another, and of six at most
// the page has the pictures of each, too. Damaged, unfinished and empty runs make a page, too, which says so on top.
// Walks over the rows of each run once (about 0.2 µs a scalar), reads 256 MiB of values at most, and takes memory for
// the tensors, not for the steps.
[[nodiscard]] std::string to_html(std::span<trial const> runs);
[[nodiscard]] inline std::string to_html(trial const& run) { return to_html(std::span{&run, 1}); }

// Only these sections of it, by their ids ("runs", "classes", of several runs also "classes-2"), without what stands
// above and below: for a picture of one. errc::no_such_name where the page has no such section; the text says which
// there are. `further`: sections of one's own, at the end of the page; their bodies are HTML. `anew`: for each run what
// rules say of it now, such as those of a replay, instead of what they found while it was recorded; none: that.
[[nodiscard]] result<std::string> to_html(std::span<trial const> runs, std::span<std::string const> sections,
                                          std::span<html::section const> further = {},
                                          std::span<html::judgement const> anew = {});

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/report/html.ipp>
#endif
