// SPDX-License-Identifier: Apache-2.0
// Observes the tensors that explain which parts of a picture made the net give its answer.
#pragma once

#include "pictures.hpp"
#include "resnet.hpp"

#include <spotter/ext/torch.hpp>
#include <spotter/hook.hpp>

#include <algorithm>
#include <string>

namespace studies {

// The bias of a batch normalisation in evaluation: beta - mean * gamma / sqrt(variance + epsilon), [channels].
[[nodiscard]] inline torch::Tensor bias_of(torch::nn::BatchNorm2dImpl const& norm) {
    torch::Tensor const scale = norm.weight / torch::sqrt(norm.running_var + norm.options.eps());
    return norm.bias - norm.running_mean * scale;
}

// Observes a layer's bias in evaluation and, in the backward pass, the gradient of its output; nothing for layers
// without a bias. `layer` and `made` are the arguments of `see` in forward; returns the tensor to continue with.
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
        return made;  // a convolution, which has no bias
    }
    return spotter::tap_gradient(watch, "grad/" + layer, made);
}

// Observes the score of each picture's predicted class, and its gradients with respect to the input and to the outputs
// in explained_layer. A residual net with ReLU is piecewise linear, so the input and the biases, times these gradients,
// add up to the score.
template <class Hook>
void explain_scores(torch::Tensor const& input, torch::Tensor const& scores, Hook& watch) {
    torch::Tensor const explained = std::get<0>(scores.max(1));
    watch.observe("explained", explained);
    explained.sum().backward();
    watch.observe("grad/input", input.grad());
}

// One step of mode predict.
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
