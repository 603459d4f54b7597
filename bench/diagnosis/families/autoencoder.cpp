// SPDX-License-Identifier: Apache-2.0
// An autoencoder, with names as Keras gives them; what goes in is what should come out, and nobody shows a label.
#include "torch_program.hpp"

namespace diagnosis {

namespace {

constexpr std::int64_t pixels = 64;

struct autoencoder : nn::Module {
    nn::Linear encode1{register_module("dense", nn::Linear{pixels, 32})};
    nn::Linear encode2{register_module("dense_1", nn::Linear{32, 8})};
    nn::Linear decode1{register_module("dense_2", nn::Linear{8, 32})};
    nn::Linear decode2{register_module("dense_3", nn::Linear{32, pixels})};

    Tensor encode(Tensor const& x, torch_program* see) {
        Tensor const hidden = torch::relu(encode1(x));
        if (see != nullptr) {
            see->see("dense/Relu:0", hidden, sp::role::activation, sp::activated_by(sp::activation_kind::relu));
        }
        return encode2(hidden);
    }
    Tensor decode(Tensor const& code, torch_program* see) {
        Tensor const hidden = torch::relu(decode1(code));
        if (see != nullptr) {
            see->see("dense_2/Relu:0", hidden, sp::role::activation, sp::activated_by(sp::activation_kind::relu));
        }
        return decode2(hidden);
    }
};

struct variant {
    optimizer_choice how{torch_method::adam, 2e-3, 0};
    std::int64_t batch = 32;
    std::uint64_t steps = 600;
    double noise = 0, sparse = 0;
};

std::string keras_name(std::string const& name) {
    bool const bias = name.find("bias") != name.npos;
    return name.substr(0, name.find('.')) + (bias ? "/bias:0" : "/kernel:0");
}

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::momentum, 0.3, 0}, 32, 1000},
                                {{torch_method::rmsprop, 1e-3, 0}, 32, 600},
                                {{torch_method::adam, 4e-4, 0}, 32, 900},
                                {{torch_method::adam, 2e-3, 0}, 16, 800, 0.3},
                                {{torch_method::adamw, 2e-3, 0.01}, 64, 600, 0, 1e-3}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps};
    torch_data data = draw_pictures(8, 6, 1500, 0.05);
    data.inputs = data.inputs.reshape({-1, pixels});
    data.eval_inputs = data.eval_inputs.reshape({-1, pixels});
    spoil(data, of);
    double const spread = torch::square(data.eval_inputs - data.eval_inputs.mean(0)).mean().item<double>();
    autoencoder net;
    program.add(net);
    for (shown_parameter& each : program.parameters()) {
        each.name = keras_name(each.name);
        each.gradient = "gradients/" + each.name;
    }
    program.optimise(like.how);
    torch_batches order{data.inputs.size(0), like.batch, of.is(fault::same_batch)};
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        Tensor const clean = data.inputs.index_select(0, order.next());
        Tensor const input = like.noise > 0 ? clean + like.noise * torch::randn_like(clean) : clean;
        program.begin(step);
        Tensor const code = net.encode(input, &program);
        Tensor const output = net.decode(code, &program);
        Tensor loss = torch::mse_loss(output, clean);
        if (like.sparse > 0) { loss = loss + like.sparse * code.abs().mean(); }
        program.clear();
        program.backward(loss);
        program.see("input_1:0", input, sp::role::input);
        program.see("dense_3/BiasAdd:0", output, sp::role::prediction);
        program.scalar("loss", loss);
        program.show_weights();
        program.show_gradients();
        program.end();
        program.update();
        if (!program.evaluates(step, 10)) { continue; }
        torch::NoGradGuard const guard;
        Tensor const rebuilt = net.decode(net.encode(data.eval_inputs, nullptr), nullptr);
        Tensor const left = torch::mse_loss(rebuilt, data.eval_inputs);
        of.evaluated(left.item<double>() / spread);
        of.begin(sp::eval(step + 1));
        program.scalar("loss", left);
        of.end();
    }
    program.finish();
}

bool const added =
    add_family({.name = "autoencoder",
                .library = "libtorch",
                .habit = "names as Keras gives them, roles said; no labels",
                .variants = {"base: Adam", "momentum, long", "RMSprop", "slow Adam", "denoising, small batch",
                             "sparse code, AdamW"},
                .faults = usual_faults({fault::same_batch, fault::raw_inputs, fault::few_samples, fault::dead_biases}),
                .train = train});

}  // namespace

}  // namespace diagnosis
