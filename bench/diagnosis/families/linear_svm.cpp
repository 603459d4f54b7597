// SPDX-License-Identifier: Apache-2.0
// A linear support vector machine (Pegasos, Shalev-Shwartz et al. 2007): hinge loss, a rate of 1 / (lambda t), a start
// at zero.
#include "../family.hpp"
#include "inject.hpp"
#include "problems.hpp"

#include <array>
#include <span>

namespace diagnosis {

namespace {

constexpr std::size_t features = 12;

struct settings {
    float lambda = 0.01F;
    std::size_t batch = 10;
    std::uint64_t steps = 800;
    bool projects = false, bias = false;
};
constexpr settings shapes[] = {
    {},
    {0.003F, 1, 1500, true, false},
    {0.1F, 50, 300, false, true},
    {0.01F, 32, 1000, true, true},
    {0.03F, 4, 600, false, false},
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000},
          data_{make_clouds(by.seed(), 2, features, 1.1F)}, batches_{by, data_.train.count(), how_.batch},
          nan_{by, how_.steps, "grad/w"} {
        spoil(data_, by.broken(), random_);
    }
    void run() {
        course_.plan(how_.steps, pack_choice::supervised, 1.0);
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            learn();
            if (nan_.due(step)) { gradient_[4] = nan_value; }
            show(step);
            update(step);
            if (evaluation_due(step, how_.steps)) { evaluate(); }
        }
        tell_if_lost(course_, w_);
    }

private:
    static float side(samples const& of, std::size_t row) { return of.classes[row] == 0 ? -1.0F : 1.0F; }
    [[nodiscard]] float margin(samples const& of, std::size_t row) const {
        float sum = b_;
        for (std::size_t f = 0; f < features; ++f) { sum += w_[f] * of.row(row)[f]; }
        return sum;
    }
    void learn() {
        auto const& rows = batches_.next(random_);
        float const share = loss_sign(course_) / static_cast<float>(rows.size());
        clear(course_, gradient_);
        clear(course_, std::span{&bias_gradient_, 1});
        loss_ = 0;
        for (std::size_t f = 0; f < features; ++f) {
            gradient_[f] += how_.lambda * w_[f];
            loss_ += 0.5F * how_.lambda * w_[f] * w_[f];
        }
        margins_.clear();
        sides_.clear();
        seen_.clear();
        for (std::size_t const row : rows) {
            float const y = side(data_.train, row);
            sides_.push_back(y);
            seen_.insert(seen_.end(), data_.train.row(row), data_.train.row(row) + features);
            margins_.push_back(margin(data_.train, row));
            float const missing = 1.0F - y * margins_.back();
            if (missing <= 0) { continue; }
            loss_ += share * missing;
            for (std::size_t f = 0; f < features; ++f) { gradient_[f] -= share * y * data_.train.row(row)[f]; }
            bias_gradient_ -= share * y;
        }
    }
    void show(std::uint64_t step) {
        course_.begin(sp::train(step));
        course_.observe("w", sp::as_tensor(w_));
        if (how_.bias) { course_.observe("b", sp::as_tensor(b_)); }
        course_.observe("input", sp::view_of(seen_, {sides_.size(), features}));
        course_.observe("label", sp::as_tensor(sides_));
        course_.observe("pred", sp::as_tensor(margins_));
        course_.observe("loss", sp::as_tensor(loss_));
        course_.observe("grad/w", sp::as_tensor(gradient_));
        course_.end();
    }
    void update(std::uint64_t step) {
        float const rate = rate_factor(course_) / (how_.lambda * static_cast<float>(step + 2));
        float length = 0;
        for (std::size_t f = 0; f < features; ++f) {
            w_[f] += direction(course_) * rate * gradient_[f];
            length += w_[f] * w_[f];
        }
        if (how_.bias) { b_ += direction(course_) * 0.1F * rate * bias_gradient_; }
        float const ball = 1.0F / std::sqrt(how_.lambda * length);
        if (!how_.projects || !(ball < 1.0F)) { return; }
        for (float& each : w_) { each *= ball; }
    }
    void evaluate() {
        std::size_t wrong = 0;
        for (std::size_t row = 0; row < data_.eval.count(); ++row) {
            wrong += (margin(data_.eval, row) > 0) == (side(data_.eval, row) > 0) ? 0U : 1U;
        }
        course_.evaluated(2.0 * static_cast<double>(wrong) / static_cast<double>(data_.eval.count()));
    }

    course& course_;
    settings how_;
    prng random_;
    task data_;
    batches batches_;
    planted_nan nan_;
    std::array<float, features> w_{}, gradient_{};
    float b_ = 0, bias_gradient_ = 0, loss_ = 0;
    std::vector<float> seen_{}, sides_{}, margins_{};
};

bool const added = add_family(
    {.name = "linear_svm",
     .library = {},
     .habit = "one vector of weights that starts at zero, a hinge loss, a rate of 1 / t that begins far too large",
     .variants = {"batches of 10", "one sample a step, projected", "batches of 50, bias",
                  "batches of 32, bias, projected", "batches of 4"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::climbs, fault::piles_up,
                fault::shuffled_labels, fault::raw_inputs, fault::imbalanced, fault::not_a_number, fault::same_batch,
                fault::negated_loss},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
