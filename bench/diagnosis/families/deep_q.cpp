// SPDX-License-Identifier: Apache-2.0
// Deep Q-learning (Mnih et al. 2015): a mass on a line is to come to rest in the middle by three pushes. Old
// experience, a target net that is copied now and then, and fewer random pushes as time goes on.
#include "../family.hpp"
#include "dense_net.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace diagnosis {

namespace {

constexpr std::size_t pushes = 3, seen = 2, episode = 30, capacity = 4000;
constexpr float discount_of_q = 0.95F;

struct settings {
    method how = method::adam;
    float rate = 2e-3F;
    std::size_t batch = 32;
    std::uint64_t steps = 3000, copied_every = 100;
    float least_random = 0.1F;
};
constexpr settings shapes[] = {
    {},
    {method::adam, 1e-3F, 64, 3000, 200, 0.05F},
    {method::momentum, 0.01F, 32, 4000, 100, 0.1F},
    {method::adam, 4e-3F, 32, 2500, 50, 0.2F},
    {method::adam, 5e-4F, 32, 5000, 100, 0.1F},
};

struct mass {
    float at = 0, speed = 0;
    std::size_t age = 0;

    void begin(prng& random) { at = random.uniform(-1.0F, 1.0F), speed = random.uniform(-0.5F, 0.5F), age = 0; }
    float push(std::size_t which) {
        speed = 0.9F * speed + 0.15F * (static_cast<float>(which) - 1.0F);
        at = (std::clamp)(at + 0.3F * speed, -2.0F, 2.0F);
        ++age;
        return -(at * at + 0.1F * speed * speed);
    }
};

struct transition {
    std::array<float, seen> before{}, after{};
    std::size_t pushed = 0;
    float reward = 0;
};

class program {
public:
    explicit program(course& by)
        : course_{by}, how_{shapes[by.variant()]}, scale_{by.is(fault::raw_inputs) ? 255.0F : 1.0F},
          random_{by.seed() + 5000}, nan_{by, how_.steps, "grad/fc2/w"},
          net_{by, random_, shape(), how_.how, how_.rate}, target_{by, random_, shape("target/"), how_.how, how_.rate} {
        net_.copy_to(target_);
    }
    void run() {
        course_.plan(how_.steps, pack_choice::rl, pushes);
        world_.begin(random_);
        for (std::size_t i = 0; i < 300; ++i) { live(1); }
        for (std::uint64_t step = 0; step < how_.steps; ++step) {
            float const done = static_cast<float>(step) / static_cast<float>(how_.steps);
            live((std::max)(1.0F - 2.0F * done, how_.least_random));
            if (step == 0 || !course_.is(fault::same_batch)) { choose_batch(); }
            learn(step);
            net_.update();
            if ((step + 1) % how_.copied_every == 0) { net_.copy_to(target_); }
            if (evaluation_due(step, how_.steps)) { course_.evaluated((std::min)(2.0, cost() / idle_cost())); }
        }
        net_.tell_if_lost(course_);
    }

private:
    static dense_shape shape(std::string const& prefix = {}) {
        return {{seen, 24, 24, pushes}, sp::activation_kind::relu, 3, 0, prefix};
    }
    [[nodiscard]] std::array<float, seen> look(mass const& it) const { return {scale_ * it.at, scale_ * it.speed}; }
    std::size_t best(mass const& it) {
        auto const now = look(it);
        values const& worth = net_.forward({now.begin(), now.end()}, 1);
        return static_cast<std::size_t>(std::max_element(worth.begin(), worth.end()) - worth.begin());
    }
    void live(float share_of_random) {
        transition now;
        now.before = look(world_);
        now.pushed = random_.uniform() < share_of_random ? random_.below(pushes) : best(world_);
        now.reward = world_.push(now.pushed);
        now.after = look(world_);
        return_ += static_cast<double>(now.reward);
        if (known_.size() < capacity) {
            known_.push_back(now);
        } else {
            known_[lived_ % capacity] = now;
        }
        ++lived_;
        if (world_.age == episode) {
            ended_ = true, last_return_ = return_, return_ = 0;
            world_.begin(random_);
        }
    }
    void choose_batch() {
        rows_.resize(how_.batch);
        for (std::size_t& each : rows_) { each = random_.below(known_.size()); }
    }
    void learn(std::uint64_t step) {
        values before, after;
        for (std::size_t const each : rows_) {
            before.insert(before.end(), known_[each].before.begin(), known_[each].before.end());
            after.insert(after.end(), known_[each].after.begin(), known_[each].after.end());
        }
        values const later = target_.forward(after, rows_.size());
        values const worth = net_.forward(before, rows_.size());
        values gradient(worth.size());
        double loss = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            transition const& it = known_[rows_[i]];
            float const wanted =
                it.reward + discount_of_q * *std::max_element(&later[i * pushes], &later[i * pushes] + pushes);
            float const gap = worth[i * pushes + it.pushed] - wanted;
            gradient[i * pushes + it.pushed] = 2 * gap / static_cast<float>(rows_.size());
            loss += static_cast<double>(gap) * static_cast<double>(gap) / static_cast<double>(rows_.size());
        }
        net_.backward(gradient);
        if (nan_.due(step)) { net_.net.blocks[1].w.gradient[5] = nan_value; }
        show(step, before, worth, loss);
    }
    void show(std::uint64_t step, values const& before, values const& worth, double loss) {
        auto const see = [&](std::string const& name, sp::tensor_ref const& it, sp::flag flags) {
            course_.observe(name, it, flags);
        };
        course_.begin(sp::train(step));
        course_.observe("input/states", sp::view_of(before, {rows_.size(), seen}));
        net_.net.show_activations(rows_.size(), see);
        course_.observe("q_values", sp::view_of(worth, {rows_.size(), pushes}));
        course_.scalar("loss", loss);
        net_.net.show_parameters(see);
        net_.net.show_gradients(see);
        target_.net.show_parameters(see);
        if (std::exchange(ended_, false)) { course_.scalar("metric/episode_return", last_return_); }
        course_.end();
    }
    // What the best pushes cost from nine beginnings, and what the middle push costs.
    template <class Choose>
    static double cost_of(Choose&& choose) {
        double sum = 0;
        for (int i = 0; i < 9; ++i) {
            mass it{-1.0F + 0.25F * static_cast<float>(i), 0.4F - 0.1F * static_cast<float>(i), 0};
            while (it.age < episode) { sum -= static_cast<double>(it.push(choose(it))); }
        }
        return sum;
    }
    double cost() {
        return cost_of([&](mass const& it) { return best(it); });
    }
    static double idle_cost() {
        return cost_of([](mass const&) { return std::size_t{1}; });
    }

    course& course_;
    settings how_;
    float scale_;
    prng random_;
    planted_nan nan_;
    dense_net net_, target_;
    mass world_{};
    std::vector<transition> known_{};
    std::size_t lived_ = 0;
    std::vector<std::size_t> rows_{};
    double return_ = 0, last_return_ = 0;
    bool ended_ = false;
};

bool const added = add_family(
    {.name = "deep_q",
     .library = {},
     .habit = "deep Q-learning: old experience, a target net that is copied now and then, one return an episode",
     .variants = {"Adam", "slower copies, large batch", "momentum", "quick copies, fast", "slow"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::zero_weights, fault::constant_weights,
                fault::large_weights, fault::dead_biases, fault::climbs, fault::piles_up, fault::not_in_optimizer,
                fault::raw_inputs, fault::not_a_number, fault::same_batch, fault::backward_bug},
     .train = [](course& by) { program{by}.run(); }});

}  // namespace

}  // namespace diagnosis
