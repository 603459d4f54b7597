// SPDX-License-Identifier: Apache-2.0
// Trains one configuration: a small convolutional net on Fashion-MNIST, which leaves its loop where the alarm requests
// it.
#pragma once

#include "../common/fashion.hpp"
#include "../common/fingerprint.hpp"
#include "configuration.hpp"

#include <spotter/ext/torch.hpp>
#include <spotter/report.hpp>
#include <spotter/spotter.hpp>

#include <string>
#include <vector>

namespace sweep {

namespace sp = spotter;
using namespace sp::literals;

// The same for all configurations of a sweep: each trains on this many pictures, whatever its batch size.
struct budget {
    std::int64_t pictures = 38'400;  // training pictures in total
    std::uint64_t checks = 8;        // number of evaluations, evenly spaced; the last one at the end
    std::int64_t judged_by = 2'000;  // test pictures
};

inline constexpr sp::plan keep{sp::collection{"losses", "{loss,metric/*}", sp::always{}, sp::payload}};

struct net : torch::nn::Module {
    torch::nn::Conv2d first, second;
    torch::nn::Linear out;

    explicit net(std::int64_t width)
        : first{register_module("first", torch::nn::Conv2d{torch::nn::Conv2dOptions{1, width, 3}.padding(1)})},
          second{
              register_module("second", torch::nn::Conv2d{torch::nn::Conv2dOptions{width, 2 * width, 3}.padding(1)})},
          out{register_module("out", torch::nn::Linear{2 * width * 7 * 7, studies::fashion::class_count})} {}

    torch::Tensor forward(torch::Tensor const& pictures) {
        torch::Tensor const half = torch::max_pool2d(torch::relu(first->forward(pictures)), 2);
        return out->forward(torch::max_pool2d(torch::relu(second->forward(half)), 2).flatten(1));
    }
};

// Observes the loss of each step, and loss and accuracy at each check. `heeds`: ends where the alarm requests a stop.
// Returns the fingerprint of the parameters.
template <class Hook>
std::uint64_t train(configuration const& how, budget const& within, studies::split const& data, std::uint64_t seed,
                    Hook& watch, bool heeds) {
    watch.scalar("learning rate", how.learning_rate);
    watch.scalar("weight decay", how.weight_decay);
    watch.scalar("batch", how.batch);
    watch.scalar("width", how.width);
    torch::manual_seed(seed);
    net model{how.width};
    torch::optim::SGD optimizer{
        model.parameters(), torch::optim::SGDOptions{how.learning_rate}.momentum(0.9).weight_decay(how.weight_decay)};
    torch::Tensor const order = torch::randperm(data.train.size());
    torch::Tensor const judged_by = studies::as_input(data.test.pixels.slice(0, 0, within.judged_by));
    torch::Tensor const right = data.test.labels.slice(0, 0, within.judged_by);
    auto const steps = static_cast<std::uint64_t>(within.pictures / how.batch);
    for (std::uint64_t i = 0, check = 0; i < steps; ++i) {
        torch::Tensor const rows =
            order.slice(0, static_cast<std::int64_t>(i) * how.batch, static_cast<std::int64_t>(i + 1) * how.batch);
        studies::pictures const batch = data.train.at(rows);
        optimizer.zero_grad();
        torch::Tensor const loss =
            torch::nn::functional::cross_entropy(model.forward(studies::as_input(batch.pixels)), batch.labels);
        loss.backward();
        auto const alarm = watch.step(sp::train(i), "loss"_t = loss);
        if (heeds && alarm.decision() == sp::decision::stop) { break; }
        optimizer.step();
        if ((i + 1) * within.checks / steps == check) { continue; }
        torch::NoGradGuard const no_gradients;
        std::vector<torch::Tensor> scores;  // of a hundred pictures each: all at once would need 100 MB
        for (torch::Tensor const& each : judged_by.split(100)) { scores.push_back(model.forward(each)); }
        torch::Tensor const score = torch::cat(scores);
        double const accuracy = score.argmax(1).eq(right).to(torch::kDouble).mean().item<double>();
        auto const judged = watch.step(sp::eval(check++), "loss"_t = torch::nn::functional::cross_entropy(score, right),
                                       "metric/accuracy"_t = accuracy);
        watch.flush();  // makes the check visible to the watcher
        if (heeds && judged.decision() == sp::decision::stop) { break; }
    }
    watch.finish();
    return studies::fingerprint(model);
}

}  // namespace sweep
