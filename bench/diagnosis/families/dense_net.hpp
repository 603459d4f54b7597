// SPDX-License-Identifier: Apache-2.0
// A dense net and its optimizer, with the faults that are in them. For programs in loops of this bench.
#pragma once

#include "../chain.hpp"
#include "../optimizer.hpp"
#include "inject.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace diagnosis {

// Leaves the gradients of the parameters, and in `gradient` that of the input.
inline void backward(course const& by, chain& net, values& gradient) {
    float const keep = by.is(fault::piles_up) ? 1.0F : 0.0F;
    for (std::size_t i = net.blocks.size(); i-- > 0;) {
        net.blocks[i].backward(gradient, keep);
        if (i + 1 == net.blocks.size() && by.is(fault::backward_bug)) {
            for (float& each : gradient) { each = 0; }
        }
    }
}

struct dense_shape {
    std::vector<std::size_t> widths{};  // inputs, units of each hidden layer, outputs
    sp::activation_kind hidden = sp::activation_kind::relu;
    float gain = 6;        // weights begin uniform in ± the root of this over their inputs
    float deviation = 0;   // where positive, they begin normal with this standard deviation, and so do biases
    std::string prefix{};  // of each layer's name
};

// Not moved: the optimizer points into the net.
class dense_net {
public:
    dense_net(course const& by, prng& random, dense_shape const& like, method how, float rate, float decay = 0)
        : course_{by}, random_{random} {
        for (std::size_t i = 0; i + 1 < like.widths.size(); ++i) { add(like, i); }
        optimizer_.how = how;
        optimizer_.learning_rate = rate * rate_factor(by);
        optimizer_.weight_decay = decay;
        optimizer_.sign = direction(by);
        for (block& each : net.blocks) {
            if (&each == &net.blocks[1] && by.is(fault::not_in_optimizer)) { continue; }
            optimizer_.add(each.w);
            optimizer_.add(each.b);
        }
    }
    dense_net(dense_net const&) = delete;
    dense_net& operator=(dense_net const&) = delete;

    values const& forward(values const& input, std::size_t batch) { return net.forward(input, batch, true, random_); }
    void backward(values& gradient) { diagnosis::backward(course_, net, gradient); }
    void update(float schedule = 1) { optimizer_.step(schedule); }
    void copy_to(dense_net& other) const {
        for (std::size_t i = 0; i < net.blocks.size(); ++i) {
            other.net.blocks[i].w.value = net.blocks[i].w.value;
            other.net.blocks[i].b.value = net.blocks[i].b.value;
        }
    }
    void tell_if_lost(course& of) const {
        for (block const& each : net.blocks) { diagnosis::tell_if_lost(of, each.w.value); }
    }

    chain net{};

private:
    void add(dense_shape const& like, std::size_t i) {
        std::size_t const inputs = like.widths[i], units = like.widths[i + 1];
        bool const hidden = i + 2 < like.widths.size();
        block& each = net.blocks.emplace_back(like.prefix + "fc" + std::to_string(i + 1), inputs, units);
        draw(course_, random_, std::sqrt(like.gain / static_cast<float>(inputs)), each.w.value);
        each.b.value.assign(units, hidden ? hidden_bias(course_) : 0.0F);
        bool const as_drawn = course_.is(fault::zero_weights) || course_.is(fault::constant_weights);
        if (like.deviation > 0 && !as_drawn) {
            float const scale = course_.is(fault::large_weights) ? 20 * like.deviation : like.deviation;
            for (float& w : each.w.value) { w = scale * normal(random_); }
            for (float& b : each.b.value) { b += like.deviation * normal(random_); }
        }
        if (!hidden) { return; }
        each.activation = like.hidden;
        each.activation_left_out = course_.is(fault::no_activations);
    }

    course const& course_;
    prng& random_;
    optimizer optimizer_{};
};

}  // namespace diagnosis
