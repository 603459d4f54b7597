// SPDX-License-Identifier: Apache-2.0
// Export (L5): a run as JSON lines: one a number, statistic, text or finding.
#pragma once

#include <spotter/export/recorded_steps.hpp>
#include <spotter/export/text.hpp>
#include <spotter/export/text_sink.hpp>
#include <spotter/rule/describe.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Put>
class json_lines_worker {
public:
    json_lines_worker(export_choice const& choice, Put& put, export_counts& counts, error& why, bool several)
        : choice_{&choice}, put_{&put}, counts_{&counts}, why_{&why}, several_{several} {}

    void step(recorded_step const&) { ++counts_->steps; }
    void entry(recorded_step const& at, recorded_entry& it) { tell(at, it, false); }
    void finding(recorded_step const& at, spotter::finding const& it) {
        text<1024> line;
        describe(it, line);
        send(begin(at, "findings", at.time) + ",\"severity\":" + json_text(name_of(it.severity)) +
             ",\"rule\":" + json_text(it.rule) + ",\"text\":" + json_text(line.view()));
    }
    void end(recorded_step const&) {}
    void loose(recorded_step const& at, recorded_entry& it) { tell(at, it, true); }

private:
    [[nodiscard]] std::string begin(recorded_step const& at, std::string_view name, double time,
                                    bool loose = false) const {
        std::string line = "{\"name\":" + json_text(name);
        if (!loose) {
            line += ",\"step\":" + std::to_string(at.ordinal) + ",\"mode\":" + json_text(name_of(at.step.mode)) +
                    ",\"index\":" + std::to_string(at.step.index);
        }
        line += ",\"time\":" + json_number(time);
        if (several_) { line += ",\"worker\":" + std::to_string(at.worker); }
        return line;
    }
    void tell(recorded_step const& at, recorded_entry& it, bool loose) {
        std::string const head = begin(at, it.name(), it.time().value_or(at.time), loose);
        if (it.is_text()) { return send(head + ",\"text\":" + json_text(it.text())); }
        if (it.is_number()) {
            std::string const digits = it.digits();
            measurement const found = it.number();
            if (found.known) { send(head + ",\"value\":" + (digits.empty() ? json_number(found.value) : digits)); }
        } else {
            each_statistic(it, *choice_, [&](statistic which, double const& value) {
                send(head + ",\"statistic\":" + json_text(which.name()) + ",\"value\":" + json_number(value));
            });
        }
        if (!it.damaged()) { return; }
        counts_->damaged.push_back(place_of(at, it.name()));
        send(head + ",\"unreadable\":true");
    }
    void send(std::string const& line) {
        ++counts_->values;
        if (!*why_) { *why_ = (*put_)(std::string_view{line + "}\n"}); }
    }

    export_choice const* choice_;
    Put* put_;
    export_counts* counts_;
    error* why_;
    bool several_;
};

}  // namespace detail

// Calls put(line), each with its final \n, for what the run holds and was not told yet: {"name", "step", "mode",
// "index", "time"} as in the columns of CSV, `worker` in a run of several, then `value` of a number, `statistic` and
// `value` of a tensor, `text` of a text, or `severity`, `rule` and `text` of a finding. A scalar between steps has no
// step, mode and index. NaN and infinities are "nan", "inf", "-inf"; of values that cannot be read there is
// `unreadable`, true; integers have all their digits, which a reader that takes every number for a double loses beyond
// 2^53. In the order of the record, each worker's after the other; every closing, that of a step which is closed again
// later, too.
template <text_sink Put>
class json_lines_writer {
public:
    explicit json_lines_writer(Put put, export_choice choice = {})
        : put_{std::move(put)}, choice_{std::move(choice)}, workers_{choice_} {}
    json_lines_writer(json_lines_writer const&) = delete;
    json_lines_writer& operator=(json_lines_writer const&) = delete;

    // errc::replaced where the trial is another run now: nothing of that is written.
    [[nodiscard]] error advance(trial const& run) {
        if (!workers_.goes_on(run)) { return detail::export_of_another_run(); }
        bool const several = run.readers().size() > 1 || run.expected_workers() > 1;
        workers_.advance(run, [&](worker_reader const&) {
            return detail::json_lines_worker<Put>{choice_, put_, counts_, why_, several};
        });
        return why_;
    }
    [[nodiscard]] export_counts const& counts() const noexcept { return counts_; }  // of all workers, so far

private:
    Put put_;
    export_choice choice_;
    export_counts counts_{};
    error why_{};
    recorded_workers<detail::json_lines_worker<Put>> workers_;
};

}  // namespace spotter::inline SPOTTER_ABI
