// SPDX-License-Identifier: Apache-2.0
// Workbench: a run, or several side by side, as one page of HTML that needs nothing but itself. Link
// spotter::workbench.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/trial/trial.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace html {

struct section {          // a part of the page with a heading
    std::string id{};     // what its links end with; unique in a page
    std::string title{};  // of the heading
    std::string body{};   // HTML; empty: the section is left out
};

// The ids that a page may have; which of them one has depends on what was recorded.
[[nodiscard]] std::span<std::string_view const> section_ids() noexcept;

// What rules say of a run: as it was recorded, or judged anew. Texts live as long as whoever judged.
struct judgement {
    std::vector<finding> findings{};             // in the order in which they were told
    std::vector<recorded_coverage> coverages{};  // one a rule; workers that say the same are one
};

// For the body of a section. Safe in an element and in a quoted attribute, of HTML and of XML.
[[nodiscard]] std::string escape(std::string_view text);
// The same of a text of several lines.
[[nodiscard]] std::string escape_lines(std::string_view text);
// An element `p` with the text, escaped.
[[nodiscard]] std::string paragraph(std::string_view text);

}  // namespace html

// The page, as UTF-8: what rules found with its evidence, curves, layers, histograms, classes, trees, times. No script,
// nothing from elsewhere. Of several runs there is a table first, the curves lie over one another, and of six at most
// the page has the pictures of each, too. Damaged, unfinished and empty runs make a page, too, which says so on top.
// Walks over the rows of each run once (about 0.2 µs a scalar), reads 256 MiB of values at most, and takes memory for
// the tensors, not for the steps.
[[nodiscard]] std::string to_html(std::span<trial const> runs);
[[nodiscard]] std::string to_html(trial const& run);

// Only these sections of it, by their ids ("runs", "classes", of several runs also "classes-2"), without what stands
// above and below: for a picture of one. errc::no_such_name where the page has no such section; the text says which
// there are. `further`: sections of one's own, at the end of the page. `anew`: for each run what rules say of it now,
// such as those of a replay, instead of what they found while it was recorded; none: that.
[[nodiscard]] result<std::string> to_html(std::span<trial const> runs, std::span<std::string const> sections,
                                          std::span<html::section const> further = {},
                                          std::span<html::judgement const> anew = {});

}  // namespace spotter::inline SPOTTER_ABI
