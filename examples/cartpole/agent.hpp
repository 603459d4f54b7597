// SPDX-License-Identifier: Apache-2.0
// Learns to balance by proximal policy optimisation (Schulman et al. 2017, "Proximal policy optimization algorithms").
#pragma once

#include "../common/matrix.hpp"
#include "../common/prng.hpp"
#include "network.hpp"
#include "physics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cartpole {

// What can be broken on purpose, one change each.
enum class fault {
    none,
    lr,      // the learning rate is a thousand times too large
    nan,     // at update nan_update one sensor reading is absurd, and 0 · log 0 makes one element of "entropy" NaN
    dead,    // the biases of all hidden layers start at -10
    frozen,  // the layer actor/2 is never handed to the optimizer
};
inline constexpr std::int64_t nan_update = 300;
inline constexpr std::size_t nan_sample = 17;

// How it learns.
struct settings {
    std::uint64_t seed = 0;
    fault broken = fault::none;
    std::size_t hidden_units = 64;
    std::size_t carts = 16;              // simulated side by side
    std::size_t horizon = 64;            // steps a cart drives before the networks learn from them
    std::size_t batch_size = 256;        // samples an update
    std::size_t epochs = 4;              // times each sample is used
    float learning_rate = 1e-3F;
    float discount = 0.99F;
    float trace = 0.95F;                 // lambda of generalised advantage estimation (Schulman et al. 2016)
    float clip = 0.2F;                   // how far a probability may move before its gradient is cut
    float entropy_weight = 0.01F;
};

// The numbers of one update.
struct report {
    float loss = 0.0F;         // policy_loss + value_loss - entropy_weight * entropy
    float policy_loss = 0.0F;
    float value_loss = 0.0F;
    float entropy = 0.0F;      // nats, at most ln 2
    float approx_kl = 0.0F;    // estimated divergence from the policy that gathered the experience
    float clip_fraction = 0.0F;
    float episode_return = 0.0F;  // steps survived, mean of the latest training episodes
};

// Drives carts, learns from what happened. One update is compute_gradients() and then apply_gradients(); whoever wants to
// look, or to object, does so between the two. The optimizer points into the network, so an agent stays where it is.
class agent {
public:
    explicit agent(settings const& chosen)
        : settings_(chosen), random_(chosen.seed),
          net_(observation_size, chosen.hidden_units, action_count, random_),
          optimizer_(chosen.broken == fault::lr ? 1000.0F * chosen.learning_rate : chosen.learning_rate),
          carts_(chosen.carts) {
        for (tower* const each : {&net_.actor, &net_.critic}) {
            for (layer& trained : each->layers) {
                if (chosen.broken == fault::dead && trained.relu) {
                    std::fill(trained.b.begin(), trained.b.end(), -10.0F);
                }
                if (chosen.broken == fault::frozen && &trained == &net_.actor.layers[1]) {
                    continue;
                }
                optimizer_.add(trained);
            }
        }
        for (cart_pole& cart : carts_) {
            cart.reset(random_);
        }
    }

    agent(agent const&) = delete;
    agent& operator=(agent const&) = delete;

    // Forward and backward for the next mini-batch; drives the carts first when all experience is used up.
    report const& compute_gradients() {
        if (next_sample_ == order_.size()) {
            next_epoch();
        }
        std::size_t const count = settings_.batch_size;
        input_.reset(count, observation_size);
        for (std::size_t i = 0; i < count; ++i) {
            std::copy_n(past_.observations.row(order_[next_sample_ + i]), observation_size, input_.row(i));
        }
        if (settings_.broken == fault::nan && updates_ == nan_update) {
            input_(nan_sample, 2) = 1e6F;
        }
        net_.actor.forward(input_);
        net_.critic.forward(input_);
        backward(&order_[next_sample_]);
        next_sample_ += count;
        ++updates_;
        return report_;
    }

    // The optimizer's step.
    void apply_gradients() { optimizer_.update(); }

    // Mean steps survived over the given number of fresh episodes, acting by chance as in training.
    [[nodiscard]] float evaluate(std::size_t episodes) {
        example::prng random{1'000'000 + settings_.seed};
        std::vector<cart_pole> trial(episodes);
        for (cart_pole& cart : trial) {
            cart.reset(random);
        }
        float survived = 0.0F;
        matrix seen;
        while (!trial.empty()) {
            observe(trial, seen);
            matrix const& logits = net_.actor.forward(seen);
            std::vector<cart_pole> running;
            for (std::size_t i = 0; i < trial.size(); ++i) {
                if (trial[i].step(sample(log_softmax(logits.row(i)), random)) == outcome::running) {
                    running.push_back(trial[i]);
                } else {
                    survived += static_cast<float>(trial[i].steps());
                }
            }
            trial = std::move(running);
        }
        return survived / static_cast<float>(episodes);
    }

