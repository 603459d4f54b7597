// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): steps that slow down when others use the processor. docs/rules.md#noisy_neighbour
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/median.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Compares the share of the processor that others use with the time of a step in the same sample. Others are programs
// on this machine, or virtual machines beside it (stolen time); child processes count as others. Warning at samples in
// which others use more than `busy` of all cores, when the median step of such samples is at least `factor` times that
// of samples in which they use less than `quiet`. Both medians are over the last `window` samples, with at least
// `samples` of each kind.
struct noisy_neighbour {
    using kind = rule_kind;
    static constexpr std::string_view name = "noisy_neighbour";
    static constexpr std::string_view remedy = "See what else runs there (top), move it or this run away, or keep "
                                               "cores for the run (taskset, cgroups, a machine of its own).";

    selector select = "sys/other_cpu";
    selector step = "sys/step";  // seconds
    double quiet = 0.15;         // share of all cores
    double busy = 0.3;           // share of all cores
    double factor = 1.25;        // of step times
    std::uint64_t samples = 5;   // of either kind
    std::uint64_t window = 120;  // samples

    struct state {
        slot_array<bool> is_step;  // by tensor id
        recent_values taken, steps;
        recent_values part;  // the samples of one kind
        slot_array<std::uint64_t> keys;
        double taken_now = -1, step_now = -1;  // the largest of this step
        std::string_view tensor{};
    };
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? sampled : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return step(tensor) ? sampled : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (!seen.is_step.grow(tensor.id + std::size_t{1})) { return false; }
        seen.is_step[tensor.id] = step(tensor);
        return keep_sortable(seen.taken, window, seen.keys) && seen.steps.keep(window) && seen.part.keep(window);
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        measurement const value = mean(it.stats);
        if (!value.known || !seen.is_step.holds(it.tensor.id)) { return; }
        if (seen.is_step[it.tensor.id]) {
            seen.step_now = value.value > seen.step_now ? value.value : seen.step_now;
        } else if (value.value > seen.taken_now) {
            seen.taken_now = value.value;
            seen.tensor = it.tensor.name;
        }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        double const taken = std::exchange(seen.taken_now, -1), time = std::exchange(seen.step_now, -1);
        if (taken < 0 || !(time > 0)) { return truth::undecided; }
        seen.taken.add(taken);
        seen.steps.add(time);
        double const alone = usual_step(seen, [&](double share) { return share < quiet; });
        double const beside = usual_step(seen, [&](double share) { return share > busy; });
        if (!(alone > 0) || !(beside > 0)) { return truth::undecided; }
        double const slower = detail::quotient(beside, alone);
        if (!(taken > busy && slower >= factor)) { return truth::no; }
        violation const found{.tensor = seen.tensor, .measured = slower, .count = 1};
        finding it = found.as_finding("steps are slower while others take the processor", "times as long a step",
                                      relation::greater_equal, factor);
        it.detail << "others have " << static_cast<std::uint64_t>(100 * taken + 0.5) << " % of it; a step " << beside
                  << " s, alone " << alone << " s";
        out.push(it);
        return truth::yes;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        return select.malformed().empty() ? step.malformed() : select.malformed();
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "fewer than `samples` with others at work, or without them: nothing to compare";
    }

private:
    static constexpr stats_mask sampled = stats_mask::sum | stats_mask::nonfinite;

    // The median step time in samples of that kind; 0 where there are too few.
    template <class Is>
    [[nodiscard]] constexpr double usual_step(state& seen, Is is) const noexcept {
        seen.part.clear();
        for (std::size_t i = 0; i < seen.steps.size(); ++i) {
            if (is(seen.taken[i])) { seen.part.add(seen.steps[i]); }
        }
        if (seen.part.size() < samples || seen.part.size() == 0) { return 0; }
        return median_of(seen.part, seen.keys, [](double value) { return value; });
    }
};

}  // namespace spotter::inline SPOTTER_ABI
