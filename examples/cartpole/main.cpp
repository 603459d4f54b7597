// SPDX-License-Identifier: Apache-2.0
// Trains the cart-pole agent until it balances; spotter stops a training that goes wrong:
//     cartpole [--seed=N] [--fault=lr|nan|dead|frozen|entropy|reward] [--run=FOLDER] [--quiet] [--preflight]
// With --preflight the loop is examined first, on an agent of its own. Exit code: 0 when it learnt, 3 when spotter
// stopped it, 1 otherwise, 2 when the command line is wrong.
#include "agent.hpp"
#include "experience.hpp"
#include "physics.hpp"
#include "rules.hpp"

#include <spotter/preflight.hpp>
#include <spotter/replay.hpp>
#include <spotter/report.hpp>

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

namespace {

namespace sp = spotter;
using namespace sp::literals;

constexpr float goal = 475.0F;       // steps balanced, mean over the episodes of an evaluation
constexpr int evaluations_held = 3;  // in a row, to exclude luck
constexpr std::size_t evaluation_episodes = 100;
constexpr std::uint64_t evaluation_interval = 160;  // updates
constexpr std::uint64_t last_update = 3'200;        // then it gives up

struct options {
    cartpole::settings training;
    std::string run = "runs/cartpole";
    bool quiet = false;
    bool preflight = false;
};

enum class outcome { learnt, not_learnt, stopped };

// The command line's options; nothing if it is invalid.
std::optional<options> parse(int count, char** arguments) {
    using cartpole::fault;
    constexpr std::array<std::pair<std::string_view, fault>, 7> faults{{{"none", fault::none},
                                                                        {"lr", fault::lr},
                                                                        {"nan", fault::nan},
                                                                        {"dead", fault::dead},
                                                                        {"frozen", fault::frozen},
                                                                        {"entropy", fault::entropy},
                                                                        {"reward", fault::reward}}};
    options result;
    for (int i = 1; i < count; ++i) {
        std::string_view argument = arguments[i];
        bool understood = false;
        if (argument == "--quiet") {
            result.quiet = true;
            understood = true;
        } else if (argument == "--preflight") {
            result.preflight = true;
            understood = true;
        } else if (argument.starts_with("--run=") && argument.size() > 6) {
            result.run = argument.substr(6);
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
        if (!understood) { return std::nullopt; }
    }
    return result;
}

// Examines the loop and records the findings. False where something is wrong. An agent cannot be copied, since its
// optimizer points into its network. So each restore creates a new agent with the same random numbers, and lets it
// drive. The pass is the second batch, so that the experience does not depend on the weights under test.
template <class Hook>
bool examine(options const& chosen, Hook& watch) {
    std::optional<cartpole::agent> agent{std::in_place, chosen.training};
    auto const found =
        sp::preflight(sp::examination{.parameters =
                                          [&](auto& visit) {
                                              visit_parameters(agent->net(), visit);
                                              visit_gradients(agent->net(), visit);
                                          },
                                      .backward = [&] { return agent->compute_gradients().loss; },
                                      .update = [&] { agent->apply_gradients(); },
                                      .restore = [&] { agent.emplace(chosen.training).compute_gradients(); },
                                      .restore_each = true});  // a pass takes the next batch
    watch.add(found);
    fmt::print("examined: {}\n", found.sentence().view());
    if (found) { fmt::print("{}\nnot trained\n", found.alarm()); }
    return !found;
}

// Trains until the goal is held, spotter requests a stop, or the last update is done.
template <class Hook>
outcome train(options const& chosen, Hook& watch) {
    if (chosen.preflight && !examine(chosen, watch)) { return outcome::stopped; }
    cartpole::agent agent{chosen.training};
    std::uint64_t update = 0;
    int held = 0;
    float balanced = 0.0F;
    while (held < evaluations_held && update < last_update) {
        cartpole::report const& report = agent.compute_gradients();

        // Losses, activations and gradients are known, and no parameter has changed yet: the moment for rules to judge.
        // Tensors come in the order in which they were computed, so the first bad one is the origin.
        auto const found = watch.step(sp::train(update), agent, "policy_loss"_t = report.policy_loss,
                                      "value_loss"_t = report.value_loss, "loss"_t = report.loss);
        if (found) {  // a warning or worse
            fmt::print("{}\nstopped before update {} was applied\n", found, update);
            return outcome::stopped;
        }

        agent.apply_gradients();
        ++update;

        if (update % evaluation_interval == 0) {
            balanced = evaluate(agent.net(), evaluation_episodes, chosen.training.seed);
            held = balanced >= goal ? held + 1 : 0;
            (void)watch.step(sp::eval(update), "metric/balanced"_t = balanced);
            if (!chosen.quiet) {
                fmt::print(
                    "update {:5}  steps {:7}  loss {:8.4f}  entropy {:.3f}  training {:5.1f}  evaluation {:5.1f}\n",
                    update, agent.cart_steps(), report.loss, report.entropy, report.episode_length, balanced);
                std::fflush(stdout);
            }
        }
    }
    bool const learnt = held == evaluations_held;
    fmt::print("{} after {} updates: balances {:.1f} of {} steps; parameters {:016x}\n",
               learnt ? "learnt" : "not learnt", update, balanced, cartpole::episode_steps, fingerprint(agent.net()));
    return learnt ? outcome::learnt : outcome::not_learnt;
}

// Reads the record afterwards: an answer that the loop did not compute, and how the run went.
void ask(std::string_view path) {
    auto opened = sp::open_trial(path);
    if (!opened) { return; }  // SPOTTER=off or dry: there is none
    sp::trial const run = std::move(opened).value();
    auto const steep =
        sp::any("grad/*/w", sp::l2 > 5.0) | sp::only{cartpole::gradients_kept} | sp::named{"gradient norm above 5"};
    sp::replay_report const report = sp::replay(run, steep);
    fmt::print("\nasked of the record afterwards, did any gradient's norm exceed 5? ");
    if (report.findings.empty()) {
        fmt::print("no, at none of the steps whose gradients were kept\n");
    } else {
        fmt::print("yes, first: {}\n", report.findings.front());
    }
    fmt::print("\n{}", run);
}

}  // namespace

int main(int count, char** arguments) {
    auto const chosen = parse(count, arguments);
    if (!chosen) {
        std::fprintf(stderr, "usage: cartpole [--seed=N] [--fault=none|lr|nan|dead|frozen|entropy|reward] "
                             "[--run=FOLDER] [--quiet] [--preflight]\n");
        return 2;
    }
    outcome result{};
    std::string path;
    {
        sp::hook watch{chosen->run, cartpole::keep, cartpole::early, cartpole::rules};
        result = train(*chosen, watch);
        path = watch.path();
        watch.finish();
        if (!watch.health().good()) { fmt::print("spotter: {}\n", watch.health().first_error); }
    }
    if (!chosen->quiet) { ask(path); }
    return result == outcome::learnt ? 0 : result == outcome::stopped ? 3 : 1;
}
