// SPDX-License-Identifier: Apache-2.0
// A multilayer perceptron for classification: ReLU, softmax, cross-entropy, momentum; forward and backward by hand.
#pragma once

#include "../common/matrix.hpp"
#include "../common/prng.hpp"
#include "data.hpp"

#include <spotter/hook.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace digits {

// One dense layer, pre = x · w + b and act = max(pre, 0), with its gradients and the optimizer's memory.
struct layer {
    // The tensors' names, built once, so that observing them costs nothing.
    struct names {
        std::string w, b, grad_w, grad_b, pre, act;
    } name;
    matrix w;  // inputs x units
    std::vector<float> b;
    matrix grad_w;
    std::vector<float> grad_b;
    matrix pre;  // batch x units, before the ReLU
    matrix act;  // after it; the last layer has none
    std::vector<float> velocity_w;
    std::vector<float> velocity_b;
    bool trained = true;   // the optimizer has it
    bool spoiled = false;  // its next forward pass produces a NaN

    // Uniform weights of variance 2 / inputs (He et al. 2015), biases zero.
    layer(std::string const& title, std::size_t inputs, std::size_t units, example::prng& random)
        : name{title + "/w",           title + "/b",   "grad/" + title + "/w",
               "grad/" + title + "/b", "pre/" + title, "act/" + title},
          w(inputs, units), b(units), grad_w(inputs, units), grad_b(units), velocity_w(w.size()), velocity_b(units) {
        float const bound = std::sqrt(6.0F / static_cast<float>(inputs));
        for (float& weight : w.values) { weight = random.uniform(-bound, bound); }
    }

    void forward(matrix const& input) {
        multiply(input, w, pre);
        add_to_rows(pre, b);
        if (std::exchange(spoiled, false)) { pre.values[17] = std::numeric_limits<float>::quiet_NaN(); }
    }

    void activate() {
        act = pre;
        for (float& value : act.values) {
            value = value < 0.0F ? 0.0F : value;  // written so that NaN passes through
        }
    }

    // Takes dloss/dpre, keeps dloss/dw and dloss/db, returns dloss/dinput.
    [[nodiscard]] matrix backward(matrix const& input, matrix const& gradient) {
        multiply(transposed(input), gradient, grad_w);
        sum_of_rows(gradient, grad_b);
        matrix input_gradient;
        multiply(gradient, transposed(w), input_gradient);
        return input_gradient;
    }

    void update(float learning_rate, float momentum) {
        if (!trained) { return; }
        descend(w.values, grad_w.values, velocity_w, learning_rate, momentum);
        descend(b, grad_b, velocity_b, learning_rate, momentum);
    }

private:
    static void descend(std::vector<float>& values, std::vector<float> const& gradient, std::vector<float>& velocity,
                        float learning_rate, float momentum) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            velocity[i] = momentum * velocity[i] - learning_rate * gradient[i];
            values[i] += velocity[i];
        }
    }
};

// Layers fc1, fc2, … and all results of the last pass.
class network {
public:
    // network{{64, 64, 32, 10}, random}: inputs, hidden units of each layer, classes.
    network(std::vector<std::size_t> const& widths, example::prng& random) {
        for (std::size_t i = 1; i < widths.size(); ++i) {
            layers_.emplace_back("fc" + std::to_string(i), widths[i - 1], widths[i], random);
        }
    }

