// SPDX-License-Identifier: Apache-2.0
// Problems that several families learn: the classes and functions are fixed, their samples are drawn from the seed.
#pragma once

#include "../data.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>

namespace diagnosis {

// `classes` clouds around fixed centres in `features` dimensions; they overlap the more, the wider they are.
[[nodiscard]] inline task make_clouds(std::uint64_t seed, std::size_t classes, std::size_t features, float width,
                                      std::size_t count = 1200) {
    example::prng places{4711}, random{seed};
    values centres(classes * features);
    for (float& each : centres) { each = places.uniform(-1.5F, 1.5F); }
    task made;
    made.classes = classes;
    for (samples* const part : {&made.train, &made.eval}) {
        part->sample = {features};
        std::size_t const rows = part == &made.train ? count : 500;
        for (std::size_t i = 0; i < rows; ++i) {
            std::size_t const of = random.below(classes);
            for (std::size_t f = 0; f < features; ++f) {
                part->inputs.push_back(centres[of * features + f] + width * normal(random));
            }
            part->classes.push_back(static_cast<std::int32_t>(of));
        }
    }
    return made;
}

// `classes` arms of a spiral in the plane, scaled to about ±1.
[[nodiscard]] inline task make_spirals(std::uint64_t seed, std::size_t classes, float noise, std::size_t count = 900) {
    example::prng random{seed};
    task made;
    made.classes = classes;
    for (samples* const part : {&made.train, &made.eval}) {
        part->sample = {std::size_t{2}};
        std::size_t const rows = part == &made.train ? count : 500;
        for (std::size_t i = 0; i < rows; ++i) {
            std::size_t const of = random.below(classes);
            float const along = random.uniform(0.1F, 1.0F);
            float const start = 2 * std::numbers::pi_v<float> * static_cast<float>(of) / static_cast<float>(classes);
            float const angle = 3.5F * along + start + noise * normal(random);
            part->inputs.push_back(1.8F * along * std::cos(angle));
            part->inputs.push_back(1.8F * along * std::sin(angle));
            part->classes.push_back(static_cast<std::int32_t>(of));
        }
    }
    return made;
}

// Ten features in ±1; five of them make up the target (after Friedman 1991), which has about mean 0 and variance 1.
[[nodiscard]] inline task make_friedman(std::uint64_t seed, float noise, std::size_t count = 2000) {
    example::prng random{seed};
    task made;
    for (samples* const part : {&made.train, &made.eval}) {
        part->sample = {std::size_t{10}};
        std::size_t const rows = part == &made.train ? count : 500;
        for (std::size_t i = 0; i < rows; ++i) {
            std::array<float, 10> x{};
            for (float& each : x) { part->inputs.push_back(each = random.uniform(-1.0F, 1.0F)); }
            float const waves = 10 * std::sin(std::numbers::pi_v<float> * (x[0] + 1) * (x[1] + 1) / 4);
            float const y = waves + 5 * x[2] * x[2] + 5 * x[3] + 2.5F * x[4];
            part->targets.push_back((y - 6.9F) / 4.8F + noise * normal(random));
        }
    }
    return made;
}

// For boosted trees: the rows of samples and their labels as numbers. Of a leaked label the first feature is a copy.
[[nodiscard]] inline std::pair<values, values> rows_and_labels(samples const& from, bool leaks) {
    values x = from.inputs, y = from.targets;
    for (std::int32_t const each : from.classes) { y.push_back(static_cast<float>(each)); }
    for (std::size_t i = 0; i < y.size() && leaks; ++i) { x[i * from.features()] = y[i]; }
    return {std::move(x), std::move(y)};
}

// How bad guesses of {samples, outputs} are: the share of wrong classes relative to chance; of one output the mean
// squared error.
template <class Number>
[[nodiscard]] double badness_of(Number const* guess, samples const& of, std::size_t outputs) {
    auto const chance_of_error = 1.0 - 1.0 / static_cast<double>(outputs);
    double bad = 0;
    for (std::size_t i = 0; i < of.count(); ++i) {
        Number const* const row = guess + i * outputs;
        if (outputs > 1) {
            bad += std::max_element(row, row + outputs) - row == of.classes[i] ? 0.0 : 1.0 / chance_of_error;
        } else {
            auto const gap = static_cast<double>(*row - static_cast<Number>(of.targets[i]));
            bad += gap * gap;
        }
    }
    return bad / static_cast<double>(of.count());
}

}  // namespace diagnosis
