// SPDX-License-Identifier: Apache-2.0
// A small residual net with batch normalisation; the rate follows a cosine that restarts.
#include "torch_program.hpp"

#include <cmath>

namespace diagnosis {

namespace {

nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t stride) {
    return nn::Conv2d{nn::Conv2dOptions{in, out, 3}.stride(stride).padding(1).bias(false)};
}

struct residual_impl : nn::Module {
    nn::Conv2d conv1{nullptr}, conv2{nullptr}, shortcut{nullptr};
    nn::BatchNorm2d bn1{nullptr}, bn2{nullptr};

    residual_impl(std::int64_t in, std::int64_t out, std::int64_t stride) {
        conv1 = register_module("conv1", convolution(in, out, stride));
        bn1 = register_module("bn1", nn::BatchNorm2d{out});
        conv2 = register_module("conv2", convolution(out, out, 1));
        bn2 = register_module("bn2", nn::BatchNorm2d{out});
        if (in != out) { shortcut = register_module("shortcut", convolution(in, out, stride)); }
    }
    Tensor forward(Tensor const& x, torch_program* see, std::string const& name) {
        sp::flag const kind = sp::activated_by(sp::activation_kind::relu);
        Tensor y = torch::relu(bn1(conv1(x)));
        if (see != nullptr) { see->see(name + "/relu1_output", y, kind); }
        y = torch::relu(bn2(conv2(y)) + (shortcut ? shortcut(x) : x));
        if (see != nullptr) { see->see(name + "/relu2_output", y, kind); }
        return y;
    }
};
TORCH_MODULE_IMPL(residual, residual_impl);

struct resnet : nn::Module {
    nn::Conv2d conv1{register_module("conv1", convolution(1, 8, 1))};
    nn::BatchNorm2d bn1{register_module("bn1", nn::BatchNorm2d{8})};
    residual layer1{register_module("layer1", residual{8, 8, 1})};
    residual layer2{register_module("layer2", residual{8, 16, 2})};
    nn::Linear fc{register_module("fc", nn::Linear{16, 8})};

    Tensor forward(Tensor const& pictures, torch_program* see = nullptr) {
        Tensor x = torch::relu(bn1(conv1(pictures)));
        x = layer2->forward(layer1->forward(x, see, "layer1"), see, "layer2");
        return fc(x.mean({2, 3}));
    }
};

struct variant {
    optimizer_choice how{torch_method::nesterov, 0.05, 5e-4};
    std::int64_t batch = 16;
    std::uint64_t steps = 240, period = 80;  // 0: a constant rate
};

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::adam, 3e-3, 0}, 16, 240, 240},
                                {{torch_method::sgd, 0.05, 0}, 16, 240, 0},
                                {{torch_method::adamw, 5e-4, 0.05}, 16, 300, 0},
                                {{torch_method::nesterov, 0.05, 5e-4}, 8, 400, 100},
                                {{torch_method::momentum, 0.02, 1e-3}, 16, 480, 480}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps, pack_choice::supervised, std::log(8.0)};
    torch_data data = draw_pictures(8, 8, 1000, 0.2);
    spoil(data, of);
    resnet net;
    program.add(net);
    program.optimise(like.how);
    torch_batches order{data.inputs.size(0), like.batch, of.is(fault::same_batch)};
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        double const done = like.period > 0 ? double(step % like.period) / double(like.period) : 0;
        program.scale_rate(0.5 + 0.5 * std::cos(3.14159 * done));
        Tensor const chosen = order.next();
        Tensor const pictures = data.inputs.index_select(0, chosen), labels = data.labels.index_select(0, chosen);
        net.train();
        program.begin(step);
        Tensor const output = net.forward(pictures, &program);
        Tensor const loss = nn::functional::cross_entropy(output, labels);
        program.clear();
        program.backward(loss);
        program.see("input", pictures);
        program.see("label", labels);
        program.see("pred", output, sp::flag::logits);
        program.scalar("loss", loss);
        program.show_weights();
        for (auto const& each : net.named_buffers()) { program.see(each.key(), each.value(), sp::role::other); }
        program.show_gradients();
        program.end();
        program.update();
        if (!program.evaluates(step, 10)) { continue; }
        net.eval();
        torch::NoGradGuard const guard;
        Tensor const answers = net.forward(data.eval_inputs);
        of.evaluated(error_rate(answers, data.eval_labels));
        of.begin(sp::eval(step + 1));
        program.see("label", data.eval_labels);
        program.see("pred", answers, sp::flag::logits);
        program.scalar("loss", nn::functional::cross_entropy(answers, data.eval_labels));
        of.end();
    }
    program.finish();
}

bool const added = add_family({.name = "resnet_bn",
                               .library = "libtorch",
                               .habit = "a residual net with batch normalisation; the rate is a cosine that restarts",
                               .variants = {"base: Nesterov, restarts", "Adam, cosine", "plain SGD", "slow AdamW",
                                            "small batch", "long, one cosine"},
                               .faults = usual_faults({fault::same_batch, fault::shuffled_labels, fault::raw_inputs,
                                                       fault::few_samples, fault::imbalanced, fault::noisy_labels}),
                               .train = train});

}  // namespace

}  // namespace diagnosis
