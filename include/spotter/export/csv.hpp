// SPDX-License-Identifier: Apache-2.0
// Export (L5): histories of statistics as comma-separated values, one row a step.
#pragma once

#include <spotter/export/text.hpp>
#include <spotter/trial/step_list.hpp>
#include <spotter/trial/trial.hpp>

#include <map>
#include <string>

namespace spotter::inline SPOTTER_ABI {

// Quoted where RFC 4180 asks for it: a comma, a quote (then doubled), a line's end. What is no UTF-8 stands as \xff. A
// text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a line's end) gets an apostrophe
// in front, which makes a text of it there.
[[nodiscard]] std::string csv_field(std::string_view text);

// The shortest digits that read back as the same double; nan, inf and -inf, which pandas and R read.
[[nodiscard]] inline std::string csv_number(double const& value) { return number_text(value); }

// One column: a statistic of a tensor.
struct csv_series {
    std::string name{};
    statistic which = mean;  // of the series that `name` is
    std::string title{};     // of the column; "name:statistic" where empty
};

namespace detail {

[[nodiscard]] inline std::string title_of(csv_series const& of) {
    return of.title.empty() ? of.name + ':' + std::string{of.which.name()} : of.title;
}

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

// Of one worker, in order.
template <class Row>
[[nodiscard]] std::vector<csv_place> csv_places(worker_index const& index, std::map<step_id, Row> const& rows) {
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

// By step, because the columns have different ones; `known` of a later observation replaces that of an earlier. What a
// later one that cannot be read may have replaced is not known.
template <policy Policy>
[[nodiscard]] std::map<step_id, std::vector<point>>
csv_rows(trial const& run, worker_reader const& from, std::vector<csv_series> const& series, Policy const& when) {
    std::map<step_id, std::vector<point>> rows;
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
template <policy Policy, class Put>
[[nodiscard]] error write_csv_rows(trial const& run, worker_reader const& from, std::string const& before,
                                   std::vector<csv_series> const& series, Policy const& when, Put& put,
                                   std::vector<std::string>* unreadable) {
    std::map<step_id, std::vector<point>> const rows = csv_rows(run, from, series, when);
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

}  // namespace detail

// Calls put(line), each line with its final \n: step,mode,index,time,seconds and a column each series; of a run of
// several workers `worker` is the first column, and the rows of each follow those of the one before. One row for each
// closed step at which any series is known: `step` counts all closed steps of the worker, whatever their mode; `time`
// is when the writer met its close, in seconds since 1970, and `seconds` how long it took from the close before it;
// what is unknown is left empty, and what cannot be read is NA, and told in `unreadable` as "title@mode:index". Of a
// step that was closed twice the latest, of several observations in it the last: what track::stat says. `put` returns
// an error, which ends the writing and is returned.
template <policy Policy, class Put>
    requires requires(Put put, std::string_view line) {
        { put(line) } -> std::convertible_to<error>;
    }
[[nodiscard]] error write_csv(trial const& run, std::vector<csv_series> const& series, Policy const& when, Put&& put,
                              std::vector<std::string>* unreadable = nullptr) {
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
        if (error const why = detail::write_csv_rows(run, *each, before, series, when, put, unreadable)) { return why; }
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
