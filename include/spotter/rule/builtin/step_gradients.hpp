// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): the gradients of a step in brief, for rules that compare a parameter's change with its gradient.
#pragma once

#include <spotter/rule/machine.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// A step is observed before its update. So the gradient of a step makes the change from this observation of the
// parameter to its next one.
struct gradient_snapshot {
    bool seen = false;   // it was observed in the step
    bool finite = true;  // every element
    double nonzero = 0;  // fraction of the elements
    double squares = 0;  // the sum of their squares; 0 where no rule asked for it

    // An update with this gradient should change something.
    [[nodiscard]] constexpr bool at_work() const noexcept { return seen && finite && nonzero > 0; }
};

// The gradients that were observed since the last close. Of several observations of one the most active counts.
class step_gradients {
public:
    static constexpr stats_mask needs = stats_mask::zeros | stats_mask::nonfinite;

    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept {
        return list_.grow(tensor.id + std::size_t{1});
    }
    SPOTTER_STRICT constexpr void observe(observation const& it) noexcept {
        SPOTTER_STRICT_BODY
        if (!list_.holds(it.tensor.id) || it.stats.count == 0) { return; }
        measurement const zero = detail::zeros_among_all(it.stats);  // where all elements are NaN or infinite, none is
                                                                     // zero
        entry& mine = list_[it.tensor.id];
        if (std::exchange(mine.close, close_) != close_) { mine.snapshot = {.seen = true}; }
        double const nonzero = 1 - zero.value;
        mine.snapshot.finite = mine.snapshot.finite && it.stats.nonfinite() == 0;
        mine.snapshot.nonzero = nonzero > mine.snapshot.nonzero ? nonzero : mine.snapshot.nonzero;
        bool const known = has(it.stats.has, stats_mask::sum_squares) && it.stats.sum_squares > mine.snapshot.squares;
        mine.snapshot.squares = known ? it.stats.sum_squares : mine.snapshot.squares;
    }
    // `seen` is false where it was not observed since the last close.
    [[nodiscard]] constexpr gradient_snapshot of(tensor_id gradient) const noexcept {
        return list_.holds(gradient) && list_[gradient].close == close_ ? list_[gradient].snapshot
                                                                        : gradient_snapshot{};
    }
    constexpr void next_close() noexcept { ++close_; }  // forgets the observations

private:
    struct entry {
        gradient_snapshot snapshot{};
        std::uint64_t close = 0;
    };
    slot_array<entry> list_;  // by the gradient's id
    std::uint64_t close_ = 1;
};

}  // namespace spotter::inline SPOTTER_ABI
