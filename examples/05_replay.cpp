// SPDX-License-Identifier: Apache-2.0
// New questions to an old run: the rules of the loop again, then one that was not in the loop.
#include "common/regression.hpp"

#include <spotter/replay.hpp>
#include <spotter/report.hpp>
#include <spotter/spotter.hpp>

namespace sp = spotter;
using namespace sp::literals;

constexpr auto rules = sp::vanishing_gradient{.threshold = 1e-3} || sp::any("act/*", sp::zero_fraction > 0.5);

int main() {
    constexpr sp::plan keep{sp::defaults::losses, sp::collection{"all", "*", sp::every{5}, sp::payload}};
    sp::options const replace{.existing = sp::existing::replace};
    std::size_t inline_findings = 0;
    std::string path;
    {
        sp::hook watch{"runs/replay", keep, rules, replace};
        path = watch.path();
        example::regression net;
        for (std::uint64_t i = 0; i < 200; ++i) {
            float const loss = net.forward_backward();
            inline_findings += watch.step(sp::train(i), "loss"_t = loss, net).size();
            net.update();
        }
    }
    sp::trial const run = sp::open_trial(path).value();
    fmt::print("{}\n", run);

    fmt::print("the same rules over the record: ");
    sp::replay_report const again = sp::replay(run, rules, sp::print_report);

    fmt::print("\na new question: ");
    sp::replay(run, sp::any(sp::role::weight, sp::maximum_abs > 1.0) | sp::for_steps{3}, sp::print_report);

    return again.findings.size() == inline_findings ? 0 : 1;
}
