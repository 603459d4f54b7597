// SPDX-License-Identifier: Apache-2.0
// Tensors of a ResNet18 after 120 steps of Adam: weights, gradients, activations, moments; and an embedding's gradient.
#pragma once

#include "bench.hpp"
#include "resnet18.hpp"

#include <torch/optim.h>

#include <utility>

namespace bench {

struct named_tensors {
    std::string name;
    std::vector<torch::Tensor> all{};
};

namespace detail {

struct nobody {
    void observe(std::string const&, torch::Tensor const&) const noexcept {}
};
// Keeps the activation after each ReLU, and the loss's gradient in front of it.
struct keeper {
    std::vector<torch::Tensor> behind{}, before{};
    void observe(std::string const& name, torch::Tensor const& values) {
        if (name.ends_with("relu_output") || name.ends_with("relu1_output") || name.ends_with("relu2_output")) {
            behind.push_back(values.detach().clone());
        }
        if (name.ends_with("bn1_output")) {
            before.push_back(values);
            before.back().retain_grad();
        }
    }
};

}  // namespace detail

// Pictures are ten patterns with as much noise; batches of 16, one thread.
[[nodiscard]] inline std::vector<named_tensors> resnet18_tensors() {
    torch::set_num_threads(1);
    torch::manual_seed(7);
    resnet net;
    torch::optim::Adam optimizer{net->parameters(), torch::optim::AdamOptions{1e-3}};
    torch::Tensor const patterns = torch::randn({10, 3, 64, 64});
    detail::keeper kept;
    std::size_t const steps = rounds(120, 2);
    for (std::size_t i = 0; i < steps; ++i) {
        torch::Tensor const labels = torch::randint(10, {16}, torch::kLong);
        torch::Tensor const pictures = patterns.index_select(0, labels) + torch::randn({16, 3, 64, 64});
        detail::nobody none;
        bool const last = i + 1 == steps;
        torch::Tensor const made = last ? net->forward(pictures, kept) : net->forward(pictures, none);
        optimizer.zero_grad();
        torch::nn::functional::cross_entropy(made, labels).backward();
        if (!last) { optimizer.step(); }
    }
    named_tensors weights{"weights"}, gradients{"gradients"}, mean{"Adam's mean"}, variance{"Adam's variance"},
        behind{"activations behind ReLU", kept.behind}, before{"gradients in front of ReLU"},
        rows{"an embedding's gradient"};
    auto const parameters = net->parameters();
    for (auto at = parameters.rbegin(); at != parameters.rend(); ++at) {  // the large ones first
        if (at->dim() < 2) { continue; }
        auto const& state = static_cast<torch::optim::AdamParamState const&>(
            *optimizer.state().at(c10::guts::to_string(at->unsafeGetTensorImpl())));
        weights.all.push_back(at->detach());
        gradients.all.push_back(at->grad());
        mean.all.push_back(state.exp_avg());
        variance.all.push_back(state.exp_avg_sq());
    }
    for (torch::Tensor const& each : kept.before) { before.all.push_back(each.grad()); }
    torch::nn::Embedding words{8192, 256};
    torch::Tensor const text = (torch::rand({2048}).pow(4) * 8192).to(torch::kLong);
    torch::Tensor const found = words(text);
    (found * torch::randn_like(found)).sum().backward();
    rows.all.push_back(words->weight.grad());
    return {weights, gradients, before, behind, mean, variance, rows};
}

}  // namespace bench
