// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of differences.hpp.
#include "page/differences.hpp"

#include "page/runs_table.hpp"

#include <fmt/format.h>

#include <set>

namespace spotter::inline SPOTTER_ABI::html::detail {

// The fact of a setting, of a text, or of a number that never changes.
[[nodiscard]] static std::optional<std::string> fact_of(tensor_story const& it) {
    if (std::optional<std::string> const set = setting_of(it); set || !it.text.empty()) {
        return set.value_or(it.text);
    }
    series::bucket const all = it.any_mode().value.whole();
    bool const constant = it.info.role == role::other && it.has_number && all.bad == 0 && !(all.most > all.least);
    return constant ? std::optional{number_text(it.number)} : std::nullopt;
}

facts settings_of(run_story const& story) {
    facts found;
    found["written by"] = "spotter " + story.version;
    found["status"] = name_of(story.run->status());
    found["workers"] = fmt::format("{}", story.run->workers().size());
    found["steps"] = steps_text(story);
    for (recorded_collection const& each : story.run->collections()) { found["collection " + each.name] = each.what; }
    for (recorded_coverage const& each : story.run->coverages()) { found["rule " + each.rule] = "judges"; }
    for (tensor_story const& each : story.tensors) {
        std::string shape;
        for (std::uint64_t const size : each.info.shape.view()) {
            shape += fmt::format("{}{}", shape.empty() ? "" : " × ", size);
        }
        if (std::optional<std::string> const fact = fact_of(each)) {
            found[each.name] = *fact;
        } else {
            found["tensor " + each.name] =
                fmt::format("{} {}", name_of(each.info.type), shape.empty() ? "scalar" : shape);
        }
    }
    return found;
}

// A row for everything that some run has and that is not equal in all.
[[nodiscard]] static std::string table_of(std::vector<run_story> const& runs, std::vector<facts> const& all) {
    constexpr std::size_t most = 200;
    std::set<std::string> names;
    for (facts const& each : all) {
        for (auto const& [name, value] : each) { names.insert(name); }
    }
    std::string rows, head;
    std::size_t count = 0;
    for (std::string const& name : names) {
        std::set<std::string> kinds;
        std::string cells;
        for (facts const& each : all) {
            auto const it = each.find(name);
            std::string const text = it == each.end() ? "" : it->second;
            kinds.insert(text);
            cells += fmt::format("<td>{}</td>", text.empty() ? "—" : escape(text));
        }
        if (kinds.size() < 2) { continue; }
        if (++count <= most) { rows += fmt::format("<tr><th>{}</th>{}</tr>\n", escape(name), cells); }
    }
    if (rows.empty()) { return {}; }
    for (run_story const& each : runs) { head += fmt::format("<td>{}</td>", escape(each.name)); }
    return fmt::format("<div class=\"wide\"><table class=\"plain "
                       "left\"><thead><tr><th></th>{}</tr></thead><tbody>\n{}</tbody></table></div>\n{}",
                       head, rows, count > most ? paragraph(fmt::format("and {} more", count - most)) : "");
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section differences_section(std::vector<run_story> const& runs) {
    section it{"differences", "Differences", {}};
    if (runs.size() < 2 || runs.size() > most_side_by_side) { return it; }
    std::vector<detail::facts> settings;
    for (run_story const& each : runs) { settings.push_back(detail::settings_of(each)); }
    std::string const differ = detail::table_of(runs, settings);
    it.body = differ.empty() ? paragraph("Settings, rules and tensors are the same.") : differ;
    return it;
}

}  // namespace spotter::inline SPOTTER_ABI::html
