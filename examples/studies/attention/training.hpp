// SPDX-License-Identifier: Apache-2.0
// Trains the transformer on text and observes the attention of each head.
#pragma once

#include "../common/fingerprint.hpp"
#include "net.hpp"

#include <spotter/ext/torch.hpp>
#include <spotter/report.hpp>
#include <spotter/rule/builtin/attention_collapse.hpp>
#include <spotter/rule/builtin/attention_one_position.hpp>
#include <spotter/rule/builtin/attention_similar_heads.hpp>
#include <spotter/spotter.hpp>

#include <algorithm>
#include <string>

namespace attention {

namespace sp = spotter;
using namespace sp::literals;

struct recipe {
    shape net{};
    std::uint64_t steps = 600;
    std::int64_t batch = 16;
    double learning_rate = 1e-2;
    std::uint64_t warmup = 50;  // steps over which the learning rate rises; then it falls to zero
    static constexpr std::uint64_t between_evaluations = 100;

    [[nodiscard]] double rate_at(std::uint64_t step) const {
        double const up = static_cast<double>(step + 1) / static_cast<double>(std::max<std::uint64_t>(warmup, 1));
        double const down =
            static_cast<double>(steps - step) / static_cast<double>(steps - std::min(warmup, steps - 1));
        return learning_rate * std::min({1.0, up, down});
    }
};

// Text, one number for each letter, 64-bit integers [letters].
struct texts {
    torch::Tensor train{}, test{};
};

// The rules read attention at every fifth step; the record only keeps their features of it, and the heads of the last
// evaluation.
inline constexpr sp::plan keep{sp::collection{"losses", "loss", sp::always{}, sp::payload},
                               sp::collection{"heads", "attention/*", sp::during{sp::mode::predict}, sp::payload}};
inline constexpr auto rules = (sp::attention_collapse{} | sp::once | sp::only{sp::every{5}}) ||
                              (sp::attention_one_position{} | sp::once | sp::only{sp::every{5}}) ||
                              (sp::attention_similar_heads{} | sp::once | sp::only{sp::every{5}});

[[nodiscard]] inline torch::Tensor loss_of(torch::Tensor const& scores, torch::Tensor const& after) {
    return torch::nn::functional::cross_entropy(scores.reshape({-1, 256}), after.reshape({-1}));
}
// Pieces of length + 1 letters, [count, length + 1], that begin at `from`, 64-bit integers [count].
[[nodiscard]] inline torch::Tensor pieces(torch::Tensor const& text, torch::Tensor const& from, std::int64_t length) {
    return text.index_select(0, (from.unsqueeze(1) + torch::arange(length + 1)).reshape({-1}))
        .reshape({-1, length + 1});
}
// The loss on `count` pieces of the test text, the same pieces each time.
[[nodiscard]] inline torch::Tensor test_loss(transformer& net, texts const& data, shape const& of, std::int64_t count) {
    torch::NoGradGuard const no_gradients;
    torch::Tensor const from = torch::arange(count) * ((data.test.size(0) - of.context - 1) / count);
    torch::Tensor const text = pieces(data.test, from, of.context);
    return loss_of(net->forward(text.slice(1, 0, -1), [](std::string const&, torch::Tensor const&) {}),
                   text.slice(1, 1));
}

struct outcome {
    transformer net{nullptr};
    double loss = 0;               // on the test text
    std::uint64_t parameters = 0;  // their fingerprint
};

template <class Hook>
outcome train(recipe const& how, texts const& data, std::uint64_t seed, Hook& watch) {
    torch::manual_seed(seed);
    outcome result;
    result.net = transformer{how.net};
    torch::optim::Adam optimizer{result.net->parameters(), how.learning_rate};
    for (std::uint64_t i = 0; i < how.steps; ++i) {
        torch::Tensor const from = torch::randint(data.train.size(0) - how.net.context, {how.batch}, torch::kLong);
        torch::Tensor const text = pieces(data.train, from, how.net.context);
        static_cast<torch::optim::AdamOptions&>(optimizer.param_groups()[0].options()).lr(how.rate_at(i));
        watch.begin(sp::train(i));
        optimizer.zero_grad();
        torch::Tensor const scores =
            result.net->forward(text.slice(1, 0, -1), [&](std::string const& name, torch::Tensor const& weights) {
                watch.observe(name, weights);
            });
        torch::Tensor const loss = loss_of(scores, text.slice(1, 1));
        loss.backward();
        watch.observe("loss", loss);
        auto const found = watch.end();
        if (found) { fmt::print("{}\n", found); }
        optimizer.step();
        if ((i + 1) % recipe::between_evaluations == 0) {
            (void)watch.step(sp::eval(i / recipe::between_evaluations),
                             "loss"_t = test_loss(result.net, data, how.net, 64));
        }
    }
    result.parameters = studies::fingerprint(*result.net);
    result.loss = test_loss(result.net, data, how.net, 256).template item<double>();
    return result;
}

}  // namespace attention
