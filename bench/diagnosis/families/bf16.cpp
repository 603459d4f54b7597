// SPDX-License-Identifier: Apache-2.0
// A net in bf16 whose weights are rounded from a master copy in f32; the loss is scaled. Its user shows the net:
// weights and gradients in bf16, as they are.
#include "torch_program.hpp"

#include <cmath>

namespace diagnosis {

namespace {

constexpr std::int64_t pixels = 64, classes = 8;

struct classifier : nn::Module {
    nn::Linear fc1{register_module("fc1", nn::Linear{pixels, 24})},
        fc2{register_module("fc2", nn::Linear{24, classes})};
    Tensor forward(Tensor const& x) { return fc2(torch::relu(fc1(x))); }
};

struct variant {
    optimizer_choice how{torch_method::adam, 2e-4, 0};
    std::int64_t batch = 16;
    std::uint64_t steps = 1000;
    double loss_scale = 128;
    bool unscaled = false;  // gradients are shown after the scale was taken out
    bool shows_master = false;
};

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::adamw, 1e-3, 0.01}, 16, 500},
                                {{torch_method::momentum, 5e-3, 0}, 16, 800},
                                {{torch_method::adam, 5e-4, 0}, 32, 600, 1024, true},
                                {{torch_method::adam, 1e-3, 1e-4}, 8, 700, 1},
                                {{torch_method::adamw, 1e-3, 0.01}, 16, 600, 128, true, true}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps, pack_choice::supervised, std::log(double(classes))};
    torch_data data = draw_pictures(8, classes, 1500, 0.15);
    for (Tensor* const each : {&data.inputs, &data.eval_inputs}) { *each = each->reshape({-1, pixels}); }
    spoil(data, of);
    classifier net, master;
    bool const without_master = of.is(fault::precision);
    program.add(master);
    net.to(torch::kBFloat16);
    std::vector<Tensor> rounded = net.parameters();
    std::vector<shown_parameter>& all = program.parameters();
    program.optimise(like.how);
    for (std::size_t i = 0; i < all.size(); ++i) { rounded[i].requires_grad_(all[i].values.requires_grad()); }
    auto const round = [&] {
        torch::NoGradGuard const guard;
        for (std::size_t i = 0; i < all.size(); ++i) {
            rounded[i].copy_(all[i].values);
            if (without_master) { all[i].values.copy_(rounded[i]); }
        }
    };
    round();
    torch_batches order{data.inputs.size(0), like.batch, of.is(fault::same_batch)};
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        Tensor const chosen = order.next(), labels = data.labels.index_select(0, chosen);
        Tensor const input = data.inputs.index_select(0, chosen).to(torch::kBFloat16);
        program.begin(step);
        Tensor const logits = net.forward(input);
        Tensor const loss = nn::functional::cross_entropy(logits.to(torch::kFloat), labels);
        if (!of.is(fault::piles_up)) { net.zero_grad(); }
        (loss * (of.is(fault::negated_loss) ? -like.loss_scale : like.loss_scale)).backward();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!rounded[i].grad().defined()) { continue; }
            all[i].values.mutable_grad() = rounded[i].grad().to(torch::kFloat) / like.loss_scale;
        }
        program.spoil_gradients();
        for (std::size_t i = 0; i < all.size(); ++i) {
            shown_parameter const& each = all[i];
            program.see(each.name, like.shows_master ? each.values : rounded[i], each.what, each.flags);
            if (!each.values.grad().defined()) { continue; }
            Tensor const shown = each.values.grad() * (like.unscaled ? 1.0 : like.loss_scale);
            program.see(each.gradient, like.shows_master ? shown : shown.to(torch::kBFloat16), sp::role::gradient);
        }
        program.see("input", input);
        program.see("labels", labels);
        program.see("logits", logits, sp::role::prediction, sp::flag::logits);
        program.scalar("loss", loss);
        of.scalar("metric/loss_scale", like.loss_scale);
        program.end();
        program.update();
        round();
        if (!program.evaluates(step, 10)) { continue; }
        torch::NoGradGuard const guard;
        Tensor const answers = net.forward(data.eval_inputs.to(torch::kBFloat16)).to(torch::kFloat);
        of.evaluated(error_rate(answers, data.eval_labels));
        of.begin(sp::eval(step + 1));
        program.scalar("loss", nn::functional::cross_entropy(answers, data.eval_labels));
        of.end();
    }
    program.finish();
}

bool const added = add_family({.name = "bf16",
                               .library = "libtorch",
                               .habit = "bf16 weights and scaled gradients are shown; a master copy in f32 is updated",
                               .variants = {"base: small steps of Adam", "AdamW", "momentum", "shown unscaled",
                                            "small batch, no scale", "the master copy is shown"},
                               .faults = usual_faults({fault::precision, fault::same_batch, fault::shuffled_labels,
                                                       fault::raw_inputs, fault::few_samples, fault::dead_biases}),
                               .train = train});

}  // namespace

}  // namespace diagnosis
