// SPDX-License-Identifier: Apache-2.0
// Learns to read handwritten digits, watched by spotter, and then reads its mistakes from its own record:
//     digits <digits.csv> [--seed=N] [--fault=lr|nan|dead|frozen|inputs|labels|sign] [--run=FOLDER] [--quiet]
//            [--preflight]
// With --preflight the loop is examined first, on copies of the net and its first batch. Exit code: 0 when it learnt, 3
// when spotter stopped it, 1 otherwise, 2 when the command line or file is wrong.
#include "../common/prng.hpp"
#include "data.hpp"
#include "network.hpp"
#include "review.hpp"

#include <spotter/preflight.hpp>
#include <spotter/report.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace {

constexpr double goal = 0.95;  // share of test pictures read correctly
constexpr std::uint64_t epochs = 16;
constexpr std::size_t batch_size = 32;
constexpr float learning_rate = 0.03F;  // at the start; falls linearly to zero
constexpr float momentum = 0.9F;

namespace sp = spotter;
using namespace sp::literals;

// What is kept: small tensors always, large ones sometimes, and labels and predictions of every evaluation.
constexpr sp::plan keep{
    sp::collection{"losses", "loss", sp::always{}, sp::payload},
    sp::collection{"weights", sp::role::weight, sp::every{100} || sp::at{1, 10}, sp::payload},
    sp::collection{"gradients", "grad/*", sp::every{10} && sp::during{sp::mode::train},
                   sp::payload | sp::stats(sp::l2)},
    sp::collection{"activations", "act/*", sp::every{50}, sp::payload | sp::stats(sp::zero_fraction)},
    sp::collection{"labels", "labels", sp::always{}, sp::payload},
    sp::collection{"evaluation", "{input,labels,logits}", sp::during{sp::mode::eval}, sp::payload},
};

// The rules: the whole pack for learning from labels, and the initial loss of a classifier.
constexpr auto rules =
    sp::packs::supervised || sp::initial_loss{.expected = sp::initial_loss::cross_entropy(digits::class_count)};

// Digits are learnt within two epochs, and faults do their damage in a few steps. During that time these five rules
// must react faster than in the pack, which waits for an outcome.
constexpr auto early =
    (sp::input_not_normalized{.samples = batch_size} || sp::update_direction{.warmup = 0, .window = 5} ||
     sp::all_zero{} || sp::update_ratio_band{.smoothing = 1, .warmup = 0, .patience = 2} ||
     sp::underfit{.warmup = 44, .num_steps = 9, .smoothing = 20}) |
    sp::only{sp::before{88}};

// Deliberate faults, one change each.
enum class fault {
    none,
    lr,      // the learning rate is a hundred times too large
    nan,     // at step nan_step an element of "pre/fc2" is NaN
    dead,    // the biases of the hidden layers start at -10
    frozen,  // the layer fc2 is never updated
    inputs,  // pixels from 0 to 255 instead of 0 to 1
    labels,  // every training picture has the label of another picture
    sign,    // the update ascends the gradient
};
constexpr std::array<std::pair<std::string_view, fault>, 8> faults{{{"none", fault::none},
                                                                    {"lr", fault::lr},
                                                                    {"nan", fault::nan},
                                                                    {"dead", fault::dead},
                                                                    {"frozen", fault::frozen},
                                                                    {"inputs", fault::inputs},
                                                                    {"labels", fault::labels},
                                                                    {"sign", fault::sign}}};
constexpr std::uint64_t nan_step = 200;

struct options {
    std::string path;
    std::string run = "runs/digits";
    std::uint64_t seed = 0;
    fault broken = fault::none;
    bool quiet = false;
    bool preflight = false;
};

// The command line's options; nothing if it is invalid.
std::optional<options> parse(int count, char** arguments) {
    options result;
    for (int i = 1; i < count; ++i) {
        std::string_view argument = arguments[i];
        if (argument == "--quiet") {
            result.quiet = true;
        } else if (argument == "--preflight") {
            result.preflight = true;
        } else if (argument.starts_with("--run=") && argument.size() > 6) {
            result.run = argument.substr(6);
        } else if (argument.starts_with("--seed=")) {
            argument.remove_prefix(7);
            char const* const end = argument.data() + argument.size();
            auto const parsed = std::from_chars(argument.data(), end, result.seed);
            if (parsed.ec != std::errc{} || parsed.ptr != end) { return std::nullopt; }
        } else if (argument.starts_with("--fault=")) {
            argument.remove_prefix(8);
            auto const named = [argument](auto const& each) { return each.first == argument; };
            auto const found = std::find_if(faults.begin(), faults.end(), named);
            if (found == faults.end()) { return std::nullopt; }
            result.broken = found->second;
        } else if (result.path.empty() && !argument.starts_with("--")) {
            result.path = argument;
        } else {
            return std::nullopt;
        }
    }
    return result.path.empty() ? std::nullopt : std::optional{result};
}

