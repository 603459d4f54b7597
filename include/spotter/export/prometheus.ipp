// SPDX-License-Identifier: Apache-2.0
// The bodies of prometheus.hpp.
#pragma once

#include <spotter/export/prometheus.hpp>
#include <spotter/export/text.hpp>

#include <bit>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY std::string prometheus_label(std::string_view from) {
    std::string quoted{'"'};
    for (char const letter : utf8_text(from)) {
        if (letter == '\n') {
            quoted += "\\n";
            continue;
        }
        if (letter == '"' || letter == '\\') { quoted += '\\'; }
        quoted += letter;
    }
    return quoted + '"';
}

SPOTTER_BODY void latest_values::step(recorded_step const& at) {
    ++counts_->steps;
    indices[at.step.mode] = at.step.index;
    time = (std::max)(time, at.time);
    if (at.timing && !at.timing->first) {
        duration& it = durations[at.step.mode];
        it.last = at.timing->seconds;
        it.sum += it.last;
        ++it.count;
    }
}

SPOTTER_BODY void latest_values::entry(recorded_step const& at, recorded_entry& it) {
    if (it.is_text()) { return; }
    if (it.is_number()) {
        measurement const found = it.number();
        // The one before is not the last.
        put(at, it, {}, found.known ? found.value : std::bit_cast<double>(0x7FF8000000000000ULL));
    } else {
        each_statistic(it, *choice_, [&](statistic which, double const& value) { put(at, it, which.name(), value); });
    }
    if (it.damaged()) { counts_->damaged.push_back(place_of(at, it.name())); }
}

SPOTTER_BODY void latest_values::put(recorded_step const& at, recorded_entry const& it, std::string_view statistic,
                                     double const& value) {
    values[{at.step.mode, std::string{it.name()}, std::string{statistic}}] = value;
    ++counts_->values;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string prometheus_page::text(trial const& run) {
    if (!workers_.goes_on(run)) { workers_.begin_anew(); }
    workers_.advance(run, [&](worker_reader const& each) {
        return detail::latest_values{choice_, counts_, run_ + ",worker=\"" + std::to_string(each.number()) + '"'};
    });
    page_.clear();
    head("spotter_status", "gauge", "1 for the status that the run has, 0 for the others.");
    for (run_status const each : {run_status::running, run_status::finished, run_status::failed, run_status::died}) {
        line("spotter_status", run_ + ",status=\"" + std::string{name_of(each)} + '"', run.status() == each ? 1 : 0);
    }
    head("spotter_steps_total", "counter", "Steps that were closed, of all workers and modes.");
    line("spotter_steps_total", run_, static_cast<double>(run.closed_steps()));
    head("spotter_dropped_total", "counter", "Observations that were lost because the ring was full.");
    line("spotter_dropped_total", run_, static_cast<double>(run.totals().dropped));
    head("spotter_unreadable_total", "counter", "Values that could not be read, of those that were looked at.");
    line("spotter_unreadable_total", run_, static_cast<double>(counts_.damaged.size()));
    head("spotter_step", "gauge", "Index of the step that was closed last, of a mode.");
    workers_.each([&](latest const& it) {
        for (auto const& [which, index] : it.indices) {
            line("spotter_step", it.labels + of_mode(which), static_cast<double>(index));
        }
    });
    head("spotter_last_step_time_seconds", "gauge", "When a step was closed last, in seconds since 1970.");
    workers_.each([&](latest const& it) {
        if (!it.indices.empty()) { line("spotter_last_step_time_seconds", it.labels, it.time); }
    });
    head("spotter_step_duration_seconds", "gauge", "How long the step that was closed last took, of a mode.");
    workers_.each([&](latest const& it) {
        for (auto const& [which, each] : it.durations) {
            line("spotter_step_duration_seconds", it.labels + of_mode(which), each.last);
        }
    });
    head("spotter_step_seconds", "summary", "How long steps took, of a mode.");
    workers_.each([&](latest const& it) {
        for (auto const& [which, each] : it.durations) {
            line("spotter_step_seconds_sum", it.labels + of_mode(which), each.sum);
            line("spotter_step_seconds_count", it.labels + of_mode(which), static_cast<double>(each.count));
        }
    });
    head("spotter_findings_total", "counter", "What rules found in the loop.");
    workers_.each([&](latest const& it) {
        for (auto const& [level, count] : it.findings) {
            line("spotter_findings_total", it.labels + ",severity=\"" + std::string{name_of(level)} + '"',
                 static_cast<double>(count));
        }
    });
    add_values("spotter_value", "Last recorded value of a number.", true);
    add_values("spotter_statistic", "Last recorded statistic of a tensor.", false);
    if (kind_ == metrics_text::openmetrics) { page_ += "# EOF\n"; }
    return page_;
}

SPOTTER_BODY void prometheus_page::head(std::string_view name, std::string_view kind, std::string_view help) {
    // There a counter's family has the name without what its sample adds.
    if (kind_ == metrics_text::openmetrics && name.ends_with("_total")) { name.remove_suffix(6); }
    page_ += "# HELP " + std::string{name} + ' ' + std::string{help} + "\n# TYPE " + std::string{name} + ' ' +
             std::string{kind} + '\n';
}

SPOTTER_BODY void prometheus_page::line(std::string_view name, std::string const& labels, double const& value) {
    page_ += std::string{name} + labels + "} " + number_text(value, "NaN", "+Inf", "-Inf") + '\n';
}

SPOTTER_BODY void prometheus_page::add_values(std::string_view metric, std::string_view help, bool numbers) {
    head(metric, "gauge", help);
    workers_.each([&](latest const& it) {
        for (auto const& [key, value] : it.values) {
            if (key.statistic.empty() != numbers) { continue; }
            std::string labels = it.labels + of_mode(key.mode) + ",name=" + detail::prometheus_label(key.name);
            if (!numbers) { labels += ",statistic=\"" + key.statistic + '"'; }
            line(metric, labels, value);
        }
    });
}

}  // namespace spotter::inline SPOTTER_ABI
