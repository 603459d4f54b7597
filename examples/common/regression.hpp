// SPDX-License-Identifier: Apache-2.0
// The smallest network worth watching: one hidden ReLU layer that learns y = sin(3 x0) * x1. The numbered examples
// train it.
#pragma once

#include "matrix.hpp"
#include "prng.hpp"

#include <cmath>
#include <cstdint>

namespace example {

struct regression {
    static constexpr std::size_t inputs = 2, units = 16, batch = 64;

    matrix w1{inputs, units}, w2{units, 1};            // parameters
    matrix grad_w1{inputs, units}, grad_w2{units, 1};  // their gradients
    matrix input{batch, inputs}, hidden{batch, units}, output{batch, 1};
    float learning_rate = 0.05F;

    explicit regression(std::uint64_t seed = 1) : random_{seed} {
        for (float& w : w1.values) { w = random_.uniform(-1.0F, 1.0F); }
        for (float& w : w2.values) { w = random_.uniform(-0.25F, 0.25F); }
    }

    // One batch forward and backward; returns its mean squared error.
    float forward_backward() {
        matrix slope{batch, 1};
        float loss = 0;
        for (std::size_t r = 0; r < batch; ++r) {
            for (std::size_t c = 0; c < inputs; ++c) { input(r, c) = random_.uniform(-1.0F, 1.0F); }
        }
        multiply(input, w1, hidden);
        for (float& h : hidden.values) { h = h > 0 ? h : 0; }
        multiply(hidden, w2, output);
        for (std::size_t r = 0; r < batch; ++r) {
            float const gap = output(r, 0) - std::sin(3 * input(r, 0)) * input(r, 1);
            loss += gap * gap / static_cast<float>(batch);
            slope(r, 0) = 2 * gap / static_cast<float>(batch);
        }
        multiply(transposed(hidden), slope, grad_w2);
        matrix back;
        multiply(slope, transposed(w2), back);
        for (std::size_t i = 0; i < back.size(); ++i) { back.values[i] = hidden.values[i] > 0 ? back.values[i] : 0; }
        multiply(transposed(input), back, grad_w1);
        return loss;
    }

    void update() {
        for (std::size_t i = 0; i < w1.size(); ++i) { w1.values[i] -= learning_rate * grad_w1.values[i]; }
        for (std::size_t i = 0; i < w2.size(); ++i) { w2.values[i] -= learning_rate * grad_w2.values[i]; }
    }

private:
    prng random_;
};

// All that spotter needs to know of the network: its tensors by name, in the order in which a step computes them.
template <class Visit>
void visit_tensors(regression const& net, Visit visit) {
    visit("fc1/w", net.w1);
    visit("fc2/w", net.w2);
    visit("input", net.input);
    visit("act/fc1", net.hidden);
    visit("grad/fc1/w", net.grad_w1);
    visit("grad/fc2/w", net.grad_w2);
}

}  // namespace example
