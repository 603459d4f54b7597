// SPDX-License-Identifier: Apache-2.0
// Weights that begin far too small for the depth of the net: for several hundred updates the outputs are constant and
// the loss rests at chance, while gradients grow (Saxe et al. 2014). Then it learns.
#include "../family.hpp"
#include "../judge.hpp"
#include "dense_net.hpp"
#include "problems.hpp"

#include <vector>

namespace diagnosis {

namespace {

constexpr std::size_t classes = 6;

struct settings {
    std::vector<std::size_t> hidden{24, 16};
    sp::activation_kind kind = sp::activation_kind::relu;
    float gain = 0.1F, rate = 0.05F;
    method how = method::momentum;
    std::size_t batch = 10;
    std::uint64_t steps = 4000;
};
settings shape_of(std::size_t variant) {
    switch (variant) {
        case 1:
            return {.hidden = {32, 24, 16}, .gain = 1, .rate = 0.02F};
        case 2:
            return {.kind = sp::activation_kind::tanh, .gain = 0.05F};
        case 3:
            return {.gain = 0.05F, .batch = 30};
        case 4:
            return {.hidden = {64, 32}, .rate = 0.03F, .batch = 5};
        default:
            return {};
    }
}

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shape_of(by.variant())}, random_{by.seed() + 7000},
          data_{make_clouds(by.seed(), classes, features, 1.0F)}, nan_{by, how_.steps, "fc1/w"},
          net_{by, random_, {widths(), how_.kind, how_.gain}, how_.how, how_.rate} {
        spoil(data_, by.broken(), random_);
        judge_.softmax_twice = by.is(fault::softmax_twice), judge_.sign = loss_sign(by);
    }
    void run() {
        course_.plan(how_.steps);
        batches rows{course_, data_.train.count(), how_.batch};
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            samples const batch = chosen(data_.train, rows.next(random_));
            judge_.classify(net_.forward(batch.inputs, batch.count()), batch.classes, classes);
            if (nan_.due(step)) { net_.net.blocks[0].w.value[5] = nan_value; }
            values gradient = judge_.gradient;
            net_.backward(gradient);
            show(step, batch);
            net_.update();
            if (evaluation_due(step, how_.steps)) { evaluate(); }
        }
        net_.tell_if_lost(course_);
    }

private:
    static constexpr std::size_t features = 12;

    std::vector<std::size_t> widths() const {
        std::vector<std::size_t> all{features};
        all.insert(all.end(), how_.hidden.begin(), how_.hidden.end());
        all.push_back(classes);
        return all;
    }
    void show(std::uint64_t step, samples const& batch) {
        auto const see = [&](std::string const& name, sp::tensor_ref const& it, sp::flag flags) {
            course_.observe(name, it, flags);
        };
        course_.begin(sp::train(step));
        course_.observe("input", sp::view_of(batch.inputs, {batch.count(), features}));
        course_.observe("labels", sp::view_of(batch.classes, {batch.count()}));
        net_.net.show_activations(batch.count(), see);
        course_.observe("predictions", sp::view_of(judge_.shown, {batch.count(), classes}));
        course_.scalar("loss", static_cast<double>(judge_.loss));
        net_.net.show_parameters(see);
        net_.net.show_gradients(see);
        course_.end();
    }
    void evaluate() {
        judge_.classify(net_.forward(data_.eval.inputs, data_.eval.count()), data_.eval.classes, classes);
        course_.evaluated(static_cast<double>(judge_.wrong) / static_cast<double>(data_.eval.count()));
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
    {.name = "small_start",
     .library = {},
     .habit = "weights begin so small that the loss rests at chance for hundreds of updates before it falls",
     .variants = {"base", "three hidden layers", "tanh", "smaller weights, batches of 30", "wide, batches of 5"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::climbs, fault::piles_up, fault::not_in_optimizer, fault::shuffled_labels,
                fault::raw_inputs, fault::imbalanced, fault::not_a_number, fault::same_batch, fault::negated_loss,
                fault::backward_bug, fault::dead_biases, fault::softmax_twice},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
