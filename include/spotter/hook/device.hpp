// SPDX-License-Identifier: Apache-2.0
// Hook (L3): what computes the statistics of tensors that lie in a device's memory: the contract of a back end
// (docs/device.md), and how a hook is given one.
#pragma once

#include <spotter/core/device_values.hpp>
#include <spotter/core/failures.hpp>
#include <spotter/core/refusal_words.hpp>
#include <spotter/core/step.hpp>
#include <spotter/stat/summary.hpp>

namespace spotter::inline SPOTTER_ABI {

// What a hook wants of one tensor.
struct device_wish {
    terms wanted = terms::none;  // terms of the pass, and change
    bool values = false;         // the values themselves, too
    std::uint32_t tensor = 0;    // its id, and
    step_id step{};              // at which: what a change is counted from
};

// Of what was wanted: as much as there is. What is missing in `stats.has` a hook computes of the values.
struct device_answer {
    summary stats{};               // of it
    void const* values = nullptr;  // in this processor's memory until the step is released; null: they are not there
    error lost{};                  // why nothing of it is known
};

// Where a closed step is.
enum class device_state : std::uint8_t { working, done, lost };

// A device, as a hook uses it: by one thread, the hook's. Steps lie in places 0 to `steps` - 1, one after the other,
// and several are under way at once. No call throws; none but `wait` waits for the device.
class device {
public:
    static constexpr std::size_t steps = 8;  // that are under way at once, at most

    // A hook begins to use it. An error: it is used already, or there is none; the hook then refuses its tensors.
    [[nodiscard]] virtual error begin() noexcept = 0;
    // No call comes after it; what is under way is waited for.
    virtual void end() noexcept = 0;

    // Takes a tensor into a step. With an error code nothing of it is taken. What is taken is read behind the work that
    // is in its stream at the next `launch`; `number` counts a step's tensors from 0.
    [[nodiscard]] virtual refusal_words take(std::size_t place, device_values const& from, device_wish const& wish,
                                             std::uint32_t& number) noexcept = 0;
    // What was taken since the last one is put into the streams: later work in these may overwrite the values.
    virtual void launch(std::size_t place) noexcept = 0;
    // A moment in a stream: when the work that is in it is done. False where the device has no clock.
    [[nodiscard]] virtual bool mark(std::size_t, void*, std::uint32_t&) noexcept { return false; }
    // Between two of a step that is done, in seconds; negative: not known.
    [[nodiscard]] virtual double seconds(std::size_t, std::uint32_t, std::uint32_t) noexcept { return -1; }

    // The step is whole: its results are sent to this processor.
    virtual void close(std::size_t place) noexcept = 0;

    // Whether the results of a closed step are here. Asks, and does not wait.
    [[nodiscard]] virtual device_state look(std::size_t place) noexcept = 0;
    // The same, after `seconds` at most.
    [[nodiscard]] virtual device_state wait(std::size_t place, double seconds) noexcept = 0;
    // Of a step that is done.
    [[nodiscard]] virtual device_answer answer(std::size_t place, std::uint32_t number) noexcept = 0;
    // The place is free for another step.
    virtual void release(std::size_t place) noexcept = 0;

    // Adds what went wrong.
    virtual void add_troubles(failure_list& into) const noexcept = 0;

protected:
    device() noexcept = default;
    device(device const&) = default;
    device& operator=(device const&) = default;
    ~device() = default;
};

// A device among the arguments of a hook, behind its plan: `hook watch{"runs/a", keep, rules..., gpu.tensors()}`. It
// must outlive the hook.
struct device_tensors {
    device* it = nullptr;  // null: tensors of a device are refused
};

namespace detail {

// The last one among a hook's arguments.
template <class Argument>
constexpr void take_device([[maybe_unused]] device_tensors& into, [[maybe_unused]] Argument const& argument) noexcept {
    if constexpr (std::same_as<Argument, device_tensors>) { into = argument; }
}
// Whether somebody wants what is made of the values themselves.
[[nodiscard]] constexpr bool needs_values(terms wanted) noexcept {
    return any(without(wanted, pass_terms | terms::change | terms::shape | chain_bits));
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
