// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: all weights as one vector of doubles, and random numbers that are the same on every platform.
#pragma once

#include <spotter/core/bits.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

using double_list = std::vector<double>;
using number_view = std::span<double const>;

[[nodiscard]] inline double dot_of(number_view a, number_view b) noexcept {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) { sum += a[i] * b[i]; }
    return sum;
}
[[nodiscard]] inline double norm_of(number_view a) noexcept { return std::sqrt(dot_of(a, a)); }
[[nodiscard]] inline double rms_of(number_view a) noexcept {
    return a.empty() ? 0 : norm_of(a) / std::sqrt(static_cast<double>(a.size()));
}
// The mean of a sample, and the estimate of its standard deviation.
struct mean_and_deviation {
    double mean = 0, deviation = 0;

    explicit mean_and_deviation(number_view values) noexcept {
        double const count = static_cast<double>(values.size());
        double square = 0;
        for (double const each : values) { mean += each / count; }
        for (double const each : values) { square += (each - mean) * (each - mean); }
        deviation = std::sqrt(square / (std::max)(1.0, count - 1));
    }
};
[[nodiscard]] inline bool all_finite(number_view a) noexcept {
    return std::all_of(a.begin(), a.end(), [](double const& each) { return is_finite(each); });
}
// The median; for an even count the larger of the two; 0 where empty. Takes a copy, which it sorts partly.
[[nodiscard]] inline double middle_of(double_list values) noexcept {
    if (values.empty()) { return 0; }
    auto const middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}
// splitmix64 (Steele, Lea and Flood 2014).
class random_numbers {
public:
    constexpr explicit random_numbers(std::uint64_t seed) noexcept : state_{seed} {}

    [[nodiscard]] constexpr std::uint64_t next() noexcept {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    // 1 or -1.
    [[nodiscard]] constexpr double sign() noexcept {
        if (left_ == 0) { bits_ = next(), left_ = 64; }
        --left_;
        double const made = (bits_ & 1U) != 0 ? 1 : -1;
        bits_ >>= 1U;
        return made;
    }
    // Uniform in [0, 1).
    [[nodiscard]] constexpr double uniform() noexcept { return static_cast<double>(next() >> 11U) * 0x1p-53; }
    // Nearly normal, of variance one: the sum of twelve uniform numbers.
    [[nodiscard]] constexpr double normal() noexcept {
        double sum = -6;
        for (int i = 0; i < 12; ++i) { sum += uniform(); }
        return sum;
    }

private:
    std::uint64_t state_;
    std::uint64_t bits_ = 0;
    int left_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
