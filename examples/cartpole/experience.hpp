// SPDX-License-Identifier: Apache-2.0
// The experience of an agent: carts simulated in parallel under the current policy, and the advantage of each push.
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
#include <utility>
#include <vector>

namespace cartpole {

// Logarithms of the probabilities of both pushes: the softmax of two logits, exact for any finite input.
[[nodiscard]] inline std::array<float, action_count> log_chances(float const* logits) noexcept {
    float const top = (std::max)(logits[0], logits[1]);
    float const norm = top + std::log(std::exp(logits[0] - top) + std::exp(logits[1] - top));
    return {logits[0] - norm, logits[1] - norm};
}

// Draws a push.
[[nodiscard]] inline std::size_t choose(std::array<float, action_count> const& log_chance,
                                        example::prng& random) noexcept {
    return random.uniform() < std::exp(log_chance[1]) ? 1 : 0;
}

// The observations of all carts, one cart a row.
inline void observe(std::vector<cart_pole> const& carts, matrix& seen) {
    seen.reset(carts.size(), observation_size);
    for (std::size_t c = 0; c < carts.size(); ++c) {
        auto const observation = carts[c].observation();
        std::copy(observation.begin(), observation.end(), seen.row(c));
    }
}

// All observations, actions and rewards of one horizon. Sample t * carts + c is cart c at time t.
struct experience {
    matrix observations;
    std::vector<std::size_t> actions;
    std::vector<float> log_chance;  // of the action, when it was taken
    std::vector<float> rewards;
    std::vector<char> ended;        // the episode ended with this action
    std::vector<float> values;      // the critic's values at that time, then of the states after the last action
    std::vector<float> advantages;  // mean 0, standard deviation 1
    std::vector<float> returns;     // the critic's targets
    std::vector<float> finished;    // the returns of the episodes that ended in this horizon
    float return_deviation = 0.0F;
    float explained_variance = 0.0F;  // 1 - Var(returns - values) / Var(returns): 1 for a perfect critic

    void resize(std::size_t samples, std::size_t carts) {
        observations.reset(samples, observation_size);
        actions.resize(samples);
        log_chance.resize(samples);
        rewards.resize(samples);
        ended.resize(samples);
        values.resize(samples + carts);
        returns.resize(samples);
        finished.clear();
    }
};

// Several carts, which continue from one horizon to the next.
class fleet {
public:
    fleet(std::size_t size, float discount, float reward, std::uint64_t seed)
        : carts_(size), earned_(size), discount_(discount), reward_(reward), random_(seed) {
        for (cart_pole& cart : carts_) { cart.reset(random_); }
    }

    // Drives every cart for `horizon` steps. Each survived step earns `reward`.
    void drive(network& net, std::size_t horizon, experience& past) {
        std::size_t const carts = carts_.size();
        std::size_t const samples = horizon * carts;
        past.resize(samples, carts);
        matrix seen;
        for (std::size_t first = 0; first < samples; first += carts) {
            observe(carts_, seen);
            matrix const& logits = net.actor.forward(seen);
            matrix const& values = net.critic.forward(seen);
            std::copy_n(seen.data(), seen.size(), past.observations.row(first));
            std::copy_n(values.data(), carts, &past.values[first]);
            for (std::size_t c = 0; c < carts; ++c) {
                auto const log_chance = log_chances(logits.row(c));
                std::size_t const action = choose(log_chance, random_);
                past.actions[first + c] = action;
                past.log_chance[first + c] = log_chance[action];
            }
            for (std::size_t c = 0; c < carts; ++c) { push(net, c, first + c, past); }
        }
        observe(carts_, seen);
        std::copy_n(net.critic.forward(seen).data(), carts, &past.values[samples]);
        samples_ += static_cast<std::int64_t>(samples);
    }

    // Steps of all carts together.
    [[nodiscard]] std::int64_t samples() const noexcept { return samples_; }