    // Predicts a batch and compares it with its labels. Keeps the batch.
    void forward(dataset batch) {
        batch_ = std::move(batch);
        matrix const* current = &batch_.pixels;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            layers_[i].forward(*current);
            if (i + 1 < layers_.size()) {
                layers_[i].activate();
                current = &layers_[i].act;
            }
        }
        judge(logits());
    }

    // Gradients of the mean cross-entropy of the last forward.
    void backward() {
        matrix gradient = probabilities_;
        for (std::size_t r = 0; r < gradient.rows; ++r) {
            gradient(r, static_cast<std::size_t>(batch_.labels[r])) -= 1.0F;
        }
        for (float& value : gradient.values) { value /= static_cast<float>(gradient.rows); }
        for (std::size_t i = layers_.size(); i-- > 1;) {
            matrix const& input = layers_[i - 1].act;
            gradient = layers_[i].backward(input, gradient);
            for (std::size_t k = 0; k < gradient.size(); ++k) {
                gradient.values[k] = input.values[k] > 0.0F ? gradient.values[k] : 0.0F;
            }
        }
        static_cast<void>(layers_.front().backward(batch_.pixels, gradient));
    }

    // One step of stochastic gradient descent with momentum.
    void update(float learning_rate, float momentum) {
        for (layer& each : layers_) { each.update(learning_rate, momentum); }
    }

    [[nodiscard]] std::vector<layer>& layers() noexcept { return layers_; }
    [[nodiscard]] std::vector<layer> const& layers() const noexcept { return layers_; }

    // Results of the last forward pass: the batch, logits (batch x classes), mean cross-entropy, number read correctly.
    [[nodiscard]] dataset const& batch() const noexcept { return batch_; }
    [[nodiscard]] matrix const& input() const noexcept { return batch_.pixels; }
    [[nodiscard]] std::vector<std::int32_t> const& labels() const noexcept { return batch_.labels; }
    [[nodiscard]] matrix const& logits() const noexcept { return layers_.back().pre; }
    [[nodiscard]] float loss() const noexcept { return loss_; }
    [[nodiscard]] std::size_t correct() const noexcept { return correct_; }

private:
    // Softmax of each row, mean cross-entropy, and the number of rows whose likeliest class is right.
    void judge(matrix const& logits) {
        probabilities_ = logits;
        loss_ = 0.0F;
        correct_ = 0;
        for (std::size_t r = 0; r < logits.rows; ++r) {
            float const* const raw = logits.row(r);
            auto const label = static_cast<std::size_t>(batch_.labels[r]);
            float const* const top = std::max_element(raw, raw + logits.cols);
            float sum = 0.0F;
            for (std::size_t c = 0; c < logits.cols; ++c) {
                probabilities_(r, c) = std::exp(raw[c] - *top);
                sum += probabilities_(r, c);
            }
            for (std::size_t c = 0; c < logits.cols; ++c) { probabilities_(r, c) /= sum; }
            loss_ += (*top + std::log(sum) - raw[label]) / static_cast<float>(logits.rows);
            correct_ += top == raw + label ? 1 : 0;
        }
    }

    std::vector<layer> layers_;
    dataset batch_;
    matrix probabilities_;
    float loss_ = 0.0F;
    std::size_t correct_ = 0;
};

// Shows the tensors of a forward pass by name and in its order; enough for an evaluation. Passes what names do not
// show: the kind of an activation, and that the predictions are logits.
template <class Visit>
void visit_forward(network const& net, Visit&& visit) {
    visit("input", net.input());
    visit("labels", net.labels());
    for (layer const& each : net.layers()) {
        if (each.act.size() == 0) { continue; }
        visit(each.name.pre, each.pre);
        visit(each.name.act, each.act, spotter::activated_by(spotter::activation_kind::relu));
    }
    visit("logits", net.logits(), spotter::role::prediction, spotter::flag::logits);
}

// A hash over the bits of all parameters: equal trainings end in equal fingerprints.
[[nodiscard]] inline std::uint64_t fingerprint(network const& net) {
    std::uint64_t hash = 0xCBF29CE484222325U;
    auto const add = [&hash](std::vector<float> const& values) {
        for (float const value : values) { hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001B3U; }
    };
    for (layer const& each : net.layers()) {
        add(each.w.values);
        add(each.b);
    }
    return hash;
}

// Shows every tensor of a training step by name, in the order in which it was computed; valid after backward.
template <class Visit>
void visit_tensors(network const& net, Visit&& visit) {
    for (layer const& each : net.layers()) {
        visit(each.name.w, each.w);
        visit(each.name.b, each.b);
    }
    visit_forward(net, visit);
    for (layer const& each : net.layers()) {
        visit(each.name.grad_w, each.grad_w);
        visit(each.name.grad_b, each.grad_b);
    }
}

}  // namespace digits
