// SPDX-License-Identifier: Apache-2.0
// Workbench, export: the content of the rows of a run's Parquet table.
#include "export/parquet_table.hpp"

#include <spotter/export/recorded_steps.hpp>
#include <spotter/workbench/parquet.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Indices of columns; those of statistics are between `text` and `hash`.
enum parquet_place : std::size_t {
    at_run,
    at_worker,
    at_attempt,
    at_step,
    at_mode,
    at_index,
    at_time,
    at_seconds,
    at_name,
    at_role,
    at_value,
    at_text,
    at_statistics
};
enum parquet_behind : std::size_t { at_hash, at_severity, at_rule, at_reason, at_measure, at_measured, at_threshold };

[[nodiscard]] static std::vector<statistic> statistics_for(export_choice const& choice) {
    if (!choice.statistics.empty()) { return choice.statistics; }
    return {std::begin(usual_statistics), std::end(usual_statistics)};
}
[[nodiscard]] static std::vector<parquet_column> parquet_columns(std::vector<statistic> const& statistics) {
    using type = parquet_type;
    std::vector<parquet_column> made{
        {"run", type::text, true},  {"worker", type::i32, false}, {"attempt", type::i32, false},
        {"step", type::i64, true},  {"mode", type::text, true},   {"index", type::i64, true},
        {"time", type::f64, false}, {"seconds", type::f64, true}, {"name", type::text, false},
        {"role", type::text, true}, {"value", type::f64, true},   {"text", type::text, true}};
    for (statistic const& each : statistics) { made.push_back({std::string{each.name()}, type::f64, true}); }
    for (char const* const each : {"hash", "severity", "rule", "reason", "measure", "measured", "threshold"}) {
        std::string_view const name = each;
        bool const number = name == "measured" || name == "threshold";
        made.push_back({each, name == "hash" ? type::i64 : number ? type::f64 : type::text, true});
    }
    return made;
}

// Writes a worker's steps to the table.
class parquet_worker {
public:
    parquet_worker(parquet_choice const& choice, std::vector<statistic> const& statistics, parquet_table& file,
                   export_counts& counts)
        : choice_{&choice}, statistics_{&statistics}, file_{&file}, counts_{&counts} {}

    void step(recorded_step const&) { ++counts_->steps; }
    void end(recorded_step const&) {}
    void entry(recorded_step const& at, recorded_entry& it) { tell(at, it, false); }
    void loose(recorded_step const& at, recorded_entry& it) { tell(at, it, true); }
    void finding(recorded_step const& at, spotter::finding const& it) {
        begin(at, it.tensor, at.time, false);
        put(at_severity, name_of(it.severity));
        put(at_rule, it.rule);
        put(at_reason, it.reason);
        put(at_measure, it.measure);
        file_->put(behind(at_measured), it.measured);
        file_->put(behind(at_threshold), it.threshold);
        end_row();
    }

private:
    [[nodiscard]] std::size_t behind(parquet_behind place) const noexcept {
        return at_statistics + statistics_->size() + place;
    }
    void put(parquet_behind place, std::string_view text) {
        if (!text.empty()) { file_->put(behind(place), text); }
    }
    void begin(recorded_step const& at, std::string_view name, double const& time, bool loose) {
        if (!choice_->run.empty()) { file_->put(at_run, std::string_view{choice_->run}); }
        file_->put(at_worker, std::int64_t{at.worker});
        file_->put(at_attempt, std::int64_t{at.attempt == unknown_attempt ? 0 : at.attempt});
        file_->put(at_time, time);
        file_->put(at_name, name);
        if (loose) { return; }
        file_->put(at_step, static_cast<std::int64_t>(at.ordinal));
        file_->put(at_mode, name_of(at.step.mode));
        file_->put(at_index, static_cast<std::int64_t>(at.step.index));
        if (at.timing) { file_->put(at_seconds, at.timing->seconds); }
    }
    void end_row() {
        file_->end_row();
        ++counts_->values;
    }
    void tell(recorded_step const& at, recorded_entry& it, bool loose) {
        begin(at, it.name(), it.time().value_or(at.time), loose);
        file_->put(at_role, name_of(it.tensor().info.role));
        if (it.is_text()) {
            file_->put(at_text, it.text());
        } else if (it.is_number()) {
            if (measurement const found = it.number(); found.known) { file_->put(at_value, found.value); }
        } else {
            put_statistics(it);
        }
        if (it.damaged()) {
            counts_->damaged.push_back(place_of(at, it.name()));
            put(at_reason, name_of(errc::corrupt));
        }
        end_row();
    }
    void put_statistics(recorded_entry& it) {
        stats_mask wanted = stats_mask::hash;
        for (statistic const& each : *statistics_) { wanted |= each.needs(); }
        summary const stats = it.stats(wanted, !choice_->what.statistics.empty());
        for (std::size_t i = 0; i < statistics_->size(); ++i) {
            if (measurement const found = recorded_measurement((*statistics_)[i], stats); found.known) {
                file_->put(at_statistics + i, found.value);
            }
        }
        if (has(stats.has, stats_mask::hash)) { file_->put(behind(at_hash), static_cast<std::int64_t>(stats.hash)); }
    }

    parquet_choice const* choice_;
    std::vector<statistic> const* statistics_;
    parquet_table* file_;
    export_counts* counts_;
};

class parquet_run {
public:
    parquet_run(parquet_choice choice, std::function<error(byte_view)> to)
        : choice_{std::move(choice)}, statistics_{statistics_for(choice_.what)},
          file_{parquet_columns(statistics_), std::move(to)} {}
    parquet_run(parquet_run const&) = delete;
    parquet_run& operator=(parquet_run const&) = delete;

    void add(trial const& run) {
        recorded_workers<parquet_worker> workers{choice_.what};
        workers.advance(run,
                        [&](worker_reader const&) { return parquet_worker{choice_, statistics_, file_, counts_}; });
    }
    [[nodiscard]] error finish() { return file_.finish(); }
    [[nodiscard]] export_counts const& counts() const noexcept { return counts_; }

private:
    parquet_choice choice_;
    std::vector<statistic> statistics_;
    parquet_table file_;
    export_counts counts_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

parquet_writer::parquet_writer(parquet_choice choice, std::function<error(byte_view)> to)
    : its_{std::make_unique<detail::parquet_run>(std::move(choice), std::move(to))} {}
parquet_writer::parquet_writer(parquet_writer&& other) noexcept = default;
parquet_writer& parquet_writer::operator=(parquet_writer&& other) noexcept = default;
parquet_writer::~parquet_writer() = default;

void parquet_writer::add(trial const& run) { its_->add(run); }
error parquet_writer::finish() { return its_->finish(); }
export_counts const& parquet_writer::counts() const noexcept { return its_->counts(); }

}  // namespace spotter::inline SPOTTER_ABI
