// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): patience: for how many judged closes in a row a condition held, per tensor and mode.
#pragma once

#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Of one tensor. A close without it, and an undecided one, leave its streak as it is. Observed several times in a step
// it counts once: the condition held if it held for one of its observations.
struct streak {
    std::uint64_t row[mode_count]{};
    std::uint64_t before = 0;  // the streak when this close began
    std::uint64_t close = 0;
    truth answer = truth::undecided;

    // The streak of this mode with this observation in it; `now` is a number of the step at hand, from 1 on.
    constexpr std::uint64_t count(mode where, std::uint64_t now, truth said) noexcept {
        std::uint64_t& mine = row[index_of(where)];
        if (std::exchange(close, now) != now) { before = mine, answer = truth::undecided; }
        if (decided(said)) { answer = answer == truth::undecided ? said : disjunction(answer, said); }
        mine = answer == truth::yes ? before + 1 : answer == truth::no ? 0 : before;
        return mine;
    }
};

}  // namespace detail

// Those of all tensors.
class streaks {
public:
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        return list_.grow(tensor.id + std::size_t{1});
    }
    // Closes in a row with this one; 0 of a tensor that was not declared.
    constexpr std::uint64_t count(observation const& it, truth said) noexcept {
        return list_.holds(it.tensor.id) ? list_[it.tensor.id].count(it.step.mode, close_, said) : 0;
    }
    constexpr void next_close() noexcept { ++close_; }  // once a step

private:
    slot_array<detail::streak> list_;
    std::uint64_t close_ = 1;
};

// The answer of a close for a rule that judges tensors one by one.
struct close_answer {
    bool judged = false;  // something was decided at this close
    culprit found{};      // for which it held
    // And who it was; the next close begins.
    constexpr truth take(culprit& who) noexcept {
        who = std::exchange(found, {});
        bool const any = std::exchange(judged, false);
        return who.count > 0 ? truth::yes : any ? truth::no : truth::undecided;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
