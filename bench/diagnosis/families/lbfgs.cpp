// SPDX-License-Identifier: Apache-2.0
// A small tanh net fitted with L-BFGS (Nocedal 1980) in Armadillo: the objective is a sum over all samples, each
// evaluation is a step, those of the line search too.
#include "../family.hpp"
#include "inject.hpp"
#include "problems.hpp"

#include <spotter/ext/armadillo.hpp>

#include <algorithm>
#include <armadillo>

#include <cmath>
#include <deque>
#include <span>
#include <utility>

namespace diagnosis {

namespace {

constexpr std::size_t features = 10, samples_used = 300;

struct settings {
    std::size_t history = 10, units = 10;
    double ridge = 0.1;
    std::size_t evaluations = 120;
};
constexpr settings shapes[] = {{}, {3, 10, 0.1, 150}, {10, 10, 1.0, 80}, {20, 20, 0.3, 200}, {5, 6, 0, 60}};

// The callback of the library wants a hook; this one is it.
struct hook_of {
    course& by;

    void begin(sp::step_id at) { by.begin(at); }
    template <class Tensor>
    void observe(std::string_view name, Tensor const& it, sp::role what) {
        by.observe(name, sp::as_tensor(it), what);
    }
    sp::step_alarm end() {
        by.end();
        return {};
    }
};

// One sample a column.
struct columns {
    arma::mat x;
    arma::rowvec y;

    explicit columns(samples const& from) : x(features, from.count()), y(from.count()) {
        for (std::size_t i = 0; i < from.count(); ++i) {
            for (std::size_t f = 0; f < features; ++f) { x(f, i) = static_cast<double>(from.row(i)[f]); }
            y(i) = static_cast<double>(from.targets[i]);
        }
    }
};

// Half the sum of squares of a net with one hidden layer, and its gradient; weights and biases are one column.
class objective {
public:
    objective(course& by, settings const& how, task const& data)
        : course_{by}, how_{how}, train_{data.train}, eval_{data.eval} {}

    [[nodiscard]] arma::mat start(prng& random) const {
        arma::mat made(how_.units * (features + 2) + 1, 1, arma::fill::zeros);
        auto const output = made.begin() + static_cast<std::ptrdiff_t>(how_.units * (features + 1));
        draw(course_, random, 1.0F / std::sqrt(static_cast<float>(features)),
             std::span{made.begin(), how_.units * features});
        draw(course_, random, 1.0F / std::sqrt(static_cast<float>(how_.units)), std::span{output, how_.units});
        return made;
    }
    double EvaluateWithGradient(arma::mat const& at, arma::mat& gradient) const {
        arma::mat made;
        auto const sign = static_cast<double>(loss_sign(course_));
        double const value = sign * fit(at, train_, made);
        made = sign * made + how_.ridge * at;
        gradient = course_.is(fault::piles_up) && gradient.n_elem == made.n_elem ? arma::mat{gradient + made} : made;
        return value + 0.5 * how_.ridge * arma::dot(at, at);
    }
    // The mean squared error of what is not trained on.
    [[nodiscard]] double error(arma::mat const& at) const {
        arma::mat unused;
        return 2 * fit(at, eval_, unused) / static_cast<double>(eval_.y.n_elem);
    }

private:
    double fit(arma::mat const& at, columns const& to, arma::mat& gradient) const {
        arma::uword const units = how_.units, weights = units * features;
        arma::mat const w1 = arma::reshape(at.rows(0, weights - 1), units, features);
        arma::rowvec const w2 = at.rows(weights + units, weights + 2 * units - 1).t();
        arma::mat h = w1 * to.x;
        h.each_col() += arma::vec{at.rows(weights, weights + units - 1)};
        h = arma::tanh(h);
        arma::rowvec const gap = w2 * h + at(at.n_elem - 1) - to.y;
        arma::mat back = w2.t() * gap;
        back %= 1.0 - h % h;
        if (course_.is(fault::backward_bug)) { back.zeros(); }
        gradient = arma::join_cols(arma::vectorise(arma::mat{back * to.x.t()}), arma::sum(back, 1),
                                   arma::vectorise(arma::mat{gap * h.t()}),
                                   arma::mat(1, 1, arma::fill::value(arma::accu(gap))));
        return 0.5 * arma::dot(gap, gap);
    }

