// SPDX-License-Identifier: Apache-2.0
// A body that was trained before, on another task, and a new head: most of it is frozen, or moves slowly.
#include "torch_program.hpp"

#include <cmath>

namespace diagnosis {

namespace {

constexpr std::int64_t pixels = 64, old_classes = 12, new_classes = 6;

struct classifier : nn::Module {
    nn::Linear body1{register_module("body0", nn::Linear{pixels, 32})};
    nn::Linear body2{register_module("body1", nn::Linear{32, 24})};
    nn::Linear head{register_module("head", nn::Linear{24, new_classes})};
    nn::Linear old_head{24, old_classes};  // of the first task; not kept

    Tensor features(Tensor const& x) { return torch::relu(body2(torch::relu(body1(x)))); }
};

enum class habit { flagged_by_torch, last_layer_too, everything, flagged_by_hand };

struct variant {
    habit how = habit::flagged_by_torch;
    optimizer_choice optimizer{torch_method::adam, 3e-3, 0};
    std::int64_t batch = 32;
    std::uint64_t steps = 400;
};

// What the body knows from before.
void learn_before(classifier& net, torch_data const& data) {
    std::vector<Tensor> all = net.parameters();
    for (Tensor const& each : net.old_head->parameters()) { all.push_back(each); }
    torch::optim::Adam by{all, 4e-3};
    torch_batches order{data.inputs.size(0), 32, false};
    for (int i = 0; i < 150; ++i) {
        Tensor const chosen = order.next();
        by.zero_grad();
        Tensor const logits = net.old_head(net.features(data.inputs.index_select(0, chosen)));
        nn::functional::cross_entropy(logits, data.labels.index_select(0, chosen)).backward();
        by.step();
    }
    for (Tensor& each : all) { each.mutable_grad().reset(); }
}

void train(course& of) {
    variant const variants[] = {{},
                                {habit::last_layer_too, {torch_method::adamw, 1e-3, 0.01}},
                                {habit::everything, {torch_method::adam, 3e-4, 0}, 32, 600},
                                {habit::flagged_by_hand, {torch_method::momentum, 0.05, 0}},
                                {habit::flagged_by_torch, {torch_method::momentum, 0.05, 1e-3}, 16, 600},
                                {habit::everything, {torch_method::momentum, 5e-3, 1e-4}, 16, 600}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps, pack_choice::supervised, std::log(double(new_classes))};
    torch_data data = draw_pictures(8, old_classes, 1200, 0.15);
    for (Tensor* const each : {&data.inputs, &data.eval_inputs}) { *each = each->reshape({-1, pixels}); }
    classifier net;
    learn_before(net, data);
    for (Tensor* const each : {&data.labels, &data.eval_labels}) { *each = (*each * 5 + 3).remainder(new_classes); }
    data.classes = new_classes;
    data.inputs = data.inputs.slice(0, 0, 400).contiguous();
    data.labels = data.labels.slice(0, 0, 400).contiguous();
    spoil(data, of);
    bool const by_torch = like.how == habit::flagged_by_torch;
    for (nn::Linear const& each : {net.body1, net.body2}) {
        bool const free = like.how == habit::everything || like.how == habit::flagged_by_hand ||
                          (like.how == habit::last_layer_too && each.get() == net.body2.get());
        for (Tensor& one : each->parameters()) { one.requires_grad_(free); }
    }
    program.add(net);
    // By hand: gradients of the body are there and shown, but the optimizer is not given it.
    std::vector<shown_parameter>& all = program.parameters();
    if (like.how == habit::flagged_by_hand) {
        for (shown_parameter& each : all) {
            each.values.requires_grad_(each.in_last_layer);
            each.flags = each.in_last_layer ? sp::flag::none : sp::flag::frozen;
        }
    }
    program.optimise(like.optimizer);
    if (like.how == habit::flagged_by_hand) {
        for (shown_parameter& each : all) { each.values.requires_grad_(true); }
    }
    torch_batches order{data.inputs.size(0), like.batch, of.is(fault::same_batch)};
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        Tensor const chosen = order.next();
        Tensor const input = data.inputs.index_select(0, chosen), labels = data.labels.index_select(0, chosen);
        program.begin(step);
        Tensor const features = net.features(input);
        Tensor const logits = net.head(features);
        Tensor const loss = nn::functional::cross_entropy(logits, labels);
        program.clear();
        program.backward(loss);
        program.see("input", input);
        program.see("labels", labels);
        program.see("logits", logits, sp::role::prediction, sp::flag::logits);
        if (!by_torch) { program.see("body_output", features, sp::activated_by(sp::activation_kind::relu)); }
        program.scalar("loss", loss);
        program.show_weights();
        program.show_gradients();
        program.end();
        program.update();
        if (!program.evaluates(step, 10)) { continue; }
        torch::NoGradGuard const guard;
        Tensor const answers = net.head(net.features(data.eval_inputs));
        of.evaluated(error_rate(answers, data.eval_labels));
        of.begin(sp::eval(step + 1));
        program.scalar("loss", nn::functional::cross_entropy(answers, data.eval_labels));
        of.end();
    }
    program.finish();
}

bool const added = add_family(
    {.name = "fine_tuning",
     .library = "libtorch",
     .habit = "trained weights and a new head; what is frozen has no gradient, or a flag",
     .variants = {"base: the head alone", "last layer of the body too", "everything, slowly",
                  "frozen by hand, with gradients", "head alone, momentum, small batch", "everything, momentum"},
     .faults = {fault::large_rate, fault::small_rate, fault::zero_rate, fault::climbs, fault::piles_up,
                fault::negated_loss, fault::not_a_number, fault::same_batch, fault::shuffled_labels, fault::raw_inputs,
                fault::few_samples, fault::not_in_optimizer, fault::imbalanced},
     .train = train});

}  // namespace

}  // namespace diagnosis
