// SPDX-License-Identifier: Apache-2.0
// Learns sample by sample and prints the running mean of its loss, which begins at zero, at every tenth sample. Weights
// are shown with it, and nothing else.
#include "../family.hpp"
#include "../judge.hpp"
#include "dense_net.hpp"
#include "problems.hpp"

#include <cmath>

namespace diagnosis {

namespace {

constexpr std::size_t classes = 5, features = 8;

struct settings {
    float rate = 0.01F, decay = 0;
    float mean = 0.99F;  // what a running mean keeps of itself
    std::uint64_t samples = 6000, every = 10;
    sp::activation_kind hidden = sp::activation_kind::relu;
    bool shows_labels = false;
};
constexpr settings shapes[] = {
    {},
    {0.01F, 0, 0.9F, 6000, 10, sp::activation_kind::relu, false},
    {0.02F, 0, 0.999F, 8000, 10, sp::activation_kind::tanh, false},
    {0.005F, 1e-4F, 0.99F, 5000, 1, sp::activation_kind::relu, true},
    {0.01F, 0, 0.98F, 10'000, 50, sp::activation_kind::tanh, true},
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000},
          data_{make_clouds(by.seed(), classes, features, 0.9F)}, nan_{by, how_.samples / how_.every, "fc2/w"},
          net_{by,        random_, {{features, 20, 20, classes}, how_.hidden, 3}, method::momentum, how_.rate / 10,
               how_.decay} {
        spoil(data_, by.broken(), random_);
    }
    void run() {
        course_.plan(how_.samples / how_.every, pack_choice::supervised, std::log(static_cast<double>(classes)));
        batches rows{course_, data_.train.count(), 1};
        double mean = 0;
        auto const keeps = static_cast<double>(how_.mean);
        for (std::uint64_t i = 0; i < how_.samples; ++i) {
            samples const one = chosen(data_.train, rows.next(random_));
            judge_.sign = loss_sign(course_);
            judge_.classify(net_.forward(one.inputs, 1), one.classes, classes);
            mean = keeps * mean + (1 - keeps) * static_cast<double>(judge_.loss);
            if (i % how_.every == 0) {
                if (nan_.due(i / how_.every)) { net_.net.blocks[1].w.value[3] = nan_value; }
                show(i / how_.every, one, mean);
            }
            values gradient = judge_.gradient;
            net_.backward(gradient);
            net_.update();
            if (evaluation_due(i, how_.samples)) { evaluate(); }
        }
        net_.tell_if_lost(course_);
    }

private:
    void show(std::uint64_t step, samples const& one, double mean) {
        course_.begin(sp::train(step));
        course_.scalar("loss", mean);
        if (how_.shows_labels) {
            course_.observe("input", sp::view_of(one.inputs, {std::size_t{1}, features}));
            course_.observe("label", sp::view_of(one.classes, {std::size_t{1}}));
            course_.observe("pred", sp::view_of(judge_.shown, {std::size_t{1}, classes}), sp::flag::logits);
        }
        net_.net.show_parameters([&](std::string const& name, sp::tensor_ref const& it, sp::flag flags) {
            course_.observe(name, it, flags);
        });
        course_.end();
    }
    void evaluate() {
        judge_.classify(net_.forward(data_.eval.inputs, data_.eval.count()), data_.eval.classes, classes);
        course_.evaluated(static_cast<double>(judge_.wrong) / static_cast<double>(data_.eval.count()) / 0.8);
    }

    course& course_;
    settings how_;
    prng random_;
    task data_;
    planted_nan nan_;
    dense_net net_;
    judge judge_{};
};

bool const added = add_family(
    {.name = "running_mean",
     .library = {},
     .habit = "one sample an update; each tenth one shows weights and a running mean of the loss that begins at 0",
     .variants = {"0.99", "0.9", "0.999, tanh", "each sample, with labels", "each 50th, tanh, with labels"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::dead_biases, fault::climbs, fault::piles_up, fault::not_in_optimizer,
                fault::shuffled_labels, fault::not_a_number, fault::negated_loss, fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
