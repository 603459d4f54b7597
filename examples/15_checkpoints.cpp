// SPDX-License-Identifier: Apache-2.0
// A training that diverges and is resumed from its last good checkpoint, which no bad checkpoint has replaced.
#include "common/regression.hpp"

#include <spotter/checkpoints.hpp>
#include <spotter/report.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

namespace sp = spotter;
using namespace sp::literals;

int main() {
    example::regression net;
    sp::checkpoints kept{"runs/diverging.checkpoints", {.keep = 2}};
    sp::hook watch{"runs/diverging", sp::plan{}, sp::exploding_gradient{} || sp::non_finite{},
                   sp::options{.existing = sp::existing::replace}};
    for (std::uint64_t i = 0; i < 1000; ++i) {
        if (i == 560) { net.learning_rate = 50; }  // the mistake
        float const loss = net.forward_backward();
        auto const found = watch.step(sp::train(i), net, "loss"_t = loss);
        if (found.decision() != sp::decision::proceed) {
            fmt::print("{}\n", found.front());
            break;
        }
        net.update();
        if (i % 100 == 0) {
            if (auto const why = kept.save(watch, sp::train(i), net)) { fmt::print("no checkpoint: {}\n", why); }
        }
    }
    kept.review(watch);
    sp::checkpoint_file const good = kept.last_good(watch);
    if (auto const why = sp::load_checkpoint(good.path, net)) {
        fmt::print("{}\n", why);
        return 1;
    }
    fmt::print("go on from {} at step {}\n", good.path, good.step.index + 1);
    return good.step == sp::train(400) ? 0 : 1;
}
