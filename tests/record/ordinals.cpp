// SPDX-License-Identifier: Apache-2.0
// Each row frame holds the ordinal of its first step.
#include <spotter/spotter.hpp>

#include <spotter/file/memory.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>

using namespace spotter;

TEST_CASE("a frame begins to count where the one before it ended, however rows and packed steps fill it") {
    constexpr std::uint64_t steps = 3000;
    for (std::uint64_t const with_vector : {1U, 7U, 100U, 791U, 5000U}) {  // steps with one are not packed
        CAPTURE(with_vector);
        memory_file_system files;
        {
            recorder record{"run", {.drain = drain::poll, .flush_milliseconds = 1'000'000}, files};
            hook watch{record, plan{collection{"losses", "loss", always{}, payload},
                                    collection{"zeros", "act", always{}, stats(zeros, l2)}}};
            std::vector<float> const act(200, 1.0F);
            for (std::uint64_t i = 0; i < steps; ++i) {
                watch.begin(train(i));
                watch.observe("loss", 1.0F / static_cast<float>(i + 1));
                if (i % with_vector == 0) { watch.observe("act", act); }
                (void)watch.end();
            }
            watch.finish();
            REQUIRE(watch.health().good());
        }
        auto const mapped = files.map("run/000000.spot");
        REQUIRE(mapped);
        std::uint64_t next = 0;
        frame_walker walk{mapped->bytes};
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            if (what != walked::rows) { continue; }
            CHECK(walk.frame().first_ordinal == next);
            next += walk.frame().closes;
        }
        CHECK(next == steps);
        files.unmap(*mapped);

        auto const run = open_trial("run", files);
        REQUIRE(run);
        track const loss = (*run)["loss"];
        std::uint64_t timed = 0;
        for (std::uint64_t i = 0; i < steps; ++i) { timed += loss.time(train(i)) ? 1 : 0; }
        CHECK(timed == steps);
    }
}
