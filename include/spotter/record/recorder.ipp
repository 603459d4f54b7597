// SPDX-License-Identifier: Apache-2.0
// The bodies of recorder.hpp.
#pragma once

#include <spotter/record/recorder.hpp>
#include <spotter/record/run_recording.hpp>
#include <spotter/stat/distribution.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY recorder::recorder(std::string_view path, options const& choices) noexcept
    : recorder{path, choices, system_files()} {}

SPOTTER_BODY recorder::recorder(std::string_view path, options const& choices, file_system& files) noexcept
    : run_{path, choices, files, choices.worker} {
    if (!run_.has_folder() || choices.flight_bytes == 0) { return; }
    flight_ = new (std::nothrow) flight_recorder{run_.path(), choices, files};
    if (flight_ == nullptr) { run_.note({errc::out_of_memory, "no memory for the flight recorder"}); }
}

SPOTTER_BODY recorder& recorder::operator=(recorder&& other) noexcept {
    run_ = std::move(other.run_);
    std::swap(flight_, other.flight_);
    return *this;
}

SPOTTER_BODY void recorder::start(run_info const& run) noexcept {
    if (flight_ != nullptr) { flight_->start(run); }
    run_.start(run);
}

SPOTTER_BODY SPOTTER_NOINLINE void recorder::number_twice(tensor_info const& tensor, step_id const& step,
                                                          plain_number value) noexcept {
    flight_->number(tensor, step, value);
    run_.number(tensor, step, value);
}

SPOTTER_BODY void recorder::finish(run_end const& end) noexcept {
    if (flight_ != nullptr) { flight_->finish(end); }
    run_.finish(end);
}

SPOTTER_BODY sink_health recorder::health() const noexcept {
    sink_health health = run_.health();
    if (flight_ != nullptr && !health.first_error) { health.first_error = flight_->health().first_error; }
    return health;
}

}  // namespace spotter::inline SPOTTER_ABI
