// SPDX-License-Identifier: Apache-2.0
// What the programs in loops of this bench share: their healthy shapes, how a fault gets in, and where a NaN goes.
#pragma once

#include "chain.hpp"
#include "course.hpp"
#include "optimizer.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

namespace diagnosis {

inline constexpr std::uint64_t train_steps = 2000;
inline constexpr std::uint64_t eval_interval = 100;

enum class healthy_shape { base, other_optimizer, decaying_rate, wide_or_normalised, small_batch_dropout };
inline std::vector<std::string_view> const shape_names{"base", "other optimizer", "decaying rate",
                                                       "batch norm or twice the width", "small batch, dropout"};
[[nodiscard]] inline healthy_shape shape_of(course const& it) noexcept {
    return static_cast<healthy_shape>(it.variant());
}

// Where and when the fault of that name plants its NaN, determined by the seed; a block is counted over all chains.
struct nan_plan {
    planted_in where = planted_in::nothing;
    std::size_t block = 0;
    std::uint64_t step = 0;

    // Of `hidden` blocks the activations can be hit, of all of them the gradients.
    [[nodiscard]] static nan_plan from(std::uint64_t seed, std::size_t hidden) {
        prng random{seed + 77};
        nan_plan made;
        made.where =
            std::array{planted_in::preactivation, planted_in::activation, planted_in::gradient}[random.below(3)];
        made.step = 100 + random.below(1800);
        made.block = random.below(hidden);
        return made;
    }
    [[nodiscard]] std::string const& name(diagnosis::block const& at) const noexcept {
        return where == planted_in::preactivation ? at.pre_name
               : where == planted_in::activation  ? at.act_name
                                                  : at.w.gradient_name;
    }
};

// Weights of a chain as the fault wants them.
inline void initialise(chain& net, fault broken, prng& random) {
    for (std::size_t i = 0; i < net.blocks.size(); ++i) {
        block& each = net.blocks[i];
        each.initialise(random, broken == fault::large_weights ? 20.0F : 1.0F);
        if (broken == fault::zero_weights) { each.w.value.assign(each.w.value.size(), 0.0F); }
        if (broken == fault::constant_weights) { each.w.value.assign(each.w.value.size(), 0.1F); }
        if (broken == fault::dead_biases && i + 1 < net.blocks.size()) { each.b.value.assign(each.units(), -10.0F); }
    }
}

// Hands a chain to the optimizer; where the fault is about that, without what it leaves out of block 1.
inline void hand_over(chain& net, bool complete, fault broken, optimizer& to) {
    for (std::size_t i = 0; i < net.blocks.size(); ++i) {
        block& each = net.blocks[i];
        bool const hit = !complete && i == 1;
        if (hit && broken == fault::frozen) {
            each.w.gradient_known = each.b.gradient_known = false;
            continue;
        }
        if (!hit || broken != fault::not_in_optimizer) { to.add(each.w); }
        to.add(each.b);
        if (each.normalised) {
            to.add(each.scale);
            to.add(each.shift);
        }
    }
}

// The optimizer as program and assignment want it.
inline void choose_rate(optimizer& it, fault broken) {
    if (broken == fault::large_rate) { it.learning_rate *= 1000.0F; }
    if (broken == fault::small_rate) { it.learning_rate *= 1e-6F; }
    if (broken == fault::climbs) { it.sign = 1; }
    if (broken == fault::not_clipped) { it.largest_norm = 0; }
}

// The share of the learning rate at a step: half a cosine from 1 to 0 where it decays.
[[nodiscard]] inline float schedule(healthy_shape wanted, std::uint64_t step) noexcept {
    if (wanted != healthy_shape::decaying_rate) { return 1; }
    float const done = static_cast<float>(step) / static_cast<float>(train_steps);
    return 0.5F + 0.5F * std::cos(std::numbers::pi_v<float> * done);
}

[[nodiscard]] inline bool all_finite(chain& net) {
    bool finite = true;
    net.each_parameter([&](parameter const& it) {
        for (float const each : it.value) { finite = finite && std::isfinite(each); }
    });
    return finite;
}

}  // namespace diagnosis
