// SPDX-License-Identifier: Apache-2.0
// Export (L5): a run as an MCAP file, for Foxglove and its like: a topic a number, tensor or text, beside what a robot
// recorded.
#pragma once

#include <spotter/export/mcap_file.hpp>
#include <spotter/export/recorded_steps.hpp>
#include <spotter/export/text.hpp>
#include <spotter/export/text_sink.hpp>
#include <spotter/rule/describe.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

struct mcap_schemas {
    std::uint16_t number = 0, statistics = 0, text = 0, log = 0;
};
[[nodiscard]] mcap_schemas add_mcap_schemas(mcap_file& file);
[[nodiscard]] std::uint64_t nanoseconds_of(double seconds) noexcept;
// A number, or null: JSON has no NaN and no infinity.
[[nodiscard]] std::string json_or_null(double const& value, export_counts& counts);

class mcap_worker {
public:
    mcap_worker(export_choice const& choice, mcap_file& file, mcap_schemas const& schemas, export_counts& counts,
                error& why, std::string front)
        : choice_{&choice}, file_{&file}, schemas_{&schemas}, counts_{&counts}, why_{&why}, front_{std::move(front)} {}

    void step(recorded_step const&) { ++counts_->steps; }
    void entry(recorded_step const& at, recorded_entry& it) { tell(at, it, false); }
    void finding(recorded_step const& at, spotter::finding const& it);
    void end(recorded_step const&) {}
    void loose(recorded_step const& at, recorded_entry& it) { tell(at, it, true); }

private:
    void tell(recorded_step const& at, recorded_entry& it, bool loose);
    void send(std::string const& topic, std::uint16_t schema, double seconds, std::string const& data);
    // A foxglove.Log at `/findings`.
    void log(double time, int level, std::string_view message, std::string_view rule, std::string_view tensor,
             std::uint64_t index);

    export_choice const* choice_;
    mcap_file* file_;
    mcap_schemas const* schemas_;
    export_counts* counts_;
    error* why_;
    std::string front_;  // "", or "/worker-1"
};

}  // namespace detail

// Calls put(piece) with the pieces of one file. Topics are /train/loss, /eval/loss, of several workers
// /worker-1/train/loss; messages are JSON: {"step", "value"} of a number, {"step", "l2", ...} of a tensor's statistics,
// {"step", "text"}, each with its schema; findings are of foxglove.Log at /findings. NaN and infinities are null, and
// counted in export_counts::left_out. A scalar between steps has no "step". Times are when steps were closed. `counts`
// is added to.
template <text_sink Put>
[[nodiscard]] error write_mcap(trial const& run, export_choice const& choice, Put&& put, export_counts& counts) {
    mcap_file file;
    detail::mcap_schemas const schemas = detail::add_mcap_schemas(file);
    bool const several = run.readers().size() > 1 || run.expected_workers() > 1;
    error why;
    // One worker's steps at once, so that what is waiting to be written stays small.
    struct worker_sink {
        detail::mcap_worker take;
        mcap_file* file;
        std::remove_reference_t<Put>* put;
        error* why;
        void step(recorded_step const& at) { take.step(at); }
        void entry(recorded_step const& at, recorded_entry& it) { take.entry(at, it); }
        void finding(recorded_step const& at, spotter::finding const& it) { take.finding(at, it); }
        void loose(recorded_step const& at, recorded_entry& it) { take.loose(at, it); }
        void end(recorded_step const&) {
            std::string const piece = file->take();
            if (!*why && !piece.empty()) { *why = (*put)(std::string_view{piece}); }
        }
    };
    recorded_workers<worker_sink> workers{choice};
    workers.advance(run, [&](worker_reader const& each) {
        std::string front = several ? "/worker-" + std::to_string(each.number()) : std::string{};
        return worker_sink{{choice, file, schemas, counts, why, std::move(front)}, &file, &put, &why};
    });
    file.add_metadata("spotter", {{"run", std::string{run.path()}},
                                  {"status", std::string{name_of(run.status())}},
                                  {"steps", std::to_string(run.closed_steps())}});
    file.finish();
    if (!why) { why = file.trouble(); }
    return why ? why : put(std::string_view{file.take()});
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/mcap.ipp>
#endif
