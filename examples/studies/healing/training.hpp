// SPDX-License-Identifier: Apache-2.0
// One attempt: trains the net on Fashion-MNIST with the given cures, and leaves the loop where a rule requests it.
#pragma once

#include "../common/fashion.hpp"
#include "../common/fingerprint.hpp"
#include "net.hpp"

#include <spotter/ext/torch.hpp>
#include <spotter/rule/builtin/exploding_gradient.hpp>
#include <spotter/spotter.hpp>

#include <string>
#include <vector>

namespace healing {

namespace sp = spotter;
using namespace sp::literals;

struct recipe {
    std::int64_t blocks_each = 8, width = 8, batch = 64;  // 24 blocks: 51 layers with weights
    std::uint64_t steps = 400, checks = 4;                // number of evaluations, evenly spaced; the last one at the
                                                          // end
    std::int64_t judged_by = 1'000;                       // test pictures
    double learning_rate = 0.1;
    // Set by cures.
    std::uint64_t warmup = 0;  // steps over which the learning rate rises from 0
    bool normalised = false;

    [[nodiscard]] double learning_rate_at(std::uint64_t step) const {
        if (step + 1 >= warmup) { return learning_rate; }
        return learning_rate * static_cast<double>(step + 1) / static_cast<double>(warmup);
    }
};

inline constexpr sp::plan keep{
    sp::collection{"losses", "{loss,metric/*}", sp::always{}, sp::payload},
    sp::collection{"gradients", "grad/*", sp::during{sp::mode::train}, sp::stats(sp::mean_abs, sp::maximum)}};

// Ends an attempt whose gradients explode, or whose loss in the second half is still that of guessing, ln 10.
[[nodiscard]] constexpr auto rules_for(recipe const& how) {
    auto const learns_nothing = sp::any("loss", sp::mean > 2.3026) |
                                sp::only{sp::during{sp::mode::train} && sp::from{how.steps / 2}} | sp::for_steps{5} |
                                sp::named{"does_not_learn"};
    return sp::on(sp::exploding_gradient{} || learns_nothing, sp::stop);
}

// Observes losses, weights and gradients of each step, and loss and accuracy at each check. `heeds`: ends where a rule
// requests it. Returns the fingerprint of the parameters.
template <class Hook>
std::uint64_t train(recipe const& how, studies::split const& data, std::uint64_t seed, Hook& watch, bool heeds) {
    torch::manual_seed(seed);
    elu_resnet net{how.blocks_each, how.width, studies::fashion::class_count, how.normalised};
    torch::optim::SGD optimizer{net->parameters(), torch::optim::SGDOptions{how.learning_rate}.momentum(0.9)};
    sp::module_table const tensors{net};
    torch::Tensor const order = torch::randperm(data.train.size());
    torch::Tensor const judged_by = studies::as_input(data.test.pixels.slice(0, 0, how.judged_by));
    torch::Tensor const right = data.test.labels.slice(0, 0, how.judged_by);
    for (std::uint64_t i = 0, check = 0; i < how.steps; ++i) {
        auto const first = static_cast<std::int64_t>(i) * how.batch;
        studies::pictures const batch = data.train.at(order.slice(0, first, first + how.batch));
        static_cast<torch::optim::SGDOptions&>(optimizer.param_groups()[0].options()).lr(how.learning_rate_at(i));
        optimizer.zero_grad();
        torch::Tensor const loss =
            torch::nn::functional::cross_entropy(net->forward(studies::as_input(batch.pixels)), batch.labels);
        loss.backward();
        auto const alarm = watch.step(sp::train(i), "loss"_t = loss, tensors);
        if (heeds && alarm.decision() == sp::decision::stop) { break; }
        optimizer.step();
        if ((i + 1) * how.checks / how.steps == check) { continue; }
        torch::NoGradGuard const no_gradients;
        net->eval();
        std::vector<torch::Tensor> scores;  // of a hundred pictures each, to save memory
        for (torch::Tensor const& each : judged_by.split(100)) { scores.push_back(net->forward(each)); }
        net->train();
        torch::Tensor const score = torch::cat(scores);
        double const accuracy = score.argmax(1).eq(right).to(torch::kDouble).mean().item<double>();
        (void)watch.step(sp::eval(check++), "loss"_t = torch::nn::functional::cross_entropy(score, right),
                         "metric/accuracy"_t = accuracy);
    }
    watch.finish();
    return studies::fingerprint(*net);
}

}  // namespace healing
