// SPDX-License-Identifier: Apache-2.0
// Record (L4): the sink that keeps the latest complete steps in shared memory, and writes them after a finding.
#pragma once

#include <spotter/record/run_producer.hpp>

namespace spotter::inline SPOTTER_ABI {

// Records into the folder `flight` of another run (docs/record.md). Every observation goes into the ring with its
// values; the oldest steps make room. After a step with a finding and `options::flight_steps_after` more steps, the
// content of the ring is written. In between no step is discarded: what does not fit is written at once.
class flight_recorder {
public:
    // `folder` and `choices` are those of the main run.
    flight_recorder(std::string_view folder, options const& choices, file_system& files) noexcept;
    flight_recorder(flight_recorder const&) = delete;
    flight_recorder& operator=(flight_recorder const&) = delete;
    ~flight_recorder();

    void start(run_info const& run) noexcept { record_.start(run); }
    [[nodiscard]] bool wants_all() const noexcept { return record_.has_folder(); }
    void declare(tensor_info const& tensor) noexcept { record_.declare_apart(tensor); }
    void observe(observation const& seen, stats_mask keep) noexcept;
    void feature(tensor_info const&, step_id, std::uint64_t, std::span<double const>) noexcept {}  // it has the values
    void scalar(tensor_info const& tensor, step_id const* step, tensor_ref const& value, double const* time) noexcept;
    // The fast form of a number.
    void number(tensor_info const& tensor, step_id const& step, plain_number value) noexcept;
    void stamp(step_moments const& times) noexcept { record_.stamp(times); }
    void close(step_id step, step_alarm const& found) noexcept { end_step(step, found, true); }
    void leave(step_id step, step_alarm const& found) noexcept { end_step(step, found, false); }
    // If the run failed, the last steps are written.
    void finish(run_end const& end) noexcept;
    void flush() noexcept {}
    [[nodiscard]] sink_health health() const noexcept { return record_.health(); }
    [[nodiscard]] std::string_view path() const noexcept { return record_.path(); }

private:
    [[nodiscard]] static options options_beside(options const& choices) noexcept;
    void end_step(step_id step, step_alarm const& found, bool whole) noexcept;
    // A step was closed, with or without a finding. Consecutive steps with findings are written once.
    void fly_on(bool has_finding) noexcept;
    [[nodiscard]] static bool make_room(void* self) noexcept;

    run_producer record_;
    std::uint64_t fly_for_ = 0;  // steps until the ring is written; 0: no finding
    std::uint32_t steps_after_;
    bool quiet_ = true;     // no finding at the last close
    bool overrun_ = false;  // the open step alone is larger than the ring: it is dropped up to its end
};

static_assert(event_sink<flight_recorder>);

#if SPOTTER_BODIES

SPOTTER_BODY flight_recorder::flight_recorder(std::string_view folder, options const& choices,
                                              file_system& files) noexcept
    : record_{path_text{folder, layout::flight_name}, options_beside(choices), files, choices.worker},
      steps_after_{choices.flight_steps_after} {
    if (record_.has_folder()) { record_.when_full({make_room, this}); }
}

SPOTTER_BODY flight_recorder::~flight_recorder() {
    if (record_.is_open()) { finish({ending::failed, "hook was destroyed without finish", {}, 0}); }
}

SPOTTER_BODY void flight_recorder::observe(observation const& seen, stats_mask) noexcept {
    if (overrun_) { return record_.drop(); }
    record_.observe(seen, stats_mask::payload | (seen.stats.has & pass_terms));
}

SPOTTER_BODY void flight_recorder::scalar(tensor_info const& tensor, step_id const* step, tensor_ref const& value,
                                          double const* time) noexcept {
    if (overrun_) { return record_.drop(); }
    record_.scalar(tensor, step, value, time);
}

SPOTTER_BODY void flight_recorder::number(tensor_info const& tensor, step_id const& step, plain_number value) noexcept {
    overrun_ ? record_.drop() : record_.number(tensor, step, value);
}

SPOTTER_BODY void flight_recorder::finish(run_end const& end) noexcept {
    if (record_.is_open()) {
        if (fly_for_ > 0 || end.how == ending::failed) { record_.write_out(); }
        while (record_.discard_step()) {}
    }
    record_.finish({end.how, end.why, {}, 0});
}

SPOTTER_COLD_BODY options flight_recorder::options_beside(options const& choices) noexcept {
    options own{};
    own.existing = choices.existing == existing::replace ? existing::replace : existing::resume;
    own.drain = drain::poll;
    own.ring_in = ring_in::shared_memory;
    own.ring_bytes = choices.flight_bytes;
    own.clock = choices.clock;
    return own;
}

SPOTTER_BODY void flight_recorder::end_step(step_id step, step_alarm const& found, bool whole) noexcept {
    if (!overrun_) { whole ? record_.close(step, found) : record_.leave(step, found); }
    if (overrun_ && record_.is_open()) {
        while (record_.discard_step()) {}
        record_.note({errc::dropped, "a step is larger than the flight recorder: raise options::flight_bytes"});
        overrun_ = false;
    }
    fly_on(static_cast<bool>(found));
}

SPOTTER_BODY void flight_recorder::fly_on(bool has_finding) noexcept {
    if (has_finding && quiet_ && fly_for_ == 0) { fly_for_ = steps_after_ + std::uint64_t{1}; }
    quiet_ = !has_finding;
    if (fly_for_ > 0 && --fly_for_ == 0) { record_.write_out(); }
    if (record_.has_folder()) { record_.when_full(fly_for_ == 0 ? room_maker{make_room, this} : room_maker{}); }
}

SPOTTER_COLD_BODY bool flight_recorder::make_room(void* self) noexcept {
    auto& it = *static_cast<flight_recorder*>(self);
    it.overrun_ = !it.record_.discard_step();
    return !it.overrun_;
}

#endif

}  // namespace spotter::inline SPOTTER_ABI
