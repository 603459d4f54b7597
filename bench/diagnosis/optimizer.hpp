// SPDX-License-Identifier: Apache-2.0
// Stochastic gradient descent with momentum, and Adam (Kingma and Ba 2015); clipping by the global norm of the
// gradients.
#pragma once

#include "network.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace diagnosis {

enum class method { momentum, adam };

class optimizer {
public:
    method how = method::momentum;
    float learning_rate = 0.01F;
    float largest_norm = 0;  // of all gradients together; 0: they are not clipped
    float clip_at = 0;       // likewise, for this step, where that is less
    float weight_decay = 0;  // decoupled: the share of a value that a step at the whole rate takes away
    float sign = -1;         // a fault: +1 climbs

    // It changes only what it was given; that stays where it is.
    void add(parameter& it) { slots_.push_back({&it, values(it.value.size()), values(it.value.size())}); }

    void step(float schedule = 1) {
        ++steps_;
        float const factor = clipping();
        float const rate = sign * learning_rate * schedule;
        float const unbias_first = 1.0F / (1.0F - std::pow(0.9F, static_cast<float>(steps_)));
        float const unbias_second = 1.0F / (1.0F - std::pow(0.999F, static_cast<float>(steps_)));
        for (slot& each : slots_) {
            values& value = each.of->value;
            values const& gradient = each.of->gradient;
            for (std::size_t i = 0; i < value.size(); ++i) {
                float const g = gradient[i] * factor;
                value[i] -= learning_rate * schedule * weight_decay * value[i];
                if (how == method::momentum) {
                    each.first[i] = 0.9F * each.first[i] + g;
                    value[i] += rate * each.first[i];
                } else {
                    each.first[i] += 0.1F * (g - each.first[i]);
                    each.second[i] += 0.001F * (g * g - each.second[i]);
                    value[i] +=
                        rate * each.first[i] * unbias_first / (std::sqrt(each.second[i] * unbias_second) + 1e-8F);
                }
            }
        }
    }

private:
    struct slot {
        parameter* of;
        values first, second;
    };
    [[nodiscard]] float clipping() const noexcept {
        float const most = clip_at > 0 && (largest_norm <= 0 || clip_at < largest_norm) ? clip_at : largest_norm;
        if (most <= 0) { return 1; }
        double sum = 0;
        for (slot const& each : slots_) {
            for (float const g : each.of->gradient) { sum += static_cast<double>(g) * static_cast<double>(g); }
        }
        auto const norm = static_cast<float>(std::sqrt(sum));
        return norm > most ? most / norm : 1.0F;
    }

    std::vector<slot> slots_{};
    std::uint64_t steps_ = 0;
};

}  // namespace diagnosis
