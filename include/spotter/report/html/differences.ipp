// SPDX-License-Identifier: Apache-2.0
// The bodies of differences.hpp.
#pragma once

#include <spotter/report/html/differences.hpp>

#include <set>

namespace spotter::inline SPOTTER_ABI::html::detail {

// Whether a tensor is a setting: a hyperparameter, or a number that never changes, or a text.
[[nodiscard]] SPOTTER_BODY bool is_setting(tensor_story const& it) {
    if (it.info.role == role::hyperparameter || !it.text.empty()) { return true; }
    series::bucket const all = it.any_mode().value.whole();
    return it.info.role == role::other && it.has_number && all.bad == 0 && !(all.most > all.least);
}

SPOTTER_BODY facts settings_of(run_story const& story) {
    facts found;
    found["written by"] = "spotter " + story.version;
    found["status"] = name_of(story.run->status());
    found["workers"] = fmt::format("{}", story.run->workers().size());
    found["steps"] = steps_told(story);
    for (recorded_collection const& each : story.run->collections()) { found["collection " + each.name] = each.what; }
    for (recorded_coverage const& each : story.run->coverages()) { found["rule " + each.rule] = "judges"; }
    for (tensor_story const& each : story.tensors) {
        std::string shape;
        for (std::uint64_t const size : each.info.shape.view()) {
            shape += fmt::format("{}{}", shape.empty() ? "" : " × ", size);
        }
        bool const setting = is_setting(each);
        if (setting) { found[each.name] = !each.text.empty() ? each.text : number_text(each.number); }
        if (!setting) {
            found["tensor " + each.name] =
                fmt::format("{} {}", name_of(each.info.type), shape.empty() ? "scalar" : shape);
        }
    }
    return found;
}

// The last value of each loss and metric.
[[nodiscard]] SPOTTER_BODY facts ends_of(run_story const& story) {
    facts found;
    for (tensor_story const& each : story.tensors) {
        if (each.info.role != role::loss && each.info.role != role::metric) { continue; }
        for (mode const which : {mode::train, mode::eval, mode::predict}) {
            std::optional<double> const last = each.modes[index_of(which)].value.last_value();
            if (!last) { continue; }
            found[which == mode::train ? each.name : fmt::format("{}, {}", each.name, name_of(which))] =
                number_text(*last);
        }
    }
    return found;
}

// A row for everything that any run has; `only_differences` leaves out what all have alike.
[[nodiscard]] SPOTTER_BODY std::string table_of(std::vector<run_story> const& runs, std::vector<facts> const& all,
                                                bool only_differences) {
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
        if (only_differences && kinds.size() < 2) { continue; }
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

SPOTTER_BODY section differences_section(std::vector<run_story> const& runs) {
    section it{"differences", "Differences", {}};
    if (runs.size() < 2) { return it; }
    std::vector<detail::facts> settings, ends;
    for (run_story const& each : runs) {
        settings.push_back(detail::settings_of(each));
        ends.push_back(detail::ends_of(each));
    }
    std::string const differ = detail::table_of(runs, settings, true), values = detail::table_of(runs, ends, false);
    it.body = differ.empty() ? paragraph("Settings, rules and tensors are the same.") : differ;
    if (!values.empty()) { it.body += "<h3>Last values</h3>\n" + values; }
    return it;
}

}  // namespace spotter::inline SPOTTER_ABI::html
