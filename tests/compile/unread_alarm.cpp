// SPDX-License-Identifier: Apache-2.0
// expect: ignoring return value
#include <spotter/hook.hpp>

#pragma GCC diagnostic error "-Wunused-result"

int main() {
    spotter::hook watch{spotter::plan{}};
#ifdef SPOTTER_CONTROL
    (void)watch.step(spotter::train(0));
#else
    watch.step(spotter::train(0));
#endif
}
