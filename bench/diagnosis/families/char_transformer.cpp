// SPDX-License-Identifier: Apache-2.0
// A small language model: tokens as frequent as in texts are the labels, the optimizer warms up, gradients are clipped.
#include "../../../examples/common/prng.hpp"
#include "torch_program.hpp"

#include <cmath>

namespace diagnosis {

namespace {

constexpr std::int64_t vocabulary = 24, context = 8, width = 20, heads = 2;

struct block_impl : nn::Module {
    nn::LayerNorm norm1{register_module("ln_1", nn::LayerNorm{nn::LayerNormOptions{{width}}})};
    nn::Linear qkv{register_module("c_attn", nn::Linear{width, 3 * width})};
    nn::Linear projection{register_module("c_proj", nn::Linear{width, width})};
    nn::LayerNorm norm2{register_module("ln_2", nn::LayerNorm{nn::LayerNormOptions{{width}}})};
    nn::Linear up{register_module("c_fc", nn::Linear{width, 2 * width})};
    nn::Linear down{register_module("c_out", nn::Linear{2 * width, width})};

    Tensor forward(Tensor x, double dropout, bool training, torch_program* see, std::string const& name) {
        std::int64_t const samples = x.size(0);
        auto const split = qkv(norm1(x)).view({samples, context, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
        Tensor const scores = torch::matmul(split[0], split[1].transpose(-2, -1)) / std::sqrt(double(width / heads));
        Tensor const later = torch::ones({context, context}, torch::kBool).triu(1);
        Tensor const weights = torch::softmax(scores.masked_fill(later, -1e9), -1);
        Tensor mixed = torch::matmul(weights, split[2]).transpose(1, 2).reshape({samples, context, width});
        x = x + torch::dropout(projection(mixed), dropout, training);
        Tensor const inner = torch::gelu(up(norm2(x)));
        if (see != nullptr) { see->see(name + ".gelu_output", inner, sp::role::activation); }
        return x + torch::dropout(down(inner), dropout, training);
    }
};
TORCH_MODULE_IMPL(block, block_impl);

struct language_model : nn::Module {
    nn::Embedding tokens{register_module("wte", nn::Embedding{vocabulary, width})};
    nn::Embedding places{register_module("wpe", nn::Embedding{context, width})};
    block first{register_module("h0", block{})};
    nn::LayerNorm norm{register_module("ln_f", nn::LayerNorm{nn::LayerNormOptions{{width}}})};
    nn::Linear head{register_module("lm_head", nn::Linear{nn::LinearOptions{width, vocabulary}.bias(false)})};

    Tensor forward(Tensor const& ids, double dropout, bool training, torch_program* see = nullptr) {
        Tensor x = tokens(ids) + places(torch::arange(context));
        return head(norm(first->forward(x, dropout, training, see, "h0"))).view({-1, vocabulary});
    }
};

// Texts of a fixed language: the next token mostly follows from the last two, else it is drawn by its rank (Zipf's
// law).
Tensor write_text(std::int64_t length, example::prng& random) {
    example::prng fixed{31};
    std::vector<double> upto;
    double sum = 0;
    for (std::int64_t i = 1; i <= vocabulary; ++i) { upto.push_back(sum += 1.0 / static_cast<double>(i)); }
    auto const draw = [&](example::prng& from) {
        double const at = sum * static_cast<double>(from.uniform());
        return static_cast<std::int64_t>(std::upper_bound(upto.begin(), upto.end() - 1, at) - upto.begin());
    };
    std::vector<std::int64_t> follows;
    for (std::int64_t i = 0; i < 2 * vocabulary; ++i) { follows.push_back(draw(fixed)); }
    std::vector<std::int64_t> text{0, 0};
    while (static_cast<std::int64_t>(text.size()) < length) {
        std::int64_t const last = text.back(), before = text[text.size() - 2];
        bool const ruled = random.uniform() < 0.75F;
        text.push_back(ruled ? follows[static_cast<std::size_t>(2 * last + before % 2)] : draw(random));
    }
    return torch::tensor(text, torch::kLong);
}

struct variant {
    optimizer_choice how{torch_method::adamw, 4e-3, 0.01};
    std::int64_t batch = 12;
    std::uint64_t steps = 300;
    double dropout = 0;
    bool decays = false;
};

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::adam, 3e-3, 0}, 12, 300, 0, true},
                                {{torch_method::momentum, 0.1, 0}, 12, 300},
                                {{torch_method::adamw, 8e-4, 0.1}, 12, 400},
                                {{torch_method::adamw, 3e-3, 0.01}, 6, 400, 0.1},
                                {{torch_method::adamw, 4e-3, 0.01}, 12, 500, 0, true}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps, pack_choice::supervised, std::log(double(vocabulary))};
    example::prng random{of.seed() + 1};
    Tensor const text = write_text(6000, random), other = write_text(64 * context + 1, random);
    Tensor answers = text.slice(0, 1);
    if (of.is(fault::shuffled_labels)) { answers = answers.index_select(0, torch::randperm(answers.size(0))); }
    language_model net;
    program.add(net);
    program.optimise(like.how);
    Tensor starts;
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        double const warm = (std::min)(1.0, double(step + 1) / 30.0), done = double(step) / double(like.steps);
        program.scale_rate(like.decays ? warm * (0.5 + 0.5 * std::cos(3.14159 * done)) : warm);
        if (!of.is(fault::same_batch) || step == 0) { starts = torch::randint(5990 - context, {like.batch, 1}); }
        Tensor const places = starts + torch::arange(context);
        Tensor const ids = text.index({places}), labels = answers.index({places}).view(-1);
        program.begin(step);
        Tensor const logits = net.forward(ids, like.dropout, true, &program);
        Tensor const loss = nn::functional::cross_entropy(logits, labels);
        program.clear();
        program.backward(loss);
        program.see("input_ids", ids, sp::role::input);
        program.see("labels", labels);
        program.see("logits", logits, sp::role::prediction, sp::flag::logits);
        program.scalar("loss", loss);
        program.show_weights();
        program.show_gradients();
        program.end();
        program.clip(1.0);
        program.update();
        if (!program.evaluates(step, 10)) { continue; }
        torch::NoGradGuard const guard;
        Tensor const seen = other.slice(0, 0, 64 * context).view({64, context}), next = other.slice(0, 1);
        Tensor const left = nn::functional::cross_entropy(net.forward(seen, 0, false), next);
        of.evaluated(left.item<double>() / std::log(double(vocabulary)));
        of.begin(sp::eval(step + 1));
        program.scalar("loss", left);
        of.end();
    }
    program.finish();
}

bool const added =
    add_family({.name = "char_transformer",
                .library = "libtorch",
                .habit = "a language model: frequent and rare tokens as labels, warm-up, clipped gradients",
                .variants = {"base: AdamW, warm-up", "Adam, cosine", "momentum", "slow, more decay",
                             "small batch, dropout", "long, cosine"},
                .faults = usual_faults({fault::same_batch, fault::shuffled_labels}),
                .train = train});

}  // namespace

}  // namespace diagnosis
