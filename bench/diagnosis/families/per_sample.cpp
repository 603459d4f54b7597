// SPDX-License-Identifier: Apache-2.0
// A net in one block of plain C arrays that learns sample by sample, in the order of the classes; it has no gradients
// to show.
#include "../family.hpp"
#include "inject.hpp"
#include "problems.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace diagnosis {

namespace {

constexpr std::size_t inputs = 6, units = 12, classes = 4;

struct net {
    double w1[units][inputs], b1[units], w2[classes][units], b2[classes];
};

struct settings {
    double rate = 0.05, decay = 0;
    std::uint64_t steps = 1500;
    std::size_t block = 1;  // so many samples of a class follow each other
    bool fades = false, leaky = false;
};
constexpr settings shapes[] = {
    {},
    {0.02, 0, 1500, 3, false, false},
    {0.1, 1e-4, 1200, 1, true, false},
    {0.01, 0, 1500, 1, false, true},
    {0.03, 0, 1000, 1, false, true},
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000},
          data_{make_clouds(by.seed(), classes, inputs, 0.7F)}, nan_{by, how_.steps, "hidden"} {
        spoil(data_, by.broken(), random_);
        sort();
        draw(by, random_, std::sqrt(6.0F / inputs), std::span{&net_.w1[0][0], units * inputs});
        draw(by, random_, std::sqrt(3.0F / units), std::span{&net_.w2[0][0], classes * units});
        for (double& each : net_.b1) { each = static_cast<double>(hidden_bias(by)); }
    }
    void run() {
        course_.plan(how_.steps, pack_choice::supervised, std::log(static_cast<double>(classes)));
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            std::size_t const row = order_[course_.is(fault::same_batch) ? 0 : step % order_.size()];
            double const loss = forward(data_.train, row, nan_.due(step));
            show(step, row, loss);
            update(row, how_.fades ? 1.0 - static_cast<double>(step) / static_cast<double>(how_.steps) : 1.0);
            if (evaluation_due(step, how_.steps)) { evaluate(); }
        }
        tell_if_lost(course_, std::span{&net_.w1[0][0], units * inputs});
    }

private:
    // Class after class, `block` samples of each; where one has no more its turn is left out.
    void sort() {
        std::array<std::vector<std::size_t>, classes> rows;
        for (std::size_t i = 0; i < data_.train.count(); ++i) {
            rows[static_cast<std::size_t>(data_.train.classes[i])].push_back(i);
        }
        for (std::size_t first = 0; order_.size() < data_.train.count(); first += how_.block) {
            for (auto const& of : rows) {
                for (std::size_t i = first; i < (std::min)(first + how_.block, of.size()); ++i) {
                    order_.push_back(of[i]);
                }
            }
        }
    }
    double forward(samples const& from, std::size_t row, bool nan = false) {
        float const* const x = from.row(row);
        for (std::size_t u = 0; u < units; ++u) {
            double sum = net_.b1[u];
            for (std::size_t i = 0; i < inputs; ++i) { sum += net_.w1[u][i] * static_cast<double>(x[i]); }
            hidden_[u] = sum > 0 ? sum : how_.leaky ? 0.1 * sum : 0.0;
        }
        if (nan) { hidden_[3] = static_cast<double>(nan_value); }
        double top = -1e300, total = 0;
        for (std::size_t c = 0; c < classes; ++c) {
            output_[c] = net_.b2[c];
            for (std::size_t u = 0; u < units; ++u) { output_[c] += net_.w2[c][u] * hidden_[u]; }
            top = (std::max)(top, output_[c]);
        }
        for (double& each : output_) { total += each = std::exp(each - top); }
        for (double& each : output_) { each /= total; }
        auto const label = static_cast<std::size_t>(from.classes[row]);
        return -static_cast<double>(loss_sign(course_)) * std::log(output_[label] + 1e-12);
    }
    void show(std::uint64_t step, std::size_t row, double loss) {
        std::int32_t const label = data_.train.classes[row];
        course_.begin(sp::train(step));
        course_.observe("input", sp::view_of(data_.train.row(row), {inputs}));
        course_.observe("label", sp::as_tensor(label));
        course_.observe("w1", sp::as_tensor(net_.w1), sp::role::weight);
        course_.observe("b1", sp::as_tensor(net_.b1), sp::role::bias);
        course_.observe("w2", sp::as_tensor(net_.w2), sp::role::weight);
        course_.observe("b2", sp::as_tensor(net_.b2), sp::role::bias);
        course_.observe("hidden", sp::as_tensor(hidden_), sp::role::activation,
                        sp::activated_by(how_.leaky ? sp::activation_kind::other : sp::activation_kind::relu));
        course_.observe("pred", sp::as_tensor(output_));
        course_.scalar("loss", loss);
        course_.end();
    }
    void update(std::size_t row, double share) {
        double const rate = static_cast<double>(direction(course_) * rate_factor(course_)) * how_.rate * share;
        float const* const x = data_.train.row(row);
        for (std::size_t c = 0; c < classes; ++c) {
            double const wanted = c == static_cast<std::size_t>(data_.train.classes[row]) ? 1.0 : 0.0;
            slope_[c] = static_cast<double>(loss_sign(course_)) * (output_[c] - wanted);
        }
        for (std::size_t u = 0; u < units; ++u) {
            double back = 0;
            for (std::size_t c = 0; c < classes; ++c) { back += slope_[c] * net_.w2[c][u]; }
            back *= hidden_[u] > 0 ? 1.0 : how_.leaky ? 0.1 : 0.0;
            if (course_.is(fault::backward_bug)) { back = 0; }
            for (std::size_t i = 0; i < inputs; ++i) {
                net_.w1[u][i] += rate * (back * static_cast<double>(x[i]) + how_.decay * net_.w1[u][i]);
            }
            net_.b1[u] += rate * back;
            if (course_.is(fault::not_in_optimizer)) { continue; }
            for (std::size_t c = 0; c < classes; ++c) {
                net_.w2[c][u] += rate * (slope_[c] * hidden_[u] + how_.decay * net_.w2[c][u]);
            }
        }
        for (std::size_t c = 0; c < classes; ++c) { net_.b2[c] += rate * slope_[c]; }
    }
    void evaluate() {
        std::size_t wrong = 0;
        for (std::size_t row = 0; row < data_.eval.count(); ++row) {
            (void)forward(data_.eval, row);
            auto const best = std::max_element(output_, output_ + classes) - output_;
            wrong += best == data_.eval.classes[row] ? 0U : 1U;
        }
        course_.evaluated(static_cast<double>(wrong) / static_cast<double>(data_.eval.count()) / 0.75);
    }

    course& course_;
    settings how_;
    prng random_;
    task data_;
    planted_nan nan_;
    std::vector<std::size_t> order_{};
    net net_{};
    double hidden_[units]{}, output_[classes]{}, slope_[classes]{};
};

bool const added = add_family(
    {.name = "per_sample",
     .library = {},
     .habit =
         "one sample a step, the classes in turn; plain arrays of doubles, no gradients, inputs without a batch axis",
     .variants = {"classes in turn", "three of a class at a time", "fast, rate falls to 0, weight decay", "slow, leaky",
                  "leaky"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::dead_biases, fault::climbs, fault::not_in_optimizer,
                fault::shuffled_labels, fault::raw_inputs, fault::imbalanced, fault::not_a_number, fault::same_batch,
                fault::few_samples, fault::negated_loss, fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
