// SPDX-License-Identifier: Apache-2.0
// Durations of steps, by the training thread's clock.
#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>
#include <spotter/rules.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

using namespace spotter;
using namespace spotter_test;

namespace {

std::atomic<double> moment{1'700'000'000.0};
double tell_moment() noexcept { return moment; }
void later(double seconds) { moment = moment + seconds; }

bool about(double a, double b, double error) { return std::fabs(a - b) <= error; }

constexpr plan losses_only{collection{"loss", "loss"}};

}  // namespace

TEST_CASE("a step lasts from the close before it to its own; what is inside is from its begin on") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", losses_only, options{.clock = &tell_moment}};
        for (std::uint64_t i = 0; i < 400; ++i) {
            later(0.03125);
            watch.begin(i);
            later(i == 77 ? 2.0 : 0.0625);
            watch.observe("loss", 1.0F);
            (void)watch.end();
        }
    }
    trial const run = open_trial(folder / "run").value();
    auto const reported = run.times();
    REQUIRE(reported.size() == 400);
    CHECK(reported[0].first);
    CHECK(reported[0].seconds == reported[0].inside);
    double together = 0;
    for (std::size_t i = 1; i < 400; ++i) {
        CHECK(reported[i].step == train(i));
        CHECK(reported[i].ordinal == i);
        CHECK(about(reported[i].inside, i == 77 ? 2.0 : 0.0625, 1e-9));
        CHECK(about(reported[i].seconds, i == 77 ? 2.03125 : 0.09375, 1e-9));
        CHECK(reported[i].closed > reported[i - 1].closed);
        together += reported[i].seconds;
    }
    CHECK(about(together, reported.back().closed - reported.front().closed, 1e-5));
    CHECK(run.times(worker{1}).empty());
    CHECK(run.times(worker{0}).size() == 400);
}

TEST_CASE("the step times of a sleeping loop are right, though the writer gets its closes in bursts") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", losses_only, options{.flush_milliseconds = 500}};
        for (std::uint64_t i = 0; i < 20; ++i) {
            std::this_thread::sleep_for(std::chrono::milliseconds{i == 10 ? 40 : 4});
            (void)watch.step(i, "loss"_t = 1.0F);
        }
    }
    trial const run = open_trial(folder / "run").value();
    auto const reported = run.times();
    REQUIRE(reported.size() == 20);
    for (timed_step const& each : reported) {
        if (!each.first) { CHECK(each.seconds >= (each.step.index == 10 ? 0.04 : 0.004)); }
    }
    double const now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    CHECK(reported.back().closed < now + 1);
    CHECK(reported.back().closed > now - 60);
}

TEST_CASE("a million short steps, then long ones: all have a time, in order, and the record stays small") {
    temporary_folder const folder;
    constexpr std::uint64_t count = 200'000;
    {
        hook watch{folder / "run", losses_only, options{.flush_milliseconds = only_when_asked, .clock = &tell_moment}};
        for (std::uint64_t i = 0; i < count; ++i) {
            later(i % 50'000 == 49'999 ? 0.5 : 1e-6);
            (void)watch.step(i, "loss"_t = 1.0F);
        }
    }
    trial const run = open_trial(folder / "run").value();
    auto const reported = run.times();
    REQUIRE(reported.size() == count);
    std::size_t long_ones = 0;
    bool in_order = true;
    for (std::size_t i = 1; i < reported.size(); ++i) {
        long_ones += reported[i].seconds > 0.4 ? 1 : 0;
        in_order = in_order && reported[i].closed >= reported[i - 1].closed;
    }
    CHECK(in_order);
    CHECK(long_ones == 4);
    CHECK(run.totals().bytes < count * 4 * 3 / 2);
}

TEST_CASE("a resumed run: the first step of an attempt has none before it") {
    temporary_folder const folder;
    for (std::uint64_t attempt = 0; attempt < 3; ++attempt) {
        hook watch{folder / "run", losses_only, options{.existing = existing::resume, .clock = &tell_moment}};
        for (std::uint64_t i = 0; i < 10; ++i) {
            later(1);
            (void)watch.step(attempt * 10 + i, "loss"_t = 1.0F);
        }
        later(1000);
    }
    trial const run = open_trial(folder / "run").value();
    auto const reported = run.times();
    REQUIRE(reported.size() == 30);
    for (timed_step const& each : reported) {
        CHECK(each.first == (each.ordinal % 10 == 0));
        CHECK(about(each.seconds, each.first ? 0.0 : 1.0, 1e-6));
    }
}

TEST_CASE("a live run shows the times with the steps") {
    temporary_folder const folder;
    hook watch{folder / "run", losses_only, options{.clock = &tell_moment}};
    (void)watch.step(0, "loss"_t = 1.0F);
    watch.flush();
    trial run = open_trial(folder / "run").value();
    CHECK(run.times().size() == 1);
    for (std::uint64_t i = 1; i < 50; ++i) {
        later(0.25);
        (void)watch.step(i, "loss"_t = 1.0F);
        watch.flush();
        REQUIRE(!run.refresh());
        auto const reported = run.times();
        REQUIRE(reported.size() == i + 1);
        CHECK(about(reported.back().seconds, 0.25, 1e-6));
    }
}

TEST_CASE(
    "a rule that reads times of steps says in a replay what it would have said in the loop, and what it did say") {
    temporary_folder const folder;
    step_time_outlier const rule{.min_history = 5};
    std::vector<finding> said[2];
    for (int inline_too = 0; inline_too < 2; ++inline_too) {
        std::string const path = folder / (inline_too != 0 ? "with" : "without");
        auto const loop = [&](auto& watch) {
            for (std::uint64_t i = 0; i < 60; ++i) {
                later(i % 25 == 24 ? 0.5 : 0.015625);
                (void)watch.step(i, "loss"_t = 1.0F);
            }
        };
        if (inline_too != 0) {
            hook watch{path, losses_only, rule, options{.clock = &tell_moment}};
            loop(watch);
        } else {
            hook watch{path, losses_only, options{.clock = &tell_moment}};
            loop(watch);
        }
        trial const run = open_trial(path).value();
        CHECK(run["time/step"].steps().empty() == (inline_too == 0));
        said[inline_too] = replay(run, rule).findings;
        CHECK(replay_side_by_side(run, rule).findings.size() == said[inline_too].size());
        if (inline_too != 0) { CHECK(run.findings().size() == said[inline_too].size()); }
    }
    REQUIRE(said[0].size() == 2);
    REQUIRE(said[1].size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(said[0][i].step == said[1][i].step);
        CHECK(said[0][i].tensor == "time/step");
        CHECK(about(said[0][i].measured, said[1][i].measured, 1e-6));
    }
}
