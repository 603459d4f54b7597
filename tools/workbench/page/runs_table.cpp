// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of runs_table.hpp.
#include "page/runs_table.hpp"

#include "page/run_reader.hpp"
#include "page/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

namespace spotter::inline SPOTTER_ABI::html::detail {

// Whether train steps were closed after it.
[[nodiscard]] static bool went_on_after(finding const& it, run_story const& story) {
    result<std::uint64_t> const at = story.run->ordinal(it.step);
    result<std::uint64_t> const last = story.run->ordinal({mode::train, story.last_step[index_of(mode::train)]});
    return at && last && *at < *last;
}

// Notes the request to stop that the run heeded, or else the last one.
static void note_stop(run_story const& story, runs_row& row) {
    for (finding const& it : story.found()) {
        if (it.decision != decision::stop || (!row.stop_asked_by.empty() && !row.went_on)) { continue; }
        row.stop_asked_by = it.rule;
        row.stop_asked_at = it.step;
        row.went_on = went_on_after(it, story);
        row.why = it.id == rule_id::stop_file && !it.detail.empty() ? it.detail.view() : it.reason;
    }
}

struct outcome_column {
    std::string title{};
    std::string name{};
    mode of = mode::train;
};

// Losses and metrics of evaluation first, then of training, each in the order of their first observation.
[[nodiscard]] static std::vector<outcome_column> outcomes_of(std::vector<run_story> const& runs) {
    std::vector<outcome_column> columns;
    std::set<std::pair<mode, std::string>> known;
    for (mode const which : {mode::eval, mode::train, mode::predict}) {
        for (run_story const& run : runs) {
            for (tensor_story const& each : run.tensors) {
                if (each.info.role != role::loss && each.info.role != role::metric) { continue; }
                if (each.modes[index_of(which)].value.empty() || !known.insert({which, each.name}).second) { continue; }
                columns.push_back({fmt::format("{}, {}", each.name, name_of(which)), each.name, which});
            }
        }
    }
    return columns;
}

[[nodiscard]] static tensor_story const* tensor_in(run_story const& story, std::string_view name) {
    auto const it =
        std::find_if(story.tensors.begin(), story.tensors.end(), [&](auto const& each) { return each.name == name; });
    return it == story.tensors.end() ? nullptr : &*it;
}

// Settings with different values among the runs; for a single run all settings.
[[nodiscard]] static std::vector<std::string> settings_in(std::vector<run_story> const& runs) {
    std::vector<std::string> names;
    for (run_story const& run : runs) {
        for (tensor_story const& each : run.tensors) {
            bool const is_new = std::find(names.begin(), names.end(), each.name) == names.end();
            if (is_new && setting_of(each)) { names.push_back(each.name); }
        }
    }
    std::erase_if(names, [&](std::string const& name) {
        std::set<std::string> values;
        for (run_story const& run : runs) {
            tensor_story const* const it = tensor_in(run, name);
            values.insert(it == nullptr ? std::string{} : setting_of(*it).value_or(""));
        }
        return runs.size() > 1 && values.size() == 1;
    });
    return names;
}

[[nodiscard]] static std::optional<double> last_of(tensor_story const* it, mode which) {
    if (it == nullptr) { return std::nullopt; }
    series const& data = it->modes[index_of(which)].value;
    return data.ends_bad() ? std::bit_cast<double>(0x7FF8000000000000ULL) : data.last_value();
}

// Quoted where RFC 4180 requires it.
[[nodiscard]] static std::string cell_of(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) { return std::string{text}; }
    std::string quoted{'"'};
    for (char const letter : text) { quoted += letter == '"' ? std::string{"\"\""} : std::string{letter}; }
    return quoted + '"';
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

std::optional<std::string> setting_of(tensor_story const& it) {
    if (!it.setting.empty()) { return it.setting; }
    if (it.info.role != role::hyperparameter) { return std::nullopt; }
    if (!it.text.empty()) { return it.text; }
    series::bucket const all = it.any_mode().value.whole();
    if (all.count == 0) { return std::nullopt; }
    return all.most > all.least ? fmt::format("{} to {}", number_text(all.least), number_text(all.most))
                                : number_text(all.least);
}

std::string_view ended_as(run_story const& run) {
    runs_row row;
    row.status = run.run->status();
    detail::note_stop(run, row);
    return row.ended();
}

runs_table table_of(std::vector<run_story> const& runs) {
    runs_table table;
    table.settings = detail::settings_in(runs);
    std::vector<detail::outcome_column> const outcomes = detail::outcomes_of(runs);
    for (detail::outcome_column const& each : outcomes) { table.outcomes.push_back(each.title); }
    for (run_story const& run : runs) {
        runs_row row;
        row.name = run.name;
        row.path = run.run->path();
        row.status = run.run->status();
        detail::note_stop(run, row);
        if (row.status == run_status::failed) { row.why = run.run->why_ended(); }
        row.steps = run.closes[index_of(mode::train)];
        if (run.began > 0 && run.last_close > run.began) { row.seconds = run.last_close - run.began; }
        for (std::string const& name : table.settings) {
            tensor_story const* const it = detail::tensor_in(run, name);
            row.settings.push_back(it == nullptr ? std::string{} : setting_of(*it).value_or(""));
        }
        for (detail::outcome_column const& each : outcomes) {
            row.outcomes.push_back(detail::last_of(detail::tensor_in(run, each.name), each.of));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace spotter::inline SPOTTER_ABI::html

namespace spotter::inline SPOTTER_ABI {

std::string_view runs_row::ended() const noexcept {
    bool const stopped = status == run_status::finished && !stop_asked_by.empty() && !went_on;
    return stopped ? "stopped" : name_of(status);
}

runs_table table_of(std::span<trial const> runs) {
    std::vector<html::run_story> stories;
    for (trial const& each : runs) { stories.push_back(html::read_story(each)); }
    return html::table_of(stories);
}

std::string to_csv(runs_table const& table) {
    using html::detail::cell_of;
    std::string text = "run,path,ended,stop_asked_by,stop_asked_at,why,steps,seconds";
    for (auto const* const names : {&table.settings, &table.outcomes}) {
        for (std::string const& each : *names) { text += ',' + cell_of(each); }
    }
    text += '\n';
    for (runs_row const& row : table.rows) {
        text += fmt::format("{},{},{},{},{},{},{},{:.6g}", cell_of(row.name), cell_of(row.path), row.ended(),
                            cell_of(row.stop_asked_by), row.stop_asked_by.empty() ? "" : describe(row.stop_asked_at),
                            cell_of(row.why), row.steps, row.seconds);
        for (std::string const& each : row.settings) { text += ',' + cell_of(each); }
        for (std::optional<double> const& each : row.outcomes) {
            text += ',';
            if (each) { text += is_finite(*each) ? fmt::format("{}", *each) : "nan"; }
        }
        text += '\n';
    }
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI
