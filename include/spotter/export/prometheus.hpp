// SPDX-License-Identifier: Apache-2.0
// Export (L5): how a run stands, as the text that Prometheus scrapes: the last value of every number and statistic.
#pragma once

#include <spotter/export/recorded_steps.hpp>

#include <map>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A value of a label, in quotes.
[[nodiscard]] std::string prometheus_label(std::string_view from);

// What one worker said last.
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
        std::string statistic{};  // empty of a number
        friend auto operator<=>(key const&, key const&) = default;
    };
    std::string labels;
    std::map<key, double> values{};
    std::map<mode, std::uint64_t> indices{};
    std::map<severity, std::uint64_t> findings{};
    double time = 0;  // of the last closing
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

}  // namespace detail

// Prometheus' exposition format 0.0.4, or OpenMetrics 1.0, whose families of counters have other names and whose text
// has an end.
enum class metrics_text : std::uint8_t { prometheus, openmetrics };

// The page of a run, without times: a scrape gives them. Metrics: spotter_status (1 of the status that holds),
// spotter_step and spotter_last_step_time_seconds, spotter_step_duration_seconds (of the last),
// spotter_step_seconds_sum and _count, spotter_steps_total, spotter_findings_total, spotter_dropped_total,
// spotter_unreadable_total, spotter_value of a number (NaN where the last one cannot be read) and spotter_statistic of
// a tensor. Labels: run, worker, mode, name, statistic.
class prometheus_page {
public:
    // `title` is the label run.
    explicit prometheus_page(std::string_view title, export_choice choice = {},
                             metrics_text kind = metrics_text::prometheus)
        : run_{"{run=" + detail::prometheus_label(title)}, choice_{std::move(choice)}, kind_{kind}, workers_{choice_} {}
    prometheus_page(prometheus_page const&) = delete;
    prometheus_page& operator=(prometheus_page const&) = delete;

    // Takes in what was closed since the last call, and gives the whole text. Of the run that the trial is now: where
    // another has taken its place, of that one alone.
    [[nodiscard]] std::string text(trial const& run);
    [[nodiscard]] export_counts const& counts() const noexcept { return counts_; }  // so far

private:
    using latest = detail::latest_values;

    [[nodiscard]] static std::string of_mode(mode which) { return ",mode=\"" + std::string{name_of(which)} + '"'; }
    void head(std::string_view name, std::string_view kind, std::string_view help);
    void line(std::string_view name, std::string const& labels, double const& value);
    void add_values(std::string_view metric, std::string_view help, bool numbers);

    std::string run_;
    export_choice choice_;
    metrics_text kind_;
    export_counts counts_{};
    recorded_workers<detail::latest_values> workers_;
    std::string page_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/prometheus.ipp>
#endif
