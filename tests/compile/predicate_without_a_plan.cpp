// SPDX-License-Identifier: Apache-2.0
// expect at once: a predicate becomes a rule by any
#include <spotter/spotter.hpp>

int main() {
#ifdef SPOTTER_CONTROL
    spotter::hook watch{"runs/a", spotter::any("*", spotter::l2 > 3.0)};
#else
    spotter::hook watch{"runs/a", spotter::l2 > 3.0};
#endif
    (void)watch.step(spotter::train(0));
}
