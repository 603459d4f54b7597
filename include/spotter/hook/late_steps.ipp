// SPDX-License-Identifier: Apache-2.0
// The bodies of late_steps.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/hook/late_steps.hpp>

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
