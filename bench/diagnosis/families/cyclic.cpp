// SPDX-License-Identifier: Apache-2.0
// A small convolutional net with dropout whose rate goes up and down in cycles; shown after the update.
#include "torch_program.hpp"

#include <cmath>

namespace diagnosis {

namespace {

constexpr std::int64_t classes = 8;

struct picture_net : nn::Module {
    nn::Conv2d conv{register_module("features_conv", nn::Conv2d{nn::Conv2dOptions{1, 8, 3}.padding(1)})};
    nn::Linear fc{register_module("classifier_fc", nn::Linear{8 * 16, 24})};
    nn::Linear out{register_module("classifier_out", nn::Linear{24, classes})};

    Tensor forward(Tensor const& x, double dropout, bool training, torch_program* see = nullptr) {
        Tensor const seen = torch::relu(torch::max_pool2d(conv(x), 2));
        Tensor const hidden = torch::relu(fc(torch::dropout(seen.flatten(1), dropout, training)));
        if (see != nullptr) {
            see->see("relu/features", seen, sp::activated_by(sp::activation_kind::relu));
            see->see("relu/classifier", hidden, sp::activated_by(sp::activation_kind::relu));
        }
        return out(torch::dropout(hidden, dropout, training));
    }
};

struct variant {
    optimizer_choice how{torch_method::momentum, 0.1, 5e-4};  // at the top of a cycle
    std::int64_t batch = 16;
    std::uint64_t steps = 400, period = 100;
    double lowest = 0.05, dropout = 0.2;  // of the rate
};

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::adam, 5e-3, 0}},
                                {{torch_method::sgd, 0.2, 0}, 16, 500, 50, 0.1, 0.1},
                                {{torch_method::adamw, 3e-3, 0.05}, 16, 400, 400, 0.01},
                                {{torch_method::nesterov, 0.05, 0}, 8, 600, 200, 0.02, 0},
                                {{torch_method::adam, 1.5e-3, 0}, 16, 500, 100, 0.1, 0.4}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps, pack_choice::supervised, std::log(double(classes))};
    torch_data data = draw_pictures(8, classes, 1500, 0.2);
    spoil(data, of);
    picture_net net;
    program.add(net);
    for (shown_parameter& each : program.parameters()) { each.gradient = each.name + ".grad"; }
    program.optimise(like.how);
    torch_batches order{data.inputs.size(0), like.batch, of.is(fault::same_batch)};
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        double const at = double(step % like.period) / double(like.period);
        program.scale_rate(like.lowest + (1 - like.lowest) * (1 - std::abs(2 * at - 1)));
        Tensor const chosen = order.next();
        Tensor const input = data.inputs.index_select(0, chosen), labels = data.labels.index_select(0, chosen);
        program.begin(step);
        Tensor const logits = net.forward(input, like.dropout, true, &program);
        Tensor const loss = nn::functional::cross_entropy(logits, labels);
        program.clear();
        program.backward(loss);
        program.update();
        program.see("input", input);
        program.see("label", labels);
        program.see("pred", logits, sp::flag::logits);
        program.scalar("train_loss", loss);
        program.show_weights();
        program.show_gradients();
        program.end();
        if (!program.evaluates(step, 10)) { continue; }
        torch::NoGradGuard const guard;
        Tensor const answers = net.forward(data.eval_inputs, 0, false);
        of.evaluated(error_rate(answers, data.eval_labels));
        of.begin(sp::eval(step + 1));
        program.scalar("val_loss", nn::functional::cross_entropy(answers, data.eval_labels));
        of.end();
    }
    program.finish();
}

bool const added = add_family(
    {.name = "cyclic",
     .library = "libtorch",
     .habit = "a rate that goes up and down, dropout; shown after the update",
     .variants = {"base: momentum", "Adam", "plain SGD, short cycles", "AdamW, one cycle", "Nesterov, no dropout",
                  "slow Adam, much dropout"},
     .faults = usual_faults({fault::same_batch, fault::shuffled_labels, fault::raw_inputs, fault::few_samples,
                             fault::imbalanced, fault::dead_biases, fault::noisy_labels}),
     .train = train});

}  // namespace

}  // namespace diagnosis
