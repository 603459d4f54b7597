// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): a loss that changes its level from one sample to the next. docs/internals/diagnosis.md#progress
#pragma once

#include <spotter/core/bits.hpp>

#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI::detail {

// Recognises a change of what a loss measures (a sum in place of a mean, another term, other data): ten samples within
// a factor of two, and the next ten so, too, at five times the level or a fifth. Training changes a loss more
// gradually, or by large updates: the caller knows those.
class level_shift {
public:
    struct levels {
        double before = 0, after = 0;  // the last sample of the one, the first of the other
    };

    // True at the tenth sample of the new level.
    [[nodiscard]] SPOTTER_STRICT constexpr bool add(double value) noexcept {
        SPOTTER_STRICT_BODY
        latest_[samples_++ % (2 * span)] = value;
        double const before = sample(span - 1), after = sample(span);
        bool const is_far = after > 5 * before || before > 5 * after;
        if (samples_ < 2 * span || !is_far || !is_level(0) || !is_level(span)) { return false; }
        found_ = {before, after};
        return true;
    }
    // The latest change.
    [[nodiscard]] constexpr levels found() const noexcept { return found_; }

private:
    static constexpr std::size_t span = 10;  // samples of a level

    // Of the latest twenty samples.
    [[nodiscard]] constexpr double sample(std::size_t i) const noexcept { return latest_[(samples_ + i) % (2 * span)]; }
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_level(std::size_t from) const noexcept {
        SPOTTER_STRICT_BODY
        double least = sample(from), most = least;
        for (std::size_t i = from; i < from + span; ++i) {
            least = sample(i) < least ? sample(i) : least;
            most = sample(i) > most ? sample(i) : most;
        }
        return least > 0 && most < 2 * least;
    }

    double latest_[2 * span]{};
    std::uint64_t samples_ = 0;
    levels found_{};
};

}  // namespace spotter::inline SPOTTER_ABI::detail
