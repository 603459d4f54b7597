// SPDX-License-Identifier: Apache-2.0
// Shows spotter what it needs to tell which parts of a picture made the net say what it said.
#pragma once

#include "pictures.hpp"
#include "resnet.hpp"

#include <spotter/ext/torch.hpp>
#include <spotter/hook.hpp>

#include <algorithm>
#include <string>

namespace studies {

// What a batch normalisation adds in evaluation: beta - mean * gamma / sqrt(variance + epsilon), [channels].
[[nodiscard]] inline torch::Tensor bias_of(torch::nn::BatchNorm2dImpl const& norm) {
    torch::Tensor const scale = norm.weight / torch::sqrt(norm.running_var + norm.options.eps());
    return norm.bias - norm.running_mean * scale;
}

// Shows what a layer of a net in evaluation adds, and, in the backward pass, the gradient to what it makes; nothing of
// layers that add nothing. `layer` and `made` are what forward gives to `see`; returns what is to go on.
template <class Hook>
[[nodiscard]] torch::Tensor explained_layer(resnet const& net, std::string const& layer, torch::Tensor const& made,
                                            Hook& watch) {
    std::string path = layer;
    std::replace(path.begin(), path.end(), '/', '.');
    auto const modules = net->named_modules();
    auto const* const module = modules.find(path);
    if (module == nullptr) { return made; }
    if (auto const* const norm = (*module)->template as<torch::nn::BatchNorm2dImpl>()) {
        watch.observe("bias/" + layer, bias_of(*norm));
    } else if (auto const* const linear = (*module)->template as<torch::nn::LinearImpl>()) {
        watch.observe("bias/" + layer, linear->bias);
    } else {
        return made;  // a convolution, which has none
    }
    return spotter::tap_gradient(watch, "grad/" + layer, made);
}

// Shows the score of the class that each picture is taken for, and its gradient to the input and to what went through
// explained_layer. A residual net with ReLU is linear between its kinks, so the biases and the input, times these, are
// all parts of the score.
template <class Hook>
void explain_scores(torch::Tensor const& input, torch::Tensor const& scores, Hook& watch) {
    torch::Tensor const explained = std::get<0>(scores.max(1));
    watch.observe("explained", explained);
    explained.sum().backward();
    watch.observe("grad/input", input.grad());
}

// One step of mode predict, whole.
template <class Hook>
void explain(resnet& net, pictures const& shown, Hook& watch, std::uint64_t index) {
    net->eval();
    torch::Tensor input = as_input(shown.pixels).requires_grad_();
    watch.begin(spotter::predict(index));
    watch.observe("input", input);
    watch.observe("label", shown.labels);
    torch::Tensor const scores = net->forward(input, [&](std::string const& layer, torch::Tensor const& made) {
        return explained_layer(net, layer, made, watch);
    });
    watch.observe("score", scores, spotter::role::prediction, spotter::flag::logits);
    explain_scores(input, scores, watch);
    (void)watch.end();
    net->train();
}

}  // namespace studies
