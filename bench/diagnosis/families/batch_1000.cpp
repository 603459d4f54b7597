// SPDX-License-Identifier: Apache-2.0
// A classifier with xtensor, in batches from one sample to a thousand; names in the style of notebooks, whose roles
// have to be said.
#include "../family.hpp"
#include "descent.hpp"
#include "problems.hpp"

#include <spotter/ext/xtensor.hpp>

#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/core/xmath.hpp>
#else
#include <xtensor/xmath.hpp>
#endif

#include <algorithm>
#include <array>
#include <cmath>

namespace diagnosis {

namespace {

using matrix = xt::xtensor<float, 2>;

struct settings {
    descent::kind how = descent::kind::sgd;
    float rate = 0.1F, momentum = 0.9F, decay = 0;
    std::size_t batch = 1000;
    std::uint64_t steps = 200;
    bool fades = false;
};
constexpr settings shapes[] = {
    {},
    {descent::kind::sgd, 0.02F, 0, 0, 1, 1500, false},
    {descent::kind::sgd, 0.05F, 0.5F, 1e-4F, 10, 1000, false},
    {descent::kind::adam, 5e-3F, 0, 0, 100, 400, true},
    {descent::kind::adam, 3e-3F, 0, 0, 1000, 250, false},
    {descent::kind::sgd, 0.002F, 0.9F, 0, 4, 1500, false},
};

// A row a sample.
struct layer {
    matrix w, dw, input, sum, output;
    xt::xtensor<float, 1> b, db;
    values turned{};

    layer(course const& of, prng& random, std::size_t inputs, std::size_t units, bool hidden)
        : w{matrix::from_shape({inputs, units})}, dw{xt::zeros<float>({inputs, units})}, b{xt::zeros<float>({units})},
          db{xt::zeros<float>({units})} {
        draw(of, random, std::sqrt(6.0F / static_cast<float>(inputs)), w);
        if (hidden) { b.fill(hidden_bias(of)); }
    }
    matrix const& forward(matrix const& from, bool hidden) {
        input = from;
        std::size_t const rows = from.shape(0), units = w.shape(1);
        sum.resize({rows, units});
        multiply(input.data(), w.data(), sum.data(), rows, w.shape(0), units);
        sum += b;
        output = sum;
        if (hidden) { output = xt::maximum(sum, 0.0F); }
        return output;
    }
    matrix backward(matrix slope, bool hidden) {
        std::size_t const rows = input.shape(0), inputs = w.shape(0), units = w.shape(1);
        if (hidden) { slope *= xt::cast<float>(sum > 0.0F); }
        matrix made = matrix::from_shape({inputs, units});
        transpose(input.data(), turned, rows, inputs);
        multiply(turned.data(), slope.data(), made.data(), inputs, rows, units);
        dw += made;
        db += xt::sum(slope, {0});
        matrix back = matrix::from_shape({rows, inputs});
        transpose(w.data(), turned, inputs, units);
        multiply(slope.data(), turned.data(), back.data(), rows, units, inputs);
        return back;
    }
};

constexpr std::size_t features = 8, classes = 4;

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000},
          data_{make_clouds(by.seed(), classes, features, 0.9F, 4000)},
          net_{layer{by, random_, features, 20, true}, layer{by, random_, 20, 12, true},
               layer{by, random_, 12, classes, false}},
          optimizer_{by, how_.how, how_.rate, how_.momentum, how_.decay}, nan_{by, how_.steps, "layer1_out"} {
        spoil(data_, by.broken(), random_);
    }
    void run() {
        course_.plan(how_.steps, pack_choice::supervised, std::log(static_cast<double>(classes)));
        batches rows{course_, data_.train.count(), how_.batch};
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            samples const batch = chosen(data_.train, rows.next(random_));
            float const loss = learn(batch, nan_.due(step));
            show(step, batch, loss);
            float const share = how_.fades ? 1.0F - static_cast<float>(step) / static_cast<float>(how_.steps) : 1.0F;
            for (std::size_t i = 0; i < net_.size(); ++i) {
                if (i == 1 && course_.is(fault::not_in_optimizer)) { continue; }
                optimizer_.step(2 * i, net_[i].w.data(), net_[i].dw.data(), net_[i].w.size(), share);
                optimizer_.step(2 * i + 1, net_[i].b.data(), net_[i].db.data(), net_[i].b.size(), share);
            }
            if (evaluation_due(step, how_.steps)) { evaluate(step); }
        }
        for (layer const& each : net_) { tell_if_lost(course_, each.w); }
    }

