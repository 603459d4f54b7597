// SPDX-License-Identifier: Apache-2.0
// Built with -fno-exceptions -fno-rtti: every failure is a value that the loop may look at or not.
#include "common/regression.hpp"

#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <cstdio>

using namespace spotter;

int main() {
    // A path that cannot be a folder: nothing is recorded, the rules still judge, the training goes on.
    hook nowhere{"/dev/null/run", plan{defaults::losses}, non_finite{}};
    error const why = nowhere.health().first;
    std::printf("%.*s: %.*s\n", static_cast<int>(name_of(why.code).size()), name_of(why.code).data(),
                static_cast<int>(why.what.view().size()), why.what.view().data());

    options const replace{.existing = existing::replace};
    hook watch{"runs/no_exceptions", plan{defaults::losses}, non_finite{}, replace};
    example::regression net;
    for (std::uint64_t i = 0; i < 50; ++i) {
        float const loss = net.forward_backward();
        bool const bad = static_cast<bool>(nowhere.step(train(i), "loss"_t = loss)) ||
                         static_cast<bool>(watch.step(train(i), "loss"_t = loss));
        if (bad) { return 1; }
        net.update();
    }
    watch.finish();

    result<trial> const run = open_trial(watch.path());
    if (!run) { return 1; }
    result<float> const last = (*run)["loss"].at(train(49)).to<float>();
    result<float> const missing = (*run)["loss"].at(train(50)).to<float>();
    std::printf("last loss %g; asked for one more: %.*s\n", static_cast<double>(*last),
                static_cast<int>(name_of(missing.error().code).size()), name_of(missing.error().code).data());
    return why && last && missing.error().code == errc::no_such_step ? 0 : 1;
}
