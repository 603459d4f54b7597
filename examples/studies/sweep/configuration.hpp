// SPDX-License-Identifier: Apache-2.0
// The configurations of a sweep: one that is known to learn, and others drawn at random.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace sweep {

struct configuration {
    double learning_rate = 0.05;
    double weight_decay = 1e-4;
    std::int64_t batch = 64;
    std::int64_t width = 8;  // channels of the first convolution
};

// From 0 to 1. Written by hand, since standard distributions differ from one library to another.
[[nodiscard]] inline double uniform(std::mt19937_64& from) { return static_cast<double>(from() >> 11U) * 0x1p-53; }

// Equally likely in every power of ten.
[[nodiscard]] inline double log_uniform(std::mt19937_64& from, double least, double most) {
    return least * std::pow(most / least, uniform(from));
}

// The first is the known one; the same seed draws the same others.
[[nodiscard]] inline std::vector<configuration> draw(std::size_t count, std::uint64_t seed) {
    std::mt19937_64 from{seed};
    std::vector<configuration> all(1);
    while (all.size() < count) {
        configuration one;
        one.learning_rate = log_uniform(from, 1e-4, 3);
        one.weight_decay = log_uniform(from, 1e-6, 1e-1);
        one.batch = std::int64_t{32} << (from() % 3);
        one.width = std::int64_t{4} << (from() % 3);
        all.push_back(one);
    }
    return all;
}

}  // namespace sweep
