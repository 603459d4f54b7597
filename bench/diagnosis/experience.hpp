// SPDX-License-Identifier: Apache-2.0
// What the actor-critic lives through: carts on a track, pushes that may slip, and how good each push was.
#pragma once

#include "../../examples/cartpole/physics.hpp"
#include "../../examples/common/prng.hpp"
#include "kernels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace diagnosis {

using cartpole::cart_pole;
using example::prng;

inline constexpr std::size_t carts = 8;
inline constexpr std::size_t horizon = 32;
inline constexpr std::size_t lived = carts * horizon;
inline constexpr std::size_t epochs = 2;
inline constexpr float discount = 0.99F, trace = 0.95F, clip = 0.2F, entropy_weight = 0.01F;

[[nodiscard]] inline std::array<float, 2> log_chances(float const* logits) noexcept {
    float const top = (std::max)(logits[0], logits[1]);
    float const norm = top + std::log(std::exp(logits[0] - top) + std::exp(logits[1] - top));
    return {logits[0] - norm, logits[1] - norm};
}

// What happened in one horizon. Sample t * carts + c is cart c at time t.
struct experience {
    values seen{}, log_chance{}, reward{}, value{}, advantage{}, target{};
    std::vector<std::size_t> action{};
    std::vector<char> ended{};
    std::vector<float> episodes{};  // returns of those that ended in it
    float explained = 0;            // share of the variance of the targets that the critic knew

    // Generalised advantages (Schulman et al. 2016), normalised; targets of the critic.
    void estimate() {
        advantage.assign(lived + carts, 0.0F);
        target.resize(lived);
        double sum = 0, squares = 0, targets = 0, target_squares = 0;
        for (std::size_t i = lived; i-- > 0;) {
            float const lasting = ended[i] != 0 ? 0.0F : discount;
            float const surprise = reward[i] + lasting * value[i + carts] - value[i];
            advantage[i] = surprise + lasting * trace * advantage[i + carts];
            target[i] = advantage[i] + value[i];
            auto const better = static_cast<double>(advantage[i]), aim = static_cast<double>(target[i]);
            sum += better;
            squares += better * better;
            targets += aim;
            target_squares += aim * aim;
        }
        constexpr auto count = static_cast<double>(lived);
        double const mean = sum / count, variance = squares / count - mean * mean;
        double const spread = target_squares / count - targets / count * (targets / count);
        explained = static_cast<float>(spread > 0 ? 1.0 - variance / spread : std::numeric_limits<double>::quiet_NaN());
        double const unit = std::sqrt((std::max)(variance, 0.0)) + 1e-8;
        for (float& each : advantage) { each = static_cast<float>((static_cast<double>(each) - mean) / unit); }
    }
};

[[nodiscard]] inline std::size_t choose(float const* logits, prng& random) noexcept {
    return random.uniform() < std::exp(log_chances(logits)[1]) ? 1 : 0;
}

// The controls are bad: now and then the push goes anywhere, so that no policy is perfect.
[[nodiscard]] inline std::size_t slip(std::size_t action, prng& random) noexcept {
    return random.uniform() < 0.3F ? random.below(2) : action;
}

// Upright in the middle is best.
[[nodiscard]] inline float worth(cart_pole const& it) noexcept {
    auto const at = it.observation();
    return 1.0F - 0.5F * (std::abs(at[0]) + std::abs(at[2]));
}

}  // namespace diagnosis
