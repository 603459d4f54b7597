// SPDX-License-Identifier: Apache-2.0
// Rules over a run while it is written, and over runs of several workers.
#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>

#include <chrono>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;
using namespace std::chrono_literals;

namespace {

constexpr auto large_x = any("x", maximum > 10.0) | named{"large"};

options as_worker(std::uint32_t number) { return options{.ring_bytes = 1 << 16, .worker = number}; }

struct step_of_worker {
    std::uint32_t worker = 0;
    step_id step{};
    friend bool operator==(step_of_worker const&, step_of_worker const&) = default;
};

}  // namespace

TEST_CASE(
    "rules over several workers judge each for itself, as they did in the loop, and say whose step it was [A42][S64]") {
    temporary_folder const folder;
    auto const rule = large_x | for_steps{3};
    std::vector<step_of_worker> inside;
    for (std::uint32_t number : {0U, 1U, 2U}) {
        hook watch{folder / "run", everything, as_worker(number), rule};
        for (std::uint64_t i = 0; i < 8; ++i) {
            // All workers together have a fourth large_x step in a row at once; each one alone does not.
            for (finding const& each : watch.step(train(i), "x"_t = i % 4 == number ? 1.0 : 11.0)) {
                inside.push_back({each.worker, each.step});
            }
        }
    }
    REQUIRE(!inside.empty());
    std::vector<step_of_worker> outside;
    trial const run = open(folder / "run");
    replay_report const report = replay(run, rule, [&](spotter::step_alarm const& found) {
        for (finding const& each : found) { outside.push_back({each.worker, each.step}); }
    });
    CHECK(outside == inside);
    CHECK(report.steps == 24);
    CHECK(report.whole);
    CHECK(report.findings.size() == inside.size());
    CHECK(report.findings.back().worker == 2);
    REQUIRE(report.coverages.size() == 1);
    CHECK(report.coverages[0].judged == 24);
    CHECK(replay(open_trial(folder / "run", worker{1}).value(), rule).findings.front().worker == 1);

    replay_report const lacking = replay(run, any("x", of_abs(maximum) > 0.0), any("[", l2 > 1.0));
    CHECK(lacking.trouble.what.view().starts_with("worker 0: rule"));
}

