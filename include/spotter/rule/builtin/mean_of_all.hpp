// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): one mean of several tensors of a step.
#pragma once

#include <spotter/stat/statistic.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI {

// The mean of all finite elements that were added, in any order: the cores may be in one tensor, or in one each.
class mean_of_all {
public:
    constexpr void add(summary const& it) noexcept {
        if (!mean(it).known) { return; }
        sum_ += it.sum;
        count_ += it.finite();
    }
    // The mean since the last call; unknown where there was no finite element.
    [[nodiscard]] constexpr measurement take() noexcept {
        double const all = std::exchange(sum_, 0);
        std::uint64_t const count = std::exchange(count_, 0);
        return count > 0 ? measurement{detail::quotient(all, detail::number_of(count)), true} : measurement{};
    }

private:
    double sum_ = 0;
    std::uint64_t count_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI
