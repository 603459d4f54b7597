// SPDX-License-Identifier: Apache-2.0
// Rules are values: compose them, name them, attach decisions. Here a learning rate is far too large, and the run is
// stopped before the bad update is applied. Nothing is recorded: a hook without a path only judges.
#include "common/regression.hpp"

#include <spotter/hook.hpp>
#include <spotter/report.hpp>
#include <spotter/rules.hpp>

namespace sp = spotter;
using namespace sp::literals;

constexpr auto exploding = sp::any("grad/*", sp::l2 > 1e3) || sp::any("*", sp::nonfinite > 0);
constexpr auto stuck = sp::all("grad/*", sp::mean_abs < 1e-7) | sp::for_steps{3};
constexpr auto unhealthy = (exploding | sp::named{"gradients explode"}) || (stuck && sp::loss_not_decreasing{});
constexpr auto jumpy = sp::update_ratio_band{} | sp::only{sp::during{sp::mode::train}} | sp::rearm{10};

int main() {
    sp::hook watch{sp::plan{}, sp::on(unhealthy, sp::stop), jumpy};
    example::regression net;
    net.learning_rate = 40.0F;
    for (std::uint64_t i = 0; i < 300; ++i) {
        float const loss = net.forward_backward();
        auto const found = watch.step(sp::train(i), "loss"_t = loss, net);
        if (!found.empty()) { fmt::print("{}\n", found); }
        if (found.decision() == sp::decision::stop) {
            fmt::print("stopped before update {}\n", i);
            return 0;
        }
        net.update();
    }
    return 1;  // the run should have been stopped
}
