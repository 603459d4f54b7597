// SPDX-License-Identifier: Apache-2.0
// Hook (L3): where a hook's stream goes: the contract of a sink, and the one that keeps nothing.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/result.hpp>
#include <spotter/rule/coverage.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/stat/summary.hpp>

#include <concepts>
#include <cstring>
#include <span>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

struct section_watcher;  // hook/sections.hpp

// How a run ended.
enum class ending : std::uint8_t { finished = 1, failed = 2 };

// What a hook says to its sink at the end.
struct run_end {
    spotter::ending how = ending::finished;  // whether `fail` was called, or an exception left the hook
    std::string_view why{};  // of a failure; of a run that finished the first thing that went wrong, if any did
    std::span<spotter::coverage const> coverage{};  // one a leaf rule
    std::uint64_t refused = 0;                      // tensors that could not be taken
};

// What a sink reports about itself; a hook adds its own part (hook::health).
struct sink_health {
    error first_error{};          // the first failure, sticky
    std::uint64_t stored = 0;     // observations and scalars handed on
    std::uint64_t dropped = 0;    // observations, scalars and features lost whole
    std::uint64_t thinned = 0;    // observations whose payload was dropped and whose statistics were kept
    std::uint64_t bytes = 0;      // written so far
    std::uint64_t ring_peak = 0;  // bytes in the ring at most
};

// A sink takes the events of one thread, in order. No call throws; each copies what it keeps before it returns.
//   start(run_info)              once, before everything
//   declare(tensor_info)         a tensor's name, or news about it; names live as long as the hook
//   observe(observation, keep)   keep: the terms to store, payload among them; empty only where the sink has
//   wants_all() and it is true feature(tensor_info, step, key, numbers)   what a rule extracted of the observation that
//   comes next scalar(tensor_info, step or null, value, time or null)   always kept; time in seconds since the epoch
//   close(step, alarm)           the step is whole
//   watcher()                    optional, behind start: who wants to know in which section the loop is
//   (hook/sections.hpp); null: nobody number(tensor_info, step, plain_number)  optional, in place of scalar, and of
//   observe where a tensor of rank 0 is kept with its value
//                                (and, at most, terms of the pass, which follow from it): a number of 8 bytes or less,
//                                at an open step
//   values(tensor_info, step, tensor, keep)  optional, in place of observe where the values are kept and nothing is
//   computed of them stamp(times)                 optional, before close: when the step was begun and closed
//   tell(finding)                optional, at any time: a finding that no close comes with (hook::add)
//   leave(step, alarm)           optional, in place of close: the run failed amid the step, and this was found in what
//   there is of it finish(run_end)              once; nothing comes after it health()                     any time
//   flush()                      makes what was closed visible to readers, waits for it
//   path()                       where the record is; empty where there is none
template <class Sink>
concept event_sink =
    requires(Sink& sink, run_info const& run, tensor_info const& tensor, observation const& seen, terms keep,
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

// One that takes the times of steps.
template <class Sink>
concept times_sink = requires(std::remove_reference_t<Sink>& sink, step_moments const& times) { sink.stamp(times); };

// A number of up to 8 bytes.
struct plain_number {
    std::uint64_t bits = 0;  // from the lowest byte on
    dtype type = dtype::none;
    std::uint8_t size = 0;  // in bytes
};

// One that takes in short what no rule looks at.
template <class Sink>
concept plain_sink = requires(std::remove_reference_t<Sink>& sink, tensor_info const& tensor, step_id const& step,
                              tensor_ref const& view) {
    sink.number(tensor, step, plain_number{});
    sink.values(tensor, step, view, terms{});
};

namespace detail {

template <class Sink, class Value>
inline constexpr bool takes_number = plain_sink<Sink> && element<Value> && sizeof(Value) <= sizeof(std::uint64_t);

template <class Sink, element Value>
SPOTTER_INLINE void hand_number(Sink& sink, tensor_info const& tensor, step_id const& step,
                                Value const& value) noexcept {
    plain_number it{0, dtype_of<Value>, static_cast<std::uint8_t>(sizeof value)};
    std::memcpy(&it.bits, &value, sizeof value);
    sink.number(tensor, step, it);
}

}  // namespace detail

// Rules judge, nothing is kept.
struct null_sink {
    void start(run_info const&) noexcept {}
    void declare(tensor_info const&) noexcept {}
    void observe(observation const&, terms) noexcept {}
    void feature(tensor_info const&, step_id, std::uint64_t, std::span<double const>) noexcept {}
    void scalar(tensor_info const&, step_id const*, tensor_ref const&, double const*) noexcept {}
    void close(step_id, step_alarm const&) noexcept {}
    void finish(run_end const&) noexcept {}
    void flush() noexcept {}
    [[nodiscard]] sink_health health() const noexcept { return {}; }
    [[nodiscard]] std::string_view path() const noexcept { return {}; }
};

}  // namespace spotter::inline SPOTTER_ABI
