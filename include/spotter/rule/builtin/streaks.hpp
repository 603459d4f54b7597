// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): patience: for how many judged closes in a row a condition held, per tensor and mode.
#pragma once

#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

// A close without the tensor, and an undecided one, leave its streak as it is. A tensor observed several times in a step
// counts once: the condition held if it held for one of its observations.
class streaks {
public:
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        return list_.grow(tensor.id + std::size_t{1});
    }

    // The streak of this tensor and mode with this observation in it.
    constexpr std::uint64_t count(observation const& it, truth answer) noexcept {
        if (!list_.holds(it.tensor.id)) { return 0; }
        entry& mine = list_[it.tensor.id];
        std::uint64_t& streak = mine.streak[index_of(it.step.mode)];
        if (mine.close != close_) {
            mine = {{mine.streak[0], mine.streak[1], mine.streak[2]}, streak, close_, truth::undecided};
        }
        mine.answer = mine.answer == truth::undecided ? answer
                      : decided(answer)               ? disjunction(mine.answer, answer)
                                                      : mine.answer;
        streak = mine.answer == truth::yes ? mine.before + 1 : mine.answer == truth::no ? 0 : mine.before;
        return streak;
    }
    constexpr void next_close() noexcept { ++close_; }

private:
    struct entry {
        std::uint64_t streak[mode_count]{};
        std::uint64_t before = 0;  // the streak when this close began
        std::uint64_t close = 0;
        truth answer = truth::undecided;
    };
    slots<entry> list_;
    std::uint64_t close_ = 1;
};

// The answer of a close for a rule that judges tensors one by one.
struct close_answer {
    bool judged = false;
    culprit found{};
    // And who it was; the next close begins.
    constexpr truth take(culprit& who) noexcept {
        who = std::exchange(found, {});
        bool const any = std::exchange(judged, false);
        return who.count > 0 ? truth::yes : any ? truth::no : truth::undecided;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
