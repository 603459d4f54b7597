// SPDX-License-Identifier: Apache-2.0
// For an engine that owns its threads: spotter starts no thread, and the engine drains the ring when it has time. A
// full ring keeps the statistics and drops values (overflow::thin), because a frame must not wait.
#include "common/regression.hpp"

#include <spotter/report.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>

namespace sp = spotter;

int main() {
    constexpr sp::plan keep{sp::collection{"everything", "*", sp::always{}, sp::payload}};
    sp::options const engine{.existing = sp::existing::replace,
                             .overflow = sp::overflow::thin,
                             .drain = sp::drain::poll,
                             .ring_bytes = 1 << 20};
    sp::hook watch{"runs/poll", keep, sp::non_finite{}, engine};
    example::regression net;
    for (std::uint64_t frame = 0; frame < 600; ++frame) {
        watch.begin(sp::train(frame));
        watch.observe("loss", net.forward_backward());
        watch.observe("act/fc1", net.hidden);
        auto const found = watch.end();
        if (!found) { net.update(); }
        if (frame % 8 == 7) { watch.poll(); }  // the engine's idle time
    }
    watch.finish();
    sp::sink_health const record = watch.health().sink;
    fmt::print("stored {}, dropped {}, without values {}; at most {} bytes in the ring\n", record.stored,
               record.dropped, record.thinned, record.ring_peak);
    return record.stored == 1200 && watch.health().good() ? 0 : 1;
}
