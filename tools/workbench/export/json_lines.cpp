// SPDX-License-Identifier: Apache-2.0
// Workbench, export: a run as JSON lines: one a number, statistic, text or finding.
#include <spotter/export/recorded_steps.hpp>
#include <spotter/export/text.hpp>
#include <spotter/rule/describe.hpp>
#include <spotter/workbench/export.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

class json_lines_worker {
public:
    json_lines_worker(export_choice const& choice, text_sink const& put, export_counts& counts, error& why,
                      bool several)
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
    text_sink const* put_;
    export_counts* counts_;
    error* why_;
    bool several_;
};

// The implementation of json_lines_writer.
class json_lines_state {
public:
    json_lines_state(text_sink put, export_choice choice)
        : put_{std::move(put)}, choice_{std::move(choice)}, workers_{choice_} {}
    json_lines_state(json_lines_state const&) = delete;
    json_lines_state& operator=(json_lines_state const&) = delete;

    [[nodiscard]] error advance(trial const& run) {
        if (!workers_.goes_on(run)) { return export_of_another_run(); }
        bool const several = run.readers().size() > 1 || run.expected_workers() > 1;
        workers_.advance(
            run, [&](worker_reader const&) { return json_lines_worker{choice_, put_, counts_, why_, several}; });
        return why_;
    }
    [[nodiscard]] export_counts const& counts() const noexcept { return counts_; }

private:
    text_sink put_;
    export_choice choice_;
    export_counts counts_{};
    error why_{};
    recorded_workers<json_lines_worker> workers_;
};

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

json_lines_writer::json_lines_writer(text_sink put, export_choice choice)
    : its_{std::make_unique<detail::json_lines_state>(std::move(put), std::move(choice))} {}
json_lines_writer::~json_lines_writer() = default;

error json_lines_writer::advance(trial const& run) { return its_->advance(run); }
export_counts const& json_lines_writer::counts() const noexcept { return its_->counts(); }

}  // namespace spotter::inline SPOTTER_ABI
