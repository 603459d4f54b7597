// SPDX-License-Identifier: Apache-2.0
// Softmax regression with Armadillo: one convex problem, weights that start at zero, as they may here; costs and
// gradients are sums.
#include "../family.hpp"
#include "inject.hpp"
#include "problems.hpp"

#include <spotter/ext/armadillo.hpp>

#include <armadillo>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace diagnosis {

namespace {

constexpr std::size_t features = 16, classes = 5;

struct settings {
    double rate = 6e-4, ridge = 0;
    std::size_t batch = 50;
    std::uint64_t steps = 500;
    double momentum = 0;
    bool fades = false;
};
constexpr settings shapes[] = {
    {},
    {4e-5, 0, 1200, 300, 0, false},  // all there is
    {1e-4, 1e-3, 50, 600, 0.9, false},
    {3e-3, 0, 10, 1000, 0, true},
    {6e-5, 0, 50, 1000, 0, false},
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000},
          data_{make_clouds(by.seed(), classes, features, 1.4F)}, nan_{by, how_.steps, "grad/theta"},
          theta_(features + 1, classes, arma::fill::zeros), gradient_(features + 1, classes, arma::fill::zeros),
          move_(features + 1, classes, arma::fill::zeros) {
        spoil(data_, by.broken(), random_);
    }
    void run() {
        batches rows{course_, data_.train.count(), how_.batch};
        course_.plan(how_.steps, pack_choice::supervised,
                     std::log(static_cast<double>(classes)) * static_cast<double>(rows.size()));
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            load(data_.train, rows.next(random_));
            double const cost = learn();
            if (nan_.due(step)) { gradient_(2, 1) = static_cast<double>(nan_value); }
            show(step, cost, rows.size() == data_.train.count());
            double const share = how_.fades ? 1.0 - static_cast<double>(step) / static_cast<double>(how_.steps) : 1.0;
            move_ = how_.momentum * move_ + gradient_;
            theta_ += static_cast<double>(direction(course_) * rate_factor(course_)) * how_.rate * share * move_;
            if (evaluation_due(step, how_.steps)) { evaluate(); }
        }
        tell_if_lost(course_, theta_);
    }

private:
    // A row a sample; the last column is one, for the biases.
    void load(samples const& from, std::vector<std::size_t> const& rows) {
        x_.set_size(rows.size(), features + 1);
        label_.set_size(rows.size());
        for (std::size_t r = 0; r < rows.size(); ++r) {
            for (std::size_t f = 0; f < features; ++f) { x_(r, f) = static_cast<double>(from.row(rows[r])[f]); }
            x_(r, features) = 1;
            label_(r) = from.classes[rows[r]];
        }
    }
    void guess() {
        chance_ = x_ * theta_;
        chance_.each_col() -= arma::vec{arma::max(chance_, 1)};
        chance_ = arma::exp(chance_);
        chance_.each_col() /= arma::vec{arma::sum(chance_, 1)};
    }
    double learn() {
        guess();
        arma::mat gap = chance_;
        double cost = 0;
        for (arma::uword r = 0; r < x_.n_rows; ++r) {
            auto const label = static_cast<arma::uword>(label_(r));
            cost -= std::log((std::max)(chance_(r, label), 1e-300));
            gap(r, label) -= 1;
        }
        auto const sign = static_cast<double>(loss_sign(course_));
        clear(course_, gradient_);
        gradient_ += sign * x_.t() * gap + how_.ridge * static_cast<double>(x_.n_rows) * theta_;
        return sign * cost;
    }
    void show(std::uint64_t step, double cost, bool all) {
        course_.begin(sp::train(step));
        course_.observe("input", sp::as_tensor(x_), all ? sp::flag::full_batch : sp::flag::none);
        course_.observe("labels", sp::as_tensor(label_));
        course_.observe("predictions", sp::as_tensor(chance_));
        course_.observe("cost", sp::as_tensor(cost), sp::role::loss);
        course_.observe("theta", sp::as_tensor(theta_), sp::role::weight);
        course_.observe("grad/theta", sp::as_tensor(gradient_));
        course_.end();
    }
    void evaluate() {
        std::vector<std::size_t> rows(data_.eval.count());
        std::iota(rows.begin(), rows.end(), std::size_t{0});
        load(data_.eval, rows);
        guess();
        double wrong = 0;
        for (arma::uword r = 0; r < x_.n_rows; ++r) {
            wrong += chance_.row(r).index_max() == static_cast<arma::uword>(label_(r)) ? 0 : 1;
        }
        course_.evaluated(wrong / static_cast<double>(rows.size()) / (1.0 - 1.0 / static_cast<double>(classes)));
    }

    course& course_;
    settings how_;
    prng random_;
    task data_;
    planted_nan nan_;
    arma::mat theta_, gradient_, move_, x_{}, chance_{};
    arma::Col<std::int32_t> label_{};
};

bool const added = add_family(
    {.name = "convex_zero",
     .library = "Armadillo",
     .habit = "one matrix of weights that starts at zero; costs and gradients are sums over the batch",
     .variants = {"batches of 50", "all samples", "momentum, ridge", "batches of 10, rate falls to 0", "slow"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::climbs, fault::piles_up,
                fault::shuffled_labels, fault::raw_inputs, fault::imbalanced, fault::not_a_number, fault::same_batch,
                fault::noisy_labels, fault::few_samples, fault::negated_loss},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
