// SPDX-License-Identifier: Apache-2.0
// Two nets against each other, with an optimizer each: two losses that need not fall; shown after both were
// updated.
#include "torch_program.hpp"

namespace diagnosis {

namespace {

constexpr std::int64_t latent = 4;
constexpr std::size_t discriminator = 0, generator = 1;

struct perceptron : nn::Module {
    nn::Linear fc1{nullptr}, fc2{nullptr}, out{nullptr};

    perceptron(std::int64_t in, std::int64_t units, std::int64_t results) {
        fc1 = register_module("fc1", nn::Linear{in, units});
        fc2 = register_module("fc2", nn::Linear{units, units});
        out = register_module("out", nn::Linear{units, results});
    }
    Tensor forward(Tensor const& x) { return out(torch::leaky_relu(fc2(torch::leaky_relu(fc1(x), 0.2)), 0.2)); }
};

// Points about a ring.
Tensor draw_ring(std::int64_t count) {
    Tensor const angle = 6.28318 * torch::rand({count});
    return torch::stack({torch::cos(angle), torch::sin(angle)}, 1) + 0.08 * torch::randn({count, 2});
}

// The mean distance between two samples along some directions (a sliced Wasserstein distance).
double distance(Tensor const& a, Tensor const& b) {
    Tensor const angle = torch::arange(8, torch::kFloat) * (3.14159 / 8);
    Tensor const along = torch::stack({torch::cos(angle), torch::sin(angle)});
    Tensor const left = std::get<0>(a.mm(along).sort(0)), right = std::get<0>(b.mm(along).sort(0));
    return (left - right).abs().mean().item<double>();
}

struct variant {
    torch_method method = torch_method::adam;
    double rate = 1e-3, other_rate = 1e-3;  // of the discriminator, of the generator
    std::int64_t batch = 32;
    std::uint64_t steps = 600;
    double real = 1;  // what the discriminator is to say of a real one
};

void train(course& of) {
    variant const variants[] = {{},
                                {torch_method::rmsprop, 1e-3, 1e-3, 32, 600},
                                {torch_method::adam, 1e-3, 1e-3, 32, 600, 0.9},
                                {torch_method::adam, 1e-3, 5e-4, 32, 800},
                                {torch_method::adam, 1e-3, 1e-3, 16, 800},
                                {torch_method::adamw, 2e-3, 1e-3, 64, 500}};
    variant const& like = variants[of.variant()];
    torch_program program{of, like.steps};
    perceptron judge{2, 32, 1}, maker{latent, 32, 2};
    program.add(judge, "netD.");
    program.add(maker, "netG.");
    program.optimise(discriminator, {like.method, like.rate, 0, 0.5});
    program.optimise(generator, {like.method, like.other_rate, 0, 0.5});
    Tensor const some = draw_ring(500), noise = torch::randn({500, latent});
    Tensor const yes = torch::ones({like.batch, 1}), no = torch::zeros({like.batch, 1});
    auto const loss_of = [](Tensor const& logits, Tensor const& wanted) {
        return torch::binary_cross_entropy_with_logits(logits, wanted);
    };
    for (std::uint64_t step = 0; step < like.steps; ++step) {
        Tensor const real = draw_ring(like.batch), fake = maker.forward(torch::randn({like.batch, latent}));
        program.begin(step);
        program.clear(discriminator);
        Tensor const doubt = loss_of(judge.forward(real), like.real * yes) + loss_of(judge.forward(fake.detach()), no);
        program.backward(doubt, discriminator);
        program.show_gradients(discriminator);
        program.update(discriminator);
        program.clear(generator);
        Tensor const deceit = loss_of(judge.forward(fake), yes);
        program.backward(deceit, generator);
        program.show_gradients(generator);
        program.update(generator);
        program.scalar("loss/D", doubt);
        program.scalar("loss/G", deceit);
        program.show_weights();
        program.end();
        if (!program.evaluates(step)) { continue; }
        torch::NoGradGuard const guard;
        of.evaluated((std::min)(1.0, distance(maker.forward(noise), some) / 0.6));
    }
    program.finish();
}

bool const added =
    add_family({.name = "gan",
                .library = "libtorch",
                .habit = "two nets and two optimizers; two losses that need not fall; shown after both updates",
                .variants = {"base: Adam, two rates", "RMSprop", "smoothed labels", "slow, longer", "small batch",
                             "AdamW, large batch"},
                .faults = usual_faults({fault::one_net_climbs}),
                .train = train});

}  // namespace

}  // namespace diagnosis
