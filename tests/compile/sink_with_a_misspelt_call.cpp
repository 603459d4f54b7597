// SPDX-License-Identifier: Apache-2.0
// expect at once: `leave` of this sink is not `void leave\(step_id, step_alarm const&\)`
#include <spotter/hook.hpp>

struct closing_sink : spotter::null_sink {
    using offers = spotter::sink_offers<spotter::sink_call::leave>;
#ifdef SPOTTER_CONTROL
    void leave(spotter::step_id, spotter::step_alarm const&) noexcept {}
#else
    void leaves(spotter::step_id, spotter::step_alarm const&) noexcept {}
#endif
};

int main() {
    closing_sink sink;
    spotter::hook watch{sink, spotter::plan{}};
    (void)watch.step(spotter::train(0));
}
