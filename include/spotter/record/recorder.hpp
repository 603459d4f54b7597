// SPDX-License-Identifier: Apache-2.0
// Record (L4): the sink that writes a run to files, optionally with a flight recorder.
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

// Passes each event to the flight recorder, if there is one, and then to the record. Cost and guarantees: run_producer.
class recorder : run_producer {
public:
    // Every optional call of a sink.
    using offers = sink_offers<sink_call::number, sink_call::stamp, sink_call::leave, sink_call::tell,
                               sink_call::wants_all, sink_call::poll, sink_call::attempt, sink_call::run_id,
                               sink_call::watcher, sink_call::tell_news, sink_call::stop_asked, sink_call::control>;

    // Takes and locks the folder `path` (options::existing applies if it holds a run). `files` must outlive the
    // recorder.
    explicit recorder(std::string_view path, options const& choices = {}) noexcept;
    recorder(std::string_view path, options const& choices, file_system& files) noexcept;
    recorder(recorder&& other) noexcept
        : run_producer{std::move(other)}, flight_{std::exchange(other.flight_, nullptr)} {}
    recorder& operator=(recorder&& other) noexcept;
    ~recorder() { delete flight_; }  // before the run's own end

    // Calls that the flight recorder does not get: it records values, and the hook calls its `observe` for `values`.
    using run_producer::feature, run_producer::values, run_producer::flush, run_producer::poll;
    using run_producer::path, run_producer::attempt, run_producer::run_id, run_producer::watcher,
        run_producer::tell_news;
    using run_producer::reset_collections;
    using run_producer::set_readers, run_producer::poll_request, run_producer::acknowledge;
    using run_producer::stop_asked, run_producer::stop_reason;

    void start(run_info const& run) noexcept;
    // Whether the sink wants every observation with its values, regardless of the plan.
    [[nodiscard]] bool wants_all() const noexcept { return flight_ != nullptr && flight_->wants_all(); }
    void declare(tensor_info const& tensor) noexcept {
        if (flight_ != nullptr) { flight_->declare(tensor); }
        run_producer::declare(tensor);
    }
    void observe(observation const& seen, stats_mask keep) noexcept {
        if (flight_ != nullptr) { flight_->observe(seen, keep); }
        run_producer::observe(seen, keep);
    }
    void scalar(tensor_info const& tensor, step_id const* step, tensor_ref const& value, double const* time) noexcept {
        if (flight_ != nullptr) { flight_->scalar(tensor, step, value, time); }
        run_producer::scalar(tensor, step, value, time);
    }
    // The fast form of a number (hook/sink_calls.hpp).
    void number(tensor_info const& tensor, step_id const& step, plain_number value) noexcept {
        flight_ != nullptr ? number_twice(tensor, step, value) : run_producer::number(tensor, step, value);
    }
    void stamp(step_moments const& times) noexcept {
        if (flight_ != nullptr) { flight_->stamp(times); }
        run_producer::stamp(times);
    }
    void close(step_id step, step_alarm const& found) noexcept {
        if (flight_ != nullptr) { flight_->close(step, found); }
        run_producer::close(step, found);
        show_urgent(found);
    }
    // A finding without a close. An error is in the file before this returns.
    void tell(finding const& it) noexcept {
        run_producer::tell(it);
        if (it.severity == severity::error) { show(); }
    }
    // The run failed amid the step: without a close, readers know it as open.
    void leave(step_id step, step_alarm const& found) noexcept {
        if (flight_ != nullptr) { flight_->leave(step, found); }
        run_producer::leave(step, found);
        show_urgent(found);
    }
    void finish(run_end const& end) noexcept;
    [[nodiscard]] sink_health health() const noexcept;

private:
    // The loop may die in its next call. So errors, and findings with a decision, are in the file before the loop
    // receives them.
    void show_urgent(step_alarm const& found) noexcept {
        if (!found.empty() && (found.front().severity == severity::error || found.decision() != decision::proceed)) {
            show();
        }
    }
    void number_twice(tensor_info const& tensor, step_id const& step, plain_number value) noexcept;

    flight_recorder* flight_ = nullptr;
};

static_assert(event_sink<recorder>);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/run_recording.hpp>
#include <spotter/stat/distribution.hpp>

namespace spotter::inline SPOTTER_ABI {

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

SPOTTER_BODY recorder::recorder(std::string_view path, options const& choices) noexcept
    : recorder{path, choices, system_files()} {}

SPOTTER_BODY recorder::recorder(std::string_view path, options const& choices, file_system& files) noexcept
    : run_producer{path, choices, files, choices.worker} {
    if (!has_folder() || choices.flight_bytes == 0) { return; }
    flight_ = new (std::nothrow) flight_recorder{run_producer::path(), choices, files};
    if (flight_ == nullptr) { note({errc::out_of_memory, "no memory for the flight recorder"}); }
}

SPOTTER_BODY recorder& recorder::operator=(recorder&& other) noexcept {
    run_producer::operator=(std::move(other));
    std::swap(flight_, other.flight_);
    return *this;
}

SPOTTER_BODY void recorder::start(run_info const& run) noexcept {
    if (flight_ != nullptr) { flight_->start(run); }
    run_producer::start(run);
}

SPOTTER_BODY SPOTTER_NOINLINE void recorder::number_twice(tensor_info const& tensor, step_id const& step,
                                                          plain_number value) noexcept {
    flight_->number(tensor, step, value);
    run_producer::number(tensor, step, value);
}

SPOTTER_BODY void recorder::finish(run_end const& end) noexcept {
    if (flight_ != nullptr) { flight_->finish(end); }
    run_producer::finish(end);
}

SPOTTER_BODY sink_health recorder::health() const noexcept {
    sink_health health = run_producer::health();
    if (flight_ != nullptr && !health.first_error) { health.first_error = flight_->health().first_error; }
    return health;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
