// SPDX-License-Identifier: Apache-2.0
// Examination of libtorch loops: right ones give no finding, broken ones give their cause, and all state is restored.
#include <spotter/preflight.hpp>

#include <spotter/ext/torch.hpp>  // last: ::at and spotter::at must not meet in it
#include <spotter/ext/torch/examination.hpp>

#include <torch/nn.h>
#include <torch/optim.h>

#include <tests/catch.hpp>  // after torch: both have a macro CHECK, and this one is meant

#include <string>
#include <vector>

using namespace spotter;

namespace {

struct torch_batch {
    torch::Tensor x = torch::randn({16, 4});
    torch::Tensor y = torch::randint(3, {16}, torch::kLong);
};

struct fixed_seed {
    fixed_seed() { torch::manual_seed(3); }
};

struct examined_net : fixed_seed {
    torch::nn::Sequential net{torch::nn::Linear{4, 8}, torch::nn::Tanh{}, torch::nn::Linear{8, 3}};
    torch::optim::SGD optimizer{net->parameters(), torch::optim::SGDOptions{0.1}.momentum(0.9)};
    torch_batch batch{};

    // Forward and backward pass, as in a loop.
    torch::Tensor pass(bool clears = true) {
        if (clears) { optimizer.zero_grad(); }
        auto loss = torch::nn::functional::cross_entropy(net->forward(batch.x), batch.y);
        loss.backward();
        return loss;
    }
};

std::vector<torch::Tensor> copies(std::vector<torch::Tensor> const& of) {
    std::vector<torch::Tensor> made;
    for (auto const& each : of) { made.push_back(each.detach().clone()); }
    return made;
}
bool same_tensors(std::vector<torch::Tensor> const& a, std::vector<torch::Tensor> const& b) {
    bool all = a.size() == b.size();
    for (std::size_t i = 0; all && i < a.size(); ++i) { all = a[i].equal(b[i]); }
    return all;
}

std::string reported_of(preflight_result const& it) {
    std::string made{it.sentence().view()};
    for (auto const& each : it.all()) {
        made.append("; ").append(each.finding.rule).append(" at ").append(each.finding.tensor);
    }
    return made;
}

}  // namespace

TEST_CASE("a module, its optimizer and a batch are examined in one line") {
    examined_net of;
    auto const found =
        preflight(torch_examination(of.net, of.optimizer, of.batch.x, of.batch.y, torch::nn::CrossEntropyLoss{}));
    INFO(reported_of(found));
    CHECK(!found);
    CHECK(found.count(gradient_proof::right) == 4);
    CHECK(found.gradients()[0].name == "0.weight");
    CHECK(found.passes() <= 60);
}

TEST_CASE("faults of a torch loop are named by their cause") {
    examined_net of;
    auto const first = [&](auto pass) { return preflight(torch_examination(of.net, of.optimizer, pass)).first(); };
    CHECK(first([&] { return of.pass(); }) == preflight_cause::none);
    CHECK(first([&] { return of.pass(false); }) == preflight_cause::gradient_not_cleared);
    CHECK(first([&] {
              of.optimizer.zero_grad();
              auto loss = torch::nn::functional::cross_entropy(of.net->forward(of.batch.x), of.batch.y);
              (-loss).backward();
              return loss;
          }) == preflight_cause::negated_gradient);
    CHECK(first([&]() -> torch::Tensor { throw std::runtime_error{"no data"}; }) == preflight_cause::threw);

    torch::optim::SGD some{of.net->ptr(2)->parameters(), 0.1};
    auto const left_out = preflight(torch_examination(of.net, some, [&] { return of.pass(); }));
    CHECK(left_out.first() == preflight_cause::dead_update_path);
    CHECK(left_out.all()[0].finding.tensor == "0.weight");

    examined_net twice;
    twice.net->push_back(torch::nn::LogSoftmax{1});
    twice.net->push_back(torch::nn::Softmax{1});
    torch::optim::SGD its{twice.net->parameters(), 0.1};
    auto const softmax =
        preflight(torch_examination(twice.net, its, twice.batch.x, twice.batch.y, torch::nn::CrossEntropyLoss{}));
    INFO(reported_of(softmax));
    CHECK(softmax.first() == preflight_cause::softmax_twice);
}

TEST_CASE("weights, buffers, gradients, moments, modes and random numbers are afterwards what they were") {
    auto const trained = [](bool examines) {
        torch::manual_seed(5);
        torch::nn::Sequential net{torch::nn::Linear{4, 8}, torch::nn::BatchNorm1d{8}, torch::nn::ReLU{},
                                  torch::nn::Dropout{0.2}, torch::nn::Linear{8, 3}};
        torch::optim::Adam optimizer{net->parameters(), 0.01};
        torch_batch const batch;
        auto const pass = [&] {
            optimizer.zero_grad();
            auto loss = torch::nn::functional::cross_entropy(net->forward(batch.x), batch.y);
            loss.backward();
            return loss;
        };
        net->ptr(1)->eval();  // frozen statistics within a net that trains
        for (int i = 0; i < 6; ++i) {
            (void)pass();
            if (examines && i == 3) {
                auto const found = preflight(torch_examination(net, optimizer, pass));
                INFO(reported_of(found));
                CHECK(!found);
                CHECK(!net->ptr(1)->is_training());
                CHECK(net->ptr(3)->is_training());
            }
            optimizer.step();
        }
        auto made = copies(net->parameters());
        for (auto const& each : net->buffers()) { made.push_back(each.clone()); }
        made.push_back(torch::rand({3}));
        return made;
    };
    auto const without = trained(false);
    CHECK(same_tensors(trained(true), without));
}

TEST_CASE("a batch that was handed over is afterwards what it was") {
    examined_net of;
    auto const x = of.batch.x.clone(), y = of.batch.y.clone();
    auto const exam = torch_examination(of.net, of.optimizer, of.batch.x, of.batch.y, torch::nn::CrossEntropyLoss{});
    CHECK(!preflight(exam));
    CHECK(!preflight(exam));  // a second time
    CHECK(of.batch.x.equal(x));
    CHECK(of.batch.y.equal(y));
    CHECK(of.optimizer.state().empty());
}
