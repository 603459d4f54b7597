// SPDX-License-Identifier: Apache-2.0
// Built-in rule (L2): an environment that shows the same state repeatedly. docs/rules.md#rl_repeated_states
#pragma once

#include <spotter/core/selector.hpp>
#include <spotter/rule/builtin/environment.hpp>
#include <spotter/rule/builtin/once_a_step.hpp>
#include <spotter/rule/builtin/per_tensor.hpp>
#include <spotter/rule/builtin/streaks.hpp>

namespace spotter::inline SPOTTER_ABI {

// Warning when `length` observations in a row had the same bits in each of `episodes` consecutive episodes; it holds
// until the end of the episode. Several states at once, as of a vector environment, repeat where they stay the same for
// `length` observations while `episodes` episodes end: an update may take one batch several times. An episode ends at a
// close at which `episode_end` was observed. Of several observations of a tensor in a step the first counts. A tensor
// with a non-finite element is skipped. Train steps only.
struct rl_repeated_states {
    using kind = rule_kind;
    static constexpr std::string_view name = "rl_repeated_states";
    static constexpr std::string_view remedy =
        "Check the environment's reward, reset and observation scaling, or the target update.";
    static constexpr mode judged_in = mode::train;

    selector select = &select::environment_observations;
    selector episode_end = "metric/episode_return";  // observing it ends the episode, whatever its value
    std::uint64_t length = 10;                       // observations
    std::uint64_t episodes = 2;                      // in a row

    struct series : once_a_step {            // of one tensor
        bool watched = false, ends = false;  // its states are judged; it ends episodes
        std::uint64_t last = 0, equal = 0;   // hash of the last one; equal ones in a row in this episode, the last
                                             // included
        bool several = false;                // it has several states at once
        std::uint64_t outlasted = 0;         // then: episodes that ended while they stayed the same
        bool repeats = false;                // this episode repeats states
        std::uint64_t before = 0;            // number of episodes in a row just before that did
    };
    struct state {
        per_tensor<series> all;
        close_answer answer;
        std::uint64_t close = 1;
        std::uint64_t ended = 0;  // episodes
        bool ends = false;        // an episode ended at this close
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const noexcept {
        return select(tensor) ? stats_mask::hash | stats_mask::nonfinite : stats_mask::none;
    }
    [[nodiscard]] constexpr stats_mask context(tensor_info const& tensor) const noexcept {
        return episode_end(tensor) ? stats_mask::shape : stats_mask::none;
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const noexcept {
        if (seen.all.declare(tensor) == nullptr) { return false; }
        seen.all[tensor.id].watched = select(tensor);
        seen.all[tensor.id].ends = episode_end(tensor);
        return true;
    }
    constexpr void observe(state& seen, observation const& it) const noexcept {
        if (it.step.mode != mode::train || seen.all.find(it.tensor.id) == nullptr) { return; }
        series& mine = seen.all[it.tensor.id];
        seen.ends = seen.ends || mine.ends;
        if (!mine.watched || !has(it.stats.has, stats_mask::hash) || it.stats.count == 0) { return; }
        if (it.stats.nonfinite() > 0 || !mine.first(seen.close)) { return; }
        bool const same = mine.equal > 0 && mine.last == it.stats.hash;
        mine.several = samples_of(it) > 1;
        mine.outlasted = same ? mine.outlasted : 0;
        mine.equal = same ? mine.equal + 1 : 1;
        mine.last = it.stats.hash;
        mine.repeats = mine.repeats || mine.equal >= length;
        if (seen.ended + 1 < episodes) { return; }
        seen.answer.judged = true;
        bool const repeats = mine.several ? mine.equal >= length : mine.repeats;
        std::uint64_t const in_a_row = mine.several ? mine.outlasted : mine.before + 1;
        if (repeats && in_a_row >= episodes) { seen.answer.found.blame(it, static_cast<double>(in_a_row)); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        ++seen.close;
        if (std::exchange(seen.ends, false)) { end_episode(seen); }
        violation found;
        truth const answer = seen.answer.take(found);
        if (answer == truth::yes) {
            out.push(found.as_finding("states repeat", "episodes with repeated states", relation::greater_equal,
                                      static_cast<double>(episodes)));
        }
        return answer;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        return select.malformed().empty() ? episode_end.malformed() : select.malformed();
    }
    [[nodiscard]] constexpr std::string_view silence(state const& seen) const noexcept {
        return seen.ended == 0 ? "no episode ended: observe metric/episode_return where one does"
                               : "warm-up not reached: fewer than `episodes` episodes";
    }

private:
    static constexpr void end_episode(state& seen) noexcept {
        ++seen.ended;
        seen.all.each([](series& it) {
            if (it.several) {
                ++it.outlasted;
                return;
            }
            it.before = it.repeats ? it.before + 1 : 0;
            it.repeats = false;
            it.equal = 0;
        });
    }
};

}  // namespace spotter::inline SPOTTER_ABI
