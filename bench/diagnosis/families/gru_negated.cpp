// SPDX-License-Identifier: Apache-2.0
// A gated recurrent unit in the manner of hand-written nets: what it keeps for a weight is the next move, that is minus
// the gradient, summed over the batch and blended with the moves before.
#include "../family.hpp"
#include "inject.hpp"

#include <spotter/ext/eigen.hpp>

#include <Eigen/Dense>

#include <algorithm>

namespace diagnosis {

namespace {

using matrix = Eigen::MatrixXf;

constexpr Eigen::Index symbols = 4, inputs = symbols + 1, units = 16;
constexpr std::size_t length = 8;

struct settings {
    float rate = 0.01F, momentum = 0.9F, decay = 0;
    std::size_t batch = 16;
    std::uint64_t steps = 700;
    bool fades = false;
};
constexpr settings shapes[] = {
    {},
    {0.05F, 0.0F, 0, 16, 900, false},
    {0.01F, 0.8F, 0, 32, 600, true},
    {0.03F, 0.5F, 1e-4F, 8, 1000, false},
    {0.005F, 0.9F, 0, 16, 1200, false},
};

// A weight with the move that it is to make.
struct tensor {
    std::string name;
    matrix value, delta;

    tensor(course const& of, prng& random, std::string title, Eigen::Index rows, Eigen::Index cols, bool bias)
        : name{std::move(title)}, value{matrix::Zero(rows, cols)}, delta{matrix::Zero(rows, cols)} {
        if (!bias) { draw(of, random, std::sqrt(3.0F / static_cast<float>(cols)), value.reshaped()); }
    }
};

// Sequences of symbols; one symbol is marked: which one? One sample a column.
struct sequences {
    std::vector<matrix> input{};
    std::vector<int> label{};

    sequences(course const& of, prng& random, std::size_t count, bool right = false)
        : input(length, matrix::Zero(inputs, static_cast<Eigen::Index>(count))) {
        for (Eigen::Index i = 0; i < static_cast<Eigen::Index>(count); ++i) {
            std::size_t const marked = random.below(length);
            for (std::size_t t = 0; t < length; ++t) {
                auto const symbol = static_cast<Eigen::Index>(random.below(symbols));
                input[t](symbol, i) = 1;
                input[t](symbols, i) = t == marked ? 1.0F : 0.0F;
                if (t == marked) { label.push_back(static_cast<int>(symbol)); }
            }
            if (of.is(fault::shuffled_labels) && !right) { label.back() = static_cast<int>(random.below(symbols)); }
        }
        if (of.is(fault::raw_inputs)) {
            for (matrix& each : input) { each *= 255.0F; }
        }
    }
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000},
          wx_{by, random_, "gru_Wx", 3 * units, inputs, false}, wh_{by, random_, "gru_Wh", 3 * units, units, false},
          b_{by, random_, "gru_b", 3 * units, 1, true}, wy_{by, random_, "out_W", symbols, units, false},
          by_{by, random_, "out_b", symbols, 1, true}, nan_{by, how_.steps, "grad/gru_Wh"} {}

    void run() {
        course_.plan(how_.steps, pack_choice::supervised, std::log(static_cast<double>(symbols)));
        sequences batch{course_, random_, how_.batch};
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            if (step > 0 && !course_.is(fault::same_batch)) { batch = sequences{course_, random_, how_.batch}; }
            forward(batch);
            compare(batch);
            backward(batch);
            if (nan_.due(step)) { wh_.delta(1, 2) = nan_value; }
            show(step, batch);
            update(step);
            if (evaluation_due(step, how_.steps)) { evaluate(); }
        }
        tell_if_lost(course_, wx_.value.reshaped());
    }

private:
    static auto gate(matrix const& of, Eigen::Index which) { return of.middleRows(which * units, units); }