TEST_CASE("a run is followed while another process writes it, to its end; verdicts are those of the loop [S65][A38]") {
    temporary_folder const folder;
    pid_t const child = ::fork();
    if (child == 0) {
        auto const work = [&](std::uint32_t number) {
            hook watch{folder / "run", everything, as_worker(number)};
            for (std::uint64_t i = 0; i < 40; ++i) {
                watch.begin(train(i));
                watch.observe("x", i % 5 == number ? 20.0 + static_cast<double>(i) : 1.0);
                ::usleep(3'000);  // in the middle of the step
                (void)watch.end();
            }
        };
        std::thread other{[&] { work(1); }};
        work(0);
        other.join();
        ::_exit(0);
    }
    for (int i = 0; i < 2000 && !open_trial(folder / "run"); ++i) { ::usleep(2'000); }
    trial run = open(folder / "run");
    std::vector<std::vector<step_id>> seen(2);
    bool ended = false;
    replay_report const report = follow(
        run, large_x,
        [&](spotter::step_alarm const& found) {
            CHECK(!ended);
            REQUIRE(found.size() == 1);
            CHECK(found.front().measured == 20.0 + static_cast<double>(found.front().step.index));
            seen.at(found.front().worker).push_back(found.front().step);
        },
        [&](replay_report const&) { ended = true; }, 120s);
    ::waitpid(child, nullptr, 0);
    CHECK(ended);
    CHECK(run.status() == run_status::finished);
    CHECK(report.steps == 80);
    CHECK(report.whole);
    CHECK(!report.trouble);
    CHECK(seen[0] == trains(0, 40, 5));
    CHECK(seen[1] == trains(1, 40, 5));
    CHECK(report.coverages.at(0).judged == 80);
    replay_report const again = replay(run, large_x);
    CHECK((again.steps == report.steps && again.fired == report.fired));
}

TEST_CASE("following ends at its deadline, and can be taken up again; a step still open is not judged [S65]") {
    temporary_folder const folder;
    hook watch{folder / "run", everything, options{.segment_bytes = 4096}};
    std::vector<float> const values(300, 11.0F);
    for (std::uint64_t i = 0; i < 30; ++i) { (void)watch.step(train(i), "x"_t = values); }
    watch.begin(train(30));
    watch.observe("x", values);
    watch.flush();
    trial run = open(watch.path());
    auto const begin = std::chrono::steady_clock::now();
    CHECK(follow(run, large_x, 80ms).steps == 30);
    CHECK(std::chrono::steady_clock::now() - begin >= 80ms);
    CHECK(run.status() == run_status::running);
    (void)watch.end();
    CHECK(follow(run, large_x, from{25}, 30ms).steps <= 6);
    watch.finish();
    CHECK(follow(run, large_x, from{25}).steps == 6);  // it ends with the run
    CHECK(run.status() == run_status::finished);
}

TEST_CASE("following for the longest duration that there is ends with the run, and for a negative one at once") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "x"_t = 11.0);
    watch.flush();
    trial run = open(watch.path());
    CHECK(follow(run, large_x, std::chrono::hours::min()).steps == 1);
    std::thread loop{[&] {
        std::this_thread::sleep_for(100ms);
        (void)watch.step(train(1), "x"_t = 11.0);
        watch.finish();
    }};
    CHECK(follow(run, large_x, std::chrono::hours::max()).steps == 2);
    CHECK(run.status() == run_status::finished);
    loop.join();
}

TEST_CASE("a worker that begins while the run is followed is judged, too, and a resumed one starts afresh [A41][A42]") {
    temporary_folder const folder;
    auto const rule = large_x | for_steps{4};
    hook zero{folder / "run", everything, as_worker(0)};
    (void)zero.step(train(0), "x"_t = 1.0);
    zero.flush();
    trial run = open(folder / "run");
    std::thread others{[&] {
        for (std::uint64_t attempt = 0; attempt < 2; ++attempt) {
            options choices = as_worker(1);
            choices.existing = existing::resume;
            hook one{folder / "run", everything, choices};
            for (std::uint64_t i = 0; i < 6; ++i) {
                (void)one.step(train(6 * attempt + i), "x"_t = 11.0);
                ::usleep(5'000);
            }
        }
        ::usleep(30'000);
        zero.finish();
    }};
    replay_report const report = follow(run, rule, 120s);
    others.join();
    CHECK(report.steps == 13);
    ids found;
    for (finding const& each : report.findings) {
        CHECK(each.worker == 1);
        found.push_back(each.step);
    }
    CHECK(found == ids{train(3), train(4), train(5), train(9), train(10), train(11)});
}

TEST_CASE("a follower runs the responses of a finding when it is asked to, of that worker's rules, and a replay none") {
    struct nothing_offered final : response_desk {
        void capture(wish const&, std::uint64_t) noexcept override {}
    } desk;
    temporary_folder const folder;
    for (std::uint32_t number : {0U, 1U}) {
        hook watch{folder / "run", everything, as_worker(number)};
        for (std::uint64_t i = 0; i < 4; ++i) { (void)watch.step(train(i), "x"_t = i == 2U + number ? 11.0 : 1.0); }
    }
    std::vector<step_of_worker> called;
    auto const rule = on(large_x, call{[&](finding const& it) { called.push_back({it.worker, it.step}); }},
                         call{[](finding const&) { return error{errc::unwritable, "full"}; }});
    trial run = open(folder / "run");
    std::vector<finding> found;
    auto const listen = [&](finding const& each) { found.push_back(each); };
    (void)replay(run, rule, listen);
    CHECK((called.empty() && found.size() == 2));
    found.clear();
    follower watching{run, rule, listen};
    REQUIRE_FALSE(watching.advance());
    CHECK((called.empty() && found.size() == 2));
    std::size_t failed = 0;
    for (finding const& each : found) {
        watching.respond(each, desk, [&](error const& why) { failed += why ? 1 : 0; });
    }
    CHECK(called == std::vector<step_of_worker>{{0, train(2)}, {1, train(3)}});
    CHECK(failed == 2);
}
