// SPDX-License-Identifier: Apache-2.0
// The n-th allocation fails, for every n, while a run is recorded, opened and replayed.
#include <tests/fault/starved.hpp>
#include <tests/temporary_folder.hpp>

#include <spotter/replay.hpp>
#include <spotter/spotter.hpp>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("a hook that records outlives it: what was closed and is not in the record is told in health") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    constexpr plan keep{collection{"all", "*", always{}, payload | stats(l2)}};
    options choices;
    choices.drain = drain::poll, choices.ring_bytes = 64 << 10, choices.existing = existing::replace;
    fail_each("a record", [&](auto use) {
        hook watch{path, keep, non_finite{}, dead_relu{.samples = 8}, dormant_units{.samples = 8}, choices};
        use(watch);
    });
}

TEST_CASE("a replay of an open record outlives it: std::bad_alloc, a word in the report, or the whole answer") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    constexpr plan keep{collection{"all", "*", always{}, payload}};
    {
        std::vector<std::vector<double>> buffers(every_role().size());
        outcome told;
        told.findings.assign(steps, 0);
        hook watch{path, keep, packs::supervised, options{.drain = drain::poll}};
        run_steps(watch, buffers, told);
        memory.active = false;
        REQUIRE(watch.health().good());
    }
    trial const run = open_trial(path).value();
    std::size_t findings = 0;
    std::size_t const needed =
        allocations_of(0, outage::once, [&] { findings = replay(run, packs::supervised).findings.size(); });
    REQUIRE(findings > 0);
    for (std::size_t n = 1; n <= needed; n += 3) {
        bool said = false;
        std::size_t found = 0;
        try {
            (void)allocations_of(n, outage::once, [&] {
                replay_report const report = replay(run, packs::supervised);
                found = report.findings.size();
                said = bool(report.trouble) || !report.whole;
                for (coverage const& each : report.coverages) {
                    said = said || each.reason.find("memory") != each.reason.npos;
                }
            });
        } catch (std::bad_alloc const&) { said = true; }
        memory.active = false;
        if (!said && found != findings) {
            FAIL_CHECK("allocation " << n << " of " << needed << ": " << found << " findings, and no word");
        }
    }
}
