// SPDX-License-Identifier: Apache-2.0
// How the faults that are much the same in every program get into its loop.
#pragma once

#include "../../../examples/common/prng.hpp"
#include "../course.hpp"
#include "../data.hpp"
#include "../recipe.hpp"

#include <spotter/core/tensor_access.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace diagnosis {

namespace sp = spotter;
using example::prng;

inline constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

// The share of the healthy learning rate.
[[nodiscard]] inline float rate_factor(course const& of) noexcept {
    return of.is(fault::large_rate) ? 1e3F : of.is(fault::small_rate) ? 1e-6F : of.is(fault::zero_rate) ? 0.0F : 1.0F;
}
// What an update is multiplied by: -1 descends.
[[nodiscard]] inline float direction(course const& of) noexcept { return of.is(fault::climbs) ? 1.0F : -1.0F; }
// What the loss, and with it its gradient, is multiplied by.
[[nodiscard]] inline float loss_sign(course const& of) noexcept { return of.is(fault::negated_loss) ? -1.0F : 1.0F; }
// Where the biases of hidden units start.
[[nodiscard]] inline float hidden_bias(course const& of) noexcept { return of.is(fault::dead_biases) ? -10.0F : 0.0F; }

// Weights as a program starts with them, uniform in ±bound, or as the fault wants them.
template <class Weights>
void draw(course const& of, prng& random, float bound, Weights&& into) {
    float const scale = of.is(fault::large_weights) ? 20.0F : of.is(fault::zero_weights) ? 0.0F : 1.0F;
    for (auto& each : into) { each = of.is(fault::constant_weights) ? 0.1F : scale * random.uniform(-bound, bound); }
}

// Before a backward pass adds to a gradient.
template <class Gradient>
void clear(course const& of, Gradient&& it) {
    if (of.is(fault::piles_up)) { return; }
    for (auto& each : it) { each = 0; }
}

// The step at which a NaN gets into a tensor; never, but with that fault.
class planted_nan {
public:
    planted_nan(course& of, std::uint64_t steps, std::string const& tensor) {
        if (!of.is(fault::not_a_number)) { return; }
        prng random{of.seed() + 77};
        step_ = steps / 10 + random.below(static_cast<std::size_t>(steps * 8 / 10));
        of.wrong_from(step_, tensor);
    }
    [[nodiscard]] bool due(std::uint64_t step) const noexcept { return step == step_; }

private:
    std::uint64_t step_ = (std::numeric_limits<std::uint64_t>::max)();
};

// Which samples a step learns from: a new order each epoch, no batch over its end; one batch for ever with that fault.
class batches {
public:
    batches(course const& of, std::size_t count, std::size_t size)
        : stuck_{of.is(fault::same_batch)}, count_{count}, size_{size < count ? size : count} {}

    std::vector<std::size_t> const& next(prng& random) {
        if (stuck_ && !now_.empty()) { return now_; }
        if (at_ + size_ > order_.size()) {
            order_ = example::shuffled_indices(count_, random);
            at_ = 0;
        }
        auto const first = order_.begin() + static_cast<std::ptrdiff_t>(at_);
        now_.assign(first, first + static_cast<std::ptrdiff_t>(size_));
        at_ += size_;
        return now_;
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }

private:
    bool stuck_;
    std::size_t count_, size_, at_ = 0;
    std::vector<std::size_t> order_{}, now_{};
};

// Whether it is time for an evaluation: ten of them, the last after the last step.
[[nodiscard]] inline bool evaluation_due(std::uint64_t step, std::uint64_t steps) noexcept {
    return (step + 1) % (steps < 10 ? 1 : steps / 10) == 0;
}

template <class Values>
void tell_if_lost(course& of, Values const& weights) {
    for (auto const each : weights) {
        if (!std::isfinite(each)) { return of.lost(); }
    }
}

}  // namespace diagnosis
