// SPDX-License-Identifier: Apache-2.0
// Export (L5): histories of statistics as comma-separated values, one row a step.
#pragma once

#include <spotter/export/text.hpp>
#include <spotter/trial/step_list.hpp>
#include <spotter/trial/trial.hpp>

#include <map>
#include <string>

namespace spotter::inline SPOTTER_ABI {

// Quoted where RFC 4180 asks for it: a comma, a quote (then doubled), a line's end.
[[nodiscard]] std::string csv_field(std::string_view text);

// The shortest digits that read back as the same double; nan, inf and -inf, which pandas and R read.
[[nodiscard]] inline std::string csv_number(double const& value) { return number_text(value); }

// One column: a statistic of a tensor.
struct csv_series {
    std::string name{};
    statistic which = mean;
    std::string title{};  // of the column; "name:statistic" where empty
};

namespace detail {

// Where a row of the table is: a closed step, at its last closing.
struct csv_place {
    std::uint64_t ordinal = 0;
    step_id step{};
    double time = 0;
    std::optional<timed_step> timing{};
    friend constexpr auto operator<=>(csv_place const& a, csv_place const& b) noexcept {
        return a.ordinal != b.ordinal ? a.ordinal <=> b.ordinal : a.step <=> b.step;
    }
};

// In order. A step that only another worker than the lowest has closed is asked for by itself.
template <class Row>
[[nodiscard]] std::vector<csv_place> csv_places(trial const& run, std::vector<csv_series> const& series,
                                                std::map<step_id, Row> const& rows) {
    std::map<step_id, csv_place> latest;
    worker_index const& index = run.index();
    for (closed_step const& each : index.steps()) {
        if (!rows.contains(each.step)) { continue; }
        auto const timing = index.times().find(each.step, each.ordinal, index.worker());
        latest[each.step] = {each.ordinal, each.step, each.time, timing};
    }
    for (auto const& [step, row] : rows) {
        result<std::uint64_t> const ordinal = latest.contains(step) ? result<std::uint64_t>{0} : run.ordinal(step);
        if (!ordinal || latest.contains(step)) { continue; }  // a step that is still open has no row
        csv_place place{*ordinal, step, 0, {}};
        for (csv_series const& each : series) {
            if (result<double> const time = run[each.name].time(step); time) { place.time = *time; }
        }
        latest[step] = place;
    }
    std::vector<csv_place> places;
    for (auto const& [step, place] : latest) { places.push_back(place); }
    std::sort(places.begin(), places.end());
    return places;
}

}  // namespace detail

// Calls put(line), each line with its final \n: step,mode,index,time,seconds and a column each series. One row for each closed step at which any
// of them is known: `step` counts all closed steps of the run, whatever their mode; `time` is when the writer met its
// close, in seconds since 1970, and `seconds` how long it took from the close before it; what is unknown is left empty. Of a step that was closed twice the latest, of several observations in it the last: what track::stat says.
// `put` returns an error, which ends the writing and is returned.
template <policy Policy, class Put>
requires requires(Put put, std::string_view line) {
    { put(line) } -> std::convertible_to<error>;
}
[[nodiscard]] error write_csv(trial const& run, std::vector<csv_series> const& series, Policy const& when, Put&& put) {
    std::string line = "step,mode,index,time,seconds";
    for (csv_series const& each : series) {
        line += ',';
        line += csv_field(each.title.empty() ? each.name + ':' + std::string{each.which.name()} : each.title);
    }
    line += '\n';
    if (error const why = put(std::string_view{line})) { return why; }

    // By step, because the columns have different ones; `known` of a later observation replaces that of an earlier.
    std::map<step_id, std::vector<point>> rows;
    for (std::size_t column = 0; column < series.size(); ++column) {
        for (point const& each : run[series[column].name].history(series[column].which, when)) {
            std::vector<point>& row = rows[each.step];
            row.resize(series.size());
            row[column] = each;
        }
    }
    for (detail::csv_place const& place : detail::csv_places(run, series, rows)) {
        std::vector<point> const& row = rows[place.step];
        line = std::to_string(place.ordinal) + ',' + std::string{name_of(place.step.mode)} + ',' +
               std::to_string(place.step.index) + ',' + csv_number(place.time) + ',';
        if (place.timing) { line += csv_number(place.timing->seconds); }
        bool known = false;
        for (point const& each : row) {
            line += ',';
            if (each.known) { line += csv_number(each.value); }
            known = known || each.known;
        }
        line += '\n';
        if (!known) { continue; }
        if (error const why = put(std::string_view{line})) { return why; }
    }
    return {};
}

// The same as one text.
template <policy Policy = always>
[[nodiscard]] std::string to_csv(trial const& run, std::vector<csv_series> const& series, Policy const& when = {}) {
    std::string text;
    (void)write_csv(run, series, when, [&](std::string_view line) {
        text += line;
        return error{};
    });
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/csv.ipp>
#endif
