// SPDX-License-Identifier: Apache-2.0
// expect: use of deleted function|call to deleted constructor
#include <spotter/hook.hpp>

int main() {
    spotter::hook watch{spotter::plan{}};
#ifdef SPOTTER_CONTROL
    auto& same = watch;
    (void)same.step(spotter::train(0));
#else
    auto copy = watch;
    (void)copy.step(spotter::train(0));
#endif
}