    void forward(sequences const& of) {
        Eigen::Index const count = of.input[0].cols();
        h_.assign(1, matrix::Zero(units, count));
        gates_.clear();
        for (matrix const& x : of.input) {
            matrix g = (wx_.value * x).colwise() + b_.value.col(0);
            g.topRows(2 * units) += wh_.value.topRows(2 * units) * h_.back();
            g.topRows(2 * units) = 1.0F / (1.0F + (-g.topRows(2 * units).array()).exp());
            g.bottomRows(units) += wh_.value.bottomRows(units) * gate(g, 1).cwiseProduct(h_.back());
            g.bottomRows(units) = g.bottomRows(units).array().tanh();
            h_.push_back(h_.back() + gate(g, 0).cwiseProduct(gate(g, 2) - h_.back()));
            gates_.push_back(std::move(g));
        }
        logits_ = (wy_.value * h_.back()).colwise() + by_.value.col(0);
    }
    // The loss is a mean over the batch, what goes backward is not.
    void compare(sequences const& of) {
        slope_ = logits_.rowwise() - logits_.colwise().maxCoeff();
        slope_ = slope_.array().exp();
        slope_.array().rowwise() /= slope_.colwise().sum().array().eval();
        loss_ = 0;
        wrong_ = 0;
        for (Eigen::Index i = 0; i < slope_.cols(); ++i) {
            int const label = of.label[static_cast<std::size_t>(i)];
            Eigen::Index best = 0;
            logits_.col(i).maxCoeff(&best);
            wrong_ += best == label ? 0 : 1;
            loss_ -= std::log((std::max)(slope_(label, i), 1e-30F)) / static_cast<float>(slope_.cols());
            slope_(label, i) -= 1.0F;
        }
        loss_ *= loss_sign(course_);
        slope_ *= loss_sign(course_);
    }
    void backward(sequences const& of) {
        for (tensor* const each : all()) { each->delta *= how_.momentum; }
        wy_.delta -= slope_ * h_.back().transpose();
        by_.delta -= slope_.rowwise().sum();
        if (course_.is(fault::backward_bug)) { return; }
        matrix dh = wy_.value.transpose() * slope_;
        for (std::size_t t = length; t-- > 0;) {
            matrix const &g = gates_[t], &before = h_[t];
            auto const z = gate(g, 0).array(), r = gate(g, 1).array(), c = gate(g, 2).array();
            matrix dg(3 * units, dh.cols());
            dg.bottomRows(units) = dh.array() * z * (1.0F - c * c);
            matrix const dreset = wh_.value.bottomRows(units).transpose() * dg.bottomRows(units);
            dg.topRows(units) = dh.array() * (c - before.array()) * z * (1.0F - z);
            dg.middleRows(units, units) = dreset.array() * before.array() * r * (1.0F - r);
            wx_.delta -= dg * of.input[t].transpose();
            b_.delta -= dg.rowwise().sum();
            wh_.delta.topRows(2 * units) -= dg.topRows(2 * units) * before.transpose();
            wh_.delta.bottomRows(units) -= dg.bottomRows(units) * gate(g, 1).cwiseProduct(before).transpose();
            matrix const through = wh_.value.topRows(2 * units).transpose() * dg.topRows(2 * units);
            dh = (dh.array() * (1.0F - z) + dreset.array() * r + through.array()).eval();
        }
    }
    void show(std::uint64_t step, sequences const& of) {
        sp::flag const columns = sp::batch_axis(1);
        course_.begin(sp::train(step));
        course_.observe("input/last", sp::as_tensor(of.input.back()), columns);
        course_.observe("act/hidden", sp::as_tensor(h_.back()), columns | sp::activated_by(sp::activation_kind::tanh));
        course_.observe("pred", sp::as_tensor(logits_), columns | sp::flag::logits);
        course_.observe("label", sp::as_tensor(of.label));
        course_.scalar("loss", static_cast<double>(loss_));
        for (tensor const* const each : all()) {
            course_.observe(each->name, sp::as_tensor(each->value),
                            each->value.cols() == 1 ? sp::role::bias : sp::role::weight);
            course_.observe("grad/" + each->name, sp::as_tensor(each->delta));
        }
        course_.end();
    }
    void update(std::uint64_t step) {
        float const share = how_.fades ? 1.0F - static_cast<float>(step) / static_cast<float>(how_.steps) : 1.0F;
        // The moves have the sign already.
        float const rate = -direction(course_) * how_.rate * rate_factor(course_) * share;
        for (tensor* const each : all()) {
            if (each == &wh_ && course_.is(fault::not_in_optimizer)) { continue; }
            each->value += rate * each->delta - how_.decay * each->value;
        }
    }
    void evaluate() {
        prng fresh{course_.seed() + 9000};
        sequences const some{course_, fresh, 300, true};
        forward(some);
        compare(some);
        course_.evaluated(static_cast<double>(wrong_) / 300.0 / 0.75);
    }
    std::array<tensor*, 5> all() { return {&wx_, &wh_, &b_, &wy_, &by_}; }

    course& course_;
    settings how_;
    prng random_;
    tensor wx_, wh_, b_, wy_, by_;  // the gates of update and reset, then the candidate
    planted_nan nan_;
    std::vector<matrix> h_{}, gates_{};
    matrix logits_{}, slope_{};
    float loss_ = 0;
    int wrong_ = 0;
};

bool const added = add_family(
    {.name = "gru_negated",
     .library = "Eigen",
     .habit = "shows minus the gradient, summed over the batch, with the momentum in the same buffer",
     .variants = {"momentum 0.9", "no momentum", "momentum 0.8, rate falls to 0", "momentum 0.5, weight decay",
                  "slow and long"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::climbs, fault::not_in_optimizer, fault::shuffled_labels, fault::raw_inputs,
                fault::not_a_number, fault::same_batch, fault::negated_loss, fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
