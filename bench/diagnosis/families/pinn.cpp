// SPDX-License-Identifier: Apache-2.0
// A net that solves a differential equation: u'' = f within, u = 0 at both ends. No data: points, and a loss of two
// terms.
#include "torch_program.hpp"

#include <torch/csrc/autograd/autograd.h>

#include <cmath>

namespace diagnosis {

namespace {

constexpr double pi = 3.14159265358979;

struct solution : nn::Module {
    nn::Linear layer0{register_module("layer0", nn::Linear{1, 16})},
        layer1{register_module("layer1", nn::Linear{16, 16})};
    nn::Linear layer2{register_module("layer2", nn::Linear{16, 1})};

    Tensor forward(Tensor const& x, torch_program* see = nullptr) {
        Tensor const one = torch::tanh(layer0(x)), two = torch::tanh(layer1(one));
        if (see != nullptr) {
            see->see("act/layer0", one, sp::activated_by(sp::activation_kind::tanh));
            see->see("act/layer1", two, sp::activated_by(sp::activation_kind::tanh));
        }
        return layer2(two);
    }
};

struct variant {
    optimizer_choice how{torch_method::adam, 5e-3, 0};
    std::int64_t points = 32;
    std::uint64_t steps = 500;
    double at_ends = 10;
    bool fixed = false, decays = false;
};

void train(course& of) {
    variant const variants[] = {{},
                                {{torch_method::adam, 5e-3, 0}, 32, 500, 10, true},
                                {{torch_method::adam, 8e-3, 0}, 32, 500, 10, false, true},
                                {{torch_method::adam, 2e-3, 0}, 32, 1000, 10},
                                {{torch_method::adamw, 4e-3, 1e-4}, 48, 900, 10},
                                {{torch_method::adam, 5e-3, 0}, 48, 800, 10, true, true}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps};
    solution net;
    program.add(net);
    program.optimise(like.how);
    Tensor const ends = torch::tensor({-1.0F, 1.0F}).view({2, 1}), grid = torch::linspace(-1, 1, 101).view({101, 1});
    Tensor const truth = torch::sin(pi * grid);
    Tensor x;
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        if (like.decays) { program.scale_rate(1 - double(step) / double(like.steps)); }
        if (step == 0 || (!like.fixed && !of.is(fault::same_batch))) {
            x = (torch::rand({like.points, 1}) * 2 - 1).requires_grad_(true);
        }
        program.begin(step);
        Tensor const u = net.forward(x, &program), ones = torch::ones_like(u);
        Tensor const slope = torch::autograd::grad({u}, {x}, {ones}, true, true)[0];
        Tensor const bend = torch::autograd::grad({slope}, {x}, {ones}, true, true)[0];
        Tensor const residual = torch::square(bend / (pi * pi) + torch::sin(pi * x)).mean();
        Tensor const boundary = torch::square(net.forward(ends)).mean();
        Tensor const loss = residual + like.at_ends * boundary;
        program.clear();
        program.backward(loss);
        program.see("input/x", x, sp::role::input, like.fixed ? sp::flag::full_batch : sp::flag::none);
        program.scalar("loss/residual", residual);
        program.scalar("loss/boundary", boundary);
        program.scalar("loss", loss);
        program.show_weights();
        program.show_gradients();
        program.end();
        program.update();
        if (!program.evaluates(step, 10)) { continue; }
        torch::NoGradGuard const guard;
        Tensor const gap = torch::square(net.forward(grid) - truth).mean() / torch::square(truth).mean();
        of.evaluated((std::min)(2.0, std::sqrt(gap.item<double>())));
    }
    program.finish();
}

bool const added =
    add_family({.name = "pinn",
                .library = "libtorch",
                .habit = "a differential equation: tanh, a loss of several terms, points instead of data",
                .variants = {"base: Adam, new points", "the same points, said so", "linear decay", "slow Adam",
                             "AdamW, more points, longer", "the same points, said so; decay"},
                .faults = usual_faults({fault::same_batch}),
                .train = train});

}  // namespace

}  // namespace diagnosis
