// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): the whole course of a number over a run, in constant memory.
#pragma once

#include <spotter/config.hpp>
#include <spotter/core/bits.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace spotter::inline SPOTTER_ABI::detail {

// The means of equally long blocks of a series, the latest at the end. When there are 96, neighbours are averaged in
// pairs, and blocks are twice as long from then on: after the beginning there are always 48 to 96. No sample is left
// out, so a period (an epoch in the order of its classes) is averaged once a block spans one.
class block_series {
public:
    static constexpr std::size_t most = 96;

    // Whether a block became complete.
    SPOTTER_STRICT constexpr bool add(double value) noexcept {
        SPOTTER_STRICT_BODY
        sum_ += value;
        if (++in_sum_ < length_) { return false; }
        means_[count_++] = sum_ / static_cast<double>(length_);
        sum_ = 0, in_sum_ = 0;
        if (count_ == most) { halve(); }
        return true;
    }
    [[nodiscard]] constexpr std::span<double const> blocks() const noexcept { return {means_, count_}; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return count_; }
    [[nodiscard]] constexpr std::uint64_t block_length() const noexcept { return length_; }
    // Samples in complete blocks.
    [[nodiscard]] constexpr std::uint64_t samples() const noexcept { return length_ * count_; }
    [[nodiscard]] constexpr std::span<double const> first(std::size_t count) const noexcept { return {means_, count}; }
    [[nodiscard]] constexpr std::span<double const> last(std::size_t count) const noexcept {
        return {means_ + (count_ - count), count};
    }
    // Thirds of equal length. The blocks that are left over, two at most, lie between the first third and the middle.
    [[nodiscard]] constexpr std::span<double const> first_third() const noexcept { return first(third()); }
    [[nodiscard]] constexpr std::span<double const> middle_third() const noexcept {
        return last_two_thirds().first(third());
    }
    [[nodiscard]] constexpr std::span<double const> last_third() const noexcept { return last(third()); }
    [[nodiscard]] constexpr std::span<double const> last_two_thirds() const noexcept { return last(2 * third()); }
    [[nodiscard]] constexpr std::span<double const> first_sixth() const noexcept { return first(third() / 2); }
    [[nodiscard]] constexpr std::size_t third() const noexcept { return count_ / 3; }

private:
    SPOTTER_STRICT constexpr void halve() noexcept {
        SPOTTER_STRICT_BODY
        for (std::size_t i = 0; i < most / 2; ++i) { means_[i] = 0.5 * means_[2 * i] + 0.5 * means_[2 * i + 1]; }
        count_ = most / 2;
        length_ *= 2;
    }

    double means_[most]{};
    std::size_t count_ = 0;
    std::uint64_t length_ = 1, in_sum_ = 0;
    double sum_ = 0;
};

// The chance that one of `a` is below one of `b`, ties counting half (the statistic of Mann and Whitney 1947, over its
// largest value).
[[nodiscard]] SPOTTER_STRICT constexpr double share_below(std::span<double const> a,
                                                          std::span<double const> b) noexcept {
    SPOTTER_STRICT_BODY
    if (a.empty() || b.empty()) { return 0.5; }
    std::uint64_t twice = 0;
    for (double const x : a) {
        for (double const y : b) { twice += x < y ? 2U : x == y ? 1U : 0U; }
    }
    return static_cast<double>(twice) / (2.0 * static_cast<double>(a.size()) * static_cast<double>(b.size()));
}

// The median; for an even count the upper of the two. Sorts a copy of at most 96 values.
[[nodiscard]] constexpr double middle_of(std::span<double const> values) noexcept {
    double sorted[block_series::most]{};
    std::size_t count = 0;
    for (double const each : values) {
        std::size_t at = count < block_series::most ? count++ : count - 1;
        for (; at > 0 && sorted[at - 1] > each; --at) { sorted[at] = sorted[at - 1]; }
        sorted[at] = each;
    }
    return count > 0 ? sorted[count / 2] : 0;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