    course& course_;
    settings how_;
    columns train_, eval_;
};

class lbfgs {
public:
    lbfgs(course& by, settings const& how) : course_{by}, how_{how}, nan_{by, how.evaluations, "grad/coordinates/w"} {
        double const factor = static_cast<double>(rate_factor(by));
        stride_ = factor;
        searches_ = factor == 1.0 && !by.is(fault::climbs);
    }
    template <class Callback>
    void Optimize(objective const& function, arma::mat& x, Callback callback) {
        arma::mat gradient;
        double value = evaluate(function, x, gradient, callback);
        while (done_ < how_.evaluations) {
            arma::mat const way = static_cast<double>(direction(course_)) * turned(gradient);
            double const slope = arma::dot(way, gradient);
            double stride = stride_ * (pairs_.empty() ? (std::min)(1.0, 1.0 / arma::accu(arma::abs(gradient))) : 1.0);
            arma::mat next, next_gradient = gradient;
            double next_value = 0;
            do {
                next = x + stride * way;
                next_value = evaluate(function, next, next_gradient, callback);
                stride *= 0.5;
            } while (searches_ && !(next_value <= value + 2e-4 * stride * slope) && done_ < how_.evaluations);
            arma::mat const moved = next - x, bent = next_gradient - gradient;
            if (arma::dot(moved, bent) > 1e-10) { pairs_.emplace_back(moved, bent); }
            if (pairs_.size() > how_.history) { pairs_.pop_front(); }
            if (searches_ && !(next_value < value)) { pairs_.clear(); }
            x = next;
            gradient = next_gradient;
            value = next_value;
        }
    }

private:
    template <class Callback>
    double evaluate(objective const& function, arma::mat const& x, arma::mat& gradient, Callback& callback) {
        double const value = function.EvaluateWithGradient(x, gradient);
        if (nan_.due(done_)) { gradient(3) = static_cast<double>(nan_value); }
        callback.EvaluateWithGradient(*this, function, x, value, gradient);
        if (evaluation_due(done_++, how_.evaluations)) { course_.evaluated(function.error(x)); }
        return value;
    }
    // The gradient times what is known of the inverse Hessian, in two loops.
    [[nodiscard]] arma::mat turned(arma::mat q) const {
        std::vector<double> shares;
        for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
            auto const& [s, y] = *pair;
            shares.push_back(arma::dot(s, q) / arma::dot(s, y));
            q -= shares.back() * y;
        }
        if (!pairs_.empty()) {
            auto const& [s, y] = pairs_.back();
            q *= arma::dot(s, y) / arma::dot(y, y);
        }
        for (auto const& [s, y] : pairs_) {
            q += s * (shares.back() - arma::dot(y, q) / arma::dot(s, y));
            shares.pop_back();
        }
        return q;
    }

    course& course_;
    settings how_;
    planted_nan nan_;
    double stride_ = 1;
    bool searches_ = true;
    std::size_t done_ = 0;
    std::deque<std::pair<arma::mat, arma::mat>> pairs_{};  // steps, and what the gradient changed by
};

void train(course& by) {
    settings const how = shapes[by.variant()];
    by.plan(how.evaluations, pack_choice::supervised, 0.5 * static_cast<double>(samples_used));
    prng random{by.seed() + 5000};
    task data = make_friedman(by.seed(), 0.1F, samples_used);
    spoil(data, by.broken(), random);
    objective const function{by, how, data};
    arma::mat x = function.start(random);
    hook_of watch{by};
    lbfgs{by, how}.Optimize(function, x, sp::optimizer_callback{watch});
    tell_if_lost(by, x);
}

bool const added = add_family(
    {.name = "lbfgs",
     .library = "Armadillo",
     .habit = "a quasi-Newton method: tens of long steps over all samples, each try of the line search shown; one "
              "column of weights, a summed loss",
     .variants = {"ten pairs", "three pairs", "more ridge, 80 evaluations", "wide, 200 evaluations",
                  "narrow, no ridge, 60 evaluations"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::climbs, fault::piles_up, fault::shuffled_labels, fault::not_a_number,
                fault::negated_loss, fault::backward_bug},
     .train = &train});

}  // namespace

}  // namespace diagnosis
