// SPDX-License-Identifier: Apache-2.0
// Gradients of four micro batches make one step of the optimizer; the program shows its tensors once a step, or at
// every micro batch.
#include "torch_program.hpp"

#include <cmath>

namespace diagnosis {

namespace {

constexpr std::int64_t pixels = 64, classes = 8;

struct classifier : nn::Module {
    nn::Linear fc1{register_module("fc1", nn::Linear{pixels, 32})}, fc2{register_module("fc2", nn::Linear{32, 32})};
    nn::Linear fc3{register_module("fc3", nn::Linear{32, classes})};

    Tensor forward(Tensor const& x, torch_program* see = nullptr) {
        Tensor const one = torch::relu(fc1(x)), two = torch::relu(fc2(one));
        if (see != nullptr) {
            see->see("relu1_output", one, sp::activated_by(sp::activation_kind::relu));
            see->see("relu2_output", two, sp::activated_by(sp::activation_kind::relu));
        }
        return fc3(two);
    }
};

struct variant {
    optimizer_choice how{torch_method::adam, 2e-3, 0};
    int micro_batches = 4;
    std::int64_t batch = 8;
    std::uint64_t updates = 250;
    bool shows_each = false;  // every micro batch is a step of the hook
};

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::momentum, 0.05, 1e-4}},
                                {{torch_method::adamw, 5e-4, 0.05}, 4, 8, 350},
                                {{torch_method::adam, 2e-3, 0}, 8, 4, 150},
                                {{torch_method::adam, 2e-3, 0}, 4, 8, 200, true},
                                {{torch_method::sgd, 0.2, 0}, 2, 16, 400}};
    variant const& like = variants[of.variant()];
    auto const parts = static_cast<std::uint64_t>(like.micro_batches);
    torch_program program{of, like.shows_each ? parts * like.updates : like.updates, pack_choice::supervised,
                          std::log(double(classes))};
    torch_data data = draw_pictures(8, classes, 1500, 0.2);
    for (Tensor* const each : {&data.inputs, &data.eval_inputs}) { *each = each->reshape({-1, pixels}); }
    spoil(data, of);
    classifier net;
    program.add(net);
    program.optimise(like.how);
    torch_batches order{data.inputs.size(0), like.batch, of.is(fault::same_batch)};
    std::uint64_t index = 0;
    for (std::uint64_t update = 0; update < like.updates; ++update) {
        program.clear();
        double sum = 0;
        for (std::uint64_t part = 0; part < parts; ++part) {
            Tensor const chosen = order.next();
            Tensor const input = data.inputs.index_select(0, chosen), labels = data.labels.index_select(0, chosen);
            bool const shown = like.shows_each || part + 1 == parts;
            if (shown) { program.begin(index++); }
            Tensor const logits = net.forward(input, shown ? &program : nullptr);
            Tensor const loss = nn::functional::cross_entropy(logits, labels) / double(parts);
            program.backward(loss);
            sum += loss.item<double>();
            if (!shown) { continue; }
            program.see("input", input);
            program.see("labels", labels);
            program.see("logits", logits, sp::role::prediction, sp::flag::logits);
            of.scalar("loss", like.shows_each ? loss.item<double>() * double(parts) : sum);
            program.show_weights();
            program.show_gradients();
            program.end();
        }
        program.update();
        if ((update + 1) % (like.updates / 10) != 0) { continue; }
        torch::NoGradGuard const guard;
        Tensor const answers = net.forward(data.eval_inputs);
        of.evaluated(error_rate(answers, data.eval_labels));
        of.begin(sp::eval(index));
        program.scalar("loss", nn::functional::cross_entropy(answers, data.eval_labels));
        of.end();
    }
    program.finish();
}

bool const added = add_family(
    {.name = "accumulation",
     .library = "libtorch",
     .habit = "the gradients of several micro batches make one update",
     .variants = {"base: Adam, 4 of 8 samples", "momentum", "slow AdamW", "8 of 4 samples", "shown at each micro batch",
                  "plain SGD, 2 of 16 samples"},
     .faults = usual_faults({fault::same_batch, fault::shuffled_labels, fault::raw_inputs, fault::few_samples,
                             fault::imbalanced, fault::dead_biases, fault::noisy_labels}),
     .train = train});

}  // namespace

}  // namespace diagnosis
