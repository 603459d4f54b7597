// SPDX-License-Identifier: Apache-2.0
// Hook (L3): steps that were closed by the loop and are not judged yet, as they have tensors of a device whose results
// are not here. All that was observed in them is kept in its order, so that rules and the record see whole steps.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/hook/device.hpp>
#include <spotter/judge/tracked.hpp>

namespace spotter::inline SPOTTER_ABI {

// One observation, or scalar, of a step that waits.
struct late_event {
    tracked_tensor* tensor = nullptr;  // whose
    tensor_ref view{};                 // without values
    std::size_t at = 0;                // where they are among the step's bytes
    std::uint64_t rules = 0;           // that see it
    terms kept = terms::none;          // in the record
    double time = 0;                   // of a scalar that has one
    std::uint32_t number = 0;          // among the device's of the step
    bool has_time = false;             // it has
    bool is_scalar = false;            // kept whatever the plan says
    bool judged = false;               // by rules, or at least by the plan
    bool on_device = false;            // its values were there
    bool is_time = false;              // seconds that the device took, from the moment `number` to `until`
    std::uint32_t until = 0;
};

// Memory is taken as steps become larger, and kept.
struct late_step {
    step_id id{};  // its
    step_moments times{};
    std::uint64_t rules_due = 0, plan_due = 0;  // at it
    double now = 0;                             // by the clock of rules that ask for it
    bool whole = true;                          // else the run failed in it
    std::size_t place = 0;                      // with the device
    slot_array<late_event> events{};            // in their order
    std::size_t count = 0;                      // of events
    slot_array<std::byte> bytes{};              // their values
    std::size_t used = 0;                       // of bytes
    std::uint32_t on_device = 0;                // events that have to be waited for

    // Where the values of an event are.
    [[nodiscard]] tensor_ref values_of(late_event const& it) const noexcept {
        tensor_ref view = it.view;
        view.values.raw = bytes.data() + it.at;
        return view;
    }
};

// A ring of them. The step that is open is the last one.
class late_steps {
public:
    // With no device every step is judged at its close, and tensors of a device are refused with the words of
    // `trouble`. `lag`: closes until the findings of a step are told, at least.
    void start(device_tensors from, std::uint32_t lag) noexcept;
    void end() noexcept;
    // Why there is no device; none where there is one.
    [[nodiscard]] error const& lack() const noexcept { return none_; }

    // Of the step that is open. With an error code nothing of it was taken.
    [[nodiscard]] refusal_words put(late_event it, tensor_ref const& values) noexcept;
    [[nodiscard]] refusal_words put(late_event it, device_values const& values, device_wish const& wish) noexcept;
    // What the device was given since is begun, unless the loop hands over several by one call.
    void hand_over(bool several) noexcept;

    // A moment of the open step, and what was between it and now; nothing where that step was closed meanwhile.
    [[nodiscard]] bool mark(void* stream, std::uint32_t& number) noexcept;
    // Kept as that tensor's value, where `step` is still open.
    void put_time(tracked_tensor& tensor, void* stream, std::uint32_t since, std::uint64_t step) noexcept;
    // The number of the open step.
    [[nodiscard]] std::uint64_t closed_so_far() const noexcept { return serial_; }

    // The open step is closed; the next one is open.
    void close(late_step const& as) noexcept;
    // How many wait.
    [[nodiscard]] std::size_t waiting() const noexcept { return closed_; }
    // The oldest one may be judged now; waits where `must` says so, or where there is no place for one more.
    [[nodiscard]] bool is_due(bool must) noexcept;
    // Where `is_due` said so.
    [[nodiscard]] late_step& oldest() noexcept { return steps_[first_]; }
    // Of an event of the oldest one.
    [[nodiscard]] device_answer answer(late_event const& it) noexcept;
    // Negative: not known.
    [[nodiscard]] double seconds_of(late_event const& it) noexcept;
    // The oldest one was judged.
    void pop() noexcept;

    // What went wrong, here and with the device.
    void add_troubles(failure_list& into) const noexcept;

private:
    [[nodiscard]] late_step& open_step() noexcept { return steps_[(first_ + closed_) % device::steps]; }
    [[nodiscard]] refusal_words add(late_event const& it) noexcept;

    device* device_ = nullptr;
    std::uint32_t lag_ = 1;
    bool several_ = false;  // are handed over by one call
    late_step steps_[device::steps]{};
    std::size_t first_ = 0, closed_ = 0;
    device_state state_ = device_state::done;  // of the oldest one
    std::uint64_t serial_ = 0;                 // steps that were closed
    std::uint64_t waits_ = 0, late_ = 0;       // how often the loop waited; steps that never came
    error none_{};                             // why there is no device
};

namespace detail {

// What a hook with a device has beside others.
struct late_part : late_steps {
    bool now = false;                // a step that waited is judged
    summary const* known = nullptr;  // what its device has taken of the tensor at hand
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
