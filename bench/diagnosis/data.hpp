// SPDX-License-Identifier: Apache-2.0
// What the supervised programs learn from: problems that are fixed, samples of them drawn from the seed; or real data.
#pragma once

#include "../../examples/common/prng.hpp"
#include "kernels.hpp"

#include <spotter/core/tensor_ref.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace diagnosis {

struct samples {
    spotter::extents sample{};  // the shape of one
    values inputs{};            // one after the other
    std::vector<std::int32_t> classes{};
    values targets{};  // of a regression

    [[nodiscard]] std::size_t features() const noexcept { return sample.elements(); }
    [[nodiscard]] std::size_t count() const noexcept { return classes.empty() ? targets.size() : classes.size(); }
    [[nodiscard]] float* row(std::size_t i) noexcept { return inputs.data() + i * features(); }
    [[nodiscard]] float const* row(std::size_t i) const noexcept { return inputs.data() + i * features(); }
};

struct task {
    samples train{}, eval{};
    std::size_t classes = 0;                // 0: a regression, of a target with mean 0 and variance 1
    std::vector<std::int32_t> eval_seen{};  // labels of `eval` as the program has them, where they are wrong
};

// Standard normal (Box and Muller).
[[nodiscard]] inline float normal(example::prng& random) noexcept {
    float const radius = std::sqrt(-2.0F * std::log(1.0F - random.uniform()));
    return radius * std::cos(6.28318531F * random.uniform());
}

// Eight features, a smooth function of five of them, and a little noise.
[[nodiscard]] task make_regression(std::uint64_t seed);
// Five classes in the plane: two concentric circles and three blobs.
[[nodiscard]] task make_points(std::uint64_t seed);
// Ten classes of 16 x 16 pictures: each a pattern of soft spots, shifted, faded and noisy.
[[nodiscard]] task make_pictures(std::uint64_t seed);
// Real data, split and drawn anew for each seed; nothing where SPOTTER_DATA of the environment names no folder that has
// it.
[[nodiscard]] std::optional<task> read_digits(std::uint64_t seed);
[[nodiscard]] std::optional<task> read_breast_cancer(std::uint64_t seed);

}  // namespace diagnosis
