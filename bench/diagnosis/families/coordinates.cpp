// SPDX-License-Identifier: Apache-2.0
// A net of coordinates: a picture of three colours as a function of the place, with Fourier features (Tancik et al.
// 2020). The targets of a sample are three real numbers.
#include "../family.hpp"
#include "../judge.hpp"
#include "dense_net.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace diagnosis {

namespace {

constexpr std::size_t features = 18, colours = 3;

struct settings {
    method how = method::adam;
    float rate = 3e-3F;
    std::size_t batch = 64;
    std::uint64_t steps = 600;
    sp::activation_kind hidden = sp::activation_kind::relu;
    bool fades = false;
};
constexpr settings shapes[] = {
    {},
    {method::momentum, 0.03F, 64, 800, sp::activation_kind::relu, false},
    {method::adam, 2e-3F, 256, 500, sp::activation_kind::relu, true},
    {method::adam, 1e-3F, 32, 900, sp::activation_kind::relu, false},
    {method::adam, 3e-3F, 64, 600, sp::activation_kind::tanh, false},
};

// Places and their colours.
struct picture_of_three {
    values places{}, colours{};  // 18 and 3 a sample

    void draw(prng& random, std::array<float, 6> const& phases, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            float const x = random.uniform(-1.0F, 1.0F), y = random.uniform(-1.0F, 1.0F);
            places.insert(places.end(), {x, y});
            for (float const times : {1.0F, 2.0F, 4.0F, 8.0F}) {
                places.insert(places.end(),
                              {std::sin(times * x), std::cos(times * x), std::sin(times * y), std::cos(times * y)});
            }
            for (std::size_t c = 0; c < 3; ++c) {
                float const wave = std::sin(4 * x + phases[c]) * std::cos(3 * y + phases[c + 3]);
                colours.push_back(0.25F + 0.25F * static_cast<float>(c) + 0.2F * wave);
            }
        }
    }
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000}, nan_{by, how_.steps, "grad/fc2/w"},
          net_{by, random_, {{features, 32, 32, colours}, how_.hidden}, how_.how, how_.rate} {
        prng data{by.seed()};
        std::array<float, 6> phases{};
        for (float& each : phases) { each = data.uniform(0.0F, 6.28F); }
        train_.draw(data, phases, count);
        eval_.draw(data, phases, 500);
        if (by.is(fault::shuffled_labels)) { shuffle(); }
    }
    void run() {
        course_.plan(how_.steps);
        batches rows{course_, count, how_.batch};
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            take(rows.next(random_));
            learn(step, rows.size());
            float const left = 1.0F - static_cast<float>(step) / static_cast<float>(how_.steps);
            net_.update(how_.fades ? left : 1.0F);
            if (evaluation_due(step, how_.steps)) { evaluate(); }
        }
        net_.tell_if_lost(course_);
    }

private:
    void shuffle() {
        auto const order = example::shuffled_indices(count, random_);
        values const before = train_.colours;
        for (std::size_t i = 0; i < count; ++i) {
            std::copy_n(before.begin() + static_cast<std::ptrdiff_t>(order[i] * colours), colours,
                        train_.colours.begin() + static_cast<std::ptrdiff_t>(i * colours));
        }
    }
    void take(std::vector<std::size_t> const& rows) {
        input_.clear(), target_.clear();
        for (std::size_t const each : rows) {
            auto const place = train_.places.begin() + static_cast<std::ptrdiff_t>(each * features);
            auto const colour = train_.colours.begin() + static_cast<std::ptrdiff_t>(each * colours);
            input_.insert(input_.end(), place, place + features);
            target_.insert(target_.end(), colour, colour + colours);
        }
    }
    void learn(std::uint64_t step, std::size_t batch) {
        output_ = net_.forward(input_, batch);
        judge_.sign = loss_sign(course_);
        judge_.regress(output_, target_);
        values gradient = judge_.gradient;
        net_.backward(gradient);
        if (nan_.due(step)) { net_.net.blocks[1].w.gradient[7] = nan_value; }
        auto const see = [&](std::string const& name, sp::tensor_ref const& it, sp::flag flags) {
            course_.observe(name, it, flags);
        };
        course_.begin(sp::train(step));
        course_.observe("input", sp::view_of(input_, {batch, features}));
        course_.observe("target", sp::view_of(target_, {batch, colours}));
        net_.net.show_activations(batch, see);
        course_.observe("prediction", sp::view_of(output_, {batch, colours}));
        course_.scalar("loss", static_cast<double>(judge_.loss));
        net_.net.show_parameters(see);
        net_.net.show_gradients(see);
        course_.end();
    }
    void evaluate() {
        values const& output = net_.forward(eval_.places, 500);
        std::array<double, 3> mean{}, spread{};
        double error = 0, variance = 0;
        for (std::size_t i = 0; i < output.size(); ++i) {
            auto const right = static_cast<double>(eval_.colours[i]);
            double const gap = static_cast<double>(output[i]) - right;
            error += gap * gap;
            mean[i % colours] += right / 500;
            spread[i % colours] += right * right / 500;
        }
        for (std::size_t c = 0; c < colours; ++c) { variance += 500 * (spread[c] - mean[c] * mean[c]); }
        course_.evaluated(error / variance);
    }

    static constexpr std::size_t count = 1500;
    course& course_;
    settings how_;
    prng random_;
    planted_nan nan_;
    dense_net net_;
    picture_of_three train_{}, eval_{};
    judge judge_{};
    values input_{}, target_{}, output_{};
};

bool const added = add_family(
    {.name = "coordinates",
     .library = {},
     .habit = "a picture of three colours as a function of the place: targets of three real numbers a sample",
     .variants = {"Adam", "momentum", "large batch, rate falls to 0", "small batch, slow", "tanh"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::dead_biases, fault::climbs, fault::piles_up, fault::not_in_optimizer,
                fault::shuffled_labels, fault::not_a_number, fault::same_batch, fault::negated_loss,
                fault::backward_bug, fault::no_activations},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
