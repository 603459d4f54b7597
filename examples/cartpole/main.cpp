// SPDX-License-Identifier: Apache-2.0
// Trains the cart-pole agent until it balances: cartpole [--seed=N] [--fault=lr|nan|dead|frozen] [--quiet]
#include "agent.hpp"
#include "physics.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

namespace {

constexpr float goal = 475.0F;
constexpr std::size_t evaluation_episodes = 100;
constexpr std::int64_t evaluation_updates = 160;  // between two evaluations
constexpr std::int64_t last_update = 4'000;       // then it gives up

struct options {
    cartpole::settings training;
    bool quiet = false;
};

// What the command line asks for; nothing when it cannot be understood.
std::optional<options> parse(int count, char** arguments) {
    using cartpole::fault;
    constexpr std::array<std::pair<std::string_view, fault>, 5> faults{
        {{"none", fault::none}, {"lr", fault::lr}, {"nan", fault::nan}, {"dead", fault::dead}, {"frozen", fault::frozen}}};
    options result;
    for (int i = 1; i < count; ++i) {
        std::string_view argument = arguments[i];
        bool understood = false;
        if (argument == "--quiet") {
            result.quiet = true;
            understood = true;
        } else if (argument.starts_with("--seed=")) {
            argument.remove_prefix(7);
            char const* const end = argument.data() + argument.size();
            auto const parsed = std::from_chars(argument.data(), end, result.training.seed);
            understood = parsed.ec == std::errc{} && parsed.ptr == end;
        } else if (argument.starts_with("--fault=")) {
            argument.remove_prefix(8);
            for (auto const& [name, chosen] : faults) {
                if (argument == name) {
                    result.training.broken = chosen;
                    understood = true;
                }
            }
        }
        if (!understood) {
            return std::nullopt;
        }
    }
    return result;
}

// Trains until the goal or the last update; returns the steps balanced in the last evaluation.
float train(options const& chosen) {
    cartpole::agent agent{chosen.training};
    float balanced = 0.0F;
    while (balanced < goal && agent.updates() < last_update) {
        cartpole::report const& report = agent.compute_gradients();

        // An observer looks here: losses, activations and gradients are known, no parameter has changed yet.

        agent.apply_gradients();

        if (agent.updates() % evaluation_updates == 0) {
            balanced = agent.evaluate(evaluation_episodes);
            if (!chosen.quiet) {
                std::printf("update %5lld  cart steps %7lld  loss %8.4f  entropy %.3f  training %5.1f  evaluation %5.1f\n",
                            static_cast<long long>(agent.updates()), static_cast<long long>(agent.cart_steps()),
                            static_cast<double>(report.loss), static_cast<double>(report.entropy),
                            static_cast<double>(report.episode_return), static_cast<double>(balanced));
            }
        }
    }
    std::printf("%s: %.1f of %d steps balanced after %lld updates\n", balanced >= goal ? "learnt" : "not learnt",
                static_cast<double>(balanced), cartpole::episode_steps, static_cast<long long>(agent.updates()));
    return balanced;
}

}  // namespace

int main(int count, char** arguments) {
    auto const chosen = parse(count, arguments);
    if (!chosen) {
        std::fprintf(stderr, "usage: cartpole [--seed=N] [--fault=none|lr|nan|dead|frozen] [--quiet]\n");
        return 2;
    }
    return train(*chosen) >= goal ? 0 : 1;
}
