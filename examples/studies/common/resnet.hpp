// SPDX-License-Identifier: Apache-2.0
// ResNet18 (He et al. 2016) for small pictures: a first convolution of 3 x 3 without pooling, as in its authors' nets
// for 32 x 32.
#pragma once

#include "torch.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace studies {

[[nodiscard]] inline torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t size,
                                                   std::int64_t stride) {
    return torch::nn::Conv2d{torch::nn::Conv2dOptions{in, out, size}.stride(stride).padding(size / 2).bias(false)};
}

// Two convolutions with a shortcut. `inner` is the number of channels between the two.
struct block_impl : torch::nn::Module {
    torch::nn::Conv2d conv1{nullptr}, conv2{nullptr}, shortcut{nullptr};
    torch::nn::BatchNorm2d bn1{nullptr}, bn2{nullptr}, shortcut_bn{nullptr};

    block_impl(std::int64_t in, std::int64_t inner, std::int64_t out, std::int64_t stride) {
        conv1 = register_module("conv1", convolution(in, inner, 3, stride));
        bn1 = register_module("bn1", torch::nn::BatchNorm2d{inner});
        conv2 = register_module("conv2", convolution(inner, out, 3, 1));
        bn2 = register_module("bn2", torch::nn::BatchNorm2d{out});
        if (stride == 1 && in == out) { return; }
        shortcut = register_module("shortcut", convolution(in, out, 1, stride));
        shortcut_bn = register_module("shortcut_bn", torch::nn::BatchNorm2d{out});
    }
    template <class See>
    torch::Tensor forward(torch::Tensor const& x, std::string const& name, See&& see) {
        torch::Tensor y = see(name + "/bn1", bn1(see(name + "/conv1", conv1(x))));
        y = see(name + "/relu1", torch::relu(y));
        y = see(name + "/bn2", bn2(see(name + "/conv2", conv2(y))));
        torch::Tensor aside = x;
        if (shortcut) { aside = see(name + "/shortcut_bn", shortcut_bn(see(name + "/shortcut", shortcut(x)))); }
        return see(name + "/relu2", torch::relu(y + aside));
    }
};
TORCH_MODULE_IMPL(block, block_impl);

// Four groups of two blocks, with `width`, 2, 4 and 8 times as many channels. `inner`, one number for each block: the
// channels between its two convolutions; by default as many as its output has.
struct resnet_impl : torch::nn::Module {
    torch::nn::Conv2d conv1{nullptr};
    torch::nn::BatchNorm2d bn1{nullptr};
    std::vector<block> blocks{};
    torch::nn::Linear fc{nullptr};

    resnet_impl(std::int64_t width, std::int64_t classes, std::vector<std::int64_t> const& inner = {}) {
        conv1 = register_module("conv1", convolution(3, width, 3, 1));
        bn1 = register_module("bn1", torch::nn::BatchNorm2d{width});
        std::int64_t in = width;
        for (std::int64_t i = 0; i < 8; ++i) {
            std::int64_t const out = width << (i / 2);
            std::int64_t const between = inner.empty() ? out : inner[static_cast<std::size_t>(i)];
            blocks.push_back(
                register_module("block" + std::to_string(i + 1), block{in, between, out, i > 0 && i % 2 == 0 ? 2 : 1}));
            in = out;
        }
        fc = register_module("fc", torch::nn::Linear{in, classes});
    }

    // Scores [count, classes] of pictures [count, channels, height, width]. `see(name, output)` is called with each
    // layer's output, in program order, and returns the tensor to continue with: "conv1", "bn1", "relu1",
    // "block1/conv1", … "block8/relu2", "pool", "fc".
    template <class See>
    torch::Tensor forward(torch::Tensor const& pictures, See&& see) {
        torch::Tensor x = see("relu1", torch::relu(see("bn1", bn1(see("conv1", conv1(pictures))))));
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            x = blocks[i]->forward(x, "block" + std::to_string(i + 1), see);
        }
        x = see("pool", torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
        return see("fc", fc(x));
    }
    torch::Tensor forward(torch::Tensor const& pictures) {
        return forward(pictures, [](std::string_view, torch::Tensor made) { return made; });
    }
};
TORCH_MODULE_IMPL(resnet, resnet_impl);

}  // namespace studies
