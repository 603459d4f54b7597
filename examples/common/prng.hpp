// SPDX-License-Identifier: Apache-2.0
// Random numbers that are equal on every platform; the distributions of the standard library differ between vendors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace example {

// splitmix64 (Steele, Lea and Flood 2014): one 64-bit word of state, every seed is a good one.
class prng {
public:
    explicit prng(std::uint64_t seed) noexcept : state_(seed * 0xD1342543DE82EF95U + 0x632BE59BD9B4E019U) {}

    [[nodiscard]] std::uint64_t next() noexcept {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }

    // Uniform in [0, 1): the top 24 bits, so that every value is exact in float.
    [[nodiscard]] float uniform() noexcept { return static_cast<float>(next() >> 40U) * 0x1p-24F; }

    // Uniform in [low, high).
    [[nodiscard]] float uniform(float low, float high) noexcept { return low + (high - low) * uniform(); }

    // Uniform in [0, count); the bias of the remainder is below 2^-40 for the small counts used here.
    [[nodiscard]] std::size_t below(std::size_t count) noexcept { return static_cast<std::size_t>(next() % count); }

private:
    std::uint64_t state_;
};

// Puts the items in a random order (Fisher and Yates).
inline void shuffle(std::vector<std::size_t>& items, prng& random) noexcept {
    for (std::size_t left = items.size(); left > 1; --left) { std::swap(items[left - 1], items[random.below(left)]); }
}

// 0, 1, …, count − 1 in a random order.
[[nodiscard]] inline std::vector<std::size_t> shuffled_indices(std::size_t count, prng& random) {
    std::vector<std::size_t> items(count);
    std::iota(items.begin(), items.end(), std::size_t{0});
    shuffle(items, random);
    return items;
}

}  // namespace example
