// SPDX-License-Identifier: Apache-2.0
// A body with two heads: one has work at every step, the other at every eighth only.
#include "torch_program.hpp"

#include <algorithm>

namespace diagnosis {

namespace {

constexpr std::int64_t features = 10, classes = 5;

struct two_heads : nn::Module {
    nn::Linear body1{register_module("shared1", nn::Linear{features, 32})};
    nn::Linear body2{register_module("shared2", nn::Linear{32, 32})};
    nn::Linear rare{register_module("head_price", nn::Linear{32, 1})};
    nn::Linear usual{register_module("head_kind", nn::Linear{32, classes})};

    Tensor body(Tensor const& x, torch_program* see = nullptr) {
        sp::flag const kind = sp::activated_by(sp::activation_kind::relu);
        Tensor const one = torch::relu(body1(x)), two = torch::relu(body2(one));
        if (see != nullptr) {
            see->see("shared1_output", one, kind);
            see->see("shared2_output", two, kind);
        }
        return two;
    }
};

struct variant {
    optimizer_choice how{torch_method::adam, 2e-3, 0};
    std::int64_t batch = 32;
    std::uint64_t steps = 600, every = 8;
    bool forgets = false;  // gradients that nothing computed are not there, instead of zero
};

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::momentum, 0.01, 1e-4}},
                                {{torch_method::adam, 2e-3, 0}, 32, 600, 8, true},
                                {{torch_method::sgd, 0.1, 0}, 32, 900, 8, true},
                                {{torch_method::adamw, 5e-4, 0.01}, 32, 900, 4},
                                {{torch_method::adamw, 2e-3, 0.01}, 16, 800, 16}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps};  // of two losses there is no one number that guessing costs
    Tensor const centres = 1.6 * torch::randn({classes, features}), slopes = torch::randn({features}) / 3;
    auto const draw = [&](std::int64_t count, Tensor& inputs, Tensor& labels, Tensor& prices) {
        labels = torch::randint(classes, {count}, torch::kLong);
        inputs = (centres.index_select(0, labels) + torch::randn({count, features})) / 2;
        prices = torch::tanh((inputs * slopes).sum(1)) + 0.05 * torch::randn({count});
    };
    torch_data data;
    Tensor prices, eval_prices;
    draw(3000, data.inputs, data.labels, prices);
    draw(500, data.eval_inputs, data.eval_labels, eval_prices);
    data.classes = classes;
    double const spread = eval_prices.var().item<double>();
    spoil(data, of);
    two_heads net;
    program.add(net);
    program.optimise(like.how);
    torch_batches order{data.inputs.size(0), like.batch, of.is(fault::same_batch)};
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        Tensor const chosen = order.next();
        Tensor const input = data.inputs.index_select(0, chosen), labels = data.labels.index_select(0, chosen);
        bool const both = step % like.every == 0;
        program.begin(step);
        Tensor const inner = net.body(input, &program);
        Tensor const logits = net.usual(inner);
        Tensor const kind_loss = nn::functional::cross_entropy(logits, labels);
        Tensor loss = kind_loss;
        program.scalar("kind_loss", kind_loss);
        if (both) {
            Tensor const price_loss = torch::mse_loss(net.rare(inner).squeeze(1), prices.index_select(0, chosen));
            program.scalar("price_loss", price_loss);
            loss = loss + price_loss;
        }
        program.clear();
        if (like.forgets && !of.is(fault::piles_up)) {
            for (Tensor& each : net.parameters()) { each.mutable_grad().reset(); }
        }
        program.backward(loss);
        program.see("input", input);
        program.see("labels/kind", labels);
        program.see("pred/kind", logits, sp::flag::logits);
        program.show_weights();
        program.show_gradients();
        program.end();
        program.update();
        if (!program.evaluates(step, 10)) { continue; }
        torch::NoGradGuard const guard;
        Tensor const seen = net.body(data.eval_inputs);
        double const gap = torch::mse_loss(net.rare(seen).squeeze(1), eval_prices).item<double>();
        double const wrong = error_rate(net.usual(seen), data.eval_labels);
        of.evaluated(0.5 * wrong + 0.5 * (std::min)(1.0, gap / spread));
    }
    program.finish();
}

bool const added = add_family({.name = "multi_task",
                               .library = "libtorch",
                               .habit = "two heads with a loss each; one rests for seven steps of eight",
                               .variants = {"base: Adam", "momentum", "gradients dropped, Adam",
                                            "gradients dropped, plain SGD", "slow AdamW", "rarer, small batch"},
                               .faults = usual_faults({fault::same_batch, fault::shuffled_labels, fault::raw_inputs,
                                                       fault::dead_biases, fault::noisy_labels}),
                               .train = train});

}  // namespace

}  // namespace diagnosis
