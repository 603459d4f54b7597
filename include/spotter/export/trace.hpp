// SPDX-License-Identifier: Apache-2.0
// Export (L5): a run on a time line, for Perfetto and chrome://tracing: steps as slices, numbers as counters.
#pragma once

#include <spotter/export/json_lines.hpp>
#include <spotter/trial/samples.hpp>
#include <spotter/trial/step_list.hpp>

#include <map>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Put>
class trace_worker {
public:
    trace_worker(export_choice const& choice, Put& put, export_counts& counts, error& why, double begin,
                 std::uint32_t worker)
        : choice_{&choice}, put_{&put}, counts_{&counts}, why_{&why}, begin_{begin} {
        own_ = "\"pid\":" + std::to_string(worker);
        send("\"ph\":\"M\",\"name\":\"process_name\"," + own_ + ",\"tid\":0,\"args\":{\"name\":\"worker " +
             std::to_string(worker) + "\"}");
        for (mode const each : {mode::train, mode::eval, mode::predict}) {
            send("\"ph\":\"M\",\"name\":\"thread_name\"," + own_ + thread_of(each) +
                 ",\"args\":{\"name\":" + json_text(name_of(each)) + "}");
        }
    }

    void step(recorded_step const& at) {
        ++counts_->steps;
        sections_.clear();
        if (!at.timing) {  // nobody knows how long it took
            return send("\"ph\":\"i\",\"s\":\"t\",\"name\":" + json_text(label_of(at.step)) +
                        ",\"cat\":\"step\",\"ts\":" + microseconds(moment_of(at)) + ',' + own_ + thread_of(at.step.mode));
        }
        from_ = (std::max)(to_, at.timing->closed - at.timing->seconds);  // rounded, it may reach into the step before
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
        send("\"ph\":\"i\",\"s\":\"p\",\"name\":" + json_text(it.rule) +
             ",\"cat\":\"finding\",\"ts\":" + microseconds(moment_of(at)) + ',' + own_ + thread_of(at.step.mode) +
             ",\"args\":{\"text\":" + json_text(line.view()) + "}");
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
        send("\"ph\":\"X\",\"name\":" + json_text(name) + ",\"cat\":\"" + std::string{kind} +
             "\",\"ts\":" + microseconds(from) + ",\"dur\":" + number_text(seconds * 1e6) + ',' + own_ +
             thread_of(at.step.mode));
    }
    // Those right inside a section, one behind the other from its start on: their lengths are known, not their places.
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
    [[nodiscard]] static std::string thread_of(mode which) { return ",\"tid\":" + std::to_string(index_of(which) + 1); }
    [[nodiscard]] std::string microseconds(double const& time) const { return number_text((time - begin_) * 1e6); }
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
        if (it.damaged()) { counts_->damaged.push_back(place_of(at, it.name())); }
    }
    // A counter for each mode; what is not finite has no place in it.
    void count(recorded_step const& at, std::string_view name, double time, double const& value) {
        if (!is_finite(value)) {
            ++counts_->left_out;
            return;
        }
        ++counts_->values;
        std::string title{name};
        if (at.step.mode != mode::train) { title += " (" + std::string{name_of(at.step.mode)} + ')'; }
        send("\"ph\":\"C\",\"name\":" + json_text(title) + ",\"ts\":" + microseconds(time) + ',' + own_ +
             ",\"args\":{\"value\":" + number_text(value) + "}");
    }
    void send(std::string const& fields) {
        if (!*why_) { *why_ = (*put_)(std::string_view{"{" + fields + "},\n"}); }
    }

    export_choice const* choice_;
    Put* put_;
    export_counts* counts_;
    error* why_;
    double begin_;
    double from_ = 0, to_ = 0;  // the step
    std::string own_{};
    std::vector<section> sections_{};  // of the step
};

// Numbers that a system_sampler recorded beside a worker, as counters of its process.
template <class Put>
[[nodiscard]] error trace_samples(trial const& run, std::uint32_t worker_number, double begin, Put& put, export_counts& counts) {
    error why;
    auto const samples = open_samples(run, worker{worker_number});
    if (!samples) { return why; }
    std::map<std::uint64_t, double> times;
    for (timed_step const& each : samples->times()) { times[each.step.index] = each.closed; }
    std::string const own = ",\"pid\":" + std::to_string(worker_number);
    for (std::string const& name : samples->names("sys/*")) {
        for (point const& each : (*samples)[name].history(mean)) {
            auto const at = times.find(each.step.index);
            if (why || !each.known || at == times.end()) { continue; }
            if (!is_finite(each.value)) {
                ++counts.left_out;
                continue;
            }
            ++counts.values;
            why = put(std::string_view{"{\"ph\":\"C\",\"name\":" + json_text(name) + ",\"ts\":" + number_text((at->second - begin) * 1e6) + own +
                                       ",\"args\":{\"value\":" + number_text(each.value) + "}},\n"});
        }
    }
    return why;
}

}  // namespace detail

// Calls put(piece) with the pieces of one JSON document in Chrome's trace event format. A process is a worker, a thread a mode; a step
// lasts from the close before it to its own, by the clock of the thread that trained (in an older record, which has no such times, it is an
// instant); its sections are slices in it, in order, each as long as all it took in the step; a counter is a number, a statistic of a tensor, or what was sampled of the machine beside the
// run; a finding is an instant. Times are
// microseconds since the run began. NaN and infinities are left out, and counted in export_counts::left_out. `counts` is added to.
template <text_sink Put>
[[nodiscard]] error write_trace(trial const& run, export_choice const& choice, Put&& put, export_counts& counts) {
    error why = put(std::string_view{"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"});
    double begin = 0;
    for (auto const& each : run.readers()) {
        double first = each->index().begun_at();  // of the latest attempt
        if (!each->index().steps().empty()) {
            closed_step const it = each->index().steps().front();
            auto const timing = each->index().times().find(it.step, it.ordinal, each->number());
            first = (std::min)(first, timing ? timing->begun : it.time);
        }
        begin = begin > 0 ? (std::min)(begin, first) : first;
    }
    recorded_workers<detail::trace_worker<std::remove_reference_t<Put>>> workers{choice};
    workers.advance(run, [&](worker_reader const& each) {
        return detail::trace_worker<std::remove_reference_t<Put>>{choice, put, counts, why, begin, each.number()};
    });
    for (auto const& each : run.readers()) {
        if (!why) { why = detail::trace_samples(run, each->number(), begin, put, counts); }
    }
    std::string const status{name_of(run.status())};
    if (!why) {
        why = put(
            std::string_view{"{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":0,\"tid\":0,\"args\":{\"labels\":\"" +
                             status + "\"}}]}\n"});
    }
    return why;
}

}  // namespace spotter::inline SPOTTER_ABI
