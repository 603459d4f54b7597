// SPDX-License-Identifier: Apache-2.0
// An engine that owns its threads: no thread is started, the engine drains the ring where it has time. A full ring keeps the
// statistics and drops values (overflow::thin), because a frame must not wait.
#include "common/regression.hpp"

#include <spotter/report.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>

using namespace spotter;

int main() {
    constexpr plan keep{collection{"everything", "*", always{}, payload}};
    options const engine{
        .existing = existing::replace, .overflow = overflow::thin, .drain = drain::poll, .ring_bytes = 1 << 20};
    hook watch{"runs/poll", keep, non_finite{}, engine};
    example::regression net;
    for (std::uint64_t frame = 0; frame < 600; ++frame) {
        watch.begin(train(frame));
        watch.observe("loss", net.forward_backward());
        watch.observe("act/fc1", net.hidden);
        auto const found = watch.end();
        if (!found) { net.update(); }
        if (frame % 8 == 7) { watch.poll(); }  // the engine's idle time
    }
    watch.finish();
    sink_health const record = watch.health().sink;
    fmt::print("stored {}, dropped {}, without values {}; at most {} bytes in the ring\n", record.stored,
               record.dropped, record.thinned, record.ring_peak);
    return record.stored == 1200 && watch.health().good() ? 0 : 1;
}
