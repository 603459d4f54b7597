// SPDX-License-Identifier: Apache-2.0
// A small convolutional net in libtorch that learns to read handwritten digits, watched by spotter, and is restored
// from the record:
//     torch <digits.csv>
// Exit code: 0 when it learnt, 3 when spotter stopped it, 1 otherwise, 2 when the file is wrong.
#include "digits/data.hpp"

#include <spotter/report.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <spotter/ext/torch.hpp>
#include <spotter/ext/torch/optimizer.hpp>

#include <torch/nn.h>
#include <torch/optim.h>

namespace {

// spotter::at is a policy and ::at a namespace of torch: a file with both should open neither.
namespace sp = spotter;
using namespace sp::literals;

constexpr double goal = 0.95;  // share of test pictures read correctly
constexpr std::uint64_t epochs = 12;
constexpr std::int64_t batch_size = 64;

constexpr sp::plan keep{
    sp::collection{"losses", "loss", sp::always{}, sp::payload},
    sp::collection{"weights", sp::role::weight, sp::every{50} && sp::during{sp::mode::train}, sp::payload},
    sp::collection{"gradients", "grad/*", sp::every{10} && sp::during{sp::mode::train}, sp::stats(sp::l2, sp::maximum)},
    sp::collection{"moments", sp::role::optimizer, sp::every{50}, sp::stats(sp::l2, sp::maximum)},
    sp::collection{"activations", "relu/*", sp::every{50}, sp::payload | sp::stats(sp::zero_fraction)},
    sp::collection{"checkpoints", "{conv,norm,fc}*", sp::during{sp::mode::eval}, sp::payload},
    sp::collection{"predictions", "{pred,label}", sp::during{sp::mode::eval}, sp::payload},
};
constexpr auto broken = sp::on(sp::non_finite{} || sp::exploding_gradient{} || sp::dead_relu{}, sp::stop);
constexpr auto doubtful =
    sp::vanishing_gradient{} || sp::loss_not_decreasing{} || sp::all_zero{} || sp::update_ratio_band{};

struct reader_impl : torch::nn::Module {
    torch::nn::Conv2d conv1{register_module("conv1", torch::nn::Conv2d{torch::nn::Conv2dOptions{1, 12, 3}.padding(1)})};
    torch::nn::BatchNorm2d norm{register_module("norm", torch::nn::BatchNorm2d{12})};
    torch::nn::Conv2d conv2{
        register_module("conv2", torch::nn::Conv2d{torch::nn::Conv2dOptions{12, 24, 3}.padding(1)})};
    torch::nn::Dropout drop{register_module("drop", torch::nn::Dropout{0.25})};
    torch::nn::Linear fc{register_module("fc", torch::nn::Linear{24 * 2 * 2, 10})};

