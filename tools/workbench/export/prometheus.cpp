// SPDX-License-Identifier: Apache-2.0
// Workbench, export: the state of a run as text for Prometheus: the latest value of every number and statistic.
#include <spotter/export/recorded_steps.hpp>
#include <spotter/export/text.hpp>
#include <spotter/workbench/export.hpp>

#include <bit>
#include <map>

namespace spotter::inline SPOTTER_ABI::detail {

// A quoted label value.
[[nodiscard]] static std::string prometheus_label(std::string_view from) {
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

// The latest values of one worker.
class latest_values {
public:
    latest_values(export_choice const& choice, export_counts& counts, std::string own)
        : labels{std::move(own)}, choice_{&choice}, counts_{&counts} {}

    void step(recorded_step const& at);
    void entry(recorded_step const& at, recorded_entry& it);
    void finding(recorded_step const&, spotter::finding const& it) { ++findings[it.severity]; }
    void end(recorded_step const&) {}
    void loose(recorded_step const& at, recorded_entry& it) { entry(at, it); }

    struct key {
        spotter::mode mode{};
        std::string name{};
        std::string statistic{};  // empty for a number
        friend auto operator<=>(key const&, key const&) = default;
    };
    std::string labels;
    std::map<key, double> values{};
    std::map<mode, std::uint64_t> indices{};
    std::map<severity, std::uint64_t> findings{};
    double time = 0;  // of the last close
    struct duration {
        double last = 0, sum = 0;
        std::uint64_t count = 0;
    };
    std::map<mode, duration> durations{};  // of steps

private:
    void put(recorded_step const& at, recorded_entry const& it, std::string_view statistic, double const& value);

    export_choice const* choice_;
    export_counts* counts_;
};

// The implementation of prometheus_page.
class prometheus_state {
public:
    prometheus_state(std::string_view title, export_choice choice, metrics_text kind)
        : run_{"{run=" + prometheus_label(title)}, choice_{std::move(choice)}, kind_{kind}, workers_{choice_} {}
    prometheus_state(prometheus_state const&) = delete;
    prometheus_state& operator=(prometheus_state const&) = delete;

    [[nodiscard]] std::string text(trial const& run);
    [[nodiscard]] export_counts const& counts() const noexcept { return counts_; }

private:
    using latest = latest_values;

    [[nodiscard]] static std::string of_mode(mode which) { return ",mode=\"" + std::string{name_of(which)} + '"'; }
    void head(std::string_view name, std::string_view kind, std::string_view help);
    void line(std::string_view name, std::string const& labels, double const& value);
    void add_values(std::string_view metric, std::string_view help, bool numbers);

    std::string run_;
    export_choice choice_;
    metrics_text kind_;
    export_counts counts_{};
    recorded_workers<latest_values> workers_;
    std::string page_{};
};

void latest_values::step(recorded_step const& at) {
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

void latest_values::entry(recorded_step const& at, recorded_entry& it) {
    if (it.is_text()) { return; }
    if (it.is_number()) {
        measurement const found = it.number();
        // An earlier value must not stand for the latest.
        put(at, it, {}, found.known ? found.value : std::bit_cast<double>(0x7FF8000000000000ULL));
    } else {
        each_statistic(it, *choice_, [&](statistic which, double const& value) { put(at, it, which.name(), value); });
    }
    if (it.damaged()) { counts_->damaged.push_back(place_of(at, it.name())); }
}

void latest_values::put(recorded_step const& at, recorded_entry const& it, std::string_view statistic,
                        double const& value) {
    values[{at.step.mode, std::string{it.name()}, std::string{statistic}}] = value;
    ++counts_->values;
}

std::string prometheus_state::text(trial const& run) {
    if (!workers_.goes_on(run)) { workers_.begin_anew(); }
    workers_.advance(run, [&](worker_reader const& each) {
        return latest_values{choice_, counts_, run_ + ",worker=\"" + std::to_string(each.number()) + '"'};
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

void prometheus_state::head(std::string_view name, std::string_view kind, std::string_view help) {
    // In OpenMetrics a counter's family has the name without the suffix of its sample.
    if (kind_ == metrics_text::openmetrics && name.ends_with("_total")) { name.remove_suffix(6); }
    page_ += "# HELP " + std::string{name} + ' ' + std::string{help} + "\n# TYPE " + std::string{name} + ' ' +
             std::string{kind} + '\n';
}

void prometheus_state::line(std::string_view name, std::string const& labels, double const& value) {
    page_ += std::string{name} + labels + "} " + number_text(value, "NaN", "+Inf", "-Inf") + '\n';
}

void prometheus_state::add_values(std::string_view metric, std::string_view help, bool numbers) {
    head(metric, "gauge", help);
    workers_.each([&](latest const& it) {
        for (auto const& [key, value] : it.values) {
            if (key.statistic.empty() != numbers) { continue; }
            std::string labels = it.labels + of_mode(key.mode) + ",name=" + prometheus_label(key.name);
            if (!numbers) { labels += ",statistic=\"" + key.statistic + '"'; }
            line(metric, labels, value);
        }
    });
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

prometheus_page::prometheus_page(std::string_view title, export_choice choice, metrics_text kind)
    : its_{std::make_unique<detail::prometheus_state>(title, std::move(choice), kind)} {}
prometheus_page::~prometheus_page() = default;

std::string prometheus_page::text(trial const& run) { return its_->text(run); }
export_counts const& prometheus_page::counts() const noexcept { return its_->counts(); }

}  // namespace spotter::inline SPOTTER_ABI
