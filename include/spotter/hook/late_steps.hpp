// SPDX-License-Identifier: Apache-2.0
// Hook (L3): steps that the loop has closed and that are not judged yet, because results of the device are missing. All
// their observations are kept in order, so that rules and the record see whole steps.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/hook/device.hpp>
#include <spotter/judge/tracked.hpp>

namespace spotter::inline SPOTTER_ABI {

// One observation, or scalar, of a waiting step.
struct late_event {
    tracked_tensor* tensor = nullptr;
    tensor_ref view{};                   // its values are null
    std::size_t at = 0;                  // offset of the values among the step's bytes
    std::uint64_t rules = 0;             // a bit for each rule that sees it
    stats_mask kept = stats_mask::none;  // the terms to record
    double time = 0;                     // its own time, where has_time
    std::uint32_t number = 0;            // its number among the step's device tensors; of a time the first mark
    bool has_time = false;
    bool is_scalar = false;  // kept regardless of the plan
    bool judged = false;     // a due rule or the plan observes it; otherwise only the sink gets it
    bool on_device = false;  // its values were in device memory
    bool is_time = false;    // a duration on the device, from mark `number` to mark `until`
    std::uint32_t until = 0;
};

// A waiting step. Its memory grows with the largest step, and is kept.
struct late_step {
    step_id id{};
    step_moments times{};
    std::uint64_t rules_due = 0, plan_due = 0;  // the sets that were due at it
    double now = 0;                             // the time for rules that poll
    bool whole = true;                          // false: the run failed in it
    std::size_t place = 0;                      // its place in the device
    slot_array<late_event> events{};            // in the order of observation
    std::size_t count = 0;                      // of events
    slot_array<std::byte> bytes{};              // the values of its events
    std::size_t used = 0;                       // of bytes
    std::uint32_t on_device = 0;                // events that wait for the device

    // A view of an event's values.
    [[nodiscard]] tensor_ref values_of(late_event const& it) const noexcept {
        tensor_ref view = it.view;
        view.values.raw = bytes.data() + it.at;
        return view;
    }
};

// A ring of waiting steps; the last one is the open step.
class late_steps {
public:
    // Without a device every step is judged at its close, and device tensors are refused; lack() says why. `lag`: the
    // findings of a step come at least so many closes later.
    void start(device_tensors from, std::uint32_t lag) noexcept;
    void end() noexcept;
    // Why there is no device; no error where there is one.
    [[nodiscard]] error const& lack() const noexcept { return none_; }

    // Adds an event to the open step. With an error code nothing was added.
    [[nodiscard]] refusal_words put(late_event it, tensor_ref const& values) noexcept;
    [[nodiscard]] refusal_words put(late_event it, device_values const& values, device_wish const& wish) noexcept;
    // The end of a call that hands over several tensors launches them together; otherwise each `put` launches its own.
    void hand_over(bool several) noexcept;

    // Marks a moment of the open step in a stream; false where the device has no clock.
    [[nodiscard]] bool mark(void* stream, std::uint32_t& number) noexcept;
    // Keeps the time from mark `since` to now as a value of that tensor; nothing where `step` is closed already.
    void put_time(tracked_tensor& tensor, void* stream, std::uint32_t since, std::uint64_t step) noexcept;
    // The number of the open step: how many were closed before.
    [[nodiscard]] std::uint64_t closed_so_far() const noexcept { return serial_; }

    // Closes the open step; the next one is open.
    void close(late_step const& as) noexcept;
    // The number of closed steps that wait.
    [[nodiscard]] std::size_t waiting() const noexcept { return closed_; }
    // Whether the oldest step can be judged now. Waits for the device where `must` is set or the ring is full.
    [[nodiscard]] bool is_due(bool must) noexcept;
    // Only after is_due() returned true.
    [[nodiscard]] late_step& oldest() noexcept { return steps_[first_]; }
    // The device's result for an event of the oldest step.
    [[nodiscard]] device_answer answer(late_event const& it) noexcept;
    // The duration of an event with is_time, of the oldest step; negative: unknown.
    [[nodiscard]] double seconds_of(late_event const& it) noexcept;
    // Frees the oldest step, which was judged.
    void pop() noexcept;

    // Adds errors of this ring and of the device.
    void add_troubles(failure_list& into) const noexcept;

private:
    [[nodiscard]] late_step& open_step() noexcept { return steps_[(first_ + closed_) % device::steps]; }
    [[nodiscard]] refusal_words add(late_event const& it) noexcept;

    device* device_ = nullptr;
    std::uint32_t lag_ = 1;
    bool several_ = false;  // one call is handing over several tensors
    late_step steps_[device::steps]{};
    std::size_t first_ = 0, closed_ = 0;
    device_state state_ = device_state::done;  // of the oldest step
    std::uint64_t serial_ = 0;                 // number of closed steps
    std::uint64_t late_ = 0;                   // steps whose results never came
    error none_{};                             // why there is no device
};

namespace detail {

// What only a hook with a device has.
struct late_part : late_steps {
    bool now = false;                // a waiting step is being judged
    summary const* known = nullptr;  // the device's statistics of the current tensor
};
struct no_late_part {};

}  // namespace detail

// What `watch.section(name, stream)` returns: the section ends with the scope.
class late_section {
public:
    late_section(late_steps& of, tracked_tensor* tensor, void* stream) noexcept
        : of_{of}, tensor_{tensor}, stream_{stream}, step_{of.closed_so_far()} {
        begun_ = tensor != nullptr && of.mark(stream, since_);
    }
    late_section(late_section const&) = delete;
    late_section& operator=(late_section const&) = delete;
    ~late_section() {
        if (begun_) { of_.put_time(*tensor_, stream_, since_, step_); }
    }

private:
    late_steps& of_;
    tracked_tensor* tensor_;
    void* stream_;
    std::uint64_t step_;
    std::uint32_t since_ = 0;
    bool begun_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/hook/late_steps.ipp>
#endif
