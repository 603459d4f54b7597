// SPDX-License-Identifier: Apache-2.0
// Learns to read handwritten digits: digits <digits.csv> [--seed=N] [--quiet]
#include "../common/prng.hpp"
#include "data.hpp"
#include "network.hpp"

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
constexpr std::int64_t epochs = 16;
constexpr std::size_t batch_size = 32;
constexpr std::size_t evaluation_batch_size = 60;
constexpr float learning_rate = 0.03F;  // at the start; it falls in a straight line to zero
constexpr float momentum = 0.9F;

struct options {
    std::string path;
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
        } else if (argument.starts_with("--seed=")) {
            argument.remove_prefix(7);
            char const* const end = argument.data() + argument.size();
            auto const parsed = std::from_chars(argument.data(), end, result.seed);
            if (parsed.ec != std::errc{} || parsed.ptr != end) {
                return std::nullopt;
            }
        } else if (result.path.empty() && !argument.starts_with("--")) {
            result.path = argument;
        } else {
            return std::nullopt;
        }
    }
    return result.path.empty() ? std::nullopt : std::optional{result};
}

// Reads the test pictures in batches, forward only; returns the share that was read correctly.
double evaluate(digits::network& net, digits::dataset const& test) {
    std::vector<std::size_t> order(test.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::size_t correct = 0;
    for (std::size_t first = 0; first < order.size(); first += evaluation_batch_size) {
        std::size_t const count = (std::min)(evaluation_batch_size, order.size() - first);
        net.forward(gather(test, {&order[first], count}));

        // An observer looks here, in mode eval: input, labels, activations, predictions and loss of this batch.

        correct += net.correct();
    }
    return static_cast<double>(correct) / static_cast<double>(test.size());
}

// Trains for all epochs, evaluates after each; returns the share of the test pictures read correctly at the end.
double train(options const& chosen, digits::split const& data) {
    example::prng random{chosen.seed};
    digits::network net{{digits::pixel_count, 64, 32, digits::class_count}, random};
    std::int64_t const last_step = epochs * static_cast<std::int64_t>(data.train.size() / batch_size);
    double accuracy = 0.0;
    std::int64_t step = 0;
    for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
        std::vector<std::size_t> const order = example::shuffled_indices(data.train.size(), random);
        float loss = 0.0F;
        for (std::size_t first = 0; first + batch_size <= order.size(); first += batch_size, ++step) {
            net.forward(gather(data.train, {&order[first], batch_size}));
            net.backward();
            loss = net.loss();

            // An observer looks here, in mode train: everything of this step is known, no parameter has changed yet.
            // It may say stop (return) or skip (do not update).

            float const remaining = 1.0F - static_cast<float>(step) / static_cast<float>(last_step);
            net.update(learning_rate * remaining, momentum);
        }
        accuracy = evaluate(net, data.test);
        if (!chosen.quiet) {
            std::printf("epoch %2lld  step %4lld  loss %.4f  accuracy %.2f %%\n", static_cast<long long>(epoch),
                        static_cast<long long>(step), static_cast<double>(loss), 100.0 * accuracy);
        }
    }
    std::printf("%s after %lld steps: reads %.2f %% of %zu test digits\n", accuracy >= goal ? "learnt" : "not learnt",
                static_cast<long long>(step), 100.0 * accuracy, data.test.size());
    return accuracy;
}

}  // namespace

int main(int count, char** arguments) {
    auto const chosen = parse(count, arguments);
    if (!chosen) {
        std::fprintf(stderr, "usage: digits <digits.csv> [--seed=N] [--quiet]\n");
        return 2;
    }
    digits::load_result const loaded = digits::load(chosen->path);
    if (!loaded.problem.empty()) {
        std::fprintf(stderr, "digits: %s\n", loaded.problem.c_str());
        return 2;
    }
    return train(*chosen, split_dataset(loaded.data)) >= goal ? 0 : 1;
}
