// SPDX-License-Identifier: Apache-2.0
// Two lines in a training loop: a hook before it, a step inside it. The record is in runs/two_lines.
#include "common/regression.hpp"

#include <spotter/rule/builtin/exploding_gradient.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>

#include <cstdio>

namespace sp = spotter;
using namespace sp::literals;

int main() {
    constexpr sp::plan keep{sp::defaults::losses,
                            sp::collection{"gradients", "grad/*", sp::every{10}, sp::stats(sp::l2, sp::maximum)}};

    sp::hook watch{"runs/two_lines", keep, sp::non_finite{}, sp::exploding_gradient{}};  // line 1

    example::regression net;
    for (std::uint64_t i = 0; i < 300; ++i) {
        float const loss = net.forward_backward();
        auto const found = watch.step(sp::train(i), "loss"_t = loss, net);  // line 2: tensors in, findings out
        if (found.decision() == sp::decision::stop) { break; }              // before the update is applied
        if (found.decision() == sp::decision::skip_update) { continue; }
        net.update();
    }
    watch.finish();
    sp::health_report const health = watch.health();
    std::printf("%llu steps watched, record in %.*s\n", static_cast<unsigned long long>(health.steps),
                static_cast<int>(watch.path().size()), watch.path().data());
    return health.good() ? 0 : 1;
}
