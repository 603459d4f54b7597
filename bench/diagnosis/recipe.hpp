// SPDX-License-Identifier: Apache-2.0
// The supervised programs as they are without faults, their data, and the faults that are in the data.
#pragma once

#include "data.hpp"
#include "faults.hpp"
#include "optimizer.hpp"

#include <vector>

namespace diagnosis {

// A program, as it is without faults.
struct recipe {
    std::vector<std::size_t> channels{};  // of convolutions, before
    std::vector<std::size_t> widths{};    // of the hidden dense blocks
    method how = method::momentum;
    float learning_rate = 0.01F, other_learning_rate = 1e-3F;  // with `how`, and with the other method
    float largest_norm = 0, weight_decay = 0;
    std::size_t batch = 32;
    bool normalises = false;  // what the fourth shape does: batch normalisation, or twice the width
};

[[nodiscard]] inline samples chosen(samples const& from, std::vector<std::size_t> const& indices) {
    samples made{from.sample, {}, {}, {}};
    for (std::size_t const i : indices) {
        made.inputs.insert(made.inputs.end(), from.row(i), from.row(i) + from.features());
        if (!from.classes.empty()) { made.classes.push_back(from.classes[i]); }
        if (!from.targets.empty()) { made.targets.push_back(from.targets[i]); }
    }
    return made;
}

// 99 of 100 samples are of class 0.
[[nodiscard]] inline std::vector<std::size_t> lopsided(samples const& from, prng& random) {
    std::vector<std::size_t> common, rare, made;
    for (std::size_t i = 0; i < from.count(); ++i) { (from.classes[i] == 0 ? common : rare).push_back(i); }
    for (std::size_t i = 0; i < from.count(); ++i) {
        std::vector<std::size_t> const& pool = i % 100 == 0 ? rare : common;
        made.push_back(pool[random.below(pool.size())]);
    }
    return made;
}

// The faults that are in the data.
inline void spoil(task& data, fault broken, prng& random) {
    samples& train = data.train;
    if (broken == fault::shuffled_labels) {
        auto const order = example::shuffled_indices(train.count(), random);
        samples const before = train;
        for (std::size_t i = 0; i < order.size(); ++i) {
            if (data.classes > 0) {
                train.classes[i] = before.classes[order[i]];
            } else {
                train.targets[i] = before.targets[order[i]];
            }
        }
    } else if (broken == fault::noisy_labels) {
        data.eval_seen = data.eval.classes;
        for (auto* const labels : {&train.classes, &data.eval_seen}) {
            for (std::int32_t& each : *labels) {
                if (random.uniform() >= 0.4F) { continue; }
                auto const step = static_cast<std::int32_t>(1 + random.below(data.classes - 1));
                each = (each + step) % static_cast<std::int32_t>(data.classes);
            }
        }
    } else if (broken == fault::raw_inputs) {
        for (samples* const each : {&train, &data.eval}) {
            for (float& x : each->inputs) { x *= 255.0F; }
        }
    } else if (broken == fault::imbalanced) {
        train = chosen(train, lopsided(train, random));
    } else if (broken == fault::few_samples) {
        auto order = example::shuffled_indices(train.count(), random);
        order.resize(20);
        train = chosen(train, order);
    }
}

}  // namespace diagnosis
