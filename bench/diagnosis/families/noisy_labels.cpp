// SPDX-License-Identifier: Apache-2.0
// One label in five is wrong, in training and where it is evaluated, and yet it trains well: the loss stays high and
// noisy.
#include "torch_program.hpp"

#include <cmath>

namespace diagnosis {

namespace {

constexpr std::int64_t pixels = 64, classes = 6;

struct classifier : nn::Module {
    nn::Linear linear1{register_module("linear1", nn::Linear{pixels, 24})};
    nn::Linear linear2{register_module("linear2", nn::Linear{24, classes})};

    Tensor forward(Tensor const& x, double dropout, bool training, torch_program* see = nullptr) {
        Tensor const hidden = torch::relu(linear1(x));
        if (see != nullptr) { see->see("relu_output", hidden, sp::activated_by(sp::activation_kind::relu)); }
        return linear2(torch::dropout(hidden, dropout, training));
    }
};

Tensor spoilt(Tensor const& labels) {
    Tensor const others = (labels + torch::randint(1, classes, labels.sizes())).remainder(classes);
    return torch::where(torch::rand(labels.sizes()) < 0.2, others, labels);
}

struct variant {
    optimizer_choice how{torch_method::adam, 2e-3, 0};
    std::int64_t batch = 32;
    std::uint64_t steps = 700;
    double dropout = 0, smoothing = 0;
};

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::momentum, 0.02, 1e-3}},
                                {{torch_method::sgd, 0.1, 0}, 16, 900},
                                {{torch_method::adamw, 2e-3, 0.1}, 32, 700, 0.2},
                                {{torch_method::adam, 3e-4, 0}, 32, 1000},
                                {{torch_method::adam, 2e-3, 1e-4}, 64, 700, 0, 0.1}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps, pack_choice::supervised, std::log(double(classes))};
    torch_data data = draw_pictures(8, classes, 4000, 0.2);
    for (Tensor* const each : {&data.inputs, &data.eval_inputs}) { *each = each->reshape({-1, pixels}); }
    data.labels = spoilt(data.labels);
    Tensor const eval_seen = spoilt(data.eval_labels);
    spoil(data, of);
    classifier net;
    program.add(net);
    program.optimise(like.how);
    auto const how = nn::functional::CrossEntropyFuncOptions{}.label_smoothing(like.smoothing);
    torch_batches order{data.inputs.size(0), like.batch, of.is(fault::same_batch)};
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        Tensor const chosen = order.next();
        Tensor const input = data.inputs.index_select(0, chosen), labels = data.labels.index_select(0, chosen);
        program.begin(step);
        Tensor const logits = net.forward(input, like.dropout, true, &program);
        Tensor const loss = nn::functional::cross_entropy(logits, labels, how);
        program.clear();
        program.backward(loss);
        program.see("input", input);
        program.see("label", labels);
        program.see("pred", logits, sp::flag::logits);
        program.scalar("loss", loss);
        program.show_weights();
        program.show_gradients();
        program.end();
        program.update();
        if (!program.evaluates(step)) { continue; }
        torch::NoGradGuard const guard;
        Tensor const answers = net.forward(data.eval_inputs, 0, false);
        of.evaluated(error_rate(answers, data.eval_labels));
        of.begin(sp::eval(step + 1));
        program.see("label", eval_seen);
        program.see("pred", answers, sp::flag::logits);
        program.scalar("loss", nn::functional::cross_entropy(answers, eval_seen));
        of.end();
    }
    program.finish();
}

bool const added =
    add_family({.name = "noisy_labels",
                .library = "libtorch",
                .habit = "one label in five is wrong: a loss that stays high and noisy, and good answers",
                .variants = {"base: Adam", "momentum", "plain SGD, small batch", "AdamW, dropout", "slow Adam",
                             "smoothed labels, large batch"},
                .faults = usual_faults({fault::same_batch, fault::shuffled_labels, fault::raw_inputs,
                                        fault::few_samples, fault::imbalanced, fault::dead_biases}),
                .train = train});

}  // namespace

}  // namespace diagnosis
