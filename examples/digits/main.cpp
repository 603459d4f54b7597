// SPDX-License-Identifier: Apache-2.0
// Learns to read handwritten digits, watched by spotter, and then asks its own record what it got wrong:
//     digits <digits.csv> [--seed=N] [--run=FOLDER] [--quiet]
// Ends with 0 when it learnt, 3 when spotter stopped it, 1 when it did neither, 2 when the command line or file is wrong.
#include "../common/prng.hpp"
#include "data.hpp"
#include "network.hpp"
#include "review.hpp"

#include <spotter/report.hpp>
#include <spotter/spotter.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

constexpr double goal = 0.95;  // of the test pictures read correctly
constexpr std::uint64_t epochs = 16;
constexpr std::size_t batch_size = 32;
constexpr std::size_t evaluation_batch_size = 60;
constexpr float learning_rate = 0.03F;  // at the start; it falls in a straight line to zero
constexpr float momentum = 0.9F;

namespace sp = spotter;
using namespace sp::literals;

// What is kept: tiny things always, large ones now and then, and of every evaluation what tells right from wrong.
constexpr sp::plan keep{
    sp::collection{"losses", "loss", sp::always{}, sp::payload},
    sp::collection{"weights", sp::role::weight, sp::every{100} || sp::at{1, 10}, sp::payload},
    sp::collection{"gradients", "grad/*", sp::every{10} && sp::during{sp::mode::train},
                   sp::payload | sp::stats(sp::l2)},
    sp::collection{"activations", "act/*", sp::every{50}, sp::payload | sp::stats(sp::zero_fraction)},
    sp::collection{"evaluation", "{input,labels,predictions}", sp::during{sp::mode::eval}, sp::payload},
};

// What ends the run, and what is only told.
constexpr auto broken = sp::on(sp::non_finite{} || sp::exploding_gradient{} || sp::dead_relu{}, sp::stop);
constexpr auto doubtful =
    sp::vanishing_gradient{} || sp::loss_not_decreasing{} || sp::all_zero{} || sp::update_ratio_band{};

struct options {
    std::string path;
    std::string run = "runs/digits";
    std::uint64_t seed = 0;
    bool quiet = false;
};

// What the command line asks for; nothing when it cannot be understood.
std::optional<options> parse(int count, char** arguments) {
    options result;
    for (int i = 1; i < count; ++i) {
        std::string_view argument = arguments[i];
        if (argument == "--quiet") {
            result.quiet = true;
        } else if (argument.starts_with("--run=") && argument.size() > 6) {
            result.run = argument.substr(6);
        } else if (argument.starts_with("--seed=")) {
            argument.remove_prefix(7);
            char const* const end = argument.data() + argument.size();
            auto const parsed = std::from_chars(argument.data(), end, result.seed);
            if (parsed.ec != std::errc{} || parsed.ptr != end) { return std::nullopt; }
        } else if (result.path.empty() && !argument.starts_with("--")) {
            result.path = argument;
        } else {
            return std::nullopt;
        }
    }
    return result.path.empty() ? std::nullopt : std::optional{result};
}

// Reads the test pictures in batches, forward only; returns the share that was read correctly.
template <class Hook>
double evaluate(digits::network& net, digits::dataset const& test, Hook& watch, std::uint64_t& eval_step) {
    std::vector<std::size_t> order(test.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::size_t correct = 0;
    for (std::size_t first = 0; first < order.size(); first += evaluation_batch_size) {
        std::size_t const count = (std::min)(evaluation_batch_size, order.size() - first);
        net.forward(gather(test, {&order[first], count}));
        watch.begin(sp::eval(eval_step++));
        visit_forward(net, [&](std::string_view name, auto const& values) { watch.observe(name, values); });
        watch.observe("loss", net.loss());
        (void)watch.end();
        correct += net.correct();
    }
    return static_cast<double>(correct) / static_cast<double>(test.size());
}

// Trains for all epochs, evaluates after each; returns the share of the test pictures read correctly at the end, or nothing
// when spotter stopped it.
template <class Hook>
std::optional<double> train(options const& chosen, digits::split const& data, Hook& watch) {
    example::prng random{chosen.seed};
    digits::network net{{digits::pixel_count, 64, 32, digits::class_count}, random};
    std::uint64_t const last_step = epochs * (data.train.size() / batch_size);
    double accuracy = 0.0;
    std::uint64_t step = 0;
    std::uint64_t eval_step = 0;
    for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
        std::vector<std::size_t> const order = example::shuffled_indices(data.train.size(), random);
        float loss = 0.0F;
        for (std::size_t first = 0; first + batch_size <= order.size(); first += batch_size, ++step) {
            net.forward(gather(data.train, {&order[first], batch_size}));
            net.backward();
            loss = net.loss();

            // Everything of this step is known, no parameter has changed yet: the instant to look and to object.
            auto const found = watch.step(sp::train(step), net, "loss"_t = loss);
            if (found) { fmt::print("{}\n", found); }
            if (found.decision() == sp::decision::stop) { return std::nullopt; }

            float const remaining = 1.0F - static_cast<float>(step) / static_cast<float>(last_step);
            net.update(learning_rate * remaining, momentum);
        }
        accuracy = evaluate(net, data.test, watch, eval_step);
        if (!chosen.quiet) {
            fmt::print("epoch {:2}  step {:4}  loss {:.4f}  accuracy {:.2f} %\n", epoch, step, loss, 100.0 * accuracy);
        }
    }
    fmt::print("{} after {} steps: reads {:.2f} % of {} test digits; parameters {:016x}\n",
               accuracy >= goal ? "learnt" : "not learnt", step, 100.0 * accuracy, data.test.size(), fingerprint(net));
    return accuracy;
}

}  // namespace

int main(int count, char** arguments) {
    auto const chosen = parse(count, arguments);
    if (!chosen) {
        std::fprintf(stderr, "usage: digits <digits.csv> [--seed=N] [--run=FOLDER] [--quiet]\n");
        return 2;
    }
    digits::load_result const loaded = digits::load(chosen->path);
    if (!loaded.problem.empty()) {
        std::fprintf(stderr, "digits: %s\n", loaded.problem.c_str());
        return 2;
    }
    std::optional<double> accuracy;
    std::string path;
    {
        sp::hook watch{chosen->run, keep, broken, doubtful};
        accuracy = train(*chosen, split_dataset(loaded.data), watch);
        path = watch.path();
        watch.finish();
        if (!watch.health().good()) { fmt::print("spotter: {}\n", watch.health().first); }
    }
    if (!chosen->quiet && !path.empty()) { digits::review(path); }
    return !accuracy ? 3 : *accuracy >= goal ? 0 : 1;
}
