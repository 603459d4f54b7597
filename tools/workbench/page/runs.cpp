// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of runs.hpp.
#include "page/runs.hpp"

#include "page/head.hpp"
#include "page/runs_table.hpp"

#include "profile/times.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <map>

namespace spotter::inline SPOTTER_ABI::html::detail {

// A fraction with four digits, like other numbers of a page; whole numbers and texts unchanged.
[[nodiscard]] static std::string setting_text(std::string const& exact) {
    char* end = nullptr;
    double const value = std::strtod(exact.c_str(), &end);
    bool const fraction = !exact.empty() && *end == 0 && exact.find_first_of(".e") != exact.npos;
    return fraction ? number_text(value) : exact.empty() ? "—" : escape(exact);
}

[[nodiscard]] static std::string ending_of(runs_row const& row) {
    std::string text{row.ended()};
    if (row.stop_asked_by.empty()) { return escape(row.why.empty() ? text : text + ": " + row.why); }
    std::string const who = fmt::format("<b>{}</b> at {}{}", escape(row.stop_asked_by), step_text(row.stop_asked_at),
                                        row.why.empty() ? "" : ", " + escape(row.why));
    if (row.ended() == "stopped") { return "stopped by " + who; }
    return fmt::format("{}; to be stopped by {}{}", text, who, row.went_on ? ", and went on" : "");
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section runs_section(std::vector<run_story> const& runs) {
    section it{"runs", "Runs", {}};
    if (runs.size() < 2) { return it; }
    runs_table const table = table_of(runs);
    std::string head, rows;
    for (auto const* const names : {&table.settings, &table.outcomes}) {
        for (std::string const& each : *names) { head += fmt::format("<td>{}</td>", escape(each)); }
    }
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        runs_row const& row = table.rows[i];
        std::string cells;
        for (std::string const& each : row.settings) {
            constexpr std::size_t longest = 24;  // longest text without wrapping
            cells += fmt::format("<td{}>{}</td>", each.size() > longest ? " class=\"text long\"" : "",
                                 detail::setting_text(each));
        }
        for (std::optional<double> const& each : row.outcomes) {
            cells += fmt::format("<td>{}</td>", each ? number_text(*each) : "—");
        }
        rows += fmt::format("<tr><th><a href=\"#findings-{}\">{}</a></th><td class=\"text\">{}</td>"
                            "<td>{}</td><td>{}</td>{}</tr>\n",
                            i + 1, escape(row.name), detail::ending_of(row), row.steps,
                            row.seconds > 0 ? spotter::detail::duration_text(row.seconds) : "—", cells);
    }
    it.body = fmt::format("<div class=\"wide\"><table class=\"plain runs\"><thead><tr><th>run</th>"
                          "<td class=\"text\">ended</td><td>train steps</td><td>time</td>{}</tr></thead><tbody>\n{}"
                          "</tbody></table></div>\n",
                          head, rows);
    it.body += "<p class=\"note\">Hyperparameters that differ, then the last value of each loss and metric. Time is "
               "from the beginning to the last step.</p>\n";
    return it;
}

std::string head_of_many(std::vector<run_story> const& runs) {
    std::map<std::string_view, std::size_t> counts;
    for (runs_row const& each : table_of(runs).rows) { ++counts[each.ended()]; }
    std::string text;
    for (auto const& [ended, count] : counts) {
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, ended);
    }
    // The mood of the worst run: among many good runs one looks for the bad ones.
    bool bad = false, warned = counts.contains("stopped");
    for (run_story const& each : runs) {
        bad = bad || mood(each) == "bad";
        warned = warned || mood(each) == "warned";
    }
    return fmt::format(
        "<div class=\"head\"><h1>{} runs</h1>\n<p class=\"verdict {}\">{}.</p>\n{}</div>\n", runs.size(),
        bad                          ? "bad"
        : warned                     ? "warned"
        : counts.contains("running") ? "open"
                                     : "good",
        text,
        paragraph("For this many runs the page shows no layers and no values. Make a page of one run, or of a few."));
}

section hyperparameters_section(std::vector<run_story> const& runs) {
    section it{"hyperparameters", "Hyperparameters", {}};
    if (runs.size() != 1) { return it; }
    std::string rows;
    for (tensor_story const& each : runs.front().tensors) {
        if (std::optional<std::string> const set = setting_of(each)) {
            rows += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", escape(each.name), detail::setting_text(*set));
        }
    }
    if (rows.empty()) { return it; }
    it.body = fmt::format("<div class=\"wide\"><table class=\"plain left\"><tbody>\n{}</tbody></table></div>\n", rows);
    return it;
}

}  // namespace spotter::inline SPOTTER_ABI::html
