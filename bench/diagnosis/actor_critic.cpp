// SPDX-License-Identifier: Apache-2.0
// The program that learns by acting: an actor and a critic balance a pole (proximal policy optimisation, Schulman et
// al. 2017).
#include "experience.hpp"
#include "family.hpp"
#include "training.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

namespace diagnosis {

namespace {

class agent {
public:
    explicit agent(course& of) : course_{of}, random_{of.seed() + 5000}, poles_(carts) {
        std::size_t const units = shape_of(of) == healthy_shape::wide_or_normalised ? 48 : 24;
        for (auto const& [net, title, outputs] :
             {std::tuple{&actor_, "actor/", 2U}, std::tuple{&critic_, "critic/", 1U}}) {
            std::string const name = title;
            net->blocks.emplace_back(name + "1", cartpole::observation_size, units);
            net->blocks.emplace_back(name + "2", units, units);
            for (block& each : net->blocks) { each.activation = sp::activation_kind::relu; }
            net->blocks.emplace_back(name + "3", units, outputs);
            initialise(*net, of.broken(), random_);
        }
        if (shape_of(of) == healthy_shape::small_batch_dropout) {
            batch_ /= 2;
            critic_.blocks[1].dropout = 0.1F;
        }
        bool const other = shape_of(of) == healthy_shape::other_optimizer;
        optimizer_.how = other ? method::adam : method::momentum;
        optimizer_.learning_rate = other ? 1e-3F : 0.5F;
        if (shape_of(of) == healthy_shape::small_batch_dropout) { optimizer_.learning_rate /= 2; }
        optimizer_.largest_norm = 0.01F;  // what makes that rate possible
        choose_rate(optimizer_, of.broken());
        hand_over(actor_, false, of.broken(), optimizer_);
        hand_over(critic_, true, of.broken(), optimizer_);
        of.plan(train_steps, pack_choice::rl, cartpole::action_count);
        if (of.is(fault::not_a_number)) {
            nan_ = nan_plan::from(of.seed(), 4);
            of.wrong_from(nan_.step, nan_.name(hit().blocks[nan_.block % 2]));
        }
        for (cart_pole& each : poles_) { each.reset(random_); }
    }

    void run() {
        for (std::uint64_t step = 0; step < train_steps; ++step) {
            learn(step);
            optimizer_.step(schedule(shape_of(course_), step));
            if ((step + 1) % eval_interval == 0) {
                course_.evaluated(1.0 - evaluate(step + 1) / cartpole::episode_steps);
            }
        }
        if (!all_finite(actor_) || !all_finite(critic_)) { course_.lost(); }
    }

private:
    [[nodiscard]] chain& hit() noexcept { return nan_.block < 2 ? actor_ : critic_; }

    void look(std::vector<cart_pole> const& at, values& seen) const {
        seen.clear();
        float const unit = course_.is(fault::raw_inputs) ? 255.0F : 1.0F;
        for (cart_pole const& each : at) {
            for (float const x : each.observation()) { seen.push_back(unit * x); }
        }
    }
    // Drives every cart for a horizon. A step earns at most 1 - discount: a perfect life without end is worth one.
    void live() {
        past_ = {};
        values seen;
        for (std::size_t t = 0; t < horizon; ++t) {
            look(poles_, seen);
            values const& logits = actor_.forward(seen, carts, false, random_);
            values const& value = critic_.forward(seen, carts, false, random_);
            past_.seen.insert(past_.seen.end(), seen.begin(), seen.end());
            past_.value.insert(past_.value.end(), value.begin(), value.end());
            for (std::size_t c = 0; c < carts; ++c) {
                std::size_t const action = choose(logits.data() + 2 * c, random_);
                past_.action.push_back(action);
                past_.log_chance.push_back(log_chances(logits.data() + 2 * c)[action]);
                cartpole::outcome const result = poles_[c].step(slip(action, random_));
                past_.reward.push_back((1.0F - discount) * worth(poles_[c]));
                past_.ended.push_back(result == cartpole::outcome::running ? 0 : 1);
                if (result == cartpole::outcome::running) { continue; }
                past_.episodes.push_back(static_cast<float>(poles_[c].steps()));
                // It would go on.
                if (result == cartpole::outcome::timed_out) { past_.reward.back() = worth(poles_[c]); }
                poles_[c].reset(random_);
            }
        }
        look(poles_, seen);
        values const& value = critic_.forward(seen, carts, false, random_);
        past_.value.insert(past_.value.end(), value.begin(), value.end());
        past_.estimate();
    }
    // One batch forward and backward, shown before the update.
    void learn(std::uint64_t step) {
        bool fresh = false;
        if (next_ == order_.size()) {
            if (epochs_left_ == 0) {
                live();
                epochs_left_ = epochs;
                fresh = true;
            }
            --epochs_left_;
            order_ = example::shuffled_indices(lived, random_);
            next_ = 0;
        }
        input_.clear();
        for (std::size_t i = 0; i < batch_; ++i) {
            float const* const row = past_.seen.data() + 4 * order_[next_ + i];
            input_.insert(input_.end(), row, row + 4);
        }
        bool const now = nan_.where != planted_in::nothing && step == nan_.step;
        for (chain* const each : {&actor_, &critic_}) {
            each->forward(input_, batch_, true, random_, now && each == &hit() ? nan_.where : planted_in::nothing,
                          nan_.block % 2);
        }
        measure(order_.data() + next_);
        next_ += batch_;
        float const keep = course_.is(fault::piles_up) ? 1.0F : 0.0F;
        actor_.backward(logits_gradient_, keep);
        critic_.backward(value_gradient_, keep);
        if (now && nan_.where == planted_in::gradient) {
            values& gradient = hit().blocks[nan_.block % 2].w.gradient;
            gradient[gradient.size() / 2] = std::numeric_limits<float>::quiet_NaN();
        }
        show(step, fresh);
    }

