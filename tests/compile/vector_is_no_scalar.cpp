// SPDX-License-Identifier: Apache-2.0
// [S41]
// expect: a scalar is one number or a text
#include <spotter/hook.hpp>

#include <vector>

int main() {
    spotter::hook watch{spotter::plan{}};
#ifdef SPOTTER_CONTROL
    watch.scalar("x", std::vector{1, 2}[0]);
    watch.scalar("x", 0.5F, 12.0);
    watch.scalar("x", "a text");
#else
    watch.scalar("x", std::vector{1, 2});
#endif
}
