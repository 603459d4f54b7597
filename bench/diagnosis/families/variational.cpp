// SPDX-License-Identifier: Apache-2.0
// A variational autoencoder (Kingma and Welling 2014): the loss is a sum, and one of its parts begins next to zero and
// rises while the net learns.
#include "../family.hpp"
#include "../judge.hpp"
#include "dense_net.hpp"
#include "problems.hpp"

#include <algorithm>
#include <cmath>

namespace diagnosis {

namespace {

constexpr std::size_t features = 12, hidden = 24, codes = 2;

struct settings {
    method how = method::adam;
    float rate = 2e-3F, beta = 0.05F;
    std::size_t batch = 32;
    std::uint64_t steps = 1000;
    sp::activation_kind units = sp::activation_kind::relu;
    bool warms_up = false;  // beta grows from zero over a third of the steps
};
constexpr settings shapes[] = {
    {},
    {method::momentum, 0.01F, 0.05F, 32, 1200, sp::activation_kind::relu, false},
    {method::adam, 1e-3F, 0.1F, 16, 1500, sp::activation_kind::tanh, false},
    {method::adam, 2e-3F, 0.05F, 64, 1000, sp::activation_kind::relu, true},
    {method::adam, 5e-3F, 0.02F, 32, 800, sp::activation_kind::tanh, true},
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000},
          data_{make_clouds(by.seed(), 4, features, 0.3F)}, nan_{by, how_.steps, "grad/decoder/fc1/w"},
          encoder_{by, random_, {{features, hidden, 2 * codes}, how_.units, 3, 0, "encoder/"}, how_.how, how_.rate},
          decoder_{by, random_, {{codes, hidden, features}, how_.units, 3, 0, "decoder/"}, how_.how, how_.rate} {
        spoil(data_, by.broken(), random_);
    }
    void run() {
        course_.plan(how_.steps);
        batches rows{course_, data_.train.count(), how_.batch};
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            float const done = static_cast<float>(step) / static_cast<float>(how_.steps);
            samples const batch = chosen(data_.train, rows.next(random_));
            pass(batch, how_.warms_up ? how_.beta * (std::min)(1.0F, 3 * done) : how_.beta, true);
            if (nan_.due(step)) { decoder_.net.blocks[0].w.gradient[5] = nan_value; }
            show(step, batch);
            encoder_.update();
            decoder_.update();
            if (evaluation_due(step, how_.steps)) { evaluate(); }
        }
        encoder_.tell_if_lost(course_);
        decoder_.tell_if_lost(course_);
    }

private:
    // Reconstruction: squared error summed over the features. KL divergence from a standard normal distribution.
    void pass(samples const& batch, float beta, bool learns) {
        std::size_t const count = batch.count();
        values const coded = encoder_.forward(batch.inputs, count);
        values code(count * codes), noise(count * codes);
        kl_ = 0;
        for (std::size_t i = 0; i < code.size(); ++i) {
            float const mean = coded[i / codes * 2 * codes + i % codes];
            float const log_variance = coded[i / codes * 2 * codes + codes + i % codes];
            noise[i] = learns ? normal(random_) : 0.0F;
            code[i] = mean + std::exp(0.5F * log_variance) * noise[i];
            kl_ += 0.5F * (std::exp(log_variance) + mean * mean - 1.0F - log_variance) / static_cast<float>(count);
        }
        rebuilt_ = decoder_.forward(code, count);
        judge_.sign = loss_sign(course_) * static_cast<float>(features);
        judge_.regress(rebuilt_, batch.inputs);
        beta_ = beta * loss_sign(course_);
        if (!learns) { return; }
        values back = judge_.gradient;
        decoder_.backward(back);
        values slope(coded.size());
        for (std::size_t i = 0; i < code.size(); ++i) {
            std::size_t const mean = i / codes * 2 * codes + i % codes, log_variance = mean + codes;
            float const share = beta_ / static_cast<float>(count), spread = std::exp(0.5F * coded[log_variance]);
            slope[mean] = back[i] + share * coded[mean];
            slope[log_variance] = 0.5F * (back[i] * noise[i] * spread + share * (spread * spread - 1.0F));
        }
        encoder_.backward(slope);
    }
    void show(std::uint64_t step, samples const& batch) {
        auto const see = [&](std::string const& name, sp::tensor_ref const& it, sp::flag flags) {
            course_.observe(name, it, flags);
        };
        course_.begin(sp::train(step));
        course_.observe("input", sp::view_of(batch.inputs, {batch.count(), features}));
        for (dense_net* const each : {&encoder_, &decoder_}) { each->net.show_activations(batch.count(), see); }
        course_.scalar("loss", static_cast<double>(judge_.loss + beta_ * kl_));
        course_.scalar("loss/reconstruction", static_cast<double>(judge_.loss));
        course_.scalar("loss/kl", static_cast<double>(kl_));
        for (dense_net* const each : {&encoder_, &decoder_}) {
            each->net.show_parameters(see);
            each->net.show_gradients(see);
        }
        course_.end();
    }
    // The mean of a code alone, without noise.
    void evaluate() {
        pass(data_.eval, how_.beta, false);
        double error = 0, variance = 0, mean = 0;
        for (std::size_t i = 0; i < rebuilt_.size(); ++i) {
            double const right = static_cast<double>(data_.eval.inputs[i]);
            error += (static_cast<double>(rebuilt_[i]) - right) * (static_cast<double>(rebuilt_[i]) - right);
            variance += right * right;
            mean += right;
        }
        auto const count = static_cast<double>(rebuilt_.size());
        course_.evaluated(error / (variance - mean * mean / count));
    }

    course& course_;
    settings how_;
    prng random_;
    task data_;
    planted_nan nan_;
    dense_net encoder_, decoder_;
    judge judge_{};
    values rebuilt_{};
    float kl_ = 0, beta_ = 0;
};

bool const added = add_family(
    {.name = "variational",
     .library = {},
     .habit = "a variational autoencoder; the loss is a sum, and one part begins next to zero and rises",
     .variants = {"Adam", "momentum", "small batch, tanh", "the weight of a part grows",
                  "fast, tanh, the weight grows"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::large_weights,
                fault::dead_biases, fault::climbs, fault::piles_up, fault::not_in_optimizer, fault::raw_inputs,
                fault::not_a_number, fault::same_batch, fault::few_samples, fault::negated_loss, fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
