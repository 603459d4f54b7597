// SPDX-License-Identifier: Apache-2.0
// New questions to an old run: the rules of the loop again, then one that nobody thought of while it trained.
#include "common/regression.hpp"

#include <spotter/replay.hpp>
#include <spotter/report.hpp>
#include <spotter/spotter.hpp>

using namespace spotter;

constexpr auto rules = vanishing_gradient{.threshold = 1e-3} || any("act/*", zero_fraction > 0.5);

int main() {
    constexpr plan keep{defaults::losses, collection{"all", "*", every{5}, payload}};
    options const replace{.existing = existing::replace};
    std::size_t inline_findings = 0;
    std::string path;
    {
        hook watch{"runs/replay", keep, rules, replace};
        path = watch.path();
        example::regression net;
        for (std::uint64_t i = 0; i < 200; ++i) {
            float const loss = net.forward_backward();
            inline_findings += watch.step(train(i), "loss"_t = loss, net).size();
            net.update();
        }
    }
    trial const run = open_trial(path).value();
    fmt::print("{}\n", run);

    fmt::print("the same rules over the record: ");
    replay_report const again = replay(run, rules, print_report);

    fmt::print("\na new question: ");
    replay(run, any(role::weight, of_abs(maximum) > 1.0) | for_steps{3}, print_report);

    return again.findings.size() == inline_findings ? 0 : 1;
}
