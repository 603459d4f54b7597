// SPDX-License-Identifier: Apache-2.0
// A training as a series of attempts. Each is judged by its record, and what was wrong with it selects the cure for the
// next. Here an attempt is a function call; with `child_process{{"./train", "--seed=1"}}` it would be a process.
#include "common/regression.hpp"

#include <spotter/report.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/supervisor.hpp>

#include <filesystem>

namespace sp = spotter;
using namespace sp::literals;

// Trains with a rate that is far too large and that each of the settings lowers; returns the path of the record.
std::string train(sp::supervised_attempt const& now) {
    constexpr sp::plan keep{sp::defaults::losses};
    sp::hook watch{now.run, keep, sp::on(sp::non_finite{}, sp::stop), sp::on(sp::exploding_gradient{}, sp::stop)};
    now.note(watch);
    example::regression net;
    net.learning_rate = 40.0F;
    for (std::string const& each : now.settings) { net.learning_rate *= each == "halve" ? 0.5F : 0.005F; }
    for (std::uint64_t i = 0; i < 300; ++i) {
        float const loss = net.forward_backward();
        if (watch.step(sp::train(i), "loss"_t = loss, net).decision() == sp::decision::stop) { break; }
        net.update();
    }
    std::string const where{watch.path()};
    watch.finish();
    return where;
}

int main() {
    std::filesystem::remove_all("runs/attempts");  // of an earlier run: a supervisor deletes nothing
    std::vector<sp::cure> const cures{{"{non_finite,exploding_gradient}", "half the rate", {"halve"}},
                                      {"{non_finite,exploding_gradient}", "a far smaller rate", {"lower"}}};
    sp::healing const outcome = sp::supervise(train, cures, {.attempts = 4, .folder = "runs/attempts"});
    for (sp::past_attempt const& each : outcome.attempts) {
        fmt::print("{}: {}; {}\n", each.asked.run, each.asked.cure.empty() ? "as it is" : each.asked.cure,
                   each.verdict.stable() ? "stable" : each.verdict.line());
    }
    return outcome.stable() && outcome.attempts.size() == 3 ? 0 : 1;
}
