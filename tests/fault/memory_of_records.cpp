// SPDX-License-Identifier: Apache-2.0
// A run is recorded, opened and replayed while the n-th allocation fails, for every n.
#include <tests/fault/starved.hpp>
#include <tests/temporary_folder.hpp>

#include <spotter/replay.hpp>
#include <spotter/spotter.hpp>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("a hook that records outlives it: health reports closed steps that are not in the record") {
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
        outcome reported;
        reported.findings.assign(steps, 0);
        memory = {};  // clears the plan that an earlier test left
        hook watch{path, keep, packs::supervised, options{.drain = drain::poll}};
        run_steps(watch, buffers, reported);
        memory.active = false;
        REQUIRE(watch.health().good());
    }
    trial const run = open_trial(path).value();
    std::size_t findings = 0;
    std::size_t const needed =
        allocations_of(0, outage::once, [&] { findings = replay(run, packs::supervised).findings.size(); });
    REQUIRE(findings > 0);
    for (std::size_t n = 1; n <= needed; ++n) {
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

TEST_CASE("a hook whose record a thread writes outlives it, too, whichever thread the allocation is of") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    constexpr plan keep{collection{"all", "*", always{}, payload | stats(l2)}};
    std::vector<std::vector<double>> buffers(every_role().size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        buffers[i].reserve(static_cast<std::size_t>(every_role()[i].shape.elements()));
    }
    error why;
    for (std::uint32_t const compressors : {1U, 3U}) {
        options choices;
        choices.ring_bytes = 64 << 10, choices.existing = existing::replace, choices.compressors = compressors;
        auto const run = [&](std::size_t n, outage how, outcome& reported, bool& good) {
            reported.findings.assign(steps, 0);
            memory = {};  // allocations of this thread alone do not fail
            return allocations_of_all(n, how, [&] {
                hook watch{path, keep, non_finite{}, dead_relu{.samples = 8}, choices};
                run_steps(watch, buffers, reported);
                watch.finish();
                memory_of_all.active = false;
                look(watch, reported);
                memory.active = false;
                good = watch.health().good();
                if (!good) { why = watch.health().first_error; }
            });
        };
        std::size_t coverages = 0, findings = 0;
        auto const whole_record = [&] {
            auto const opened = open_trial(path);
            return opened && opened->status() == run_status::finished && opened->closed_steps() == steps &&
                   !opened->losses().any() && opened->names().size() == every_role().size() &&
                   opened->coverages().size() == coverages && opened->findings().size() == findings;
        };
        // All that was written can be read.
        auto const readable = [&] {
            auto const opened = open_trial(path);
            return opened ? opened->damage().empty() : opened.error().code == errc::not_a_run;
        };
        outcome whole;
        bool sound = false;
        std::size_t const needed = run(0, outage::once, whole, sound);
        REQUIRE(whole.closed == steps);
        INFO(why.what.view());
        REQUIRE(sound);
        {
            trial const first = open_trial(path).value();
            coverages = first.coverages().size(), findings = first.findings().size();
        }
        REQUIRE(coverages == 2);
        REQUIRE(findings > 0);
        REQUIRE(whole_record());
        for (std::size_t n = 1; n <= needed + 3; n += 1 + needed / 150) {
            for (outage const how : {outage::once, outage::for_good}) {
                if (how == outage::for_good && n % 4 != 1) { continue; }
                outcome reported;
                bool good = false;
                (void)run(n, how, reported, good);
                if (reported.closed != steps || (!reported.named && !(reported == whole)) ||
                    (good && !whole_record()) || !readable()) {
                    FAIL_CHECK("allocation " << n << " of " << needed << ", " << compressors << " compressors: closed "
                                             << reported.closed << ", named " << reported.named << ", good " << good
                                             << ", the same " << (reported == whole) << ", whole " << whole_record());
                }
            }
        }
    }
}
