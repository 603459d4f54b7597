// SPDX-License-Identifier: Apache-2.0
// expect: spotter: a trial is not copied: open_trial.path.[.]value
#include <spotter/trial.hpp>

int main() {
    auto opened = spotter::open_trial("runs/a");
    if (!opened) { return 0; }
#ifdef SPOTTER_CONTROL
    spotter::trial& same = *opened;
    spotter::trial run = spotter::open_trial("runs/a").value();
    return static_cast<int>(same.steps().size() - run.steps().size());
#else
    spotter::trial run = opened.value();
    return static_cast<int>(run.steps().size());
#endif
}
