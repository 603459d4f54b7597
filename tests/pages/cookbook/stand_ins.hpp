// SPDX-License-Identifier: Apache-2.0
// What the blocks of docs/cookbook.md leave to the reader: a net with its own memory, and one of a rank.
#pragma once

#include <spotter/core/tensor_access.hpp>

#include <cstddef>
#include <vector>

namespace stand_in {

// Weights and gradients behind pointers, as in the user's own library or on a device.
struct own_net {
    std::vector<float> weights = std::vector<float>(256 * 784, 0.1F), gradients = std::vector<float>(256 * 784);
    float* w1 = weights.data();
    float* grad_w1 = gradients.data();
    int passes = 0;

    float forward_backward() {
        double loss = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            float const wanted = static_cast<float>(i % 7) * 0.01F;
            gradients[i] =
                weights[i] - wanted + static_cast<float>((i * 31U + static_cast<unsigned>(passes)) % 5) * 1e-3F;
            loss += static_cast<double>(gradients[i]) * static_cast<double>(gradients[i]);
        }
        ++passes;
        return static_cast<float>(loss / static_cast<double>(weights.size()));
    }
    void update() {
        for (std::size_t i = 0; i < weights.size(); ++i) { weights[i] -= 0.01F * gradients[i]; }
    }
};

struct rank : own_net {
    void average_gradients() {}
};
template <class Visit>
void visit_tensors(rank const& net, Visit visit) {
    visit("fc1/w", spotter::view_of(net.weights, {256, 784}));
    visit("grad/fc1/w", spotter::view_of(net.gradients, {256, 784}));
}

}  // namespace stand_in
