// SPDX-License-Identifier: Apache-2.0
// A regression with Eigen, one sample a column. A callback after each batch shows what there is: the weights are
// updated by then.
#include "../family.hpp"
#include "descent.hpp"
#include "problems.hpp"

#include <spotter/ext/eigen.hpp>

#include <Eigen/Dense>

namespace diagnosis {

namespace {

using matrix = Eigen::MatrixXf;
using vector = Eigen::VectorXf;

struct dense {
    std::string title;
    matrix kernel, grad_kernel, input, output;  // one sample a column
    vector bias, grad_bias;
    bool relu = true;

    dense(course const& of, prng& random, std::string name, Eigen::Index inputs, Eigen::Index units, bool hidden)
        : title{std::move(name)}, kernel{units, inputs}, bias{vector::Constant(units, hidden ? hidden_bias(of) : 0.0F)},
          relu{hidden} {
        draw(of, random, std::sqrt(6.0F / static_cast<float>(inputs + units)), kernel.reshaped());
        grad_kernel.setZero(units, inputs);
        grad_bias.setZero(units);
    }
    matrix const& forward(matrix const& from) {
        input = from;
        output = (kernel * input).colwise() + bias;
        if (relu) { output = output.cwiseMax(0.0F); }
        return output;
    }
    // Takes dloss/doutput, gives dloss/dinput.
    matrix backward(course const& of, matrix slope) {
        clear(of, grad_kernel.reshaped());
        clear(of, grad_bias);
        if (relu) { slope = (output.array() > 0.0F).select(slope, 0.0F); }
        grad_kernel += slope * input.transpose();
        grad_bias += slope.rowwise().sum();
        return kernel.transpose() * slope;
    }
};

struct settings {
    descent::kind how = descent::kind::sgd;
    float rate = 0.02F, momentum = 0.9F, decay = 0;
    std::size_t batch = 32;
    std::uint64_t steps = 800;
    bool fades = false;  // the rate, to nothing
};
constexpr settings shapes[] = {
    {},
    {descent::kind::adam, 2e-3F, 0, 0, 32, 800, false},
    {descent::kind::adam, 3e-3F, 0, 1.0F, 16, 1200, false},
    {descent::kind::sgd, 0.05F, 0, 0, 64, 1000, true},
    {descent::kind::rmsprop, 5e-4F, 0, 0, 32, 800, false},
    {descent::kind::sgd, 0.005F, 0.5F, 0, 8, 1500, false},
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000}, data_{spoilt(by)},
          batches_{by, data_.train.count(), how_.batch}, optimizer_{by, how_.how, how_.rate, how_.momentum, how_.decay},
          nan_{by, how_.steps, "grads/dense_1/kernel:0"} {
        layers_.emplace_back(by, random_, "dense", 10, 32, true);
        layers_.emplace_back(by, random_, "dense_1", 32, 32, true);
        layers_.emplace_back(by, random_, "dense_2", 32, 1, false);
    }
    void run() {
        course_.plan(how_.steps, pack_choice::supervised, 1.0);
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            learn(step);
            after_batch(step);
            if (evaluation_due(step, how_.steps)) { evaluate(step); }
        }
        for (dense const& each : layers_) { tell_if_lost(course_, each.kernel.reshaped()); }
    }

private:
    static task spoilt(course const& by) {
        task made = make_friedman(by.seed(), 0.1F);
        prng random{by.seed() + 1000};
        spoil(made, by.broken(), random);
        return made;
    }
    matrix const& forward(matrix const& from) {
        matrix const* current = &from;
        for (dense& each : layers_) { current = &each.forward(*current); }
        return *current;
    }
    void learn(std::uint64_t step) {
        auto const& chosen_rows = batches_.next(random_);
        auto const count = static_cast<Eigen::Index>(chosen_rows.size());
        matrix input(10, count);
        target_.resize(1, count);
        for (Eigen::Index i = 0; i < count; ++i) {
            std::size_t const row = chosen_rows[static_cast<std::size_t>(i)];
            input.col(i) = Eigen::Map<vector const>(data_.train.row(row), 10);
            target_(i) = data_.train.targets[row];
        }
        matrix const gap = forward(input) - target_;
        loss_ = loss_sign(course_) * gap.squaredNorm() / static_cast<float>(count);
        matrix slope = gap * (2.0F * loss_sign(course_) / static_cast<float>(count));
        for (std::size_t i = layers_.size(); i-- > 0;) {
            slope = layers_[i].backward(course_, slope);
            if (course_.is(fault::backward_bug)) { slope.setZero(); }
        }
        if (nan_.due(step)) { layers_[1].grad_kernel(3, 4) = nan_value; }
        float const share = how_.fades ? 1.0F - static_cast<float>(step) / static_cast<float>(how_.steps) : 1.0F;
        for (std::size_t i = 0; i < layers_.size(); ++i) {
            dense& it = layers_[i];
            if (i == 1 && (course_.is(fault::not_in_optimizer) || course_.is(fault::frozen))) { continue; }
            optimizer_.step(2 * i, it.kernel.data(), it.grad_kernel.data(), static_cast<std::size_t>(it.kernel.size()),
                            share);
            optimizer_.step(2 * i + 1, it.bias.data(), it.grad_bias.data(), static_cast<std::size_t>(it.bias.size()),
                            share);
        }
    }
    void after_batch(std::uint64_t step) {
        sp::flag const columns = sp::batch_axis(1), relu = columns | sp::activated_by(sp::activation_kind::relu);
        course_.begin(sp::train(step));
        course_.scalar("loss", static_cast<double>(loss_));
        course_.observe("input", sp::as_tensor(layers_[0].input), columns);
        course_.observe("label", sp::as_tensor(target_), columns);
        course_.observe("pred", sp::as_tensor(layers_.back().output), columns);
        for (dense const& it : layers_) {
            if (it.relu) { course_.observe("act/" + it.title, sp::as_tensor(it.output), relu); }
            course_.observe(it.title + "/kernel:0", sp::as_tensor(it.kernel), sp::role::weight);
            course_.observe(it.title + "/bias:0", sp::as_tensor(it.bias), sp::role::bias);
            if (course_.is(fault::frozen) && &it == &layers_[1]) { continue; }
            course_.observe("grads/" + it.title + "/kernel:0", sp::as_tensor(it.grad_kernel));
            course_.observe("grads/" + it.title + "/bias:0", sp::as_tensor(it.grad_bias));
        }
        course_.end();
    }
    void evaluate(std::uint64_t step) {
        auto const count = static_cast<Eigen::Index>(data_.eval.count());
        Eigen::Map<matrix const> const input{data_.eval.inputs.data(), 10, count};
        Eigen::Map<matrix const> const target{data_.eval.targets.data(), 1, count};
        float const loss = (forward(input) - target).squaredNorm() / static_cast<float>(count);
        course_.begin(sp::eval(step));
        course_.scalar("loss", static_cast<double>(loss_sign(course_) * loss));
        course_.end();
        course_.evaluated(static_cast<double>(loss));
    }

    course& course_;
    settings how_;
    prng random_;
    task data_;
    batches batches_;
    descent optimizer_;
    planted_nan nan_;
    std::vector<dense> layers_{};
    matrix target_{};
    float loss_ = 0;
};

bool const added = add_family(
    {.name = "eigen_callback",
     .library = "Eigen",
     .habit =
         "a callback after each update shows new weights beside the gradients of the old ones; one sample a column",
     .variants = {"momentum", "adam", "adam, weight decay, small batch", "plain descent, rate falls to 0", "rmsprop",
                  "slow, batches of 8"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::dead_biases, fault::climbs, fault::piles_up, fault::frozen,
                fault::not_in_optimizer, fault::shuffled_labels, fault::raw_inputs, fault::not_a_number,
                fault::same_batch, fault::few_samples, fault::negated_loss, fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
