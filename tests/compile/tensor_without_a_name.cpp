// SPDX-License-Identifier: Apache-2.0
// expect at once: a tensor in a step has a name
#include <spotter/hook.hpp>

int main() {
    using spotter::operator""_t;
    float const w[]{1, 2, 3};
    spotter::hook watch{spotter::plan{}};
#ifdef SPOTTER_CONTROL
    (void)watch.step(spotter::train(0), "w"_t = w);
#else
    (void)watch.step(spotter::train(0), w);
#endif
}
