// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): a metric that is out of bounds for several observations in a row.
#pragma once

#include <spotter/rule/builtin/streaks.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// The value of a metric is its mean, so that one a worker or an environment does as well as one number. Where nothing of it is finite
// it has none, and the streak stays as it is.
struct metric_streak {
    static constexpr terms needs = terms::sum;

    streaks outside;
    close_answer answer;

    [[nodiscard]] constexpr bool declare(tensor_info const& tensor) noexcept { return outside.declare(tensor); }
    // Whether it has been outside for `patience` observations.
    constexpr bool judge(observation const& it, double value, bool is_outside, std::uint64_t patience) noexcept {
        answer.judged = true;
        bool const fires = outside.count(it, truth_of(is_outside)) >= patience && is_outside;
        if (fires) { answer.found.blame(it, value); }
        return fires;
    }
    constexpr truth close(culprit& found) noexcept {
        outside.next_close();
        return answer.take(found);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
