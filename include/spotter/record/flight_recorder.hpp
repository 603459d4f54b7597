// SPDX-License-Identifier: Apache-2.0
// Record (L4): the sink that keeps the latest steps whole in shared memory, and writes them once something was told.
#pragma once

#include <spotter/record/run_producer.hpp>

namespace spotter::inline SPOTTER_ABI {

// A run of its own in the folder `flight` of another (docs/record.md). Everything that is observed goes into the ring,
// with its values, and the oldest steps make room; after a step with a finding and `options::flight_steps_after` more
// all that is there is written. Until then none makes room any more: what does not fit is written at once.
class flight_recorder {
public:
    // Beside the run in `folder`, which is recorded with `choices`.
    flight_recorder(std::string_view folder, options const& choices, file_system& files) noexcept;
    flight_recorder(flight_recorder const&) = delete;
    flight_recorder& operator=(flight_recorder const&) = delete;
    ~flight_recorder();

    void start(run_info const& run) noexcept { record_.start(run); }
    [[nodiscard]] bool wants_all() const noexcept { return record_.has_folder(); }
    void declare(tensor_info const& tensor) noexcept { record_.declare_apart(tensor); }
    void observe(observation const& seen, terms keep) noexcept;
    void feature(tensor_info const&, step_id, std::uint64_t, std::span<double const>) noexcept {}  // the values say it
    void scalar(tensor_info const& tensor, step_id const* step, tensor_ref const& value, double const* time) noexcept;
    // A number, in short.
    void number(tensor_info const& tensor, step_id const& step, plain_number value) noexcept;
    void stamp(step_moments const& times) noexcept { record_.stamp(times); }
    void close(step_id step, step_alarm const& found) noexcept { end_step(step, found, true); }
    void leave(step_id step, step_alarm const& found) noexcept { end_step(step, found, false); }
    // Of a run that failed the last steps are written.
    void finish(run_end const& end) noexcept;
    void flush() noexcept {}
    [[nodiscard]] sink_health health() const noexcept { return record_.health(); }
    [[nodiscard]] std::string_view path() const noexcept { return record_.path(); }

private:
    [[nodiscard]] static options options_beside(options const& choices) noexcept;
    void end_step(step_id step, step_alarm const& found, bool whole) noexcept;
    // A step was closed, at which something was told or not. What is told step after step is written once.
    void fly_on(bool told) noexcept;
    [[nodiscard]] static bool make_room(void* self) noexcept;

    run_producer record_;
    std::uint64_t fly_for_ = 0;  // steps until it is written, once something was told
    std::uint32_t steps_after_;
    bool quiet_ = true;     // nothing was told at the last close
    bool overrun_ = false;  // the open step alone is larger than the ring: it is given up, to its end
};

static_assert(event_sink<flight_recorder>);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/flight_recorder.ipp>
#endif
