// SPDX-License-Identifier: Apache-2.0
// Trains the cart-pole agent until it balances: cartpole [--seed=N] [--fault=lr|nan|dead|frozen] [--quiet]
#include "agent.hpp"
#include "experience.hpp"
#include "physics.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace {

constexpr float goal = 475.0F;       // steps balanced, mean over the episodes of an evaluation
constexpr int evaluations_held = 3;  // in a row, so that luck is no success
constexpr std::size_t evaluation_episodes = 100;
constexpr std::int64_t evaluation_interval = 160;  // updates
constexpr std::int64_t last_update = 3'200;        // then it gives up

struct options {
    cartpole::settings training;
    bool quiet = false;
};

// What the command line asks for; nothing when it cannot be understood.
std::optional<options> parse(int count, char** arguments) {
    using cartpole::fault;
    constexpr std::array<std::pair<std::string_view, fault>, 5> faults{{{"none", fault::none},
                                                                        {"lr", fault::lr},
                                                                        {"nan", fault::nan},
                                                                        {"dead", fault::dead},
                                                                        {"frozen", fault::frozen}}};
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

// Trains until the goal is held or the last update is done; true when the pole stays up.
bool train(options const& chosen) {
    cartpole::agent agent{chosen.training};
    std::int64_t update = 0;
    int held = 0;
    float balanced = 0.0F;
    while (held < evaluations_held && update < last_update) {
        cartpole::report const& report = agent.compute_gradients();

        // An observer looks here: losses, activations and gradients are known, no parameter has changed yet. It may
        // say stop (break) or skip (do not apply).

        agent.apply_gradients();
        ++update;

        if (update % evaluation_interval == 0) {
            balanced = evaluate(agent.net(), evaluation_episodes, chosen.training.seed);
            held = balanced >= goal ? held + 1 : 0;
            if (!chosen.quiet) {
                std::printf("update %5lld  steps %7lld  loss %8.4f  entropy %.3f  training %5.1f  evaluation %5.1f\n",
                            static_cast<long long>(update), static_cast<long long>(agent.cart_steps()),
                            static_cast<double>(report.loss), static_cast<double>(report.entropy),
                            static_cast<double>(report.episode_length), static_cast<double>(balanced));
            }
        }
    }
    bool const learnt = held == evaluations_held;
    std::printf("%s after %lld updates: balances %.1f of %d steps\n", learnt ? "learnt" : "not learnt",
                static_cast<long long>(update), static_cast<double>(balanced), cartpole::episode_steps);
    return learnt;
}

}  // namespace

int main(int count, char** arguments) {
    auto const chosen = parse(count, arguments);
    if (!chosen) {
        std::fprintf(stderr, "usage: cartpole [--seed=N] [--fault=none|lr|nan|dead|frozen] [--quiet]\n");
        return 2;
    }
    return train(*chosen) ? 0 : 1;
}
