// SPDX-License-Identifier: Apache-2.0
// A classifier whose user shows only what is printed anyway: loss and accuracy of each epoch, in training and in
// validation.
#include "../family.hpp"
#include "../judge.hpp"
#include "dense_net.hpp"
#include "problems.hpp"

namespace diagnosis {

namespace {

struct settings {
    method how = method::momentum;
    float rate = 0.02F, decay = 0, dropout = 0;
    std::size_t batch = 30;
    std::uint64_t epochs = 60;
    bool fades = false;
};
constexpr settings shapes[] = {
    {},
    {method::adam, 3e-3F, 0, 0, 30, 40, false},
    {method::momentum, 0.04F, 1e-3F, 0, 60, 80, true},
    {method::momentum, 0.02F, 0, 0.1F, 20, 60, false},
    {method::adam, 1e-3F, 0.01F, 0, 20, 100, false},
    {method::momentum, 0.005F, 0, 0, 15, 50, false},
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000}, data_{drawn(by, random_)},
          nan_{by, how_.epochs, "loss"}, net_{by, random_, {{2, 24, 24, 3}}, how_.how, how_.rate, how_.decay} {
        for (block& each : net_.net.blocks) {
            if (each.activation == sp::activation_kind::relu) { each.dropout = how_.dropout; }
        }
        judge_.sign = loss_sign(by);
    }
    void run() {
        course_.plan(how_.epochs);
        batches rows{course_, data_.train.count(), how_.batch};
        for (std::uint64_t epoch = 0; epoch < how_.epochs; ++epoch) {
            float const done = static_cast<float>(epoch) / static_cast<float>(how_.epochs);
            double loss = 0, right = 0, seen = 0;
            for (std::size_t i = 0; i < data_.train.count() / rows.size(); ++i) {
                samples const batch = chosen(data_.train, rows.next(random_));
                judge_.classify(net_.forward(batch.inputs, batch.count()), batch.classes, 3);
                loss += static_cast<double>(judge_.loss) * static_cast<double>(batch.count());
                right += static_cast<double>(batch.count() - judge_.wrong);
                seen += static_cast<double>(batch.count());
                values gradient = judge_.gradient;
                net_.backward(gradient);
                if (i == 0 && nan_.due(epoch)) { net_.net.blocks[1].w.gradient[5] = nan_value; }
                net_.update(how_.fades ? 1.0F - done : 1.0F);
            }
            show(sp::train(epoch), loss / seen, right / seen);
            evaluate(epoch);
        }
        net_.tell_if_lost(course_);
    }

private:
    static task drawn(course const& by, prng& random) {
        task made = make_spirals(by.seed(), 3, 0.3F);
        spoil(made, by.broken(), random);
        return made;
    }
    void show(sp::step_id at, double loss, double accuracy) {
        course_.begin(at);
        course_.scalar("loss", loss);
        course_.scalar("metric/accuracy", accuracy);
        course_.end();
    }
    void evaluate(std::uint64_t epoch) {
        judge_.classify(net_.net.forward(data_.eval.inputs, data_.eval.count(), false, random_), data_.eval.classes, 3);
        double const wrong = static_cast<double>(judge_.wrong) / static_cast<double>(data_.eval.count());
        show(sp::eval(epoch), static_cast<double>(judge_.loss), 1.0 - wrong);
        course_.evaluated(wrong * 1.5);
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
    {.name = "sgd_epochs",
     .library = {},
     .habit = "only the loss and the accuracy of each epoch, in training and in validation",
     .variants = {"momentum", "Adam, 40 epochs", "momentum, rate falls to 0, weight decay", "dropout",
                  "Adam, slow and long", "slow"},
     .faults = {fault::large_rate,       fault::small_rate,       fault::zero_rate,       fault::zero_weights,
                fault::constant_weights, fault::large_weights,    fault::dead_biases,     fault::climbs,
                fault::piles_up,         fault::not_in_optimizer, fault::shuffled_labels, fault::raw_inputs,
                fault::imbalanced,       fault::not_a_number,     fault::same_batch,      fault::no_activations,
                fault::noisy_labels,     fault::few_samples,      fault::negated_loss,    fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
