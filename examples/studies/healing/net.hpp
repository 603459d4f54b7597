// SPDX-License-Identifier: Apache-2.0
// A deep residual net of ELUs (Clevert, Unterthiner and Hochreiter 2016) for grey pictures. Each block adds to its
// input. Without normalisation the activations, and the gradients of the backward pass, grow by about a constant factor
// in each block.
#pragma once

#include "../common/resnet.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace healing {

struct elu_block_impl : torch::nn::Module {
    torch::nn::Conv2d conv1{nullptr}, conv2{nullptr}, shortcut{nullptr};
    torch::nn::BatchNorm2d bn1{nullptr}, bn2{nullptr};  // empty: none

    elu_block_impl(std::int64_t in, std::int64_t out, std::int64_t stride, bool normalised) {
        conv1 = register_module("conv1", studies::convolution(in, out, 3, stride));
        conv2 = register_module("conv2", studies::convolution(out, out, 3, 1));
        if (normalised) {
            bn1 = register_module("bn1", torch::nn::BatchNorm2d{out});
            bn2 = register_module("bn2", torch::nn::BatchNorm2d{out});
        }
        if (in != out) { shortcut = register_module("shortcut", studies::convolution(in, out, 1, stride)); }
    }
    torch::Tensor forward(torch::Tensor const& x) {
        torch::Tensor y = conv1(x);
        y = conv2(torch::elu(bn1 ? bn1(y) : y));
        return torch::elu((bn2 ? bn2(y) : y) + (shortcut ? shortcut(x) : x));
    }
};
TORCH_MODULE_IMPL(elu_block, elu_block_impl);

// A first convolution of stride 2, then three groups of blocks with `width`, 2 and 4 times as many channels.
struct elu_resnet_impl : torch::nn::Module {
    torch::nn::Conv2d first{nullptr};
    torch::nn::Sequential blocks{nullptr};
    torch::nn::Linear fc{nullptr};

    elu_resnet_impl(std::int64_t blocks_each, std::int64_t width, std::int64_t classes, bool normalised) {
        first = register_module("first", studies::convolution(1, width, 3, 2));
        torch::nn::Sequential all;
        for (std::int64_t i = 0, in = width; i < 3 * blocks_each; ++i) {
            std::int64_t const group = i / blocks_each, out = width << group;
            all->push_back(elu_block{in, out, group > 0 && i % blocks_each == 0 ? 2 : 1, normalised});
            in = out;
        }
        blocks = register_module("blocks", all);
        fc = register_module("fc", torch::nn::Linear{4 * width, classes});
    }
    // Scores [count, classes] of pictures [count, 1, 28, 28].
    torch::Tensor forward(torch::Tensor const& pictures) {
        torch::Tensor const x = blocks->forward(torch::elu(first(pictures)));
        return fc(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
    }
};
TORCH_MODULE_IMPL(elu_resnet, elu_resnet_impl);

}  // namespace healing
