// SPDX-License-Identifier: Apache-2.0
// Sigmoid units with weights and biases from a normal distribution of standard deviation 1, squared error on one-hot
// labels, batches of ten (as in chapter 1 of Nielsen 2015). It has no gradients to show.
#include "../family.hpp"
#include "../judge.hpp"
#include "dense_net.hpp"
#include "problems.hpp"

#include <algorithm>
#include <cmath>

namespace diagnosis {

namespace {

constexpr std::size_t classes = 4;

struct settings {
    std::size_t features = 12, units = 16;
    float rate = 3, deviation = 1;
    std::size_t batch = 10;
    std::uint64_t steps = 1500;
    bool shows_activations = false;
};
constexpr settings shapes[] = {
    {},
    {12, 16, 1, 1, 10, 2000, false},
    {12, 30, 3, 0.25F, 10, 1500, true},
    {30, 20, 3, 1, 10, 1500, true},
    {12, 16, 3, 1, 30, 1000, true},
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000},
          data_{make_clouds(by.seed(), classes, how_.features, 1.0F)}, nan_{by, how_.steps, "fc1/w"},
          net_{by,
               random_,
               {{how_.features, how_.units, classes}, sp::activation_kind::sigmoid, 6, how_.deviation},
               method::momentum,
               how_.rate / 10} {
        spoil(data_, by.broken(), random_);
    }
    void run() {
        course_.plan(how_.steps);
        batches rows{course_, data_.train.count(), how_.batch};
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            samples const batch = chosen(data_.train, rows.next(random_));
            double const loss = forward(batch);
            if (nan_.due(step)) { net_.net.blocks[0].w.value[5] = nan_value; }
            show(step, batch, loss);
            values gradient = judge_.gradient;
            for (std::size_t i = 0; i < gradient.size(); ++i) { gradient[i] *= output_[i] * (1.0F - output_[i]); }
            net_.backward(gradient);
            net_.update();
            if (evaluation_due(step, how_.steps)) { evaluate(); }
        }
        net_.tell_if_lost(course_);
    }

private:
    // The mean over the batch of half the squared distance.
    double forward(samples const& batch) {
        label_.assign(batch.count() * classes, 0.0F);
        for (std::size_t i = 0; i < batch.count(); ++i) {
            label_[i * classes + static_cast<std::size_t>(batch.classes[i])] = 1;
        }
        output_ = net_.forward(batch.inputs, batch.count());
        for (float& each : output_) { each = 1.0F / (1.0F + std::exp(-each)); }
        judge_.sign = loss_sign(course_) * 0.5F * static_cast<float>(classes);
        judge_.regress(output_, label_);
        return static_cast<double>(judge_.loss);
    }
    void show(std::uint64_t step, samples const& batch, double loss) {
        auto const see = [&](std::string const& name, sp::tensor_ref const& it, sp::flag flags) {
            course_.observe(name, it, flags);
        };
        course_.begin(sp::train(step));
        course_.observe("input", sp::view_of(batch.inputs, {batch.count(), how_.features}));
        course_.observe("labels", sp::view_of(label_, {batch.count(), classes}));
        if (how_.shows_activations) { net_.net.show_activations(batch.count(), see); }
        course_.observe("predictions", sp::view_of(output_, {batch.count(), classes}));
        course_.scalar("cost", loss);
        net_.net.show_parameters(see);
        course_.end();
    }
    void evaluate() {
        (void)forward(data_.eval);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < data_.eval.count(); ++i) {
            auto const row = output_.begin() + static_cast<std::ptrdiff_t>(i * classes);
            wrong += std::max_element(row, row + classes) - row == data_.eval.classes[i] ? 0U : 1U;
        }
        course_.evaluated(static_cast<double>(wrong) / static_cast<double>(data_.eval.count()) / 0.75);
    }

    course& course_;
    settings how_;
    prng random_;
    task data_;
    planted_nan nan_;
    dense_net net_;
    judge judge_{};
    values label_{}, output_{};
};

bool const added = add_family(
    {.name = "normal_sigmoid",
     .library = {},
     .habit = "sigmoid units, weights and biases from a standard normal distribution, squared error on one-hot labels",
     .variants = {"base", "a third of the rate", "deviation 1/4, activations shown", "30 inputs, activations shown",
                  "batches of 30, activations shown"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::climbs, fault::piles_up, fault::not_in_optimizer, fault::shuffled_labels,
                fault::raw_inputs, fault::imbalanced, fault::not_a_number, fault::same_batch, fault::noisy_labels,
                fault::few_samples, fault::negated_loss, fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
