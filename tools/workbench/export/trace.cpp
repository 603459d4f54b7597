// SPDX-License-Identifier: Apache-2.0
// Workbench, export: a run as a timeline for Perfetto and chrome://tracing: steps as slices, numbers as counters.
#include "export/trace_out.hpp"

#include <spotter/export/recorded_steps.hpp>
#include <spotter/rule/describe.hpp>
#include <spotter/trial/step_list.hpp>
#include <spotter/trial/trial.hpp>
#include <spotter/workbench/export.hpp>

#include <map>

namespace spotter::inline SPOTTER_ABI::detail {

template <class Out>
class trace_worker {
public:
    trace_worker(export_choice const& choice, Out& out, export_counts& counts, double begin, std::uint32_t worker)
        : choice_{&choice}, out_{&out}, counts_{&counts}, begin_{begin}, worker_{worker} {
        out.process(worker);
    }

    void step(recorded_step const& at) {
        ++counts_->steps;
        sections_.clear();
        if (!at.timing) {  // its duration is unknown
            return out_->instant(worker_, at.step.mode, label_of(at.step), "step", moment_of(at) - begin_);
        }
        from_ = (std::max)(to_, at.timing->closed - at.timing->seconds);  // after rounding it may overlap the previous
                                                                          // step
        to_ = (std::max)(from_, at.timing->closed);
        slice(at, label_of(at.step), "step", from_, to_ - from_);
    }
    void entry(recorded_step const& at, recorded_entry& it) {
        std::string_view const name = it.name();
        if (at.timing && name.starts_with(section_prefix) && name != step_time_name && it.is_number()) {
            if (measurement const found = it.number(); found.known && found.value >= 0) {
                sections_.push_back({std::string{name.substr(section_prefix.size())}, found.value});
            }
        }
        tell(at, it);
    }
    void finding(recorded_step const& at, spotter::finding const& it) {
        text<1024> line;
        describe(it, line);
        ++counts_->values;
        out_->instant(worker_, at.step.mode, it.rule, "finding", moment_of(at) - begin_, line.view());
    }
    void end(recorded_step const& at) {
        if (!sections_.empty()) { draw_sections(at, "", from_, to_); }
    }
    void loose(recorded_step const& at, recorded_entry& it) { tell(at, it); }

private:
    [[nodiscard]] static double moment_of(recorded_step const& at) noexcept {
        return at.timing ? at.timing->closed : at.time;
    }
    static constexpr std::string_view section_prefix = "time/";
    struct section {
        std::string path{};
        double seconds = 0;
    };

    void slice(recorded_step const& at, std::string_view name, std::string_view kind, double from, double seconds) {
        out_->slice(worker_, at.step.mode, name, kind, from - begin_, seconds);
    }
    // Draws a section's direct subsections one after another from its start: their durations are known, not their
    // positions.
    void draw_sections(recorded_step const& at, std::string const& inside, double from, double to) {
        for (section const& each : sections_) {
            bool const mine = each.path.starts_with(inside) && each.path.find('/', inside.size()) == std::string::npos;
            if (!mine) { continue; }
            double const seconds = (std::min)(each.seconds, to - from);
            slice(at, std::string_view{each.path}.substr(inside.size()), "section", from, seconds);
            draw_sections(at, each.path + '/', from, from + seconds);
            from += seconds;
        }
    }
    [[nodiscard]] static std::string label_of(step_id step) {
        return std::string{name_of(step.mode)} + ' ' + std::to_string(step.index);
    }
    void tell(recorded_step const& at, recorded_entry& it) {
        if (it.is_text()) { return; }
        double const time = it.time().value_or(moment_of(at));
        if (it.is_number()) {
            measurement const found = it.number();
            if (found.known) { count(at, it.name(), time, found.value); }
        } else {
            each_statistic(it, *choice_, [&](statistic which, double const& value) {
                count(at, std::string{it.name()} + ':' + std::string{which.name()}, time, value);
            });
        }
        if (!it.damaged()) { return; }
        counts_->damaged.push_back(place_of(at, it.name()));
        out_->instant(worker_, at.step.mode, std::string{it.name()} + " cannot be read", "unreadable", time - begin_,
                      {});
    }
    // A counter for each mode; values that are not finite are left out.
    void count(recorded_step const& at, std::string_view name, double time, double const& value) {
        if (!is_finite(value)) {
            ++counts_->left_out;
            return;
        }
        ++counts_->values;
        std::string title{name};
        if (at.step.mode != mode::train) { title += " (" + std::string{name_of(at.step.mode)} + ')'; }
        out_->counter(worker_, title, time - begin_, value);
    }

    export_choice const* choice_;
    Out* out_;
    export_counts* counts_;
    double begin_;
    std::uint32_t worker_;
    double from_ = 0, to_ = 0;         // the step
    std::vector<section> sections_{};  // of the step
};

// Numbers that a system_sampler recorded for a worker, as counters of its process.
template <class Out>
static void trace_samples(trial const& run, std::uint32_t worker_number, double begin, Out& out,
                          export_counts& counts) {
    auto const samples = open_samples(run, worker{worker_number});
    if (!samples) { return; }
    std::map<std::uint64_t, double> times;
    for (timed_step const& each : samples->times()) { times[each.step.index] = each.closed; }
    for (std::string const& name : samples->names("sys/*")) {
        for (point const& each : (*samples)[name].history(mean)) {
            auto const at = times.find(each.step.index);
            if (!each.known || at == times.end()) { continue; }
            if (!is_finite(each.value)) {
                ++counts.left_out;
                continue;
            }
            ++counts.values;
            out.counter(worker_number, name, at->second - begin, each.value);
        }
    }
}

// `out`: chrome_trace or perfetto_trace.
template <class Out>
static void draw_time_line(trial const& run, export_choice const& choice, Out& out, export_counts& counts) {
    out.begin();
    double begin = 0;
    for (auto const& each : run.readers()) {
        double first = each->index().begun_at();  // of the last attempt
        if (!each->index().steps().empty()) {
            closed_step const it = each->index().steps().front();
            auto const timing = each->index().times().find(it.step, it.ordinal, each->number());
            first = (std::min)(first, timing ? timing->begun : it.time);
        }
        begin = begin > 0 ? (std::min)(begin, first) : first;
    }
    recorded_workers<trace_worker<Out>> workers{choice};
    workers.advance(
        run, [&](worker_reader const& each) { return trace_worker<Out>{choice, out, counts, begin, each.number()}; });
    for (auto const& each : run.readers()) { trace_samples(run, each->number(), begin, out, counts); }
    out.end(name_of(run.status()));
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

error write_trace(trial const& run, export_choice const& choice, text_sink const& put, export_counts& counts) {
    error why;
    detail::chrome_trace out{put, why};
    detail::draw_time_line(run, choice, out, counts);
    return why;
}

error write_perfetto(trial const& run, export_choice const& choice, text_sink const& put, export_counts& counts) {
    error why;
    detail::perfetto_trace out{put, why};
    detail::draw_time_line(run, choice, out, counts);
    return why;
}

}  // namespace spotter::inline SPOTTER_ABI
