// SPDX-License-Identifier: Apache-2.0
// Workbench: a run, or several side by side, as one self-contained HTML page. Link spotter::workbench.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/report/gathered.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/trial/trial.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace html {

struct section {          // a part of the page with a heading
    std::string id{};     // anchor of its links; unique in a page
    std::string title{};  // of the heading
    std::string body{};   // HTML; empty: the section is left out
};

// All ids that a page may have. Which sections a page has depends on what was recorded.
[[nodiscard]] std::span<std::string_view const> section_ids() noexcept;

// The results of rules for a run, recorded or judged anew. Texts belong to the record or the replay.
struct judgement {
    std::vector<finding> findings{};             // in the order in which they were reported
    std::vector<recorded_coverage> coverages{};  // one for each rule; equal ones of several workers are merged
};

// A card of the page's section of findings: a cause, and what it explains, in order of time.
struct finding_card {
    spotter::detail::repeated_finding head{};
    std::vector<spotter::detail::repeated_finding> behind{};
};
// The findings of a run as cards, in order of time. Reads the findings alone. The page also merges cards that would
// draw the same chart.
[[nodiscard]] std::vector<finding_card> finding_cards(trial const& run);

// Escapes a text for the body of a section. Safe in an element and in a quoted attribute, in HTML and XML.
[[nodiscard]] std::string escape(std::string_view text);
// The same for a text of several lines.
[[nodiscard]] std::string escape_lines(std::string_view text);
// An element `p` with the text, escaped.
[[nodiscard]] std::string paragraph(std::string_view text);

}  // namespace html

// The page, as UTF-8: findings with their evidence, curves, layers, histograms, classes, trees, times. It has no script
// and loads nothing. For several runs it begins with a table, and overlays the curves; for at most six of them it also
// has each run's pictures. Damaged, unfinished and empty runs give a page too, which says so on top. Reads the rows of
// each run once (about 0.2 µs a scalar) and at most 256 MiB of values. Its memory depends on the number of tensors, not
// of steps.
[[nodiscard]] std::string to_html(std::span<trial const> runs);
[[nodiscard]] std::string to_html(trial const& run);

// Only these sections of the page, by their ids ("runs", "classes", for several runs also "classes-2"), without header
// and footer: for a picture of one section. errc::no_such_name where the page has no such section; the text lists those
// that it has. `further`: your own sections, at the end of the page. `anew`: for each run the current results of rules,
// of a replay for example, in place of the recorded findings; empty: the recorded ones.
[[nodiscard]] result<std::string> to_html(std::span<trial const> runs, std::span<std::string const> sections,
                                          std::span<html::section const> further = {},
                                          std::span<html::judgement const> anew = {});

}  // namespace spotter::inline SPOTTER_ABI
