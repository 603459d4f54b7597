// SPDX-License-Identifier: Apache-2.0
// A recommender of a kind: who clicks what, from embeddings whose rows are seen as often as in life, most of them
// hardly ever.
#include "torch_program.hpp"

#include <cmath>

namespace diagnosis {

namespace {

constexpr std::int64_t users = 120, items = 80, width = 8;

struct recommender : nn::Module {
    nn::Embedding user{register_module("user_embedding", nn::Embedding{users, width})};
    nn::Embedding item{register_module("item_embedding", nn::Embedding{items, width})};
    nn::Linear hidden{register_module("dense", nn::Linear{2 * width, 16})},
        out{register_module("out", nn::Linear{16, 1})};

    Tensor forward(Tensor const& who, Tensor const& what) {
        return out(torch::relu(hidden(torch::cat({user(who), item(what)}, 1)))).squeeze(1);
    }
};

// Ids by rank, the first ones most often (Zipf's law).
Tensor draw_ids(std::int64_t kinds, std::int64_t count) {
    Tensor const weights = 1.0 / (torch::arange(kinds, torch::kFloat) + 4);
    return torch::multinomial(weights, count, true);
}

struct variant {
    optimizer_choice how{torch_method::adam, 0.01, 0};
    std::int64_t batch = 64;
    std::uint64_t steps = 500;
    bool flagged = true;  // the user says that rows may rest
};

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::adagrad, 0.15, 0}, 64, 700},
                                {{torch_method::sgd, 1.5, 0}, 64, 1200},
                                {{torch_method::adam, 3e-3, 0}, 64, 1000},
                                {{torch_method::adamw, 0.01, 0.01}, 32, 700},
                                {{torch_method::adam, 0.01, 0}, 64, 500, false}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps, pack_choice::supervised, std::log(2.0)};
    Tensor const taste = torch::randn({users, 2}), kind = torch::randn({items, 2});
    auto const draw = [&](std::int64_t count, Tensor& inputs, Tensor& labels) {
        inputs = torch::stack({draw_ids(users, count), draw_ids(items, count)}, 1);
        Tensor const fits =
            (taste.index_select(0, inputs.select(1, 0)) * kind.index_select(0, inputs.select(1, 1))).sum(1);
        labels = (torch::sigmoid(4 * fits) > torch::rand({count})).to(torch::kFloat);
    };
    torch_data data;
    draw(6000, data.inputs, data.labels);
    draw(800, data.eval_inputs, data.eval_labels);
    spoil(data, of);
    recommender net;
    program.add(net);
    for (shown_parameter& each : program.parameters()) {
        if (like.flagged && each.name.find("embedding") != each.name.npos) { each.flags = sp::flag::sparse_rows; }
    }
    program.optimise(like.how);
    torch_batches order{data.inputs.size(0), like.batch, of.is(fault::same_batch)};
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        Tensor const chosen = order.next();
        Tensor const pairs = data.inputs.index_select(0, chosen), labels = data.labels.index_select(0, chosen);
        program.begin(step);
        Tensor const logits = net.forward(pairs.select(1, 0), pairs.select(1, 1));
        Tensor const loss = torch::binary_cross_entropy_with_logits(logits, labels);
        program.clear();
        program.backward(loss);
        program.see("ids", pairs, sp::role::other);
        program.see("label", labels);
        program.see("pred", torch::sigmoid(logits));
        program.scalar("loss", loss);
        program.show_weights();
        program.show_gradients();
        program.end();
        program.update();
        if (!program.evaluates(step, 10)) { continue; }
        torch::NoGradGuard const guard;
        Tensor const answers = net.forward(data.eval_inputs.select(1, 0), data.eval_inputs.select(1, 1));
        Tensor const left = torch::binary_cross_entropy_with_logits(answers, data.eval_labels);
        of.evaluated(
            (std::min)(1.5, 2 * ((answers > 0) != (data.eval_labels > 0.5)).to(torch::kDouble).mean().item<double>()));
        of.begin(sp::eval(step + 1));
        program.scalar("loss", left);
        of.end();
    }
    program.finish();
}

bool const added = add_family(
    {.name = "embeddings",
     .library = "libtorch",
     .habit = "large embeddings, most of whose rows rest at a step; one output",
     .variants = {"base: Adam", "Adagrad", "plain SGD", "slow Adam", "AdamW, small batch", "rows not flagged"},
     .faults = usual_faults({fault::same_batch, fault::shuffled_labels, fault::few_samples, fault::dead_biases}),
     .train = train});

}  // namespace

}  // namespace diagnosis
