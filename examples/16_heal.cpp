// SPDX-License-Identifier: Apache-2.0
// A training that starts with a learning rate a thousand times too large, and later gets a corrupt batch. It returns to
// a checkpoint by itself, lowers the rate by a measured factor, skips the batch, and converges.
#include "common/regression.hpp"

#include <spotter/heal.hpp>
#include <spotter/packs.hpp>
#include <spotter/report.hpp>
#include <spotter/spotter.hpp>

#include <limits>

namespace sp = spotter;
using namespace sp::literals;

int main() {
    sp::heal cures{sp::skip_batch{}, sp::step_back{}, sp::warm_up_again{}};
    sp::hook watch{"runs/healed", sp::plan{}, sp::packs::supervised, cures.gauge(),
                   sp::options{.existing = sp::existing::replace}};
    example::regression net;
    net.learning_rate *= 1000;
    // The checkpoint to return to; for large programs see spotter/checkpoints.hpp.
    auto const first_w1 = net.w1, first_w2 = net.w2;
    float const rate = net.learning_rate;
    float loss = 0;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        loss = net.forward_backward();
        if (i == 1500) { net.grad_w1.values[3] = std::numeric_limits<float>::quiet_NaN(); }
        sp::treatment const what = cures.treat(watch, sp::train(i), watch.step(sp::train(i), net, "loss"_t = loss));
        if (what.stop) { return 1; }
        if (what.restore) {
            net.w1 = first_w1, net.w2 = first_w2;
            i = 0;
            continue;
        }
        if (what.skip) { continue; }
        net.learning_rate = rate * static_cast<float>(what.rate);
        net.update();
    }
    cures.report(
        [](sp::cure_report const& it) { fmt::print("{}: {} times, {} helped\n", it.name, it.acts, it.helped); });
    fmt::print("loss {:.4f}, rate {:.4f} of {}\n", loss, net.learning_rate, rate);
    return loss < 0.05F ? 0 : 1;
}
