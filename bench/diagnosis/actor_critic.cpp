// SPDX-License-Identifier: Apache-2.0
// The program that learns by acting: an actor and a critic balance a pole (proximal policy optimisation, Schulman et al. 2017).
#include "experience.hpp"
#include "training.hpp"
#include "watches.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

namespace diagnosis {

namespace {

class agent {
public:
    explicit agent(assignment const& what) : what_{what}, random_{what.seed + 5000}, poles_(carts) {
        std::size_t const units = what.shape == variant::wide_or_normalised ? 48 : 24;
        for (auto const& [net, title, outputs] :
             {std::tuple{&actor_, "actor/", 2U}, std::tuple{&critic_, "critic/", 1U}}) {
            std::string const name = title;
            net->blocks.emplace_back(name + "1", cartpole::observation_size, units);
            net->blocks.emplace_back(name + "2", units, units);
            for (block& each : net->blocks) { each.activation = sp::activation_kind::relu; }
            net->blocks.emplace_back(name + "3", units, outputs);
            initialise(*net, what.broken, random_);
        }
        if (what.shape == variant::small_batch_dropout) {
            batch_ /= 2;
            critic_.blocks[1].dropout = 0.1F;
        }
        bool const other = what.shape == variant::other_optimizer;
        optimizer_.how = other ? method::adam : method::momentum;
        optimizer_.learning_rate = other ? 1e-3F : 0.5F;
        if (what.shape == variant::small_batch_dropout) { optimizer_.learning_rate /= 2; }
        optimizer_.largest_norm = 0.01F;  // what makes that rate possible
        choose_rate(optimizer_, what.broken);
        hand_over(actor_, false, what.broken, optimizer_);
        hand_over(critic_, true, what.broken, optimizer_);
        if (what.broken == fault::not_a_number) { nan_ = nan_plan::from(what.seed, 4); }
        watches_.emplace(nan_.step, std::size_t{cartpole::action_count});
        for (cart_pole& each : poles_) { each.reset(random_); }
    }

    outcome run() {
        outcome made;
        made.what = what_;
        loss_log losses;
        std::array<double, 5> last{};
        for (std::uint64_t step = 0; step < train_steps; ++step) {
            losses.add(learn(step));
            optimizer_.step(schedule(what_.shape, step));
            if ((step + 1) % eval_interval == 0) {
                last[(step + 1) / eval_interval % last.size()] = evaluate(step + 1);
            }
        }
        for (double const each : last) { made.badness += (1.0 - each / cartpole::episode_steps) / 5.0; }
        losses.write(made);
        made.finite = made.finite && all_finite(actor_) && all_finite(critic_);
        if (nan_.where != planted_in::nothing) {
            made.planted = nan_.name(hit().blocks[nan_.block % 2]);
            made.planted_at = nan_.step;
        }
        made.packs = watches_->finish();
        return made;
    }

private:
    [[nodiscard]] chain& hit() noexcept { return nan_.block < 2 ? actor_ : critic_; }

    void look(std::vector<cart_pole> const& at, values& seen) const {
        seen.clear();
        float const unit = what_.broken == fault::raw_inputs ? 255.0F : 1.0F;
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
                if (result == cartpole::outcome::timed_out) {
                    past_.reward.back() = worth(poles_[c]);
                }  // it would go on
                poles_[c].reset(random_);
            }
        }
        look(poles_, seen);
        values const& value = critic_.forward(seen, carts, false, random_);
        past_.value.insert(past_.value.end(), value.begin(), value.end());
        past_.estimate();
    }
    // One batch forward and backward, shown before the update; the loss.
    float learn(std::uint64_t step) {
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
        float const keep = what_.broken == fault::piles_up ? 1.0F : 0.0F;
        actor_.backward(logits_gradient_, keep);
        critic_.backward(value_gradient_, keep);
        if (now && nan_.where == planted_in::gradient) {
            values& gradient = hit().blocks[nan_.block % 2].w.gradient;
            gradient[gradient.size() / 2] = std::numeric_limits<float>::quiet_NaN();
        }
        show(step, fresh);
        return loss_;
    }

    // Losses, their gradients and what is worth knowing of a batch.
    void measure(std::size_t const* samples) {
        values const& logits = actor_.output();
        values const& value = critic_.output();
        float const sign = what_.broken == fault::negated_loss ? -1.0F : 1.0F;
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
            watches_->observe(name, it, flags);
        };
        watches_->begin(sp::train(step));
        for (chain* const each : {&actor_, &critic_}) { each->show_parameters(see); }
        watches_->observe("input", sp::view_of(input_, {batch_, cartpole::observation_size}));
        actor_.show_activations(batch_, see);
        watches_->observe("pred/policy", sp::view_of(actor_.output(), {batch_, std::size_t{2}}), sp::flag::logits);
        critic_.show_activations(batch_, see);
        watches_->observe("pred/value", sp::view_of(critic_.output(), {batch_, std::size_t{1}}));
        watches_->scalar("policy_loss", policy_loss_);
        watches_->scalar("value_loss", value_loss_);
        watches_->scalar("loss", loss_);
        watches_->scalar("metric/entropy", entropy_);
        watches_->scalar("metric/approx_kl", moved_);
        watches_->scalar("metric/clip_fraction", clipped_);
        if (fresh) {
            if (std::isfinite(past_.explained)) { watches_->scalar("metric/explained_variance", past_.explained); }
            for (float const each : past_.episodes) { watches_->scalar("metric/episode_return", each); }
        }
        for (chain* const each : {&actor_, &critic_}) { each->show_gradients(see); }
        watches_->end();
    }

    // Steps survived, a mean over fresh episodes, driven as in training.
    double evaluate(std::uint64_t step) {
        prng random{what_.seed + 9000};
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
        watches_->begin(sp::eval(step));
        watches_->scalar("metric/episode_return", static_cast<float>(survived));
        watches_->end();
        return survived;
    }

    assignment what_;
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
    std::optional<watches> watches_{};
};

}  // namespace

std::optional<outcome> train_actor_critic(assignment const& what) {
    auto const start = std::chrono::steady_clock::now();
    outcome made = agent{what}.run();
    made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return made;
}

}  // namespace diagnosis
