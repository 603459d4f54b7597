// SPDX-License-Identifier: Apache-2.0
// The bodies of flight_recorder.hpp.
#pragma once

#include <spotter/record/flight_recorder.hpp>

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

SPOTTER_BODY void flight_recorder::fly_on(bool told) noexcept {
    if (told && quiet_ && fly_for_ == 0) { fly_for_ = steps_after_ + std::uint64_t{1}; }
    quiet_ = !told;
    if (fly_for_ > 0 && --fly_for_ == 0) { record_.write_out(); }
    if (record_.has_folder()) { record_.when_full(fly_for_ == 0 ? room_maker{make_room, this} : room_maker{}); }
}

SPOTTER_COLD_BODY bool flight_recorder::make_room(void* self) noexcept {
    auto& it = *static_cast<flight_recorder*>(self);
    it.overrun_ = !it.record_.discard_step();
    return !it.overrun_;
}

}  // namespace spotter::inline SPOTTER_ABI
