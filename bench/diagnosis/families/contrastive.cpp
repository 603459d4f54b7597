// SPDX-License-Identifier: Apache-2.0
// Contrastive learning: two views of each sample must find one another in the batch (InfoNCE); nothing is labelled.
#include "torch_program.hpp"

#include <cmath>

namespace diagnosis {

namespace {

constexpr std::int64_t features = 16;

struct encoder : nn::Module {
    nn::Linear hidden{register_module("backbone", nn::Linear{features, 32})};
    nn::Linear projection{register_module("projector", nn::Linear{32, 8})};

    Tensor forward(Tensor const& x, torch_program* see = nullptr) {
        Tensor const inner = torch::relu(hidden(x));
        if (see != nullptr) { see->see("backbone_output", inner, sp::activated_by(sp::activation_kind::relu)); }
        return nn::functional::normalize(projection(inner));
    }
};

// What a sample is, seen through noise and with some features hidden.
Tensor look(Tensor const& x) { return (x + 0.25 * torch::randn_like(x)) * (torch::rand_like(x) > 0.1); }

struct variant {
    optimizer_choice how{torch_method::adam, 2e-3, 0};
    std::int64_t batch = 32;
    std::uint64_t steps = 500;
    double temperature = 0.2;
    bool both_ways = false;
};

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::momentum, 0.1, 0}, 32, 500},
                                {{torch_method::adamw, 5e-4, 0.05}, 32, 800},
                                {{torch_method::adam, 2e-3, 0}, 16, 700, 0.5},
                                {{torch_method::adam, 2e-3, 1e-4}, 48, 400, 0.1, true},
                                {{torch_method::rmsprop, 1e-3, 0}, 32, 800, 0.2, true}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps, pack_choice::supervised, std::log(double(like.batch))};
    double const scale = of.is(fault::raw_inputs) ? 255 : 1;
    // Few causes mixed into many features: what a good code keeps.
    Tensor const mixing = torch::randn({5, features});
    Tensor const samples = torch::tanh(torch::randn({2000, 5}).mm(mixing) * 0.6) * 1.5;
    Tensor const others = torch::tanh(torch::randn({64, 5}).mm(mixing) * 0.6) * 1.5;
    Tensor const one = scale * look(others), two = scale * look(others), own = torch::arange(64);
    encoder net;
    program.add(net);
    program.optimise(like.how);
    torch_batches order{of.is(fault::few_samples) ? 20 : 2000, like.batch, of.is(fault::same_batch)};
    Tensor view1, view2;
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        Tensor const chosen = samples.index_select(0, order.next());
        if (!of.is(fault::same_batch) || step == 0) {
            view1 = scale * look(chosen);
            view2 = scale * look(chosen);
        }
        Tensor const labels = torch::arange(chosen.size(0));
        program.begin(step);
        Tensor const logits = net.forward(view1, &program).mm(net.forward(view2).t()) / like.temperature;
        Tensor loss = nn::functional::cross_entropy(logits, labels);
        if (like.both_ways) { loss = (loss + nn::functional::cross_entropy(logits.t(), labels)) / 2; }
        program.clear();
        program.backward(loss);
        program.see("input/view1", view1);
        program.see("input/view2", view2);
        program.scalar("loss", loss);
        program.show_weights();
        program.show_gradients();
        program.end();
        program.update();
        if (!program.evaluates(step, 10)) { continue; }
        torch::NoGradGuard const guard;
        of.evaluated(error_rate(net.forward(one).mm(net.forward(two).t()), own));
    }
    program.finish();
}

bool const added =
    add_family({.name = "contrastive",
                .library = "libtorch",
                .habit = "two views of each sample, a loss among the batch, nothing labelled or predicted",
                .variants = {"base: Adam", "momentum", "slow AdamW", "small batch, warm temperature",
                             "cold temperature, both ways", "RMSprop, long"},
                .faults = usual_faults({fault::same_batch, fault::raw_inputs, fault::few_samples, fault::dead_biases}),
                .train = train});

}  // namespace

}  // namespace diagnosis
