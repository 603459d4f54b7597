// SPDX-License-Identifier: Apache-2.0
// expect at once: `stamp` of this sink is not `void stamp\(step_moments const&\)`
#include <spotter/hook.hpp>

struct timing_sink : spotter::null_sink {
#ifdef SPOTTER_CONTROL
    void stamp(spotter::step_moments const&) noexcept {}
#else
    void stamp(spotter::step_id, double) noexcept {}
#endif
};

int main() {
    timing_sink sink;
    spotter::hook watch{sink, spotter::plan{}};
    (void)watch.step(spotter::train(0));
}
