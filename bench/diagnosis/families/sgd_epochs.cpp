// SPDX-License-Identifier: Apache-2.0
// A classifier whose user shows only what is printed anyway: loss and accuracy of each epoch, in training and in
// validation.
#include "../chain.hpp"
#include "../family.hpp"
#include "../judge.hpp"
#include "../optimizer.hpp"
#include "inject.hpp"
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
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000}, data_{make_spirals(by.seed(), 3, 0.3F)},
          nan_{by, how_.epochs, "loss"} {
        spoil(data_, by.broken(), random_);
        std::size_t inputs = 2;
        for (std::size_t const units : {24U, 24U, 3U}) {
            block& each = net_.blocks.emplace_back("fc" + std::to_string(net_.blocks.size() + 1), inputs, units);
            bool const hidden = net_.blocks.size() < 3;
            draw(by, random_, std::sqrt(6.0F / static_cast<float>(inputs)), each.w.value);
            each.b.value.assign(units, hidden ? hidden_bias(by) : 0.0F);
            if (hidden) {
                each.activation = sp::activation_kind::relu;
                each.activation_left_out = by.is(fault::no_activations);
                each.dropout = how_.dropout;
            }
            inputs = units;
        }
        optimizer_.how = how_.how;
        optimizer_.learning_rate = how_.rate * rate_factor(by);
        optimizer_.weight_decay = how_.decay;
        optimizer_.sign = direction(by);
        for (block& each : net_.blocks) {
            if (&each == &net_.blocks[1] && by.is(fault::not_in_optimizer)) { continue; }
            optimizer_.add(each.w);
            optimizer_.add(each.b);
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
                judge_.classify(net_.forward(batch.inputs, batch.count(), true, random_), batch.classes, 3);
                loss += static_cast<double>(judge_.loss) * static_cast<double>(batch.count());
                right += static_cast<double>(batch.count() - judge_.wrong);
                seen += static_cast<double>(batch.count());
                net_.backward(judge_.gradient, course_.is(fault::piles_up) ? 1.0F : 0.0F);
                if (course_.is(fault::backward_bug)) { forget(); }
                if (i == 0 && nan_.due(epoch)) { net_.blocks[1].w.gradient[5] = nan_value; }
                optimizer_.step(how_.fades ? 1.0F - done : 1.0F);
            }
            show(sp::train(epoch), loss / seen, right / seen);
            evaluate(epoch);
        }
        for (block const& each : net_.blocks) { tell_if_lost(course_, each.w.value); }
    }

private:
    void forget() {
        for (std::size_t i = 0; i < 2; ++i) {
            for (parameter* const each : {&net_.blocks[i].w, &net_.blocks[i].b}) {
                each->gradient.assign(each->gradient.size(), 0.0F);
            }
        }
    }
    void show(sp::step_id at, double loss, double accuracy) {
        course_.begin(at);
        course_.scalar("loss", loss);
        course_.scalar("metric/accuracy", accuracy);
        course_.end();
    }
    void evaluate(std::uint64_t epoch) {
        judge_.classify(net_.forward(data_.eval.inputs, data_.eval.count(), false, random_), data_.eval.classes, 3);
        double const wrong = static_cast<double>(judge_.wrong) / static_cast<double>(data_.eval.count());
        show(sp::eval(epoch), static_cast<double>(judge_.loss), 1.0 - wrong);
        course_.evaluated(wrong * 1.5);
    }

    course& course_;
    settings how_;
    prng random_;
    task data_;
    planted_nan nan_;
    chain net_{};
    optimizer optimizer_{};
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
