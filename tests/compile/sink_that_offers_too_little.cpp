// SPDX-License-Identifier: Apache-2.0
// expect at once: the sink's `offers` leaves sink_call::poll out
#include <spotter/hook.hpp>

struct polled_sink : spotter::null_sink {
#ifdef SPOTTER_CONTROL
    using offers = spotter::sink_offers<spotter::sink_call::poll>;
#else
    using offers = spotter::sink_offers<>;
#endif
    void poll() noexcept {}
};

int main() {
    polled_sink sink;
    spotter::hook watch{sink, spotter::plan{}};
    (void)watch.step(spotter::train(0));
}