    [[nodiscard]] network const& net() const noexcept { return net_; }
    [[nodiscard]] matrix const& input() const noexcept { return input_; }
    [[nodiscard]] matrix const& policy() const noexcept { return policy_; }
    [[nodiscard]] std::vector<float> const& entropy() const noexcept { return entropy_; }
    [[nodiscard]] std::int64_t updates() const noexcept { return updates_; }
    [[nodiscard]] std::int64_t cart_steps() const noexcept { return cart_steps_; }

private:
    // What was seen, done and earned: horizon x carts samples, sample t * carts + c is cart c at time t.
    struct experience {
        matrix observations;
        std::vector<std::size_t> actions;
        std::vector<float> log_chance;  // of the action, when it was taken
        std::vector<float> values;      // the critic's opinion at that time
        std::vector<float> advantages;
        std::vector<float> returns;
    };

    static void observe(std::vector<cart_pole> const& carts, matrix& seen) {
        seen.reset(carts.size(), observation_size);
        for (std::size_t i = 0; i < carts.size(); ++i) {
            auto const observation = carts[i].observation();
            std::copy(observation.begin(), observation.end(), seen.row(i));
        }
    }

    // Logarithms of the softmax of two logits, safe for any finite input.
    static std::array<float, action_count> log_softmax(float const* logits) {
        float const top = (std::max)(logits[0], logits[1]);
        float const norm = top + std::log(std::exp(logits[0] - top) + std::exp(logits[1] - top));
        return {logits[0] - norm, logits[1] - norm};
    }

    static std::size_t sample(std::array<float, action_count> const& log_chance, example::prng& random) {
        return random.uniform() < std::exp(log_chance[1]) ? 1 : 0;
    }

    void next_epoch() {
        if (epochs_left_ == 0) {
            drive();
            epochs_left_ = settings_.epochs;
        }
        --epochs_left_;
        order_ = example::shuffled_indices(past_.actions.size(), random_);
        next_sample_ = 0;
    }

    // Every cart drives for one horizon under the present policy. A step survived earns 1 - discount, so that a life
    // without end is worth one and the critic never has to reach for large numbers.
    void drive() {
        std::size_t const carts = carts_.size();
        std::size_t const samples = settings_.horizon * carts;
        float const reward = 1.0F - settings_.discount;
        past_.observations.reset(samples, observation_size);
        past_.actions.resize(samples);
        past_.log_chance.resize(samples);
        past_.values.resize(samples + carts);
        std::vector<float> rewards(samples, reward);
        std::vector<char> ended(samples, 0);
        matrix seen;
        for (std::size_t first = 0; first < samples; first += carts) {
            observe(carts_, seen);
            matrix const& logits = net_.actor.forward(seen);
            matrix const& values = net_.critic.forward(seen);
            for (std::size_t c = 0; c < carts; ++c) {
                std::size_t const i = first + c;
                auto const log_chance = log_softmax(logits.row(c));
                std::size_t const action = sample(log_chance, random_);
                std::copy_n(seen.row(c), observation_size, past_.observations.row(i));
                past_.actions[i] = action;
                past_.log_chance[i] = log_chance[action];
                past_.values[i] = values(c, 0);
            }
            for (std::size_t c = 0; c < carts; ++c) {
                outcome const result = carts_[c].step(past_.actions[first + c]);
                if (result != outcome::running) {
                    end_episode(carts_[c], result, rewards[first + c]);
                    ended[first + c] = 1;
                }
            }
        }
        observe(carts_, seen);
        std::copy_n(net_.critic.forward(seen).data(), carts, &past_.values[samples]);
        cart_steps_ += static_cast<std::int64_t>(samples);
        judge(rewards, ended);
    }

    // An episode that only ran out of time would have gone on: the critic says what for.
    void end_episode(cart_pole& cart, outcome result, float& reward) {
        if (result == outcome::timed_out) {
            matrix last;
            observe({cart}, last);
            reward += settings_.discount * net_.critic.forward(last)(0, 0);
        }
        report_.episode_return += 0.05F * (static_cast<float>(cart.steps()) - report_.episode_return);
        cart.reset(random_);
    }

