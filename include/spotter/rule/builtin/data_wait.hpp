// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): a loop that waits for its data. docs/rules.md#data_wait
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/series.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// The share of waiting in the time of the last `window` train steps: `time/wait`, or the section `time/data`, divided
// by `time/step`. All times are in one unit; several times of a step are added up. Note from `moderate` on, warning
// from `high` on. A step is left out if it lacks one of them or has an invalid time (negative or not finite).
struct data_wait {
    using kind = rule_kind;
    static constexpr std::string_view name = "data_wait";
    static constexpr std::string_view remedy = "Prefetch, cache or add loader workers.";
    static constexpr mode judged_in = mode::train;
    static constexpr bool reads_times = true;

    selector select = "time/{wait,data}";
    selector step = "time/step";  // the time of the whole step, waiting included
    std::uint64_t window = 100;   // steps
    double moderate = 0.05;       // fraction of the time; TensorFlow profiler
    double high = 0.20;           // as above

    struct total {                        // the sum of one step's times
        double time = 0;                  // in the unit of the loop
        bool seen = false, sound = true;  // seen: there is one; sound: each is finite and not negative
        std::string_view tensor{};        // the first one

        // Adds a further time.
        constexpr void add(observation const& it) noexcept {
            measurement const all = sum(it.stats), least = minimum(it.stats);
            sound = sound && all.known && least.known && least.value >= 0 && it.stats.nonfinite() == 0;
            time += all.value;
            if (!std::exchange(seen, true)) { tensor = it.tensor.name; }
        }
    };
    struct state {
        per_tensor<bool> waits;  // by tensor id; false: the time of a step
        total wait, step;        // of the current step
        recent_values waits_before, steps_before;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return is_wait(tensor) ? times : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return step(tensor) ? times : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (seen.waits.declare(tensor) == nullptr) { return false; }
        seen.waits[tensor.id] = is_wait(tensor);
        return seen.waits_before.keep(window) && seen.steps_before.keep(window);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train || seen.waits.find(it.tensor.id) == nullptr) { return; }
        (seen.waits[it.tensor.id] ? seen.wait : seen.step).add(it);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        total const wait = std::exchange(seen.wait, {}), all = std::exchange(seen.step, {});
        if (!wait.seen || !all.seen || !wait.sound || !all.sound || !(all.time > 0)) { return truth::undecided; }
        seen.waits_before.add(wait.time);
        seen.steps_before.add(all.time);
        if (!seen.steps_before.full()) { return truth::undecided; }
        recent_values const &waits = seen.waits_before, &steps = seen.steps_before;
        double const share = detail::quotient(waits.mean_of(0, waits.size()), steps.mean_of(0, steps.size()));
        if (share < moderate) { return truth::no; }
        bool const much = share >= high;
        violation const found{.tensor = wait.tensor, .measured = share, .count = 1};
        out.push(found.as_finding("steps wait for data", "share of waiting", relation::greater_equal,
                                  much ? high : moderate, much ? severity::warning : severity::info));
        return truth::yes;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        return select.malformed().empty() ? step.malformed() : select.malformed();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "warm-up not reached: fewer than `window` steps with both times";
    }

private:
    // The time of kernels is no waiting of the loop.
    [[nodiscard]] constexpr bool is_wait(tensor_info const& tensor) const noexcept {
        return select(tensor) && !has(tensor.flags, flag::of_kernels);
    }
    static constexpr stats_mask times = stats_mask::sum | stats_mask::range | stats_mask::nonfinite;
};

}  // namespace spotter::inline SPOTTER_ABI