    // Steps survived, a moving mean over the latest episodes.
    [[nodiscard]] float episode_length() const noexcept { return episode_length_; }

private:
    void push(network& net, std::size_t c, std::size_t sample, experience& past) {
        cart_pole& cart = carts_[c];
        outcome const result = cart.step(past.actions[sample]);
        past.rewards[sample] = reward_;
        earned_[c] += reward_;
        past.ended[sample] = result == outcome::running ? 0 : 1;
        if (result == outcome::timed_out) {  // it would have gone on: the critic estimates the rest
            matrix last;
            observe({cart}, last);
            past.rewards[sample] += discount_ * net.critic.forward(last)(0, 0);
        }
        if (result != outcome::running) {
            episode_length_ += 0.05F * (static_cast<float>(cart.steps()) - episode_length_);
            past.finished.push_back(std::exchange(earned_[c], 0.0F));
            cart.reset(random_);
        }
    }

    std::vector<cart_pole> carts_;
    std::vector<float> earned_;  // in the current episode
    float discount_;
    float reward_;
    example::prng random_;
    std::int64_t samples_ = 0;
    float episode_length_ = 0.0F;
};

// Generalised advantage estimation (Schulman et al. 2016), backwards through time, then normalised over all samples.
inline void estimate_advantages(experience& past, float discount, float trace) {
    std::size_t const samples = past.actions.size();
    std::size_t const carts = past.values.size() - samples;
    past.advantages.assign(samples + carts, 0.0F);
    double sum = 0.0;
    double squares = 0.0;
    double returns = 0.0;
    double return_squares = 0.0;
    for (std::size_t i = samples; i-- > 0;) {
        float const lasting = past.ended[i] != 0 ? 0.0F : discount;
        float const surprise = past.rewards[i] + lasting * past.values[i + carts] - past.values[i];
        float const advantage = surprise + lasting * trace * past.advantages[i + carts];
        past.advantages[i] = advantage;
        past.returns[i] = advantage + past.values[i];
        sum += static_cast<double>(advantage);
        squares += static_cast<double>(advantage) * static_cast<double>(advantage);
        returns += static_cast<double>(past.returns[i]);
        return_squares += static_cast<double>(past.returns[i]) * static_cast<double>(past.returns[i]);
    }
    double const mean = sum / static_cast<double>(samples);
    double const variance = (std::max)(squares / static_cast<double>(samples) - mean * mean, 0.0);
    double const mean_return = returns / static_cast<double>(samples);
    double const return_variance = return_squares / static_cast<double>(samples) - mean_return * mean_return;
    past.return_deviation = static_cast<float>(std::sqrt((std::max)(return_variance, 0.0)));
    past.explained_variance = static_cast<float>(1.0 - variance / (return_variance + 1e-12));
    for (float& advantage : past.advantages) {
        advantage = static_cast<float>((static_cast<double>(advantage) - mean) / (std::sqrt(variance) + 1e-8));
    }
}

// Mean number of survived steps over new episodes, all driven at once. Changes only the network's activations.
[[nodiscard]] inline float evaluate(network& net, std::size_t episodes, std::uint64_t seed) {
    example::prng random{seed};
    std::vector<cart_pole> carts(episodes);
    for (cart_pole& cart : carts) { cart.reset(random); }
    float survived = 0.0F;
    matrix seen;
    while (!carts.empty()) {
        observe(carts, seen);
        matrix const& logits = net.actor.forward(seen);
        std::vector<cart_pole> running;
        for (std::size_t c = 0; c < carts.size(); ++c) {
            if (carts[c].step(choose(log_chances(logits.row(c)), random)) == outcome::running) {
                running.push_back(carts[c]);
            } else {
                survived += static_cast<float>(carts[c].steps());
            }
        }
        carts = std::move(running);
    }
    return survived / static_cast<float>(episodes);
}

}  // namespace cartpole