    // Generalised advantage estimation, backwards through time, normalised over all samples.
    void judge(std::vector<float> const& rewards, std::vector<char> const& ended) {
        std::size_t const carts = carts_.size();
        std::size_t const samples = rewards.size();
        past_.advantages.assign(samples + carts, 0.0F);
        past_.returns.resize(samples);
        double sum = 0.0;
        double squares = 0.0;
        for (std::size_t i = samples; i-- > 0;) {
            float const follows = ended[i] != 0 ? 0.0F : settings_.discount;
            float const surprise = rewards[i] + follows * past_.values[i + carts] - past_.values[i];
            past_.advantages[i] = surprise + follows * settings_.trace * past_.advantages[i + carts];
            past_.returns[i] = past_.advantages[i] + past_.values[i];
            sum += past_.advantages[i];
            squares += past_.advantages[i] * past_.advantages[i];
        }
        double const mean = sum / static_cast<double>(samples);
        double const deviation = std::sqrt((std::max)(squares / static_cast<double>(samples) - mean * mean, 0.0));
        for (float& advantage : past_.advantages) {
            advantage = static_cast<float>((advantage - mean) / (deviation + 1e-8));
        }
    }

    // Losses and gradients of the batch that went forward: the clipped objective, the entropy bonus, the critic's error.
    void backward(std::size_t const* samples) {
        matrix const& logits = net_.actor.layers.back().output;
        matrix const& values = net_.critic.layers.back().output;
        std::size_t const count = logits.rows;
        float const share = 1.0F / static_cast<float>(count);
        policy_.reset(count, action_count);
        entropy_.resize(count);
        matrix logits_gradient{count, action_count};
        matrix values_gradient{count, 1};
        report now;
        now.episode_return = report_.episode_return;
        for (std::size_t i = 0; i < count; ++i) {
            std::size_t const sample = samples[i];
            std::size_t const action = past_.actions[sample];
            float const advantage = past_.advantages[sample];
            auto const log_chance = log_softmax(logits.row(i));
            float const log_ratio = log_chance[action] - past_.log_chance[sample];
            float const ratio = std::exp(log_ratio);
            bool const clipped = advantage > 0.0F ? ratio > 1.0F + settings_.clip : ratio < 1.0F - settings_.clip;
            float const bounded = clipped ? (advantage > 0.0F ? 1.0F + settings_.clip : 1.0F - settings_.clip) : ratio;
            float const error = values(i, 0) - past_.returns[sample];

            // The textbook's -sum p log p, a bug that sleeps: it is NaN as soon as one p is exactly zero.
            entropy_[i] = 0.0F;
            for (std::size_t a = 0; a < action_count; ++a) {
                policy_(i, a) = std::exp(log_chance[a]);
                entropy_[i] -= policy_(i, a) * std::log(policy_(i, a));
            }
            for (std::size_t a = 0; a < action_count; ++a) {
                float const chance = policy_(i, a);
                float const pull = (a == action ? 1.0F : 0.0F) - chance;
                float const policy_part = clipped ? 0.0F : -advantage * ratio * pull;
                float const entropy_part = chance * (std::log(chance) + entropy_[i]);
                logits_gradient(i, a) = share * (policy_part + settings_.entropy_weight * entropy_part);
            }
            values_gradient(i, 0) = share * error;
            now.policy_loss -= share * advantage * bounded;
            now.value_loss += share * 0.5F * error * error;
            now.entropy += share * entropy_[i];
            now.approx_kl += share * (ratio - 1.0F - log_ratio);
            now.clip_fraction += clipped ? share : 0.0F;
        }
        now.loss = now.policy_loss + now.value_loss - settings_.entropy_weight * now.entropy;
        report_ = now;
        net_.actor.backward(input_, std::move(logits_gradient));
        net_.critic.backward(input_, std::move(values_gradient));
    }

    settings settings_;
    example::prng random_;
    network net_;
    adam optimizer_;
    std::vector<cart_pole> carts_;
    experience past_;
    std::vector<std::size_t> order_;
    std::size_t next_sample_ = 0;
    std::size_t epochs_left_ = 0;
    matrix input_;                // batch x observation
    matrix policy_;               // batch x action, probabilities
    std::vector<float> entropy_;  // a number a sample
    report report_;
    std::int64_t updates_ = 0;
    std::int64_t cart_steps_ = 0;
};

// Shows every tensor of an update by name, in the order in which it came about.
template <class Visit>
void visit_tensors(agent const& learner, Visit&& visit) {
    visit_parameters(learner.net(), visit);
    visit("input", learner.input());
    visit_activations(learner.net(), visit);
    visit("policy", learner.policy());
    visit("entropy", learner.entropy());
    visit_gradients(learner.net(), visit);
}

}  // namespace cartpole
