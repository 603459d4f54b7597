// SPDX-License-Identifier: Apache-2.0
// What to keep: collections select the tensors, policies select the steps, and `payload` or `stats(...)` say what is
// kept of each.
#include "common/regression.hpp"

#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <cstdio>

namespace sp = spotter;
using namespace sp::literals;

constexpr sp::plan keep{
    sp::collection{"losses", "loss", sp::always{}, sp::payload},
    sp::collection{"first steps", "*", sp::before{3}, sp::payload},
    sp::collection{"weights", sp::role::weight, sp::every{100} || sp::at{7}, sp::payload},
    sp::collection{"gradients", "grad/*", sp::every{10} && sp::during{sp::mode::train},
                   sp::stats(sp::l2, sp::maximum_abs)},
    sp::collection{"second layer", sp::glob{"*fc2*"} && !sp::glob{"grad/*"}, sp::every{50},
                   sp::payload | sp::stats(sp::mean, sp::stddev)},
};

int main() {
    sp::options const replace{.existing = sp::existing::replace};
    sp::hook watch{"runs/collections", keep, replace};
    example::regression net;
    for (std::uint64_t i = 0; i < 201; ++i) {
        float const loss = net.forward_backward();
        (void)watch.step(sp::train(i), "loss"_t = loss, net);
        net.update();
    }
    watch.finish();

    sp::trial const run = sp::open_trial(watch.path()).value();
    for (auto const& each : run.collections()) {
        std::printf("%-13s %-58s", each.name.c_str(), each.what.c_str());
        for (auto const& name : run.names(sp::filter{.collection = each.name})) {
            std::printf(" %s:%zu", name.c_str(), run[name].steps().size());
        }
        std::printf("\n");
    }
    // Values of fc1/w at the first three steps, at 7, and at every hundredth.
    return run["fc1/w"].payload_steps().size() == 3 + 1 + 2 && run["loss"].payload_steps().size() == 201 ? 0 : 1;
}
