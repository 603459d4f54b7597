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
#include <spotter/core/casts.hpp>

#include <cstring>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The longest that a loop waits for the device, in seconds; it then goes on without the missing results.
inline constexpr double device_patience = 10;

}  // namespace detail

SPOTTER_COLD_BODY void late_steps::start(device_tensors from, std::uint32_t lag) noexcept {
    constexpr auto most = static_cast<std::uint32_t>(device::steps - 2);
    lag_ = lag < most ? lag : most;
    if (from.it == nullptr) {
        none_ = {errc::bad_config, "the hook was given no device"};
    } else {
        none_ = from.it->begin();
    }
    device_ = none_ ? nullptr : from.it;
    for (std::size_t i = 0; i < device::steps; ++i) { steps_[i].place = i; }
}

SPOTTER_COLD_BODY void late_steps::end() noexcept {
    if (device_ != nullptr) { device_->end(); }
}

SPOTTER_BODY refusal_words late_steps::add(late_event const& it) noexcept {
    late_step& open = open_step();
    if (!open.events.grow(open.count + 1)) {
        return {errc::out_of_memory, "could not be kept until its step is judged: no memory"};
    }
    open.events[open.count++] = it;
    return {};
}

SPOTTER_BODY refusal_words late_steps::put(late_event it, tensor_ref const& values) noexcept {
    late_step& open = open_step();
    std::size_t const bytes = as_size(values.bytes());
    constexpr std::size_t step = 64;
    it.view = values;
    it.at = (open.used + step - 1) / step * step;
    if (!open.bytes.grow(it.at + bytes)) {
        return {errc::out_of_memory, "could not be kept until its step is judged: no memory"};
    }
    if (refusal_words const lack = add(it); lack.code != errc::none) { return lack; }
    if (bytes > 0) { std::memcpy(open.bytes.data() + it.at, values.values.raw, bytes); }
    open.used = it.at + bytes;
    return {};
}

SPOTTER_BODY refusal_words late_steps::put(late_event it, device_values const& values,
                                           device_wish const& wish) noexcept {
    if (device_ == nullptr) { return {errc::no_device, "is a device's, and there is none to read it: see health()"}; }
    late_step& open = open_step();
    it.view = values.view;
    it.view.values.raw = nullptr;
    it.on_device = true;
    if (refusal_words const why = device_->take(open.place, values, wish, it.number); why.code != errc::none) {
        return why;
    }
    ++open.on_device;
    refusal_words const lack = add(it);
    if (!several_) { device_->launch(open.place); }
    return lack;
}

SPOTTER_BODY void late_steps::hand_over(bool several) noexcept {
    if (std::exchange(several_, several) && !several && device_ != nullptr && open_step().on_device > 0) {
        device_->launch(open_step().place);
    }
}

SPOTTER_BODY void late_steps::close(late_step const& as) noexcept {
    late_step& open = open_step();
    open.id = as.id, open.times = as.times, open.rules_due = as.rules_due, open.plan_due = as.plan_due;
    open.now = as.now, open.whole = as.whole;
    if (device_ != nullptr && open.on_device > 0) { device_->close(open.place); }
    ++closed_, ++serial_;
}

SPOTTER_BODY bool late_steps::is_due(bool must) noexcept {
    if (closed_ == 0) { return false; }
    late_step const& oldest = steps_[first_];
    bool const full = closed_ == device::steps - 1;
    if (!must && !full && closed_ <= lag_ && device_ != nullptr) { return false; }
    state_ = device_state::done;
    if (oldest.on_device == 0 || device_ == nullptr) { return true; }
    state_ = device_->look(oldest.place);
    if (state_ != device_state::working) { return true; }
    if (!must && !full && lag_ > 0) { return false; }
    state_ = device_->wait(oldest.place, detail::device_patience);
    if (state_ == device_state::working) { ++late_, state_ = device_state::lost; }
    return true;
}

SPOTTER_BODY device_answer late_steps::answer(late_event const& it) noexcept {
    if (state_ == device_state::done) { return device_->answer(steps_[first_].place, it.number); }
    device_answer none;
    none.lost = {errc::no_device, "its device did not answer"};
    return none;
}

SPOTTER_BODY double late_steps::seconds_of(late_event const& it) noexcept {
    return state_ == device_state::done ? device_->seconds(steps_[first_].place, it.number, it.until) : -1;
}

SPOTTER_BODY bool late_steps::mark(void* stream, std::uint32_t& number) noexcept {
    return device_ != nullptr && device_->mark(open_step().place, stream, number);
}

SPOTTER_BODY void late_steps::put_time(tracked_tensor& tensor, void* stream, std::uint32_t since,
                                       std::uint64_t step) noexcept {
    late_event event;
    event.tensor = &tensor;
    event.number = since;
    event.is_time = event.is_scalar = true;
    if (step != serial_ || !mark(stream, event.until)) { return; }
    if (add(event).code == errc::none) { ++open_step().on_device; }
}

SPOTTER_BODY void late_steps::pop() noexcept {
    late_step& oldest = steps_[first_];
    if (device_ != nullptr && oldest.on_device > 0) { device_->release(oldest.place); }
    oldest.count = oldest.used = 0;
    oldest.on_device = 0;
    first_ = (first_ + 1) % device::steps;
    --closed_;
}

SPOTTER_BODY void late_steps::add_troubles(failure_list& into) const noexcept {
    if (device_ != nullptr) { device_->add_troubles(into); }
    if (late_ > 0) {
        into.add({errc::no_device, "the device did not answer for 10 s: its steps are judged without it"});
    }
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
