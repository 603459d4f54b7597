// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of examined.hpp.
#include "page/examined.hpp"

#include <spotter/trial/examined.hpp>

#include <fmt/format.h>

namespace spotter::inline SPOTTER_ABI::html::detail {

[[nodiscard]] static std::string whose(std::uint32_t worker) {
    return worker > 0 ? fmt::format(" (worker {})", worker) : std::string{};
}

[[nodiscard]] static std::string table_of(std::string_view head, std::string const& rows) {
    return rows.empty()
               ? rows
               : fmt::format("<div class=\"wide\"><table class=\"plain left examined\"><thead><tr>{}</tr></thead>"
                             "<tbody>\n{}</tbody></table></div>\n",
                             head, rows);
}

[[nodiscard]] static std::string measured_text(finding const& it) {
    if (it.measure.empty()) { return {}; }
    std::string text = fmt::format("{} <b>{}</b>", escape(it.measure), number_text(it.measured));
    if (it.how != relation::none) {
        text += fmt::format(" {} {}", escape(symbol_of(it.how)), number_text(it.threshold));
    }
    return text;
}

[[nodiscard]] static std::string finding_row(finding const& it) {
    std::string const more = it.others > 0 ? fmt::format(" and {} more", it.others) : std::string{};
    std::string why = escape(it.reason);
    if (!it.detail.empty()) { why += fmt::format(" <span class=\"note\">{}</span>", escape(it.detail.view())); }
    return fmt::format("<tr class=\"{0}\"><th><span class=\"tag\">{0}</span></th><td>{1}</td><td>{2}{3}</td><td>{4}"
                       "</td><td>{5}</td></tr>\n",
                       name_of(it.severity), code(it.rule), it.tensor.empty() ? std::string{} : code(it.tensor), more,
                       measured_text(it), why);
}

[[nodiscard]] static std::string findings_of(recorded_examinations const& it) {
    std::string rows;
    for (finding const& each : it.findings) { rows += finding_row(each); }
    return table_of("<th></th><td>cause</td><td>where</td><td>measured</td><td>what it means</td>", rows);
}

[[nodiscard]] static std::string gradients_of(recorded_examinations const& it) {
    std::string rows;
    for (recorded_gradient const& each : it.gradients) {
        bool const wrong = each.verdict == "wrong";
        rows += fmt::format("<tr class=\"{}\"><th>{}{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                            wrong ? "error" : "info", code(each.name), whose(each.worker), each.verdict,
                            percent_text(each.error), percent_text(each.resolution));
    }
    if (rows.empty()) { return rows; }
    return "<h3>Gradients that were not proven right</h3>\n" +
           table_of(
               "<th>weight</th><td>its gradient is</td><td>error, relative</td><td>of it by rounding, at most</td>",
               rows);
}

// One line for each experiment, with its main result.
[[nodiscard]] static std::string words_of(recorded_examinations const& it) {
    std::string rows;
    for (recorded_word const& each : it.words) {
        if (each.outcome == experiment_outcome::not_proven) { continue; }
        bool const proven = each.outcome == experiment_outcome::proven;
        std::string said = proven ? fmt::format("proven: {}", code(each.cause)) : std::string{"refuted"};
        if (proven && !each.tensor.empty()) { said += " at " + code(each.tensor); }
        rows += fmt::format("<tr class=\"{}\"><th>{}{}{}</th><td>{}</td><td>{}</td></tr>\n", proven ? "error" : "info",
                            each.from_here_on ? "from " : "", step_text(each.step), whose(each.worker),
                            code(name_of(each.of)), said);
    }
    if (rows.empty()) { return rows; }
    return "<h3>What experiments said of alarms</h3>\n" +
           table_of("<th>step</th><td>an alarm of</td><td>is</td>", rows);
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section examined_section(run_story const& story) {
    recorded_examinations const it = examinations_of(*story.run);
    std::string body;
    for (recorded_examination const& each : it.all) {
        body += fmt::format("<p><b>{}</b>{}</p>\n", escape(each.sentence), detail::whose(each.worker));
    }
    body += detail::findings_of(it) + detail::gradients_of(it) + detail::words_of(it);
    return {"examined", "Examination of the loop", body};
}

}  // namespace spotter::inline SPOTTER_ABI::html
