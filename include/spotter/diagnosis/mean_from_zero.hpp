// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): a loss that is shown as a running mean which begins at 0. docs/internals/diagnosis.md#progress
#pragma once

#include <spotter/core/bits.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI::detail {

// Recognises m = b m + (1 - b) loss, from m = 0: it climbs from 0 to the level of the loss, 1 - b of the way at a
// sample. So its first ten values climb throughout, each by about the same or a little less, and by about the first
// value itself. A loss that runs away begins at a level of its own and climbs faster and faster; one that leaps does so
// in one step. Such a mean says nothing until it has come to the level of the loss: until `patience` samples in a row
// bring no new maximum, it climbs faster than it began to, or there were `longest` samples.
// Where it is shown seldom, or scatters, its shape does not tell it from a loss that leaps: the updates do (accept).
class mean_from_zero {
public:
    // True where the samples so far show nothing, so that the series begins with this one.
    SPOTTER_STRICT constexpr bool add(double value) noexcept {
        SPOTTER_STRICT_BODY
        if (samples_ < 10) {
            ++samples_, look_at(value);
            return samples_ == 10 && is_climbing_;
        }
        if (!is_climbing_) { return false; }
        double bound = 1.5 * climb_ * static_cast<double>(++samples_);
        force_rounding(bound);
        if (value > most_ && value < first_ + bound && samples_ < longest) {
            most_ = value, since_ = 0;
            return true;
        }
        is_climbing_ = !(value > most_) && ++since_ < patience && samples_ < longest;
        return false;
    }
    // Of the first ten values, and not recognised by its shape: the first is less than a third of their mean, and the
    // climb does not get faster.
    [[nodiscard]] SPOTTER_STRICT constexpr bool begins_low() const noexcept {
        SPOTTER_STRICT_BODY
        return samples_ == 10 && !is_climbing_ && first_ >= 0 && 0.1 * sum_ > 3 * first_ &&
               middle_ - first_ >= 0.4 * (most_ - first_);
    }
    // It begins low, and no update explains that.
    SPOTTER_STRICT constexpr void accept() noexcept {
        SPOTTER_STRICT_BODY
        is_climbing_ = true, climb_ = (most_ - first_) / 9;
    }

private:
    static constexpr std::uint64_t patience = 30, longest = 1000;  // samples

    SPOTTER_STRICT constexpr void look_at(double value) noexcept {
        SPOTTER_STRICT_BODY
        if (samples_ == 1) { first_ = most_ = value; }
        never_falls_ = never_falls_ && value >= most_;
        if (samples_ == 2) { second_ = value; }
        if (samples_ == 6) { middle_ = value; }
        most_ = value > most_ ? value : most_, sum_ += value;
        if (samples_ < 10 || !never_falls_ || !(first_ >= 0)) { return; }
        climb_ = (value - first_) / 9;
        double const early = (middle_ - first_) / 5, late = (value - middle_) / 4;
        double const step = second_ - first_;
        is_climbing_ =
            climb_ > 0 && first_ <= 1.25 * step && step <= 3 * climb_ && late <= 1.2 * early && late >= 0.3 * early;
    }

    double first_ = 0, second_ = 0, middle_ = 0, most_ = 0, sum_ = 0;
    double climb_ = 0;  // of the first ten, a sample
    std::uint64_t samples_ = 0, since_ = 0;
    bool never_falls_ = true, is_climbing_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