// Applies the faults of the data; the network has the others.
void spoil(digits::dataset& data, fault broken) {
    if (broken == fault::inputs) {
        for (float& pixel : data.pixels.values) { pixel *= 255.0F; }
    }
    if (broken == fault::labels) {
        example::prng random{1};
        std::vector<std::int32_t> const labels = data.labels;
        std::vector<std::size_t> const order = example::shuffled_indices(labels.size(), random);
        for (std::size_t i = 0; i < labels.size(); ++i) { data.labels[i] = labels[order[i]]; }
    }
}
void spoil(digits::network& net, fault broken, std::uint64_t step) {
    if (broken == fault::dead && step == 0) {
        for (std::size_t i : {0U, 1U}) { std::fill(net.layers()[i].b.begin(), net.layers()[i].b.end(), -10.0F); }
    }
    net.layers()[1].trained = broken != fault::frozen;
    net.layers()[1].spoiled = broken == fault::nan && step == nan_step;
}

// Reads the test pictures, forward only; returns the share that was read correctly.
template <class Hook>
double evaluate(digits::network& net, digits::dataset const& test, Hook& watch, std::uint64_t epoch) {
    net.forward(test);
    watch.begin(sp::eval(epoch));
    visit_forward(net, [&](auto const&... tensor) { watch.observe(tensor...); });
    (void)watch.end("loss"_t = net.loss());
    return static_cast<double>(net.correct()) / static_cast<double>(test.size());
}

// Examines the loop of `train` and records the findings. False where something is wrong.
template <class Hook>
bool examine(options const& chosen, digits::dataset const& train, float rate, Hook& watch) {
    example::prng random{chosen.seed};
    digits::network net{{digits::pixel_count, 64, 32, digits::class_count}, random};
    spoil(net, chosen.broken, 0);
    std::vector<std::size_t> const order = example::shuffled_indices(train.size(), random);
    net.forward(gather(train, {order.data(), batch_size}));
    auto const found = sp::preflight(
        net,
        [](digits::network& it) {
            it.forward(it.batch());
            it.backward();
            return it.loss();
        },
        [rate](digits::network& it) { it.update(rate, momentum); });
    watch.add(found);
    fmt::print("examined: {}\n", found.sentence().view());
    if (found) { fmt::print("{}\nnot trained\n", found.alarm()); }
    return !found;
}

// Trains for all epochs and evaluates after each. Returns the final share of test pictures read correctly, or nothing
// when spotter stopped it.
template <class Hook>
std::optional<double> train(options const& chosen, digits::split const& data, Hook& watch) {
    example::prng random{chosen.seed};
    digits::network net{{digits::pixel_count, 64, 32, digits::class_count}, random};
    float const fault_factor = chosen.broken == fault::lr ? 100.0F : chosen.broken == fault::sign ? -1.0F : 1.0F;
    if (chosen.preflight && !examine(chosen, data.train, fault_factor * learning_rate, watch)) { return std::nullopt; }
    std::uint64_t const last_step = epochs * (data.train.size() / batch_size);
    double accuracy = 0.0;
    std::uint64_t step = 0;
    for (std::uint64_t epoch = 1; epoch <= epochs; ++epoch) {
        std::vector<std::size_t> const order = example::shuffled_indices(data.train.size(), random);
        float loss = 0.0F;
        for (std::size_t first = 0; first + batch_size <= order.size(); first += batch_size, ++step) {
            spoil(net, chosen.broken, step);
            net.forward(gather(data.train, {&order[first], batch_size}));
            net.backward();
            loss = net.loss();

            // Everything of this step is known, and no parameter has changed yet: the moment for rules to judge.
            auto const found = watch.step(sp::train(step), net, "loss"_t = loss);
            if (found) {  // a warning or worse
                fmt::print("{}\nstopped before update {} was applied\n", found, step);
                return std::nullopt;
            }

            float const remaining = 1.0F - static_cast<float>(step) / static_cast<float>(last_step);
            net.update(fault_factor * learning_rate * remaining, momentum);
        }
        accuracy = evaluate(net, data.test, watch, epoch);
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
        std::fprintf(stderr,
                     "usage: digits <digits.csv> [--seed=N] [--fault=none|lr|nan|dead|frozen|inputs|labels|sign] "
                     "[--run=FOLDER] [--quiet] [--preflight]\n");
        return 2;
    }
    digits::load_result const loaded = digits::load(chosen->path);
    if (!loaded.problem.empty()) {
        std::fprintf(stderr, "digits: %s\n", loaded.problem.c_str());
        return 2;
    }
    digits::split data = split_dataset(loaded.data);
    spoil(data.train, chosen->broken);
    if (chosen->broken == fault::inputs) { spoil(data.test, chosen->broken); }
    std::optional<double> accuracy;
    std::string path;
    {
        sp::hook watch{chosen->run, keep, early, rules};
        accuracy = train(*chosen, data, watch);
        path = watch.path();
        watch.finish();
        if (!watch.health().good()) { fmt::print("spotter: {}\n", watch.health().first_error); }
    }
    if (!chosen->quiet && !path.empty()) { digits::review(path); }
    return !accuracy ? 3 : *accuracy >= goal ? 0 : 1;
}
