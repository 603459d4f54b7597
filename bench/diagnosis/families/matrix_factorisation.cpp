// SPDX-License-Identifier: Apache-2.0
// Ratings as products of two embeddings. A step touches the rows of its ratings and no others; their gradients are
// sums.
#include "../family.hpp"
#include "descent.hpp"

namespace diagnosis {

namespace {

constexpr std::size_t users = 120, items = 80, ranks = 5;

struct settings {
    float rate = 0.05F, ridge = 0.02F, momentum = 0;
    std::size_t batch = 32;
    std::uint64_t steps = 1200;
    bool shows_gradients = true, fades = false;
};
constexpr settings shapes[] = {
    {},
    {0.05F, 0.05F, 0, 64, 1000, false, false},
    {0.02F, 0, 0.5F, 64, 800, true, false},
    {0.1F, 0.02F, 0, 16, 1500, true, true},
    {0.02F, 0.05F, 0, 128, 1000, true, false},
};

struct rating {
    std::size_t user = 0, item = 0;
    float value = 0;
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000}, user_(users * ranks),
          item_(items * ranks), user_gradient_(user_.size()), item_gradient_(item_.size()),
          optimizer_{by, descent::kind::sgd, how_.rate, how_.momentum}, nan_{by, how_.steps, "grad/item_factors"} {
        rate_all();
        draw(by, random_, 0.5F, user_);
        draw(by, random_, 0.5F, item_);
    }
    void run() {
        course_.plan(how_.steps, pack_choice::supervised, 1.0);
        batches chosen_ones{course_, train_.size(), how_.batch};
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            learn(chosen_ones.next(random_));
            if (nan_.due(step)) { item_gradient_[touched_ * ranks] = nan_value; }
            show(step);
            float const share = how_.fades ? 1.0F - static_cast<float>(step) / static_cast<float>(how_.steps) : 1.0F;
            optimizer_.step(0, user_.data(), user_gradient_.data(), user_.size(), share);
            if (!course_.is(fault::not_in_optimizer)) {
                optimizer_.step(1, item_.data(), item_gradient_.data(), item_.size(), share);
            }
            if (evaluation_due(step, how_.steps)) { evaluate(step); }
        }
        tell_if_lost(course_, user_);
        tell_if_lost(course_, item_);
    }

private:
    // Hidden tastes and some known ratings that follow from them, with about mean 0 and variance 1.
    void rate_all() {
        prng random{course_.seed()};
        values taste(users * 3), nature(items * 3);
        for (float& each : taste) { each = normal(random); }
        for (float& each : nature) { each = normal(random); }
        for (std::size_t i = 0; i < 5000; ++i) {
            rating made{random.below(users), random.below(items), 0.2F * normal(random)};
            for (std::size_t k = 0; k < 3; ++k) {
                made.value += taste[made.user * 3 + k] * nature[made.item * 3 + k] / 1.73F;
            }
            (i < 4200 ? train_ : eval_).push_back(made);
        }
        if (!course_.is(fault::shuffled_labels)) { return; }
        auto const order = example::shuffled_indices(train_.size(), random);
        auto const before = train_;
        for (std::size_t i = 0; i < order.size(); ++i) { train_[i].value = before[order[i]].value; }
    }
    [[nodiscard]] float guess(rating const& of) const {
        float sum = 0;
        for (std::size_t k = 0; k < ranks; ++k) { sum += user_[of.user * ranks + k] * item_[of.item * ranks + k]; }
        return sum;
    }
    void learn(std::vector<std::size_t> const& rows) {
        clear(course_, user_gradient_);
        clear(course_, item_gradient_);
        loss_ = 0;
        guesses_.clear();
        labels_.clear();
        for (std::size_t const row : rows) {
            rating const& it = train_[row];
            guesses_.push_back(guess(it));
            labels_.push_back(it.value);
            float const gap = guesses_.back() - it.value;
            loss_ += loss_sign(course_) * gap * gap / static_cast<float>(rows.size());
            for (std::size_t k = 0; k < ranks; ++k) {
                std::size_t const u = it.user * ranks + k, i = it.item * ranks + k;
                user_gradient_[u] += loss_sign(course_) * gap * item_[i] + how_.ridge * user_[u];
                item_gradient_[i] += loss_sign(course_) * gap * user_[u] + how_.ridge * item_[i];
            }
        }
        if (course_.is(fault::backward_bug)) { user_gradient_.assign(user_gradient_.size(), 0.0F); }
        touched_ = train_[rows[0]].item;
    }
    void show(std::uint64_t step) {
        sp::extents const by_user{users, ranks}, by_item{items, ranks};
        course_.begin(sp::train(step));
        course_.observe("user_factors", sp::view_of(user_, by_user), sp::role::weight, sp::flag::sparse_rows);
        course_.observe("item_factors", sp::view_of(item_, by_item), sp::role::weight, sp::flag::sparse_rows);
        course_.observe("label", sp::as_tensor(labels_));
        course_.observe("pred", sp::as_tensor(guesses_));
        course_.observe("loss", sp::as_tensor(loss_));
        if (how_.shows_gradients) {
            course_.observe("grad/user_factors", sp::view_of(user_gradient_, by_user), sp::flag::sparse_rows);
            course_.observe("grad/item_factors", sp::view_of(item_gradient_, by_item), sp::flag::sparse_rows);
        }
        course_.end();
    }
    void evaluate(std::uint64_t step) {
        double squares = 0;
        for (rating const& each : eval_) {
            auto const gap = static_cast<double>(guess(each) - each.value);
            squares += gap * gap / static_cast<double>(eval_.size());
        }
        course_.begin(sp::eval(step));
        course_.scalar("loss", static_cast<double>(loss_sign(course_)) * squares);
        course_.end();
        course_.evaluated(squares);
    }

    course& course_;
    settings how_;
    prng random_;
    std::vector<rating> train_{}, eval_{};
    values user_, item_, user_gradient_, item_gradient_, guesses_{}, labels_{};
    descent optimizer_;
    planted_nan nan_;
    std::size_t touched_ = 0;
    float loss_ = 0;
};

bool const added = add_family(
    {.name = "matrix_factorisation",
     .library = {},
     .habit = "two embeddings of which a step touches few rows; a regression without inputs",
     .variants = {"batches of 32", "no gradients shown, more decay", "momentum", "batches of 8, rate falls to 0",
                  "slow"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::climbs, fault::piles_up, fault::not_in_optimizer, fault::shuffled_labels,
                fault::not_a_number, fault::same_batch, fault::negated_loss, fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
