// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): patience: the number of judged closes in a row at which a condition held, by tensor and mode.
#pragma once

#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The streak of one tensor. A close without the tensor, or an undecided one, does not change it. Several observations
// in a step count once: the condition held if it held for one of them.
struct streak {
    std::uint64_t row[mode_count]{};
    std::uint64_t before = 0;  // the streak when this close began
    std::uint64_t close = 0;
    truth answer = truth::undecided;

    // The streak of this mode, this observation included. `now` numbers the current step, from 1 on.
    constexpr std::uint64_t count(mode where, std::uint64_t now, truth said) noexcept {
        std::uint64_t& mine = row[index_of(where)];
        if (std::exchange(close, now) != now) { before = mine, answer = truth::undecided; }
        if (decided(said)) { answer = answer == truth::undecided ? said : disjunction(answer, said); }
        mine = answer == truth::yes ? before + 1 : answer == truth::no ? 0 : before;
        return mine;
    }
};

}  // namespace detail

// The streaks of all tensors.
class streaks {
public:
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        return list_.grow(tensor.id + std::size_t{1});
    }
    // Closes in a row, this one included; 0 for a tensor that was not declared.
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
    violation found{};    // tensors for which the condition held
    // Returns the answer, moves the tensors into `who`, and begins the next close.
    constexpr truth take(violation& who) noexcept {
        who = std::exchange(found, {});
        bool const any = std::exchange(judged, false);
        return who.count > 0 ? truth::yes : any ? truth::no : truth::undecided;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
