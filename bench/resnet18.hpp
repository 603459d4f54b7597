// SPDX-License-Identifier: Apache-2.0
// ResNet18 in libtorch (He et al. 2016). It shows each layer's input and output to a hook on the way, as smdebug does.
#pragma once

#include <spotter/ext/torch.hpp>

#include <torch/nn.h>

#include <string>
#include <vector>

namespace bench {

template <class Hook, class Layer>
torch::Tensor through(Hook& watch, std::string const& name, Layer& layer, torch::Tensor const& x) {
    watch.observe(name + "_input", x);
    torch::Tensor made = layer(x);
    watch.observe(name + "_output", made);
    return made;
}

inline torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t size, std::int64_t stride) {
    return torch::nn::Conv2d{torch::nn::Conv2dOptions{in, out, size}.stride(stride).padding(size / 2).bias(false)};
}

// The basic block of He et al. 2016.
struct block_impl : torch::nn::Module {
    std::string name;
    torch::nn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
    torch::nn::BatchNorm2d norm1{nullptr}, norm2{nullptr}, norm3{nullptr};

    block_impl(std::string title, std::int64_t in, std::int64_t out, std::int64_t stride) : name{std::move(title)} {
        conv1 = register_module("conv1", convolution(in, out, 3, stride));
        norm1 = register_module("bn1", torch::nn::BatchNorm2d{out});
        conv2 = register_module("conv2", convolution(out, out, 3, 1));
        norm2 = register_module("bn2", torch::nn::BatchNorm2d{out});
        if (stride == 1 && in == out) { return; }
        conv3 = register_module("downsample0", convolution(in, out, 1, stride));
        norm3 = register_module("downsample1", torch::nn::BatchNorm2d{out});
    }
    template <class Hook>
    torch::Tensor forward(torch::Tensor const& x, Hook& watch) {
        torch::Tensor y = through(watch, name + "/conv1", conv1, x);
        y = torch::relu(through(watch, name + "/bn1", norm1, y));
        watch.observe(name + "/relu1_output", y);
        y = through(watch, name + "/conv2", conv2, y);
        y = through(watch, name + "/bn2", norm2, y);
        torch::Tensor aside = x;
        if (conv3) {
            aside = through(watch, name + "/downsample1", norm3, through(watch, name + "/downsample0", conv3, x));
        }
        y = torch::relu(y + aside);
        watch.observe(name + "/relu2_output", y);
        return y;
    }
};
TORCH_MODULE_IMPL(block, block_impl);

struct resnet_impl : torch::nn::Module {
    torch::nn::Conv2d conv1{register_module("conv1", convolution(3, 64, 7, 2))};
    torch::nn::BatchNorm2d norm{register_module("bn1", torch::nn::BatchNorm2d{64})};
    std::vector<block> blocks;
    torch::nn::Linear fc{register_module("fc", torch::nn::Linear{512, 1000})};

    resnet_impl() {
        std::int64_t in = 64;
        for (std::int64_t group = 0; group < 4; ++group) {
            for (std::int64_t i = 0; i < 2; ++i) {
                std::int64_t const out = 64 << group;
                std::string const name = "layer" + std::to_string(group + 1) + "_" + std::to_string(i);
                blocks.push_back(register_module(name, block{name, in, out, group > 0 && i == 0 ? 2 : 1}));
                in = out;
            }
        }
    }
    template <class Hook>
    torch::Tensor forward(torch::Tensor const& pictures, Hook& watch) {
        torch::Tensor x = torch::relu(through(watch, "bn1", norm, through(watch, "conv1", conv1, pictures)));
        watch.observe("relu_output", x);
        x = torch::max_pool2d(x, 3, 2, 1);
        watch.observe("maxpool_output", x);
        for (block& each : blocks) { x = each->forward(x, watch); }
        x = torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1);
        return through(watch, "fc", fc, x);
    }
};
TORCH_MODULE_IMPL(resnet, resnet_impl);

}  // namespace bench
