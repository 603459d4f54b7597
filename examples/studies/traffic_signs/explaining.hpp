// SPDX-License-Identifier: Apache-2.0
// Shows spotter what it needs to tell which parts of a picture made the net say what it said.
#pragma once

#include "training.hpp"

#include <spotter/trial.hpp>

#include <string>

namespace traffic {

// What a batch normalisation adds in evaluation: beta - mean * gamma / sqrt(variance + epsilon), [channels].
[[nodiscard]] inline torch::Tensor bias_of(torch::nn::BatchNorm2dImpl const& norm) {
    torch::Tensor const scale = norm.weight / torch::sqrt(norm.running_var + norm.options.eps());
    return norm.bias - norm.running_mean * scale;
}

// One step of mode predict: the pictures, the score of the class that each is taken for, its gradient to the input and to what each layer
// with a bias makes, and these biases. A residual net with ReLU is linear between its kinks, so these are all parts of the scores.
template <class Hook>
void explain(studies::resnet& net, studies::pictures const& shown, Hook& watch, std::uint64_t index) {
    net->eval();
    auto const modules = net->named_modules();
    torch::Tensor input = studies::as_input(shown.pixels).requires_grad_();
    watch.begin(sp::predict(index));
    watch.observe("input", input);
    watch.observe("label", shown.labels);
    torch::Tensor const score = net->forward(input, [&](std::string name, torch::Tensor const& made) {
        std::string const layer = name;
        std::replace(name.begin(), name.end(), '/', '.');
        auto const* const module = modules.find(name);
        if (module == nullptr) { return made; }
        if (auto const* const norm = (*module)->template as<torch::nn::BatchNorm2dImpl>()) {
            watch.observe("bias/" + layer, bias_of(*norm));
        } else if (auto const* const linear = (*module)->template as<torch::nn::LinearImpl>()) {
            watch.observe("bias/" + layer, linear->bias);
        } else {
            return made;  // a convolution, which has none
        }
        return sp::tap_gradient(watch, "grad/" + layer, made);
    });
    watch.observe("score", score, sp::role::prediction, sp::flag::logits);
    torch::Tensor const explained = std::get<0>(score.max(1));
    watch.observe("explained", explained);
    explained.sum().backward();
    watch.observe("grad/input", input.grad());
    (void)watch.end();
    net->train();
}

}  // namespace traffic
