// SPDX-License-Identifier: Apache-2.0
// Trains a ResNet18 to read traffic signs, by one of several recipes, and observes what the rules need.
#pragma once

#include "../common/fingerprint.hpp"
#include "../common/resnet.hpp"
#include "../common/traffic_signs.hpp"

#include <spotter/ext/torch.hpp>
#include <spotter/report.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

#include <cstdint>
#include <string>

namespace traffic {

namespace sp = spotter;
using namespace sp::literals;

struct recipe {
    std::int64_t width = 8;      // channels of the first group of blocks
    std::uint64_t steps = 2080;  // 20 epochs
    bool mirrored = false;       // flips every other picture left to right, which is valid for animals, not for signs
    bool balanced = false;       // pictures are drawn with weights, so that all classes are equally frequent
    bool decays = false;         // the learning rate falls linearly to zero
    bool heeds = false;          // stops where a rule requests it
    static constexpr std::int64_t batch = 64;
    static constexpr double rate = 1e-3;
    static constexpr std::uint64_t between_evaluations = 52;  // steps; half an epoch
};

// Keeps the training labels, losses, and the labels and predictions of the last evaluation.
inline constexpr sp::plan keep{
    sp::collection{"losses", "{loss,metric/*}", sp::always{}, sp::payload},
    sp::collection{"labels", "label", sp::always{}, sp::payload},
    sp::collection{"evaluation", "{input,score}", sp::during{sp::mode::eval}, sp::payload},
};

// Neither loss improves by a twentieth of its first value: in evaluation over ten evaluations, in training over fifty
// steps.
inline constexpr auto no_longer_learning = sp::overtraining{.require_both_stalled = true};

// The rules, with their default parameters.
inline constexpr auto rules = sp::on(sp::loss_not_decreasing{} | sp::once, sp::stop) ||
                              sp::on(no_longer_learning | sp::once, sp::stop) || (sp::class_imbalance{} | sp::once);
// Asked of the record: the last evaluation, with the final net.
inline constexpr auto mistakes = sp::confusion{.min_diag = 0, .max_off_diag = 0.2};

struct outcome {
    std::uint64_t steps = 0;       // trained steps
    double accuracy = 0;           // of the last evaluation
    std::uint64_t parameters = 0;  // their fingerprint
    studies::resnet net{nullptr};
};

// Stores the share of test pictures read correctly in `of`; returns the decision of spotter. `with_pictures`: observes
// the pictures too.
template <class Hook>
sp::decision evaluate(outcome& of, studies::pictures const& test, Hook& watch, std::uint64_t index,
                      bool with_pictures = false) {
    torch::NoGradGuard const no_gradients;
    of.net->eval();
    watch.begin(sp::eval(index));
    torch::Tensor const score = of.net->forward(studies::as_input(test.pixels));
    of.accuracy = score.argmax(1).eq(test.labels).to(torch::kDouble).mean().item<double>();
    if (with_pictures) {
        watch.observe("input", test.pixels);
        watch.observe("label", test.labels);
        watch.observe("score", score, sp::role::prediction, sp::flag::logits);
    }
    watch.observe("loss", torch::nn::functional::cross_entropy(score, test.labels));
    watch.observe("metric/accuracy", of.accuracy);
    auto const found = watch.end();
    if (found) { fmt::print("{}\n", found); }
    of.net->train();
    return found.decision();
}

// Indices of the pictures of one epoch, in the order of training.
[[nodiscard]] inline torch::Tensor order_of(studies::pictures const& from, bool balanced) {
    if (!balanced) { return torch::randperm(from.size()); }
    torch::Tensor const count = torch::bincount(from.labels, {}, studies::traffic_signs::class_count);
    torch::Tensor const weight = count.to(torch::kDouble).reciprocal().index_select(0, from.labels);
    return torch::multinomial(weight, from.size(), true);
}

// Makes batches: each epoch has a new order.
class dealer {
public:
    dealer(studies::pictures const& from, bool balanced) : from_{from}, balanced_{balanced} {}

    [[nodiscard]] studies::pictures next() {
        if (!order_.defined() || at_ + recipe::batch > order_.size(0)) { order_ = order_of(from_, balanced_), at_ = 0; }
        at_ += recipe::batch;
        return from_.at(order_.slice(0, at_ - recipe::batch, at_));
    }

private:
    studies::pictures const& from_;
    bool balanced_;
    torch::Tensor order_{};
    std::int64_t at_ = 0;
};

// Flips about half of the pictures left to right.
[[nodiscard]] inline torch::Tensor mirrored_at_random(torch::Tensor const& input) {
    return torch::where(torch::rand({input.size(0), 1, 1, 1}).lt(0.5), input.flip({3}), input);
}

template <class Hook>
outcome train(recipe const& how, studies::split const& data, std::uint64_t seed, Hook& watch) {
    torch::manual_seed(seed);
    outcome result;
    result.net = studies::resnet{how.width, studies::traffic_signs::class_count};
    torch::optim::Adam optimizer{result.net->parameters(), recipe::rate};
    watch.scalar("class_names", studies::traffic_signs::names_text());
    watch.scalar("width", static_cast<double>(how.width));
    watch.scalar("sampling", std::string{how.balanced ? "by class" : "by picture"});
    watch.scalar("learning rate", std::string{how.decays ? "falls to zero" : "constant"});
    watch.scalar("augmentation", std::string{how.mirrored ? "mirrored at random" : "none"});
    dealer deal{data.train, how.balanced};
    std::uint64_t evaluations = 0;
    while (result.steps < how.steps) {
        watch.begin_section("data");
        studies::pictures const batch = deal.next();
        torch::Tensor input = studies::as_input(batch.pixels);
        if (how.mirrored) { input = mirrored_at_random(input); }
        watch.end_section("data");
        double const done = static_cast<double>(result.steps) / static_cast<double>(how.steps);
        static_cast<torch::optim::AdamOptions&>(optimizer.param_groups()[0].options())
            .lr(how.decays ? recipe::rate * (1 - done) : recipe::rate);
        watch.begin(sp::train(result.steps));
        optimizer.zero_grad();
        watch.begin_section("forward");
        torch::Tensor const loss = torch::nn::functional::cross_entropy(result.net->forward(input), batch.labels);
        watch.end_section("forward");
        {
            auto const part = watch.section("backward");
            loss.backward();
        }
        watch.observe("label", batch.labels);
        watch.observe("loss", loss);
        auto const found = watch.end();
        if (found) { fmt::print("{}\n", found); }
        if (how.heeds && found.decision() == sp::decision::stop) { break; }
        {
            auto const part = watch.section("update");
            optimizer.step();
        }
        if (++result.steps % recipe::between_evaluations == 0) {
            sp::decision const asked = evaluate(result, data.test, watch, evaluations++);
            if (how.heeds && asked == sp::decision::stop) { break; }
        }
    }
    (void)evaluate(result, data.test, watch, evaluations, true);
    result.parameters = studies::fingerprint(*result.net);
    return result;
}

}  // namespace traffic
