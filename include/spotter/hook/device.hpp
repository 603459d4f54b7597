// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the contract of a back end that computes the statistics of tensors in a device's memory (docs/device.md),
// and how a hook is given one.
#pragma once

#include <spotter/core/device_values.hpp>
#include <spotter/core/failures.hpp>
#include <spotter/core/refusal_words.hpp>
#include <spotter/core/step.hpp>
#include <spotter/stat/summary.hpp>

namespace spotter::inline SPOTTER_ABI {

// What a hook requests for one tensor.
struct device_wish {
    stats_mask wanted = stats_mask::none;  // of pass_terms, and change
    bool values = false;                   // also copy the values
    std::uint32_t tensor = 0;              // the tensor's id
    step_id step{};                        // with the id, it finds the previous values for a change
};

// The answer to a device_wish: as much as the device computed. The hook computes what `stats.has` lacks from the
// values.
struct device_answer {
    summary stats{};               // of the tensor
    void const* values = nullptr;  // in host memory, until the step is released; null: not copied
    error lost{};                  // why there is no result at all
};

// The state of a closed step.
enum class device_state : std::uint8_t { working, done, lost };

// A device as a hook's thread uses it; one hook at a time. Steps lie in places 0 to `steps` - 1, one after the other,
// and several are in flight at once. No call throws; only `wait` waits for the device.
class device {
public:
    static constexpr std::size_t steps = 8;  // most steps in flight at once

    // A hook begins to use it. Error: another hook uses it, or there is no device; the hook then refuses device
    // tensors.
    [[nodiscard]] virtual error begin() noexcept = 0;
    // Waits for the work in flight; no call follows.
    virtual void end() noexcept = 0;

    // Adds a tensor to a step. With an error code nothing was added. The device reads the values at the next `launch`,
    // after the work that is in the tensor's stream by then. `number` counts the tensors of a step from 0.
    [[nodiscard]] virtual refusal_words take(std::size_t place, device_values const& from, device_wish const& wish,
                                             std::uint32_t& number) noexcept = 0;
    // Enqueues the work for all tensors added since the last launch: later work in their streams may overwrite the
    // values.
    virtual void launch(std::size_t place) noexcept = 0;
    // Marks a moment in a stream: when the work enqueued so far is done. False where the device has no clock.
    [[nodiscard]] virtual bool mark(std::size_t, void*, std::uint32_t&) noexcept { return false; }
    // The time between two marks of a finished step, in seconds; negative: unknown.
    [[nodiscard]] virtual double seconds(std::size_t, std::uint32_t, std::uint32_t) noexcept { return -1; }

    // The step is complete: the device sends its results to host memory.
    virtual void close(std::size_t place) noexcept = 0;

    // Whether the results of a closed step have arrived; does not wait.
    [[nodiscard]] virtual device_state look(std::size_t place) noexcept = 0;
    // Likewise, but waits `seconds` at most.
    [[nodiscard]] virtual device_state wait(std::size_t place, double seconds) noexcept = 0;
    // The result for a tensor of a finished step.
    [[nodiscard]] virtual device_answer answer(std::size_t place, std::uint32_t number) noexcept = 0;
    // Frees the place for another step.
    virtual void release(std::size_t place) noexcept = 0;

    // Adds the device's errors to the list.
    virtual void add_troubles(failure_list& into) const noexcept = 0;

protected:
    device() noexcept = default;
    device(device const&) = default;
    device& operator=(device const&) = default;
    ~device() = default;
};

// Gives a hook its device, among the arguments behind the plan: `hook watch{"runs/a", keep, rules..., gpu.tensors()}`.
// The device must outlive the hook.
struct device_tensors {
    device* it = nullptr;  // null: tensors in device memory are refused
};

namespace detail {

// Called for each argument of a hook: the last device_tensors wins.
template <class Argument>
constexpr void take_device([[maybe_unused]] device_tensors& into, [[maybe_unused]] Argument const& argument) noexcept {
    if constexpr (std::same_as<Argument, device_tensors>) { into = argument; }
}
// Whether any of the terms needs the values themselves, because the device's kernels do not compute it.
[[nodiscard]] constexpr bool needs_values(stats_mask wanted) noexcept {
    return any(without(wanted, pass_terms | stats_mask::change | stats_mask::shape | chain_bits));
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
