// SPDX-License-Identifier: Apache-2.0
// Proximal policy optimisation in epochs of minibatches: 32 updates an iteration, on what was lived before them; actor
// and critic have an optimizer each (Schulman et al. 2017).
#include "../../../examples/cartpole/physics.hpp"
#include "torch_program.hpp"

#include <cmath>

namespace diagnosis {

namespace {

constexpr std::int64_t carts = 8, horizon = 32, lived = carts * horizon;
constexpr std::size_t actor = 0, critic = 1;
constexpr double good_return = 150;  // steps balanced, of a policy that counts as perfect here

struct perceptron : nn::Module {
    nn::Linear fc1{register_module("fc1", nn::Linear{4, 24})}, fc2{register_module("fc2", nn::Linear{24, 24})};
    nn::Linear out{nullptr};
    explicit perceptron(std::int64_t results) { out = register_module("out", nn::Linear{24, results}); }
    Tensor forward(Tensor const& x) { return out(torch::tanh(fc2(torch::tanh(fc1(x))))); }
};

struct variant {
    optimizer_choice how{torch_method::adam, 4e-4, 0};
    std::int64_t batch = 32;  // of a minibatch
    int epochs = 4;
    double entropy = 0.01, largest_norm = 0.5;
    std::uint64_t iterations = 28;
    bool anneals = false;
};

class world {
public:
    world(std::uint64_t seed, double scale) : random_{seed}, scale_{scale}, poles_(carts) {
        for (auto& each : poles_) { each.reset(random_); }
    }
    [[nodiscard]] Tensor look() const {
        std::vector<float> seen;
        for (auto const& each : poles_) {
            for (float const x : each.observation()) { seen.push_back(x * static_cast<float>(scale_)); }
        }
        return torch::tensor(seen).view({carts, 4});
    }
    // What each cart earned, and whether its episode ended.
    void push(Tensor const& actions, Tensor& rewards, Tensor& going) {
        rewards = torch::ones({carts});
        going = torch::ones({carts});
        for (std::int64_t c = 0; c < carts; ++c) {
            auto& pole = poles_[static_cast<std::size_t>(c)];
            auto const action = static_cast<std::size_t>(actions[c].item<std::int64_t>());
            if (pole.step(action) == cartpole::outcome::running) { continue; }
            returns.push_back(static_cast<float>(pole.steps()));
            going[c] = 0;
            pole.reset(random_);
        }
    }
    std::vector<float> returns{};  // of episodes that ended

private:
    example::prng random_;
    double scale_;
    std::vector<cartpole::cart_pole> poles_;
};

struct memory {
    Tensor seen, actions, chances, advantages, targets;
    double explained = 0;
};

memory live(world& in, perceptron& policy, perceptron& value) {
    torch::NoGradGuard const guard;
    std::vector<Tensor> seen, actions, chances, rewards(horizon), going(horizon), values;
    for (std::size_t t = 0; t < static_cast<std::size_t>(horizon); ++t) {
        seen.push_back(in.look());
        Tensor const logs = torch::log_softmax(policy.forward(seen.back()), 1);
        bool const sane = torch::isfinite(logs).all().item<bool>();
        actions.push_back(sane ? torch::multinomial(logs.exp(), 1).squeeze(1) : torch::zeros({carts}, torch::kLong));
        chances.push_back(logs.gather(1, actions.back().unsqueeze(1)).squeeze(1));
        values.push_back(value.forward(seen.back()).squeeze(1));
        in.push(actions.back(), rewards[t], going[t]);
    }
    Tensor next = value.forward(in.look()).squeeze(1), trace = torch::zeros({carts});
    std::vector<Tensor> advantages(horizon);
    for (std::size_t t = static_cast<std::size_t>(horizon); t-- > 0;) {
        Tensor const surprise = 0.02 * rewards[t] + 0.98 * going[t] * next - values[t];
        advantages[t] = trace = surprise + 0.98 * 0.95 * going[t] * trace;
        next = values[t];
    }
    memory made{torch::cat(seen), torch::cat(actions), torch::cat(chances), torch::cat(advantages), {}};
    made.targets = made.advantages + torch::cat(values);
    made.explained = 1 - made.advantages.var().item<double>() / (made.targets.var().item<double>() + 1e-12);
    made.advantages = (made.advantages - made.advantages.mean()) / (made.advantages.std() + 1e-8);
    return made;
}

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::adam, 7e-4, 0}, 32, 4, 0.01, 0.5, 28, true},
                                {{torch_method::rmsprop, 7e-4, 0}, 32, 4, 0, 0.5, 28},
                                {{torch_method::adamw, 5e-4, 0.01}, 64, 6, 0.01, 0.5, 32},
                                {{torch_method::adam, 4e-4, 0}, 32, 4, 0.03, 5, 28}};
    variant const& like = variants[of.variant()];
    auto const updates = static_cast<std::uint64_t>(like.epochs * lived / like.batch);
    torch_program program{of, updates * like.iterations, pack_choice::rl, cartpole::action_count};
    perceptron policy{2}, value{1};
    program.add(policy, "actor.");
    program.add(value, "critic.");
    program.optimise(like.how);
    world in{of.seed(), of.is(fault::raw_inputs) ? 255.0 : 1.0};
    torch_batches order{lived, like.batch, false};
    memory past;
    for (std::uint64_t step = 0; step < program.steps(); ++step) {
        bool const fresh = step % updates == 0;
        if (like.anneals) { program.scale_rate(1 - double(step) / double(program.steps())); }
        if (fresh) {
            in.returns.clear();
            past = live(in, policy, value);
        }
        Tensor const chosen = order.next();
        auto const taken = [&](Tensor const& from) { return from.index_select(0, chosen); };
        Tensor const seen = taken(past.seen), advantages = taken(past.advantages);
        Tensor const logs = torch::log_softmax(policy.forward(seen), 1);
        Tensor const gap = logs.gather(1, taken(past.actions).unsqueeze(1)).squeeze(1) - taken(past.chances);
        Tensor const ratio = gap.exp(), entropy = -(logs * logs.exp()).sum(1).mean();
        Tensor const gain = torch::min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean();
        Tensor const actor_loss = -gain - like.entropy * entropy;
        Tensor const critic_loss = torch::mse_loss(value.forward(seen).squeeze(1), taken(past.targets));
        program.begin(step);
        program.clear();
        program.backward(actor_loss, actor);
        program.backward(critic_loss, critic);
        program.see("input/observation", seen);
        program.scalar("actor_loss", actor_loss);
        program.scalar("critic_loss", critic_loss);
        program.scalar("metric/entropy", entropy);
        program.scalar("metric/approx_kl", (ratio - 1 - gap).mean());
        program.scalar("metric/clip_fraction", ((ratio - 1).abs() > 0.2).to(torch::kFloat).mean());
        if (fresh) {
            of.scalar("metric/explained_variance", past.explained);
            for (float const each : in.returns) { of.scalar("metric/episode_return", static_cast<double>(each)); }
        }
        program.show_weights();
        program.show_gradients();
        program.end();
        program.clip(like.largest_norm, actor);
        program.clip(like.largest_norm, critic);
        program.update();
        if (!fresh) { continue; }
        double sum = 0;
        for (float const each : in.returns) { sum += static_cast<double>(each); }
        // Where hardly an episode ends, carts stay upright for as long as they were watched.
        double const mean =
            in.returns.empty() ? good_return : (std::max)(sum, double(lived)) / double(in.returns.size());
        of.evaluated((std::max)(0.0, 1 - mean / good_return));
    }
    program.finish();
}

bool const added =
    add_family({.name = "ppo",
                .library = "libtorch",
                .habit = "32 updates on what was lived before; actor and critic with an optimizer each; metrics",
                .variants = {"base: Adam", "rate to zero", "RMSprop, no entropy bonus", "6 epochs, AdamW",
                             "more entropy, hardly clipped"},
                .faults = usual_faults({fault::raw_inputs, fault::one_net_climbs}),
                .train = train});

}  // namespace

}  // namespace diagnosis
