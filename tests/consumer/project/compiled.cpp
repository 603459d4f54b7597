// SPDX-License-Identifier: Apache-2.0
// Records a step and reads it back, linked with spotter::compiled.
#include <spotter/packs.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#if !defined(SPOTTER_SEPARATE)
#error "spotter::compiled asks for SPOTTER_SEPARATE"
#endif

int main() {
    using namespace spotter;
    constexpr plan keep{collection{"all", "*", always{}, payload}};
    {
        hook watch{"run", keep, options{.existing = existing::replace}, packs::supervised, any("x", maximum > 1)};
        if (!watch.step(train(0), "x"_t = 2.0)) { return 1; }
    }
    auto const run = open_trial("run");
    if (!run) { return 2; }
    auto const value = (*run)["x"].at(train(0)).to<double>();
    return value && *value > 1.5 ? 0 : 3;
}