    // The scores of ten digits, for pictures {count, 1, 8, 8}. Observes activations and their gradients on the way.
    template <class Hook>
    torch::Tensor forward(torch::Tensor const& pictures, Hook& watch) {
        auto x = watch.tap("relu/conv1", torch::relu(norm(conv1(pictures))));
        x = watch.tap("relu/conv2", torch::relu(conv2(torch::max_pool2d(x, 2))));
        x = sp::tap_gradient(watch, "grad/relu/conv2", x);
        return fc(drop(torch::max_pool2d(x, 2).flatten(1)));
    }
};
TORCH_MODULE_IMPL(reader, reader_impl);

struct pictures {
    torch::Tensor pixels;  // {count, 1, 8, 8}
    torch::Tensor labels;  // {count}
};
pictures as_tensors(digits::dataset& from) {
    auto const count = static_cast<std::int64_t>(from.size());
    return {torch::from_blob(from.pixels.values.data(), {count, 1, 8, 8}).clone(),
            torch::from_blob(from.labels.data(), {count}, torch::kInt).to(torch::kLong)};
}

// Returns the share of test pictures that are read correctly. In a step of its own it records the predictions and a
// checkpoint.
template <class Hook>
double evaluate(reader& net, pictures const& test, Hook& watch, std::uint64_t index) {
    torch::NoGradGuard const no_gradients;
    net->eval();
    watch.begin(sp::step_of(net, index));
    torch::Tensor const scores = net->forward(test.pixels, watch);
    torch::Tensor const seen = scores.argmax(1);
    watch.observe("pred", seen);
    watch.observe("label", test.labels);
    watch.observe("loss", torch::nn::functional::cross_entropy(scores, test.labels));
    sp::observe_module(watch, net);
    (void)watch.end();
    net->train();
    return seen.eq(test.labels).to(torch::kDouble).mean().item<double>();
}

// False when spotter stopped it.
template <class Hook>
bool train(reader& net, pictures const& data, pictures const& test, Hook& watch) {
    torch::optim::Adam adam{net->parameters(), 3e-3};
    sp::module_table const tensors{net};  // listed once, so that no step allocates for it
    sp::optimizer_table const moments{net, adam};
    std::uint64_t step = 0;
    for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
        torch::Tensor const order = torch::randperm(data.labels.size(0));
        for (torch::Tensor const& chosen : order.split(batch_size)) {
            watch.begin(sp::step_of(net, step++));
            adam.zero_grad();
            torch::Tensor const scores = net->forward(data.pixels.index_select(0, chosen), watch);
            torch::Tensor const loss =
                torch::nn::functional::cross_entropy(scores, data.labels.index_select(0, chosen));
            loss.backward();
            watch.observe("loss", loss);
            sp::observe_module(watch, tensors);
            sp::observe_module(watch, moments);
            auto const found = watch.end();  // before the update of the parameters
            if (found) { fmt::print("{}\n", found); }
            if (found.decision() == sp::decision::stop) { return false; }
            if (found.decision() == sp::decision::proceed) { adam.step(); }
        }
        fmt::print("epoch {:2}  step {:3}  accuracy {:.2f} %\n", epoch, step,
                   100 * evaluate(net, test, watch, epoch - 1));
    }
    return true;
}

std::uint64_t fingerprint(reader const& net) {
    std::uint64_t hash = 14695981039346656037U;  // FNV-1a over the bytes
    for (torch::Tensor const& each : net->parameters()) {
        auto const* const bytes = static_cast<unsigned char const*>(each.data_ptr());
        for (std::size_t i = 0; i < each.nbytes(); ++i) { hash = (hash ^ bytes[i]) * 1099511628211U; }
    }
    return hash;
}

// A net with the parameters and buffers that the last evaluation recorded.
reader restore(sp::trial const& run) {
    torch::NoGradGuard const no_gradients;
    reader net;
    auto const take = [&](std::string const& name, torch::Tensor& into) {
        into.copy_(run[name].at(sp::eval(epochs - 1)).to<torch::Tensor>().value());
    };
    for (auto& each : net->named_parameters()) { take(each.key(), each.value()); }
    for (auto& each : net->named_buffers()) { take(each.key(), each.value()); }
    return net;
}

}  // namespace

int main(int count, char** arguments) {
    digits::load_result loaded = digits::load(count > 1 ? arguments[1] : "digits.csv");
    if (!loaded.problem.empty()) {
        fmt::print("torch: {}\n", loaded.problem);
        return 2;
    }
    torch::set_num_threads(1);
    torch::manual_seed(7);
    digits::split data = digits::split_dataset(loaded.data);
    pictures const train_set = as_tensors(data.train), test_set = as_tensors(data.test);

    reader net;
    sp::hook watch{"runs/torch", keep, broken, doubtful, sp::options{.existing = sp::existing::replace}};
    if (!train(net, train_set, test_set, watch)) { return 3; }
    std::string const path{watch.path()};
    watch.finish();
    if (!watch.health().good()) { fmt::print("spotter: {}\n", watch.health()); }
    sp::null_hook nobody;
    double const accuracy = evaluate(net, test_set, nobody, 0);
    fmt::print("reads {:.2f} % of {} test digits; parameters {:016x}\n", 100 * accuracy, data.test.size(),
               fingerprint(net));
    if (!path.empty()) {  // neither SPOTTER=off nor dry
        sp::trial const run = sp::open_trial(path).value();
        reader again = restore(run);
        double const repeated = evaluate(again, test_set, nobody, 0);
        fmt::print("\n{}\nbuilt again from the record: {:.2f} %, parameters {:016x}\n", run, 100 * repeated,
                   fingerprint(again));
        if (fingerprint(again) != fingerprint(net) || repeated != accuracy) { return 1; }
    }
    return accuracy >= goal ? 0 : 1;
}
