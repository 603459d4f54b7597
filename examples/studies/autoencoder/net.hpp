// SPDX-License-Identifier: Apache-2.0
// A convolutional autoencoder with a dense bottleneck, for pictures of 28 x 28.
#pragma once

#include "../common/torch.hpp"

#include <cstdint>
#include <string>

namespace autoencoder {

// The variants of the study.
struct design {
    std::string name{};
    std::int64_t bottleneck = 96;
    // Sigmoids between the layers and a ReLU in the bottleneck; otherwise ELUs, and no activation in the bottleneck.
    bool squashes = true;
};

struct net_impl : torch::nn::Module {
    design how;
    torch::nn::Conv2d conv1{nullptr}, conv2{nullptr}, conv3{nullptr};
    torch::nn::Linear encode{nullptr}, decode{nullptr};
    torch::nn::ConvTranspose2d up3{nullptr}, up2{nullptr}, up1{nullptr};

    explicit net_impl(design const& wanted) : how{wanted} {
        using convolution = torch::nn::Conv2dOptions;
        using enlarging = torch::nn::ConvTranspose2dOptions;
        conv1 = register_module("conv1", torch::nn::Conv2d{convolution(1, 16, 3).stride(2).padding(1)});   // 14 x 14
        conv2 = register_module("conv2", torch::nn::Conv2d{convolution(16, 32, 3).stride(2).padding(1)});  // 7 x 7
        conv3 = register_module("conv3", torch::nn::Conv2d{convolution(32, 32, 3).padding(1)});
        encode = register_module("encode", torch::nn::Linear{32 * 7 * 7, how.bottleneck});
        decode = register_module("decode", torch::nn::Linear{how.bottleneck, 32 * 7 * 7});
        up3 = register_module("up3", torch::nn::ConvTranspose2d{enlarging(32, 32, 3).padding(1)});
        up2 = register_module("up2", torch::nn::ConvTranspose2d{enlarging(32, 16, 4).stride(2).padding(1)});
        up1 = register_module("up1", torch::nn::ConvTranspose2d{enlarging(16, 1, 4).stride(2).padding(1)});
    }

    // Pictures [count, 1, 28, 28] as points [count, bottleneck]. `see(name, made)` is called with each layer's output
    // and returns it.
    template <class See>
    torch::Tensor to_latent(torch::Tensor const& pictures, See&& see) {
        torch::Tensor x = see("conv1", between(conv1(pictures)));
        x = see("conv2", between(conv2(x)));
        x = see("conv3", between(conv3(x))).flatten(1);
        return see("latent", how.squashes ? torch::relu(encode(x)) : encode(x));
    }
    template <class See>
    torch::Tensor forward(torch::Tensor const& pictures, See&& see) {
        torch::Tensor x = see("decode", between(decode(to_latent(pictures, see))));
        x = see("up3", between(up3(x.reshape({-1, 32, 7, 7}))));
        x = see("up2", between(up2(x)));
        return torch::sigmoid(up1(x));
    }
    // Multiplications for one picture.
    [[nodiscard]] std::int64_t multiplications() const {
        std::int64_t const dense = encode->weight.numel() + decode->weight.numel();
        return dense + 14 * 14 * conv1->weight.numel() +
               7 * 7 * (conv2->weight.numel() + conv3->weight.numel() + up3->weight.numel()) +
               7 * 7 * up2->weight.numel() + 14 * 14 * up1->weight.numel();
    }
    [[nodiscard]] std::int64_t size() const {
        std::int64_t count = 0;
        for (torch::Tensor const& each : parameters()) { count += each.numel(); }
        return count;
    }

private:
    [[nodiscard]] torch::Tensor between(torch::Tensor const& x) const {
        return how.squashes ? torch::sigmoid(x) : torch::elu(x);
    }
};
TORCH_MODULE_IMPL(net, net_impl);

}  // namespace autoencoder
