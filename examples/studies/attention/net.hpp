// SPDX-License-Identifier: Apache-2.0
// A small transformer that predicts the next letter, with its attention written out (Vaswani et al. 2017), and with
// faults to choose from. It normalises before each part, which trains more reliably (Xiong et al. 2020), and encodes
// positions by a bias on distance (ALiBi, Press et al. 2022).
#pragma once

#include "../common/torch.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace attention {

struct shape {
    std::int64_t layers = 4, heads = 8, width = 64, context = 64;  // width: of all heads of a layer together
    // Faults.
    bool unscaled = false;        // scores are not divided by sqrt(width / heads)
    bool first_for_all = false;   // a wrong index: every head has the queries, keys and bias of the first
    bool bias_by_offset = false;  // the bias depends on the key's place in memory, not on its distance from the query
};

struct layer_impl : torch::nn::Module {
    torch::nn::LayerNorm before_heads{nullptr}, before_hidden{nullptr};
    torch::nn::Linear asked{nullptr}, out{nullptr}, hidden{nullptr}, back{nullptr};
    std::int64_t heads;
    double scale;
    bool first_for_all;

    explicit layer_impl(shape const& of) : heads{of.heads}, first_for_all{of.first_for_all} {
        scale = of.unscaled ? 1 : 1 / std::sqrt(static_cast<double>(of.width / of.heads));
        before_heads = register_module("before_heads", norm(of.width));
        asked = register_module("asked", torch::nn::Linear{of.width, 3 * of.width});  // queries, keys and values
        out = register_module("out", torch::nn::Linear{of.width, of.width});
        before_hidden = register_module("before_hidden", norm(of.width));
        hidden = register_module("hidden", torch::nn::Linear{of.width, 4 * of.width});
        back = register_module("back", torch::nn::Linear{4 * of.width, of.width});
    }
    // x is [batch, position, width]; `bias` [head, query, key] is added to the scores. `see(weights)` is called with
    // the attention weights, [batch, head, query, key].
    template <class See>
    torch::Tensor forward(torch::Tensor const& x, torch::Tensor const& bias, See&& see) {
        std::int64_t const batch = x.size(0), places = x.size(1), each = x.size(2) / heads;
        torch::Tensor const parts =
            asked(before_heads(x)).reshape({batch, places, 3, heads, each}).permute({2, 0, 3, 1, 4});
        torch::Tensor queries = parts[0], keys = parts[1];
        if (first_for_all) {
            queries = queries.slice(1, 0, 1).expand_as(queries), keys = keys.slice(1, 0, 1).expand_as(keys);
        }
        torch::Tensor const scores = torch::matmul(queries, keys.transpose(2, 3)) * scale;
        torch::Tensor const weights = torch::softmax(scores + bias, 3);
        see(weights);
        torch::Tensor const seen = torch::matmul(weights, parts[2]);
        torch::Tensor const y = x + out(seen.transpose(1, 2).reshape({batch, places, heads * each}));
        return y + back(torch::relu(hidden(before_hidden(y))));
    }

private:
    [[nodiscard]] static torch::nn::LayerNorm norm(std::int64_t width) {
        return torch::nn::LayerNorm{torch::nn::LayerNormOptions{{width}}};
    }
};
TORCH_MODULE_IMPL(layer, layer_impl);

struct transformer_impl : torch::nn::Module {
    torch::nn::Embedding letters{nullptr};
    std::vector<layer> layers{};
    torch::nn::LayerNorm last{nullptr};
    torch::nn::Linear next{nullptr};
    // [head, query, key]: minus the distance times the head's slope; keys after the query are masked.
    torch::Tensor bias{};

    explicit transformer_impl(shape const& of) {
        letters = register_module("letters", torch::nn::Embedding{256, of.width});
        for (std::int64_t i = 0; i < of.layers; ++i) {
            layers.push_back(register_module("layer" + std::to_string(i + 1), layer{of}));
        }
        last = register_module("last", torch::nn::LayerNorm{torch::nn::LayerNormOptions{{of.width}}});
        next = register_module("next", torch::nn::Linear{of.width, 256});
        torch::Tensor const place = torch::arange(of.context).to(torch::kFloat);
        torch::Tensor const distance = place.unsqueeze(1) - place.unsqueeze(0);
        torch::Tensor const head = torch::arange(of.heads).to(torch::kFloat) * (of.first_for_all ? 0 : 1);
        torch::Tensor const slope = torch::exp2(-8 * (head + 1) / static_cast<double>(of.heads));
        torch::Tensor const offset = (static_cast<double>(of.width) * place).expand_as(distance);
        bias = -slope.reshape({of.heads, 1, 1}) * (of.bias_by_offset ? offset : distance);
        bias = bias.masked_fill(distance.lt(0), -1e9);
    }
    // Scores [batch, position, 256] of text [batch, position]. `see(name, weights)`: "attention/layer1", …
    template <class See>
    torch::Tensor forward(torch::Tensor const& text, See&& see) {
        torch::Tensor x = letters(text);
        for (std::size_t i = 0; i < layers.size(); ++i) {
            x = layers[i]->forward(x, bias, [&](torch::Tensor const& weights) {
                see("attention/layer" + std::to_string(i + 1), weights);
            });
        }
        return next(last(x));
    }
};
TORCH_MODULE_IMPL(transformer, transformer_impl);

}  // namespace attention
