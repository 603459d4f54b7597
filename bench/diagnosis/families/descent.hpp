// SPDX-License-Identifier: Apache-2.0
// Optimizers of plain arrays, one state for each array that is stepped: descent with or without momentum, RMSProp,
// Adam, AdaGrad.
#pragma once

#include "inject.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

namespace diagnosis {

struct descent {
    enum class kind { sgd, nesterov, rmsprop, adam, adagrad };

    kind how = kind::sgd;
    float rate = 0.01F;
    float momentum = 0;      // of sgd and nesterov
    float weight_decay = 0;  // decoupled
    float sign = -1;

    descent(course const& of, kind method, float healthy_rate, float with_momentum = 0, float decay = 0)
        : how{method}, rate{healthy_rate * rate_factor(of)}, momentum{with_momentum}, weight_decay{decay},
          sign{direction(of)} {}

    // `slot` tells one array from another; `schedule` is a share of the rate.
    void step(std::size_t slot, float* weights, float const* gradient, std::size_t count, float schedule = 1) {
        if (slots_.size() <= slot) { slots_.resize(slot + 1); }
        state& its = slots_[slot];
        its.first.resize(count);
        its.second.resize(count);
        auto const steps = static_cast<float>(++its.steps);
        float const now = rate * schedule;
        float const unbias_first = 1.0F - std::pow(0.9F, steps), unbias_second = 1.0F - std::pow(0.999F, steps);
        for (std::size_t i = 0; i < count; ++i) {
            float const g = gradient[i];
            float &first = its.first[i], &second = its.second[i];
            float move = 0;
            switch (how) {
                case kind::sgd:
                case kind::nesterov:
                    first = momentum * first + g;
                    move = how == kind::sgd ? first : g + momentum * first;
                    break;
                case kind::rmsprop:
                    second += 0.01F * (g * g - second);
                    move = g / (std::sqrt(second) + 1e-8F);
                    break;
                case kind::adagrad:
                    second += g * g;
                    move = g / (std::sqrt(second) + 1e-8F);
                    break;
                case kind::adam:
                    first += 0.1F * (g - first);
                    second += 0.001F * (g * g - second);
                    move = first / unbias_first / (std::sqrt(second / unbias_second) + 1e-8F);
                    break;
            }
            weights[i] += sign * now * move - now * weight_decay * weights[i];
        }
    }

private:
    struct state {
        std::vector<float> first{}, second{};
        std::size_t steps = 0;
    };
    std::vector<state> slots_{};
};

}  // namespace diagnosis
