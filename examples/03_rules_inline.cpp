// SPDX-License-Identifier: Apache-2.0
// Rules are values: compose them, name them, say what they ask for. Here a learning rate is far too large, and the run is
// stopped before the bad update is applied. Nothing is recorded: a hook without a path only judges.
#include "common/regression.hpp"

#include <spotter/hook.hpp>
#include <spotter/report.hpp>
#include <spotter/rules.hpp>

using namespace spotter;

constexpr auto exploding = any("grad/*", l2 > 1e3) || any("*", nonfinite > 0);
constexpr auto stuck = all("grad/*", mean_abs < 1e-7) | for_steps{3};
constexpr auto unhealthy = (exploding | named{"gradients explode"}) || (stuck && loss_not_decreasing{});
constexpr auto jumpy = update_ratio_band{} | only{during{mode::train}} | rearm{10};

int main() {
    hook watch{plan{}, on(unhealthy, stop), jumpy};
    example::regression net;
    net.learning_rate = 40.0F;
    for (std::uint64_t i = 0; i < 300; ++i) {
        float const loss = net.forward_backward();
        auto const found = watch.step(train(i), "loss"_t = loss, net);
        if (!found.empty()) { fmt::print("{}\n", found); }
        if (found.decision() == decision::stop) {
            fmt::print("stopped before update {}\n", i);
            return 0;
        }
        net.update();
    }
    return 1;  // the run should have been stopped
}
