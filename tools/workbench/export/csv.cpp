// SPDX-License-Identifier: Apache-2.0
// Workbench, export: histories of statistics as comma-separated values, one row a step.
#include <spotter/export/text.hpp>
#include <spotter/trial/step_list.hpp>
#include <spotter/workbench/export.hpp>

#include <algorithm>
#include <map>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] static std::string title_of(csv_series const& of) {
    return of.title.empty() ? of.name + ':' + std::string{of.which.name()} : of.title;
}

// The position of a table row: a closed step, at its last close.
struct csv_place {
    std::uint64_t ordinal = 0;
    step_id step{};
    double time = 0;
    std::optional<timed_step> timing{};
    friend constexpr auto operator<=>(csv_place const& a, csv_place const& b) noexcept {
        return a.ordinal != b.ordinal ? a.ordinal <=> b.ordinal : a.step <=> b.step;
    }
};

// The caller's policy; empty: every step.
struct csv_steps {
    using kind = policy_kind;
    std::function<bool(step_id)> const& when;
    [[nodiscard]] bool operator()(step_id step) const { return !when || when(step); }
};

using csv_table = std::map<step_id, std::vector<point>>;  // by step: one point for each column

// The rows of one worker, in order.
[[nodiscard]] static std::vector<csv_place> csv_places(worker_index const& index, csv_table const& rows) {
    std::map<step_id, csv_place> latest;
    for (closed_step const& each : index.steps()) {
        if (!rows.contains(each.step)) { continue; }
        latest[each.step] = {each.ordinal, each.step, each.time,
                             index.times().find(each.step, each.ordinal, index.worker())};
    }
    std::vector<csv_place> places;
    for (auto const& [step, place] : latest) { places.push_back(place); }
    std::sort(places.begin(), places.end());
    return places;
}

// By step, because the columns have different steps. A known value of a later observation replaces an earlier one. If a
// later observation is unreadable, the value is unknown.
[[nodiscard]] static csv_table csv_rows(trial const& run, worker_reader const& from,
                                        std::vector<csv_series> const& series, csv_steps const& when) {
    csv_table rows;
    for (std::size_t column = 0; column < series.size(); ++column) {
        for (point const& each :
             run[series[column].name].of(worker{from.number()}).history(series[column].which, when)) {
            std::vector<point>& row = rows[each.step];
            row.resize(series.size());
            row[column] = each;
        }
    }
    if (!from.index().lacks_some()) { return rows; }
    for (std::size_t column = 0; column < series.size(); ++column) {
        track const its = run[series[column].name].of(worker{from.number()});
        for (auto& [step, row] : rows) {
            if (its.stat(step, series[column].which).error().code == errc::corrupt) {
                row[column] = unreadable_at(step);
            }
        }
    }
    return rows;
}

// The rows of one worker; each begins with `before`.
[[nodiscard]] static error write_csv_rows(trial const& run, worker_reader const& from, std::string const& before,
                                          std::vector<csv_series> const& series, csv_steps const& when,
                                          text_sink const& put, std::vector<std::string>* unreadable) {
    csv_table const rows = csv_rows(run, from, series, when);
    for (csv_place const& place : csv_places(from.index(), rows)) {
        std::vector<point> const& row = rows.at(place.step);
        std::string line = before + std::to_string(place.ordinal) + ',' + std::string{name_of(place.step.mode)} + ',' +
                           std::to_string(place.step.index) + ',' + csv_number(place.time) + ',';
        if (place.timing) { line += csv_number(place.timing->seconds); }
        bool any = false;
        for (std::size_t column = 0; column < row.size(); ++column) {
            point const& each = row[column];
            line += each.known ? ',' + csv_number(each.value) : each.unreadable ? ",NA" : ",";
            any = any || each.known || each.unreadable;
            if (!each.unreadable || unreadable == nullptr) { continue; }
            std::string const whose = before.empty() ? "" : "worker-" + std::to_string(from.number()) + '/';
            unreadable->push_back(whose + title_of(series[column]) + '@' + std::string{name_of(place.step.mode)} + ':' +
                                  std::to_string(place.step.index));
        }
        line += '\n';
        if (!any) { continue; }
        if (error const why = put(std::string_view{line})) { return why; }
    }
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

std::string csv_field(std::string_view text) {
    constexpr std::string_view formula = "=+-@\t\r\n";
    std::string field = !text.empty() && formula.find(text.front()) != formula.npos ? "'" : "";
    field += utf8_text(text);
    if (field.find_first_of(",\"\r\n") == field.npos) { return field; }
    std::string quoted{'"'};
    for (char const letter : field) {
        quoted += letter;
        if (letter == '"') { quoted += '"'; }
    }
    return quoted + '"';
}

std::string csv_number(double const& value) { return number_text(value); }

error write_csv(trial const& run, std::vector<csv_series> const& series, std::function<bool(step_id)> const& when,
                text_sink const& put, std::vector<std::string>* unreadable) {
    bool const several = run.readers().size() > 1 || run.expected_workers() > 1;
    std::string line = several ? "worker,step,mode,index,time,seconds" : "step,mode,index,time,seconds";
    for (csv_series const& each : series) {
        line += ',';
        line += csv_field(detail::title_of(each));
    }
    line += '\n';
    if (error const why = put(std::string_view{line})) { return why; }
    for (auto const& each : run.readers()) {
        std::string const before = several ? std::to_string(each->number()) + ',' : std::string{};
        if (error const why = detail::write_csv_rows(run, *each, before, series, {when}, put, unreadable)) {
            return why;
        }
    }
    return {};
}

std::string to_csv(trial const& run, std::vector<csv_series> const& series, std::function<bool(step_id)> const& when) {
    std::string text;
    auto const put = [&](std::string_view line) {
        text += line;
        return error{};
    };
    (void)write_csv(run, series, when, put);
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI
