// SPDX-License-Identifier: Apache-2.0
// Learns to balance by proximal policy optimisation (Schulman et al. 2017, "Proximal policy optimization algorithms").
#pragma once

#include "../common/matrix.hpp"
#include "../common/prng.hpp"
#include "experience.hpp"
#include "network.hpp"
#include "physics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cartpole {

// Deliberate faults, one change each.
enum class fault {
    none,
    lr,       // the learning rate is a thousand times too large
    nan,      // at update nan_update the probability of a push is zero: element nan_sample of "entropy" is 0 · log 0
    dead,     // the biases of all hidden layers start at -10
    frozen,   // the optimizer does not get the layer actor/2
    entropy,  // the policy starts out certain: the bias of one of its two pushes is 8
    reward,   // the environment always gives a reward of zero
};
inline constexpr std::int64_t nan_update = 200;  // counted from zero
inline constexpr std::size_t nan_sample = 17;

// The hyperparameters.
struct settings {
    std::uint64_t seed = 0;
    fault broken = fault::none;
    std::size_t hidden_units = 64;
    std::size_t carts = 16;        // simulated in parallel
    std::size_t horizon = 64;      // steps of each cart before the networks learn from them
    std::size_t batch_size = 256;  // samples an update, a divisor of carts * horizon
    std::size_t epochs = 3;        // times each sample is used
    float learning_rate = 1e-3F;
    float discount = 0.99F;
    float trace = 0.95F;  // lambda of the advantage estimate
    float clip = 0.2F;    // how far the ratio of probabilities may move before its gradient is cut
    float entropy_weight = 0.01F;

    // The reward of a survived step, chosen so that an endless episode has a return of one and values stay small.
    [[nodiscard]] float reward() const noexcept { return broken == fault::reward ? 0.0F : 1.0F - discount; }
};

// The numbers of one update.
struct report {
    float loss = 0.0F;  // policy_loss + value_loss - entropy_weight * entropy
    float policy_loss = 0.0F;
    float value_loss = 0.0F;
    float entropy = 0.0F;    // nats, at most ln 2
    float approx_kl = 0.0F;  // divergence from the policy that gathered the data (estimator of Schulman 2020)
    float clip_fraction = 0.0F;
    float episode_length = 0.0F;  // steps survived in training, moving mean
};

// Drives carts and learns from their experience. An update is compute_gradients() and then apply_gradients(). Observers
// and rules run in between. The optimizer points into the network, so an agent must not move.
class agent {
public:
    explicit agent(settings const& chosen)
        : settings_(chosen), random_(chosen.seed), net_(observation_size, chosen.hidden_units, action_count, random_),
          optimizer_(chosen.broken == fault::lr ? 1000.0F * chosen.learning_rate : chosen.learning_rate),
          fleet_(chosen.carts, chosen.discount, chosen.reward(), random_.next()) {
        if (chosen.broken == fault::entropy) { net_.actor.layers.back().b[0] = 8.0F; }
        for (tower* const each : {&net_.actor, &net_.critic}) {
            for (layer& trained : each->layers) {
                if (chosen.broken == fault::dead && trained.relu) {
                    std::fill(trained.b.begin(), trained.b.end(), -10.0F);
                }
                if (chosen.broken == fault::frozen && &trained == &net_.actor.layers[1]) { continue; }
                optimizer_.add(trained);
            }
        }
    }

    agent(agent const&) = delete;
    agent& operator=(agent const&) = delete;

    // Forward and backward for the next mini-batch; drives the carts first if all experience is used up.
    report const& compute_gradients() {
        fresh_ = epochs_left_ == 0 && next_sample_ == order_.size();
        if (next_sample_ == order_.size()) { next_epoch(); }
        input_.reset(settings_.batch_size, observation_size);
        for (std::size_t i = 0; i < input_.rows; ++i) {
            std::copy_n(past_.observations.row(order_[next_sample_ + i]), observation_size, input_.row(i));
        }
        net_.actor.forward(input_);
        net_.critic.forward(input_);
        backward(&order_[next_sample_]);
        next_sample_ += settings_.batch_size;
        ++batches_;
        return report_;
    }

    // The optimizer's step.
    void apply_gradients() { optimizer_.update(); }

    [[nodiscard]] network& net() noexcept { return net_; }
    [[nodiscard]] network const& net() const noexcept { return net_; }
    [[nodiscard]] matrix const& input() const noexcept { return input_; }
    [[nodiscard]] matrix const& policy() const noexcept { return policy_; }
    [[nodiscard]] std::vector<float> const& entropy() const noexcept { return entropy_; }
    [[nodiscard]] report const& numbers() const noexcept { return report_; }
    // The experience, if this update is the first to learn from it; otherwise null.
    [[nodiscard]] experience const* fresh_experience() const noexcept { return fresh_ ? &past_ : nullptr; }
    [[nodiscard]] std::int64_t cart_steps() const noexcept { return fleet_.samples(); }

private:
    void next_epoch() {
        if (epochs_left_ == 0) {
            fleet_.drive(net_, settings_.horizon, past_);
            estimate_advantages(past_, settings_.discount, settings_.trace);
            epochs_left_ = settings_.epochs;
        }
        --epochs_left_;
        order_ = example::shuffled_indices(past_.actions.size(), random_);
        next_sample_ = 0;
    }

    // Losses and gradients of the batch of the last forward pass: clipped objective, entropy bonus, critic's error.
    void backward(std::size_t const* samples) {
        matrix const& logits = net_.actor.output();
        matrix const& values = net_.critic.output();
        std::size_t const count = logits.rows;
        float const share = 1.0F / static_cast<float>(count);
        policy_.reset(count, action_count);
        entropy_.assign(count, 0.0F);
        logits_gradient_.reset(count, action_count);
        values_gradient_.reset(count, 1);
        report_ = report{.episode_length = fleet_.episode_length()};
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t const action = past_.actions[samples[i]];
            float const advantage = past_.advantages[samples[i]];
            auto log_chance = log_chances(logits.row(i));
            if (settings_.broken == fault::nan && batches_ == nan_update && i == nan_sample) {
                log_chance[1 - action] = std::log(0.0F);
            }
            float const log_ratio = log_chance[action] - past_.log_chance[samples[i]];
            float const ratio = std::exp(log_ratio);
            float const limit = advantage > 0.0F ? 1.0F + settings_.clip : 1.0F - settings_.clip;
            bool const clipped = advantage > 0.0F ? ratio > limit : ratio < limit;
            float const error = values(i, 0) - past_.returns[samples[i]];

            for (std::size_t a = 0; a < action_count; ++a) {
                policy_(i, a) = std::exp(log_chance[a]);
                entropy_[i] -= policy_(i, a) * log_chance[a];
            }
            for (std::size_t a = 0; a < action_count; ++a) {
                float const towards = (a == action ? 1.0F : 0.0F) - policy_(i, a);
                float const improve = clipped ? 0.0F : -advantage * ratio * towards;
                float const explore = settings_.entropy_weight * policy_(i, a) * (log_chance[a] + entropy_[i]);
                logits_gradient_(i, a) = share * (improve + explore);
            }
            values_gradient_(i, 0) = share * error;
            report_.policy_loss -= share * advantage * (clipped ? limit : ratio);
            report_.value_loss += share * 0.5F * error * error;
            report_.entropy += share * entropy_[i];
            report_.approx_kl += share * (ratio - 1.0F - log_ratio);
            report_.clip_fraction += clipped ? share : 0.0F;
        }
        report_.loss = report_.policy_loss + report_.value_loss - settings_.entropy_weight * report_.entropy;
        net_.actor.backward(input_, logits_gradient_);
        net_.critic.backward(input_, values_gradient_);
    }

    settings settings_;
    example::prng random_;
    network net_;
    adam optimizer_;
    fleet fleet_;
    experience past_;
    std::vector<std::size_t> order_;  // of the samples in this epoch
    std::size_t next_sample_ = 0;
    std::size_t epochs_left_ = 0;
    bool fresh_ = false;
    std::int64_t batches_ = 0;
    matrix input_;                // batch x observation
    matrix policy_;               // batch x action, probabilities
    std::vector<float> entropy_;  // one for each sample
    matrix logits_gradient_;
    matrix values_gradient_;
    report report_;
};

// Shows every tensor of an update by name, in the order in which it was computed.
template <class Visit>
void visit_tensors(agent const& learner, Visit&& visit) {
    visit_parameters(learner.net(), visit);
    visit("input", learner.input());
    visit_activations(learner.net(), visit);
    visit("policy", learner.policy(), spotter::role::prediction);
    visit("entropy", learner.entropy());
    visit("metric/entropy", learner.numbers().entropy);
    visit("metric/approx_kl", learner.numbers().approx_kl);
    visit("metric/clip_fraction", learner.numbers().clip_fraction);
    if (experience const* const past = learner.fresh_experience()) {
        // Without variance there is nothing to explain: once every cart is balanced, all returns are nearly one.
        if (past->return_deviation > 0.05F) { visit("metric/explained_variance", past->explained_variance); }
        if (!past->finished.empty()) { visit("metric/episode_return", past->finished); }
    }
    visit_gradients(learner.net(), visit);
}

}  // namespace cartpole
