// SPDX-License-Identifier: Apache-2.0
// Losses: the mean squared error, and the cross-entropy of a softmax.
#pragma once

#include "kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace diagnosis {

// Predictions of a batch against what they should be.
class judge {
public:
    bool softmax_twice = false;
    float sign = 1;
    values shown{};     // what the loss was taken of, and what a user hands over
    values gradient{};  // of the loss, by the output of the network
    float loss = 0;
    std::size_t wrong = 0;

    void regress(values const& output, values const& targets) {
        auto const count = static_cast<float>(targets.size());
        shown = output;
        gradient.resize(output.size());
        loss = 0;
        for (std::size_t i = 0; i < output.size(); ++i) {
            float const gap = output[i] - targets[i];
            loss += sign * gap * gap / count;
            gradient[i] = sign * 2.0F * gap / count;
        }
    }
    void classify(values const& output, std::vector<std::int32_t> const& labels, std::size_t classes) {
        auto const count = static_cast<float>(labels.size());
        shown = output;
        gradient.resize(output.size());
        loss = 0;
        wrong = 0;
        for (std::size_t r = 0; r < labels.size(); ++r) {
            auto const label = static_cast<std::size_t>(labels[r]);
            float* const row = shown.data() + r * classes;
            float* const slope = gradient.data() + r * classes;
            wrong += std::max_element(row, row + classes) == row + label ? 0U : 1U;
            values first;
            if (softmax_twice) {
                (void)softmax(row, row, classes, label);
                first.assign(row, row + classes);
            }
            loss -= sign * softmax(row, slope, classes, label) / count;
            slope[label] -= 1.0F;
            if (softmax_twice) {
                float inner = 0;
                for (std::size_t c = 0; c < classes; ++c) { inner += slope[c] * first[c]; }
                for (std::size_t c = 0; c < classes; ++c) { slope[c] = first[c] * (slope[c] - inner); }
            }
            for (std::size_t c = 0; c < classes; ++c) { slope[c] *= sign / count; }
        }
    }

private:
    // Chances from logits, in place if wanted; the logarithm of that of `label`.
    static float softmax(float const* logits, float* chances, std::size_t classes, std::size_t label) {
        float const top = *std::max_element(logits, logits + classes);
        float const wanted = logits[label];
        float sum = 0;
        for (std::size_t c = 0; c < classes; ++c) { sum += chances[c] = std::exp(logits[c] - top); }
        for (std::size_t c = 0; c < classes; ++c) { chances[c] /= sum; }
        return wanted - top - std::log(sum);
    }
};

}  // namespace diagnosis
