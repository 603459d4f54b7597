// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): 16-bit weights whose updates round to nothing. docs/rules.md#bf16_stall
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/step_gradients.hpp>
#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// Weights stored as bf16 or f16. Warning when more than `share` of a weight's elements did not change, although more
// than `share` of its gradient's elements were not zero, at `patience` changes in a row. A bf16 weight changes only if
// its update is at least half an ulp, 2^-9 to 2^-8 of its size; a usual update of a thousandth is below that. Copies of
// f32 master weights stay unchanged for many steps as well: observe the master weights then. The change between two
// observations is compared with the gradient of the first. Train steps only.
struct bf16_stall {
    using kind = rule_kind;
    static constexpr std::string_view name = "bf16_stall";
    static constexpr std::string_view remedy = "Raise the loss scale or keep master weights in f32.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::weights;
    double share = 0.5;           // fraction of the elements
    std::uint64_t patience = 10;  // expected changes

    struct weight {                      // of one weight
        tensor_id gradient = no_tensor;  // no_tensor where none is known
        gradient_snapshot before{};      // in the step of the last observation
        bool moved = false;              // within that step, so the next difference is not the whole change
    };
    struct state {
        per_tensor<weight> all;
        step_gradients gradients;
        streaks stalled;
        close_answer answer;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        bool const narrow = tensor.type == dtype::bf16 || tensor.type == dtype::f16;
        return narrow && tensor.role != role::gradient && select(tensor) ? stats_mask::change | stats_mask::shape
                                                                         : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return tensor.role == role::gradient ? step_gradients::needs : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (tensor.role == role::gradient) { return seen.gradients.declare(tensor); }
        weight* const mine = seen.all.declare(tensor);
        if (mine == nullptr || !seen.stalled.declare(tensor)) { return false; }
        mine->gradient = tensor.partner;
        return true;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train) { return; }
        if (it.tensor.role == role::gradient) { return seen.gradients.observe(it); }
        weight* const mine = seen.all.reach(it.tensor.id);
        if (mine == nullptr) { return; }
        summary const& now = it.stats;
        if (!has(now.has, stats_mask::change) || !now.has_previous || now.count == 0) { return; }
        if (it.step.index <= now.previous_index) {  // observed again in the same step, or after a rewind
            mine->moved = mine->moved || now.changed > 0;
            return;
        }
        if (std::exchange(mine->moved, false) || !mine->before.seen || !mine->before.finite) { return; }
        double const still = unchanged_share(now);
        truth const stalled = truth_of(still > share && mine->before.nonzero > share);
        seen.answer.judged = true;
        if (seen.stalled.count(it, stalled) >= patience && stalled == truth::yes) {
            seen.answer.found.blame(it, still);
        }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        seen.all.take_touched([&](std::string_view, weight& mine) { mine.before = seen.gradients.of(mine.gradient); });
        seen.gradients.next_close();
        seen.stalled.next_close();
        violation found;
        truth const answer = seen.answer.take(found);
        if (answer == truth::yes) {
            out.push(
                found.as_finding("updates round to nothing", "share of unchanged elements", relation::greater, share));
        }
        return answer;
    }
    [[nodiscard]] constexpr std::string_view silence(state const&) const noexcept {
        return "no such weight was seen in two train steps with its gradient";
    }

private:
    [[nodiscard]] SPOTTER_STRICT static constexpr double unchanged_share(summary const& now) noexcept {
        SPOTTER_STRICT_BODY
        return 1 - static_cast<double>(now.changed) / static_cast<double>(now.count);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
