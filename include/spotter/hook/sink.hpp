// SPDX-License-Identifier: Apache-2.0
// Hook (L3): where a hook's events go: the contract of a sink, and a sink that keeps nothing.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/result.hpp>
#include <spotter/rule/coverage.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/stat/summary.hpp>

#include <concepts>
#include <span>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// How a run ended.
enum class ending : std::uint8_t { finished = 1, failed = 2 };

// What a hook passes to its sink at the end.
struct run_end {
    spotter::ending how = ending::finished;  // failed: `fail` was called, or an exception left the hook
    std::string_view why{};                  // of a failed run the reason, of a finished one its first error, if any
    std::span<spotter::coverage const> coverage{};  // one for each leaf rule
    std::uint64_t refused = 0;                      // refused observations
};

// A sink's part of the health report; a hook adds its own (hook::health).
struct sink_health {
    error first_error{};          // the first failure; later ones do not replace it
    std::uint64_t stored = 0;     // observations and scalars stored
    std::uint64_t dropped = 0;    // observations, scalars and features lost whole
    std::uint64_t thinned = 0;    // observations stored with statistics and without payload
    std::uint64_t bytes = 0;      // bytes written so far
    std::uint64_t ring_peak = 0;  // most bytes in the ring so far
};

// A sink takes the events of one thread, in order. No call throws; each copies what it keeps before it returns. Every
// sink has the following calls; optional ones are in hook/sink_calls.hpp.
//   start(run_info)              once, before everything
//   declare(tensor_info)         a tensor's name, or a change of it; names live as long as the hook
//   observe(observation, keep)   keep: the terms to store, payload among them; empty only where the sink has
//                                wants_all() and it is true
//   feature(tensor_info, step, key, numbers)
//                                numbers that a rule extracted from the observation that comes next
//   scalar(tensor_info, step or null, value, time or null)
//                                always kept; time in seconds since the epoch
//   close(step, alarm)           the step is complete
//   finish(run_end)              once; nothing comes after it
//   health()                     any time
//   flush()                      makes closed steps visible to readers, waits for it
//   path()                       the folder of the record; empty where there is none
template <class Sink>
concept event_sink =
    requires(Sink& sink, run_info const& run, tensor_info const& tensor, observation const& seen, stats_mask keep,
             step_id step, step_id const* open_step, tensor_ref const& value, double const* time,
             std::span<double const> numbers, step_alarm const& found, run_end const& end) {
        { sink.start(run) } noexcept;
        { sink.declare(tensor) } noexcept;
        { sink.observe(seen, keep) } noexcept;
        { sink.feature(tensor, step, std::uint64_t{}, numbers) } noexcept;
        { sink.scalar(tensor, open_step, value, time) } noexcept;
        { sink.close(step, found) } noexcept;
        { sink.finish(end) } noexcept;
        { sink.flush() } noexcept;
        { sink.health() } noexcept -> std::same_as<sink_health>;
        { sink.path() } noexcept -> std::convertible_to<std::string_view>;
    };

// A number of up to 8 bytes.
struct plain_number {
    std::uint64_t bits = 0;    // little-endian
    dtype type = dtype::none;  // of the number
    std::uint8_t size = 0;     // in bytes
};

// A sink that keeps nothing: rules only judge.
struct null_sink {
    void start(run_info const&) noexcept {}
    void declare(tensor_info const&) noexcept {}
    void observe(observation const&, stats_mask) noexcept {}
    void feature(tensor_info const&, step_id, std::uint64_t, std::span<double const>) noexcept {}
    void scalar(tensor_info const&, step_id const*, tensor_ref const&, double const*) noexcept {}
    void close(step_id, step_alarm const&) noexcept {}
    void finish(run_end const&) noexcept {}
    void flush() noexcept {}
    [[nodiscard]] sink_health health() const noexcept { return {}; }
    [[nodiscard]] std::string_view path() const noexcept { return {}; }
};

}  // namespace spotter::inline SPOTTER_ABI
