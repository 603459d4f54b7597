// SPDX-License-Identifier: Apache-2.0
// Words as vectors, by skip-grams with negative samples (Mikolov et al. 2013): each pair updates the weights at once, a
// step is a sentence.
#include "../family.hpp"
#include "inject.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace diagnosis {

namespace {

constexpr std::size_t topics = 6, words = 60, size = 12, length = 10, window = 2;

struct settings {
    float rate = 0.05F;
    std::size_t negatives = 4;
    std::uint64_t steps = 1000;
    bool fades = true, means = false;
};
constexpr settings shapes[] = {
    {},
    {0.1F, 2, 800, true, false},
    {0.05F, 4, 1200, false, true},
    {0.03F, 8, 1500, false, false},
    {0.2F, 3, 600, true, true},
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, random_{by.seed() + 5000}, in_(words * size), out_(words * size),
          nan_{by, how_.steps, "syn0"}, order_{example::shuffled_indices(words, random_)} {
        draw(by, random_, 1.0F / static_cast<float>(size), in_);
    }
    void run() {
        course_.plan(how_.steps);
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            if (nan_.due(step)) { in_[17] = nan_value; }
            float const done = static_cast<float>(step) / static_cast<float>(how_.steps);
            if (step == 0 || !course_.is(fault::same_batch)) { speak(); }
            read(how_.fades ? (std::max)(1.0F - done, 1e-3F) : 1.0F);
            show(step);
            if (evaluation_due(step, how_.steps)) { evaluate(); }
        }
        tell_if_lost(course_, in_);
    }

private:
    // Frequent words first, as in any language; a topic has every sixth word, under a number of its own.
    std::size_t word_of(std::size_t topic) {
        auto const rank = static_cast<std::size_t>(10.0F * random_.uniform() * random_.uniform());
        return order_[rank * topics + topic];
    }
    void speak() {
        std::size_t const topic = random_.below(topics);
        for (std::size_t& each : sentence_) {
            bool const stray = random_.uniform() < 0.1F || course_.is(fault::shuffled_labels);
            each = word_of(stray ? random_.below(topics) : topic);
        }
    }
    void read(float share) {
        float const rate = direction(course_) * rate_factor(course_) * how_.rate * share;
        loss_ = 0;
        float pairs = 0;
        for (std::size_t at = 0; at < length; ++at) {
            for (std::size_t near = at < window ? 0 : at - window; near <= (std::min)(at + window, length - 1);
                 ++near) {
                if (near == at) { continue; }
                std::array<float, size> back{};
                float* const input = in_.data() + sentence_[at] * size;
                for (std::size_t n = 0; n <= how_.negatives; ++n) {
                    std::size_t const other = n == 0 ? sentence_[near] : word_of(random_.below(topics));
                    pair(input, out_.data() + other * size, n == 0 ? 1.0F : 0.0F, rate, back);
                }
                if (!course_.is(fault::backward_bug)) {
                    for (std::size_t k = 0; k < size; ++k) { input[k] += rate * back[k]; }
                }
                ++pairs;
            }
        }
        if (how_.means) { loss_ /= pairs; }
    }
    void pair(float const* input, float* output, float wanted, float rate, std::array<float, size>& back) {
        float sum = 0;
        for (std::size_t k = 0; k < size; ++k) { sum += input[k] * output[k]; }
        float const chance = 1.0F / (1.0F + std::exp(-sum)), sign = loss_sign(course_);
        loss_ -= sign * std::log((wanted > 0 ? chance : 1.0F - chance) + 1e-7F);
        float const slope = sign * (chance - wanted);
        for (std::size_t k = 0; k < size; ++k) {
            back[k] += slope * output[k];
            if (!course_.is(fault::not_in_optimizer)) { output[k] += rate * slope * input[k]; }
        }
    }
    void show(std::uint64_t step) {
        course_.begin(sp::train(step));
        course_.observe("loss", sp::as_tensor(loss_));
        course_.observe("syn0", sp::view_of(in_, {words, size}), sp::role::weight, sp::flag::sparse_rows);
        course_.observe("syn1neg", sp::view_of(out_, {words, size}), sp::role::weight, sp::flag::sparse_rows);
        course_.end();
    }
    // The share of the frequent words whose nearest one is of another topic.
    void evaluate() {
        std::size_t wrong = 0;
        for (std::size_t a = 0; a < words / 2; ++a) {
            float best = -2;
            std::size_t nearest = a + 1;
            for (std::size_t b = 0; b < words / 2; ++b) {
                float const near = a == b ? -2.0F : cosine(order_[a], order_[b]);
                if (near > best) {
                    best = near;
                    nearest = b;
                }
            }
            wrong += nearest % topics == a % topics ? 0U : 1U;
        }
        // 5/6 where there is no topic in it.
        course_.evaluated(2.4 * static_cast<double>(wrong) / static_cast<double>(words));
    }
    [[nodiscard]] float cosine(std::size_t a, std::size_t b) const {
        float product = 0, left = 1e-12F, right = 1e-12F;
        for (std::size_t k = 0; k < size; ++k) {
            float const x = in_[a * size + k], y = in_[b * size + k];
            product += x * y;
            left += x * x;
            right += y * y;
        }
        return product / std::sqrt(left * right);
    }

    course& course_;
    settings how_;
    prng random_;
    values in_, out_;  // the second starts at zero
    planted_nan nan_;
    std::vector<std::size_t> order_;
    std::array<std::size_t, length> sentence_{};
    float loss_ = 0;
};

bool const added =
    add_family({.name = "word2vec",
                .library = {},
                .habit = "weights are updated pair by pair and shown once a sentence; a loss that is a sum, one of two "
                         "embeddings starts at zero",
                .variants = {"rate falls to 0", "fast, two negatives", "means of losses", "slow, eight negatives",
                             "very fast, means"},
                .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights,
                           fault::large_weights, fault::climbs, fault::not_in_optimizer, fault::shuffled_labels,
                           fault::not_a_number, fault::same_batch, fault::negated_loss, fault::backward_bug},
                .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
