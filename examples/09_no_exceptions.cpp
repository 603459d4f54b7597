// SPDX-License-Identifier: Apache-2.0
// Built with -fno-exceptions -fno-rtti: every failure is a value that the loop may check or ignore.
#include "common/regression.hpp"

#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <cstdio>

namespace sp = spotter;
using namespace sp::literals;

int main() {
    // A path that cannot be a folder: nothing is recorded, but the rules still judge and the training goes on.
    sp::hook nowhere{"/dev/null/run", sp::plan{sp::defaults::losses}, sp::non_finite{}};
    sp::error const why = nowhere.health().first_error;
    std::printf("%.*s: %.*s\n", static_cast<int>(sp::name_of(why.code).size()), sp::name_of(why.code).data(),
                static_cast<int>(why.what.view().size()), why.what.view().data());

    sp::options const replace{.existing = sp::existing::replace};
    sp::hook watch{"runs/no_exceptions", sp::plan{sp::defaults::losses}, sp::non_finite{}, replace};
    example::regression net;
    for (std::uint64_t i = 0; i < 50; ++i) {
        float const loss = net.forward_backward();
        bool const bad = static_cast<bool>(nowhere.step(sp::train(i), "loss"_t = loss)) ||
                         static_cast<bool>(watch.step(sp::train(i), "loss"_t = loss));
        if (bad) { return 1; }
        net.update();
    }
    watch.finish();

    sp::result<sp::trial> const run = sp::open_trial(watch.path());
    if (!run) { return 1; }
    sp::result<float> const last = (*run)["loss"].at(sp::train(49)).to<float>();
    sp::result<float> const missing = (*run)["loss"].at(sp::train(50)).to<float>();
    std::printf("last loss %g; asked for one more: %.*s\n", static_cast<double>(*last),
                static_cast<int>(sp::name_of(missing.error().code).size()), sp::name_of(missing.error().code).data());
    return why && last && missing.error().code == sp::errc::no_such_step ? 0 : 1;
}
