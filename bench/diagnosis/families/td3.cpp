// SPDX-License-Identifier: Apache-2.0
// Twin delayed deep deterministic policy gradient (Fujimoto et al. 2018): old experience, two critics, targets that
// trail behind, and an actor that is updated at every second step only.
#include "torch_program.hpp"

#include <cmath>

namespace diagnosis {

namespace {

constexpr std::int64_t masses = 16, episode = 25, capacity = 8000;
constexpr std::size_t actor = 0, critics = 1;

nn::Linear layer(std::int64_t in, std::int64_t out) { return nn::Linear{in, out}; }

struct policy_net : nn::Module {
    nn::Linear fc1{register_module("fc1", layer(2, 24))}, fc2{register_module("fc2", layer(24, 1))};
    Tensor forward(Tensor const& seen) { return torch::tanh(fc2(torch::relu(fc1(seen)))); }
};
struct value_nets : nn::Module {
    nn::Linear fc1{register_module("q1_fc1", layer(3, 24))}, fc2{register_module("q1_fc2", layer(24, 1))};
    nn::Linear fc3{register_module("q2_fc1", layer(3, 24))}, fc4{register_module("q2_fc2", layer(24, 1))};
    Tensor first(Tensor const& both) { return fc2(torch::relu(fc1(both))); }
    Tensor second(Tensor const& both) { return fc4(torch::relu(fc3(both))); }
};

// Masses on a line that are to come to rest in the middle. Rows of place and speed.
struct world {
    Tensor at = torch::zeros({masses, 2});
    std::int64_t age = 0;

    void begin() {
        at = torch::rand({masses, 2}) * 2 - 1;
        age = 0;
    }
    // One push of each; what it earned.
    Tensor push(Tensor const& force) {
        Tensor const speed = 0.9 * at.select(1, 1) + 0.3 * force.squeeze(1);
        at = torch::stack({(at.select(1, 0) + 0.3 * speed).clamp(-2, 2), speed}, 1);
        ++age;
        return -(torch::square(at.select(1, 0)) + 0.1 * torch::square(speed) + 0.01 * torch::square(force.squeeze(1)));
    }
};

struct variant {
    torch_method method = torch_method::adam;
    double rate = 2e-3, other_rate = 2e-3;  // of the actor, of the critics
    std::int64_t batch = 48;
    std::uint64_t steps = 500;
    double trail = 0.02, noise = 0.3;
};

double cost_of(policy_net& policy, double scale) {
    torch::NoGradGuard const guard;
    world in;
    in.at = torch::stack({torch::linspace(-1, 1, masses), torch::linspace(1, -1, masses) * 0.5}, 1);
    double sum = 0;
    while (in.age < episode) { sum -= in.push(policy.forward(scale * in.at)).mean().item<double>(); }
    return sum;
}

void train(course& of) {
    variant const variants[] = {{},
                                {torch_method::rmsprop, 1e-3, 1e-3},
                                {torch_method::adam, 5e-4, 1e-3, 48, 800},
                                {torch_method::adamw, 2e-3, 2e-3, 96, 400},
                                {torch_method::adam, 2e-3, 4e-3, 48, 500, 0.05, 0.1}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps, pack_choice::rl};
    double const scale = of.is(fault::raw_inputs) ? 255 : 1;
    policy_net policy, policy_target;
    value_nets value, value_target;
    program.add(policy, "actor.");
    program.add(value, "critic.");
    program.optimise(actor, {like.method, like.rate});
    program.optimise(critics, {like.method, like.other_rate});
    auto const follow = [](nn::Module& behind, nn::Module const& ahead, double share) {
        torch::NoGradGuard const guard;
        auto const from = ahead.parameters();
        auto to = behind.parameters();
        for (std::size_t i = 0; i < to.size(); ++i) { to[i].lerp_(from[i], share); }
    };
    follow(policy_target, policy, 1);
    follow(value_target, value, 1);
    world in;
    in.begin();
    double const idle = 6.0;  // what doing nothing costs, about
    Tensor seen = torch::zeros({capacity, 2}), next = torch::zeros({capacity, 2});
    Tensor forces = torch::zeros({capacity, 1}), rewards = torch::zeros({capacity, 1});
    std::int64_t known = 0;
    double lately = 0;
    auto const live = [&](bool at_random) {
        torch::NoGradGuard const guard;
        Tensor const before = in.at * scale;
        Tensor force = at_random ? torch::rand({masses, 1}) * 2 - 1 : policy.forward(before);
        force = (force + like.noise * torch::randn({masses, 1})).clamp(-1, 1);
        Tensor const earned = in.push(force);
        std::int64_t const at = known % capacity;
        seen.slice(0, at, at + masses).copy_(before);
        next.slice(0, at, at + masses).copy_(in.at * scale);
        forces.slice(0, at, at + masses).copy_(force);
        rewards.slice(0, at, at + masses).copy_(earned.unsqueeze(1));
        known += masses;
        lately += earned.mean().item<double>();
    };
    for (int i = 0; i < 40; ++i) {
        live(true);
        if (in.age == episode) { in.begin(); }
    }
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        live(false);
        Tensor const chosen = torch::randint((std::min)(known, capacity), {like.batch}, torch::kLong);
        Tensor const now = seen.index_select(0, chosen), force = forces.index_select(0, chosen);
        Tensor wanted;
        {
            torch::NoGradGuard const guard;
            Tensor const after = next.index_select(0, chosen);
            Tensor const jitter = (0.1 * torch::randn_like(force)).clamp(-0.2, 0.2);
            Tensor const both = torch::cat({after, (policy_target.forward(after) + jitter).clamp(-1, 1)}, 1);
            wanted =
                rewards.index_select(0, chosen) + 0.9 * torch::min(value_target.first(both), value_target.second(both));
        }
        program.begin(step);
        Tensor const both = torch::cat({now, force}, 1);
        Tensor const loss = torch::mse_loss(value.first(both), wanted) + torch::mse_loss(value.second(both), wanted);
        program.clear(critics);
        program.backward(loss, critics);
        program.see("input/states", now);
        program.scalar("critic_loss", loss);
        program.show_weights(critics);
        program.show_gradients(critics);
        program.update(critics);
        if (step % 2 == 1) {
            Tensor const cost = -value.first(torch::cat({now, policy.forward(now)}, 1)).mean();
            program.clear(actor);
            program.backward(cost, actor);
            program.scalar("actor_loss", cost);
            program.show_weights(actor);
            program.show_gradients(actor);
            program.update(actor);
            follow(policy_target, policy, like.trail);
            follow(value_target, value, like.trail);
        }
        for (auto const& each : policy_target.named_parameters()) {
            program.see("target/actor." + each.key(), each.value(), sp::role::weight);
        }
        for (auto const& each : value_target.named_parameters()) {
            program.see("target/critic." + each.key(), each.value(), sp::role::weight);
        }
        if (in.age == episode) {
            of.scalar("metric/episode_return", lately);
            lately = 0;
            in.begin();
        }
        program.end();
        if (program.evaluates(step)) { of.evaluated((std::min)(2.0, cost_of(policy, scale) / idle)); }
    }
    program.finish();
}

bool const added = add_family(
    {.name = "td3",
     .library = "libtorch",
     .habit = "old experience, two critics, targets that trail; the actor moves at every second step",
     .variants = {"base: Adam", "RMSprop", "slow, longer", "large batch, AdamW", "quick targets, less noise"},
     .faults = usual_faults({fault::raw_inputs, fault::one_net_climbs, fault::dead_biases}),
     .train = train});

}  // namespace

}  // namespace diagnosis
