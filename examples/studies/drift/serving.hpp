// SPDX-License-Identifier: Apache-2.0
// Trains a net to read traffic signs, learns its statistics in service, and puts it into service.
#pragma once

#include "../common/explaining.hpp"
#include "../common/fingerprint.hpp"
#include "../common/traffic_signs.hpp"
#include "streams.hpp"

#include <spotter/replay/envelope.hpp>
#include <spotter/report.hpp>
#include <spotter/rule/builtin/drift.hpp>
#include <spotter/spotter.hpp>

#include <optional>
#include <string>

namespace drifting {

namespace sp = spotter;
using namespace sp::literals;

struct recipe {
    std::int64_t width = 8;       // channels of the first group of blocks
    std::uint64_t steps = 1040;   // ten epochs
    std::uint64_t proving = 800;  // batches of held-out pictures for the envelope
    // Pictures of a training step; requests of a served batch.
    static constexpr std::int64_t batch = 64, requests = 16;
    static constexpr std::uint64_t window = 32;  // batches from which drift is judged
};

// Keeps only statistics of the service, 16 bytes for each tensor and batch.
inline constexpr sp::plan keep{sp::collection{"losses", "loss", sp::always{}, sp::payload},
                               sp::collection{"service", "{input,act/*,confidence}", sp::during{sp::mode::predict},
                                              sp::stats(sp::mean, sp::stddev)}};
// Kept in addition after drift: the requests, and the tensors that explain their answers.
inline constexpr sp::plan drifted{
    sp::collection{"drifted", "{input,score,explained,bias/*,grad/*}", sp::always{}, sp::payload}};
inline constexpr std::uint64_t drifted_batches = 4;

struct served {
    std::int64_t right = 0;  // number of right answers
    bool alarmed = false;
};
// Serves one batch of requests, as step `index` of mode predict, and observes the input, each ReLU's output and the
// confidence. `explains`: also observes what explains the answers, which needs a backward pass.
template <class Hook>
served serve(studies::resnet& net, studies::pictures const& shown, Hook& watch, std::uint64_t index, bool explains) {
    torch::AutoGradMode const gradients{explains};
    torch::Tensor input = studies::as_input(shown.pixels);
    if (explains) { input.requires_grad_(); }
    watch.begin(sp::predict(index));
    watch.observe("input", input);
    torch::Tensor const scores = net->forward(input, [&](std::string const& layer, torch::Tensor const& made) {
        if (layer.find("relu") != std::string::npos) { watch.observe("act/" + layer, made); }
        return explains ? studies::explained_layer(net, layer, made, watch) : made;
    });
    watch.observe("score", scores, sp::role::prediction, sp::flag::logits);
    watch.observe("confidence", std::get<0>(torch::softmax(scores, 1).max(1)));
    if (explains) { studies::explain_scores(input, scores, watch); }
    bool const alarmed = !watch.end().empty();
    return {scores.argmax(1).eq(shown.labels).sum().item<std::int64_t>(), alarmed};
}

struct trained {
    studies::resnet net{nullptr};
    std::uint64_t parameters = 0;  // their fingerprint
};

// Trains on `data`, then runs the net on `held_out`; its statistics in service go into the same record, in mode
// predict.
template <class Hook>
trained train(recipe const& how, studies::pictures const& data, studies::pictures const& held_out, std::uint64_t seed,
              Hook& watch) {
    torch::manual_seed(seed);
    trained result;
    result.net = studies::resnet{how.width, studies::traffic_signs::class_count};
    torch::optim::Adam optimizer{result.net->parameters(), 1e-3};
    torch::Tensor order = torch::randperm(data.size());
    std::int64_t at = 0;
    for (std::uint64_t i = 0; i < how.steps; ++i, at += recipe::batch) {
        if (at + recipe::batch > data.size()) { order = torch::randperm(data.size()), at = 0; }
        studies::pictures const batch = data.at(order.slice(0, at, at + recipe::batch));
        static_cast<torch::optim::AdamOptions&>(optimizer.param_groups()[0].options())
            .lr(1e-3 * (1 - static_cast<double>(i) / static_cast<double>(how.steps)));
        optimizer.zero_grad();
        torch::Tensor const loss =
            torch::nn::functional::cross_entropy(result.net->forward(studies::as_input(batch.pixels)), batch.labels);
        loss.backward();
        (void)watch.step(sp::train(i), "loss"_t = loss);
        optimizer.step();
    }
    result.parameters = studies::fingerprint(*result.net);
    result.net->eval();
    for (std::uint64_t half = 0; half < 8; ++half) {
        stream shown{held_out, held_out, change::none, 0, seed + half};
        for (std::uint64_t i = 0; i < how.proving / 8; ++i) {
            (void)serve(result.net, shown.next(recipe::requests), watch, half * (how.proving / 8) + i, false);
        }
    }
    return result;
}

}  // namespace drifting