private:
    void forward(samples const& of, bool nan = false) {
        x_.resize({of.count(), features});
        std::copy(of.inputs.begin(), of.inputs.end(), x_.data());
        matrix const* current = &x_;
        for (std::size_t i = 0; i < net_.size(); ++i) {
            current = &net_[i].forward(*current, i + 1 < net_.size());
            if (nan && i == 1) { net_[1].output(0, 3) = nan_value; }
        }
        chance_ = *current;
        for (float* row = chance_.data(); row != chance_.data() + chance_.size(); row += classes) {
            float const top = *std::max_element(row, row + classes);
            float sum = 0;
            for (std::size_t c = 0; c < classes; ++c) { sum += row[c] = std::exp(row[c] - top); }
            for (std::size_t c = 0; c < classes; ++c) { row[c] /= sum; }
        }
    }
    float loss_of(samples const& of) const {
        float loss = 0;
        for (std::size_t r = 0; r < of.count(); ++r) {
            loss -= std::log(chance_(r, static_cast<std::size_t>(of.classes[r])) + 1e-12F);
        }
        return loss_sign(course_) * loss / static_cast<float>(of.count());
    }
    float learn(samples const& batch, bool nan) {
        forward(batch, nan);
        matrix slope = chance_;
        for (std::size_t r = 0; r < batch.count(); ++r) {
            slope(r, static_cast<std::size_t>(batch.classes[r])) -= 1.0F;
        }
        slope *= loss_sign(course_) / static_cast<float>(batch.count());
        for (std::size_t i = net_.size(); i-- > 0;) {
            clear(course_, net_[i].dw);
            clear(course_, net_[i].db);
            slope = net_[i].backward(slope, i + 1 < net_.size());
            if (course_.is(fault::backward_bug)) { slope.fill(0.0F); }
        }
        return loss_of(batch);
    }
    void show(std::uint64_t step, samples const& batch, float loss) {
        course_.begin(sp::train(step));
        course_.observe("X", sp::as_tensor(x_), sp::role::input);
        course_.observe("y", sp::as_tensor(batch.classes), sp::role::label);
        course_.observe("y_hat", sp::as_tensor(chance_), sp::role::prediction);
        course_.observe("cost", sp::as_tensor(loss), sp::role::loss);
        for (std::size_t i = 0; i < net_.size(); ++i) {
            layer const& it = net_[i];
            std::string const number = std::to_string(i);
            course_.observe("layer" + number + "_W", sp::as_tensor(it.w), sp::role::weight);
            course_.observe("layer" + number + "_b", sp::as_tensor(it.b), sp::role::bias);
            course_.observe("dW" + number, sp::as_tensor(it.dw), sp::role::gradient);
            course_.observe("db" + number, sp::as_tensor(it.db), sp::role::gradient);
            if (i + 1 < net_.size()) {
                course_.observe("layer" + number + "_out", sp::as_tensor(it.output), sp::role::activation,
                                sp::activated_by(sp::activation_kind::relu));
            }
        }
        course_.end();
    }
    void evaluate(std::uint64_t step) {
        forward(data_.eval);
        std::size_t wrong = 0;
        for (std::size_t r = 0; r < data_.eval.count(); ++r) {
            float const* const row = chance_.data() + r * classes;
            wrong += std::max_element(row, row + classes) - row == data_.eval.classes[r] ? 0U : 1U;
        }
        course_.begin(sp::eval(step));
        course_.observe("cost", sp::as_tensor(loss_of(data_.eval)), sp::role::loss);
        course_.end();
        course_.evaluated(static_cast<double>(wrong) / static_cast<double>(data_.eval.count()) / 0.75);
    }

    course& course_;
    settings how_;
    prng random_;
    task data_;
    std::array<layer, 3> net_;
    descent optimizer_;
    planted_nan nan_;
    matrix x_{}, chance_{};
};

bool const added = add_family(
    {.name = "batch_1000",
     .library = "xtensor",
     .habit = "batches of one to a thousand samples; gradients whose names do not tell of what they are",
     .variants = {"batches of 1000", "one sample", "batches of 10, weight decay",
                  "batches of 100, Adam, rate falls to 0", "batches of 1000, Adam", "batches of 4, slow"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::dead_biases, fault::climbs, fault::piles_up, fault::not_in_optimizer,
                fault::shuffled_labels, fault::raw_inputs, fault::imbalanced, fault::not_a_number, fault::same_batch,
                fault::noisy_labels, fault::few_samples, fault::negated_loss, fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
