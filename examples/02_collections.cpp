// SPDX-License-Identifier: Apache-2.0
// What to keep: collections say which tensors, policies say when, and `payload` or `stats(...)` say how much of them.
#include "common/regression.hpp"

#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <cstdio>

using namespace spotter;

constexpr plan keep{
    collection{"losses", "loss", always{}, payload},
    collection{"first steps", "*", before{3}, payload},
    collection{"weights", role::weight, every{100} || at{7}, payload},
    collection{"gradients", "grad/*", every{10} && during{mode::train}, stats(l2, of_abs(maximum))},
    collection{"second layer", glob{"*fc2*"} && !glob{"grad/*"}, every{50}, payload | stats(mean, stddev)},
};

int main() {
    options const replace{.existing = existing::replace};
    hook watch{"runs/collections", keep, replace};
    example::regression net;
    for (std::uint64_t i = 0; i < 201; ++i) {
        float const loss = net.forward_backward();
        (void)watch.step(train(i), "loss"_t = loss, net);
        net.update();
    }
    watch.finish();

    trial const run = open_trial(watch.path()).value();
    for (auto const& each : run.collections()) {
        std::printf("%-13s %-58s", each.name.c_str(), each.what.c_str());
        for (auto const& name : run.names(filter{.collection = each.name})) {
            std::printf(" %s:%zu", name.c_str(), run[name].steps().size());
        }
        std::printf("\n");
    }
    // Values of fc1/w at the first three steps, at 7, and at every hundredth.
    return run["fc1/w"].payload_steps().size() == 3 + 1 + 2 && run["loss"].payload_steps().size() == 201 ? 0 : 1;
}