    // Losses, their gradients and what is worth knowing of a batch.
    void measure(std::size_t const* samples) {
        values const& logits = actor_.output();
        values const& value = critic_.output();
        float const sign = course_.is(fault::negated_loss) ? -1.0F : 1.0F;
        float const share = 1.0F / static_cast<float>(batch_);
        logits_gradient_.assign(2 * batch_, 0.0F);
        value_gradient_.assign(batch_, 0.0F);
        policy_loss_ = value_loss_ = entropy_ = moved_ = clipped_ = 0;
        for (std::size_t i = 0; i < batch_; ++i) {
            std::size_t const at = samples[i], action = past_.action[at];
            float const advantage = past_.advantage[at];
            auto const log_chance = log_chances(logits.data() + 2 * i);
            float const log_ratio = log_chance[action] - past_.log_chance[at];
            float const ratio = std::exp(log_ratio);
            float const limit = advantage > 0.0F ? 1.0F + clip : 1.0F - clip;
            bool const clipped = advantage > 0.0F ? ratio > limit : ratio < limit;
            float const gap = value[i] - past_.target[at];
            float entropy = 0;
            for (float const each : log_chance) { entropy -= std::exp(each) * each; }
            for (std::size_t a = 0; a < 2; ++a) {
                float const chance = std::exp(log_chance[a]);
                float const towards = (a == action ? 1.0F : 0.0F) - chance;
                float const improve = clipped ? 0.0F : -advantage * ratio * towards;
                float const explore = entropy_weight * chance * (log_chance[a] + entropy);
                logits_gradient_[2 * i + a] = sign * share * (improve + explore);
            }
            value_gradient_[i] = sign * share * gap;
            policy_loss_ -= sign * share * advantage * (clipped ? limit : ratio);
            value_loss_ += sign * share * 0.5F * gap * gap;
            entropy_ += share * entropy;
            moved_ += share * (ratio - 1.0F - log_ratio);
            clipped_ += clipped ? share : 0.0F;
        }
        loss_ = policy_loss_ + value_loss_ - sign * entropy_weight * entropy_;
    }

    void show(std::uint64_t step, bool fresh) {
        auto const see = [&](std::string const& name, sp::tensor_ref const& it, sp::flag flags) {
            course_.observe(name, it, flags);
        };
        course_.begin(sp::train(step));
        for (chain* const each : {&actor_, &critic_}) { each->show_parameters(see); }
        course_.observe("input", sp::view_of(input_, {batch_, cartpole::observation_size}));
        actor_.show_activations(batch_, see);
        course_.observe("pred/policy", sp::view_of(actor_.output(), {batch_, std::size_t{2}}), sp::flag::logits);
        critic_.show_activations(batch_, see);
        course_.observe("pred/value", sp::view_of(critic_.output(), {batch_, std::size_t{1}}));
        course_.scalar("policy_loss", policy_loss_);
        course_.scalar("value_loss", value_loss_);
        course_.scalar("loss", loss_);
        course_.scalar("metric/entropy", entropy_);
        course_.scalar("metric/approx_kl", moved_);
        course_.scalar("metric/clip_fraction", clipped_);
        if (fresh) {
            if (std::isfinite(past_.explained)) { course_.scalar("metric/explained_variance", past_.explained); }
            for (float const each : past_.episodes) { course_.scalar("metric/episode_return", each); }
        }
        for (chain* const each : {&actor_, &critic_}) { each->show_gradients(see); }
        course_.end();
    }

    // Steps survived, a mean over fresh episodes, driven as in training.
    double evaluate(std::uint64_t step) {
        prng random{course_.seed() + 9000};
        std::vector<cart_pole> running(8);
        for (cart_pole& each : running) { each.reset(random); }
        double survived = 0;
        values seen;
        while (!running.empty()) {
            look(running, seen);
            values const& logits = actor_.forward(seen, running.size(), false, random);
            std::vector<cart_pole> left;
            for (std::size_t c = 0; c < running.size(); ++c) {
                if (running[c].step(slip(choose(logits.data() + 2 * c, random), random)) ==
                    cartpole::outcome::running) {
                    left.push_back(running[c]);
                } else {
                    survived += running[c].steps() / 8.0;
                }
            }
            running = left;
        }
        course_.begin(sp::eval(step));
        course_.scalar("metric/episode_return", static_cast<float>(survived));
        course_.end();
        return survived;
    }

    course& course_;
    prng random_;
    chain actor_{}, critic_{};
    optimizer optimizer_{};
    nan_plan nan_{};
    std::vector<cart_pole> poles_;
    experience past_{};
    std::vector<std::size_t> order_{};
    std::size_t next_ = 0, epochs_left_ = 0, batch_ = 64;
    values input_{}, logits_gradient_{}, value_gradient_{};
    float loss_ = 0, policy_loss_ = 0, value_loss_ = 0, entropy_ = 0, moved_ = 0, clipped_ = 0;
};

bool const added =
    add_family({.name = "ac",
                .habit = "proximal policy optimisation; actor and critic in one optimizer, metrics",
                .variants = shape_names,
                .faults = {fault::large_rate, fault::small_rate, fault::zero_weights, fault::constant_weights,
                           fault::dead_biases, fault::climbs, fault::piles_up, fault::frozen, fault::not_in_optimizer,
                           fault::raw_inputs, fault::not_a_number, fault::negated_loss, fault::not_clipped},
                .train = [](course& of) { agent{of}.run(); }});

}  // namespace

}  // namespace diagnosis
