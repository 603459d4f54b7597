// SPDX-License-Identifier: Apache-2.0
// A run while it is written, after every kind of end, and after it is resumed.
#include <tests/trial/runs.hpp>

#include <spotter/rule/builtin/non_finite.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <limits>
#include <stdexcept>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

}  // namespace

TEST_CASE("a trial opened before the first close is running and has no steps; opening does not wait [S45]") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    trial run = open(watch.path());
    CHECK(run.status() == run_status::running);
    CHECK(run.steps().empty());
    CHECK(run.names().empty());
    CHECK(run.state(train(0)) == step_state::pending);
    CHECK(run["x"].at(train(0)).error().code == errc::no_such_name);
}

TEST_CASE("a run whose first file is empty is no older than its reader: it began just now, and does not hang") {
    temporary_folder const folder;
    std::filesystem::create_directories(folder / "run");
    write_file(folder / "run/000000.spot", std::vector<char>{});
    trial run = open(folder / "run");
    CHECK(run.steps().empty());
    CHECK(run.age() < 60);
    ::usleep(20'000);
    REQUIRE(!run.refresh());
    CHECK(run.age() >= 0.02);
    CHECK(run.age() < 60);
}

TEST_CASE("a trial is a snapshot: new steps show after refresh, and nothing changes before [S43][S46][S47][S57]") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    for (std::uint64_t i = 0; i < 7; ++i) { (void)watch.step(train(i), "x"_t = static_cast<double>(i)); }
    watch.flush();
    trial run = open(watch.path());
    CHECK(run.steps() == trains(0, 7));
    CHECK(run.state(train(3)) == step_state::present);
    CHECK(run.state(train(8)) == step_state::pending);
    CHECK(run["x"].at(train(99)).error().code == errc::not_yet);
    (void)watch.step(train(7), "x"_t = 7.0, "new"_t = 1.0);
    watch.flush();
    CHECK(run.steps() == trains(0, 7));
    CHECK(run.names() == names_list{"x"});
    CHECK(!run.refresh());
    CHECK(run.steps() == trains(0, 8));
    CHECK(run.names() == names_list{"new", "x"});
    CHECK(run.status() == run_status::running);
    watch.finish();
    CHECK(run.status() == run_status::running);
    CHECK(!run.refresh());
    CHECK(run.status() == run_status::finished);
    CHECK(run.state(train(8)) == step_state::absent);
    CHECK(run["x"].at(train(99)).error().code == errc::no_such_step);
}

TEST_CASE("a step that was left out is absent as soon as a later one of its mode is closed [S44][S16]") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    for (std::uint64_t i : {3ULL, 5ULL}) { (void)watch.step(train(i), "x"_t = 1.0); }
    (void)watch.step(eval(9), "x"_t = 1.0);
    watch.flush();
    trial const run = open(watch.path());
    CHECK(run.state(train(4)) == step_state::absent);
    CHECK(run["x"].at(train(4)).error().code == errc::no_such_step);
    CHECK(run.state(train(6)) == step_state::pending);
    CHECK(run.state(train(10)) == step_state::pending);
    CHECK(run.state(predict(0)) == step_state::pending);
}

TEST_CASE(
    "waiting ends with the step, at once with the reason that it cannot come, or at the deadline [S44][S48][A37]") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    (void)watch.step(train(3), "x"_t = 3.0);
    (void)watch.step(train(5), "x"_t = 5.0);
    watch.flush();
    trial run = open(watch.path());
    auto const begin = steady::now();
    CHECK(run.wait(train(5), 1h).code == errc::none);
    CHECK(run.wait(train(4), 1h).code == errc::no_such_step);
    CHECK(steady::now() - begin < 60s);

    auto const before = steady::now();
    CHECK(run.wait(train(6), 300ms).code == errc::not_yet);
    CHECK(steady::now() - before >= 300ms);
    CHECK(run.wait(train(6), 0ms).code == errc::not_yet);
    CHECK(run.wait(train(6), -5ms).code == errc::not_yet);
    (void)watch.step(train(6), "x"_t = 6.0);
    watch.flush();
    CHECK(!run.refresh());
    CHECK(run.steps() == ids{train(3), train(5), train(6)});

    (void)watch.step(train(7), "x"_t = 7.0);  // flushed within 20 ms
    CHECK(run.wait(train(7), 60s).code == errc::none);
    CHECK(run["x"].at(train(7)).to<double>().value_or(0) == 7);
    watch.finish();
    CHECK(run.wait(train(8), 1h).code == errc::no_more_data);
    CHECK(run.wait(train(4), 1h).code == errc::no_such_step);
    CHECK(run.wait(train(3), 0ms).code == errc::none);
    CHECK(run.status() == run_status::finished);
}

TEST_CASE("a wait for the longest duration that there is waits until the step comes") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "x"_t = 0.0);
    watch.flush();
    trial run = open(watch.path());
    std::thread loop{[&] {
        std::this_thread::sleep_for(100ms);
        (void)watch.step(train(1), "x"_t = 1.0);
        watch.flush();
    }};
    CHECK(run.wait(train(1), std::chrono::milliseconds::max()).code == errc::none);
    loop.join();
    CHECK(run.wait(train(2), std::chrono::milliseconds::min()).code == errc::not_yet);
}

TEST_CASE("after an evaluation is closed, the next training step is still pending while the run goes on [S16]") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    for (std::uint64_t s = 0; s < 3; ++s) {
        (void)watch.step(train(s), "x"_t = 1.0);
        (void)watch.step(eval(s), "x"_t = 1.0);
        watch.flush();
        trial const run = open(watch.path());
        CHECK(run.state(train(s + 1)) == step_state::pending);
        CHECK(run.state(eval(s + 1)) == step_state::pending);
        CHECK(run.state(train(s)) == step_state::present);
    }
}

TEST_CASE("a step that another process closed can be read soon after, though the next one never comes; its age shows "
          "that it hangs "
          "[D07][D08]") {
    temporary_folder const folder;
    int reported[2];
    REQUIRE(::pipe(reported) == 0);
    pid_t const child = ::fork();
    if (child == 0) {
        hook watch{folder / "run", everything};
        for (std::uint64_t i = 0; i < 4; ++i) {
            ::usleep(150'000);
            watch.begin(train(i));
            watch.observe("x", static_cast<double>(i));
            (void)watch.end();
            auto const closed = steady::now().time_since_epoch().count();
            (void)!::write(reported[1], &closed, sizeof closed);
        }
        watch.begin(train(4));
        watch.observe("x", 4.0);
        for (;;) { ::pause(); }
    }
    steady::rep closed = 0;
    std::vector<steady::duration> delays;
    for (std::uint64_t i = 0; i < 4; ++i) {
        REQUIRE(::read(reported[0], &closed, sizeof closed) == sizeof closed);
        trial run = open(folder / "run");
        CHECK(run.wait(train(i), 10s).code == errc::none);
        delays.push_back(steady::now().time_since_epoch() - steady::duration{closed});
        CHECK(run["x"].at(train(i)).to<double>().value_or(-1) == static_cast<double>(i));
    }
    CHECK(*std::min_element(delays.begin(), delays.end()) < 500ms);  // some 20 ms; a busy machine needs more
    trial run = open(folder / "run");
    for (int i = 0; i < 1000 && !run["x"].at(train(4)); ++i) {
        ::usleep(10'000);
        REQUIRE(!run.refresh());
    }
    CHECK(run["x"].at(train(4)).to<double>().value_or(-1) == 4);
    CHECK(run["x"].steps() == trains(0, 4));
    CHECK(run.state(train(4)) == step_state::pending);
    ::usleep(300'000);
    REQUIRE(!run.refresh());
    double const age = run.age();
    CHECK(age >= 0.25);
    CHECK(run.status() == run_status::running);
    ::usleep(100'000);
    CHECK(run.age() == age);  // the snapshot's age
    REQUIRE(!run.refresh());
    CHECK(run.age() >= age + 0.09);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(reported[0]), ::close(reported[1]);
    REQUIRE(!run.refresh());
    CHECK(run.status() == run_status::died);
    CHECK(run.wait(train(4), 10s).code == errc::no_more_data);
}

TEST_CASE("what is read while the run is written is what is read after its end, over many segments [S51]") {
    temporary_folder const folder;
    options const small{.segment_bytes = 4096};
    std::vector<double> live;
    std::vector<float> values(200);
    {
        hook watch{folder / "run", everything, small};
        trial run = open(watch.path());
        for (std::uint64_t i = 0; i < 60; ++i) {
            for (std::size_t k = 0; k < values.size(); ++k) { values[k] = static_cast<float>(i * k) * 0.5F; }
            (void)watch.step(train(i), "x"_t = values, "y"_t = static_cast<double>(i));
            if (i % 3 != 0) { continue; }
            watch.flush();
            REQUIRE(!run.refresh());
            live.push_back(run["x"].stat(train(i), l2).value_or(-1));
            CHECK(run["y"].at(train(i / 2)).to<double>().value_or(-1) == static_cast<double>(i / 2));
        }
    }
    trial const run = open(folder / "run");
    REQUIRE(std::filesystem::exists(folder / "run/000001.spot"));
    CHECK(run.damage().empty());
    CHECK(run.steps() == trains(0, 60));
    for (std::size_t i = 0; i < live.size(); ++i) {
        CHECK(same_bits(live[i], run["x"].stat(train(3 * i), l2).value_or(-2)));
    }
}

TEST_CASE("what was observed in a step still open can be read, but the step is not closed [D08]") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "x"_t = 1.0);
    watch.begin(train(1));
    watch.observe("x", 2.0);
    watch.flush();
    trial const run = open(watch.path());
    CHECK(run["x"].at(train(1)).to<double>().value_or(0) == 2);
    CHECK(run["x"].steps() == trains(0, 1));
    CHECK(run.state(train(1)) == step_state::pending);
    CHECK(run["x"].time(train(1)).error().code == errc::not_yet);
    (void)watch.end();
}

TEST_CASE("a reported failure, with its reason, is how the run ended [S57]") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        (void)watch.step(train(0), "x"_t = 1.0);
        watch.fail("the simulator went away");
    }
    trial const run = open(folder / "run");
    CHECK(run.status() == run_status::failed);
    CHECK(run.why_ended() == "the simulator went away");
    CHECK(run.steps() == trains(0, 1));
}

#if SPOTTER_EXCEPTIONS
TEST_CASE("an exception that leaves the loop: failed, never finished, and all earlier steps are there [D10]") {
    temporary_folder const folder;
    try {
        hook watch{folder / "run", everything};
        for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "x"_t = static_cast<double>(i)); }
        watch.begin(train(5));
        watch.observe("x", 5.0);
        throw std::runtime_error{"out of data"};
    } catch (std::runtime_error const&) {}
    trial const run = open(folder / "run");
    CHECK(run.status() == run_status::failed);
    CHECK(!run.why_ended().empty());
    CHECK(run.steps() == trains(0, 5));
    CHECK(run.state(train(5)) == step_state::absent);
}

TEST_CASE("the step that an exception left is in the record: as open, with what it held, and what was found in it") {
    temporary_folder const folder;
    double const nan = std::numeric_limits<double>::quiet_NaN();
    try {
        hook watch{folder / "run", plan{}, non_finite{}};
        for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "loss"_t = 1.0, "w"_t = 2.0); }
        watch.begin(train(5));
        watch.observe("loss", nan);
        throw std::runtime_error{"the framework threw"};
    } catch (std::runtime_error const&) {}
    trial const run = open(folder / "run");
    CHECK(run.status() == run_status::failed);
    CHECK(run.why_ended().find("train(5)") != std::string_view::npos);
    CHECK(run.steps() == trains(0, 5));
    REQUIRE(run.open_steps().size() == 1);
    CHECK(run.open_steps()[0].step == train(5));
    CHECK(run.open_steps()[0].values == 1);
    CHECK(run.names(filter{.step = train(5)}) == names_list{"loss"});
    CHECK(run["loss"].stat(train(5), nonfinite).value_or(0) == 1);
    REQUIRE(run.findings().size() == 1);
    CHECK(run.findings()[0].step == train(5));
    CHECK(run.findings()[0].tensor == "loss");
    CHECK(run.damage().empty());
}
#endif

TEST_CASE("a run that goes on says which step it is at; one that ended between steps left none open") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "x"_t = 0.0);
    watch.scalar("loose", 1.0);
    watch.flush();
    trial run = open(watch.path());
    CHECK(run.open_steps().empty());
    watch.begin(train(1));
    watch.observe("x", 1.0);
    watch.flush();
    CHECK(!run.refresh());
    REQUIRE(run.open_steps().size() == 1);
    CHECK(run.open_steps()[0].step == train(1));
    (void)watch.end();
    watch.finish();
    CHECK(!run.refresh());
    CHECK(run.open_steps().empty());
    CHECK(run.steps() == trains(0, 2));
}

TEST_CASE("killed: the run has died and what was flushed is there, byte for byte [S57][D09]") {
    temporary_folder const folder;
    std::vector<float> values(5000);
    for (std::size_t i = 0; i < values.size(); ++i) { values[i] = static_cast<float>(i) * 0.25F; }
    in_killed_child([&] {
        hook watch{folder / "run", everything};
        for (std::uint64_t i = 0; i < 20; ++i) { (void)watch.step(train(i), "x"_t = values, "i"_t = i); }
        watch.flush();
        watch.begin(train(20));
        watch.observe("x", values);
        ::raise(SIGKILL);
    });
    trial const run = open(folder / "run");
    CHECK(run.status() == run_status::died);
    CHECK(run.steps() == trains(0, 20));
    CHECK(run.state(train(20)) == step_state::absent);
    for (std::uint64_t i = 0; i < 20; ++i) {
        CHECK(run["x"].at(train(i)).to<std::vector<float>>().value_or({}) == values);
        CHECK(run["i"].at(train(i)).to<std::uint64_t>().value_or(99) == i);
    }
    CHECK(run["x"].at(train(21)).error().code == errc::no_such_step);
}

TEST_CASE("a run that died is taken up again in its folder and read as one, no step twice [S59][D09][A41]") {
    temporary_folder const folder;
    plan const keep{collection{"x", "x", every{10}, payload}, collection{"y", "y", always{}, payload}};
    in_killed_child([&] {
        hook watch{folder / "run", keep};
        for (std::uint64_t i = 0; i < 40; ++i) { (void)watch.step(train(i), "x"_t = 1.0, "y"_t = 1.0); }
        watch.begin(train(40));
        watch.observe("y", 1.5);
        watch.flush();
        ::raise(SIGKILL);
    });
    hook watch{folder / "run", keep};  // existing::next resumes an unfinished run
    CHECK(watch.path() == folder / "run");
    for (std::uint64_t i = 35; i < 60; ++i) { (void)watch.step(train(i), "y"_t = 2.0, "x"_t = 2.0); }
    watch.finish();
    trial const run = open(folder / "run");
    CHECK(run.status() == run_status::finished);
    CHECK(run.attempts() == 2);
    CHECK(run["x"].payload_steps() == trains(0, 60, 10));
    CHECK(run["y"].steps() == trains(0, 60));
    CHECK(run.steps() == trains(0, 60));
    CHECK(run["y"].at(train(34)).to<double>().value_or(0) == 1);
    CHECK(run["y"].at(train(35)).to<double>().value_or(0) == 2);
    CHECK(run["y"].at(train(40)).to<double>().value_or(0) == 2);
    // Not the value of the step that was never closed.
    CHECK(run["y"].at(train(40), nth{0}).to<double>().value_or(0) == 2);
    CHECK(run["y"].at(train(40), nth{1}).error().code == errc::not_in_step);
    CHECK(run.closed_steps() == 65);
}

TEST_CASE("a finished run stays byte-identical: by default the next goes beside it, refuse records nothing, resume "
          "adds [S58][A02]") {
    temporary_folder const folder;
    auto const record = [&](existing what, std::uint64_t first) {
        options const choices{.existing = what};
        hook watch{folder / "run", everything, choices, any("x", maximum > 0.0)};
        std::uint64_t found = 0;
        for (std::uint64_t i = first; i < first + 5; ++i) {
            found += watch.step(train(i), "x"_t = static_cast<double>(i + 1)).size();
        }
        CHECK(found == 5);  // rules judge even if nothing is recorded
        watch.finish();
        return std::pair{std::string{watch.path()}, watch.health()};
    };
    CHECK(record(existing::next, 0).first == folder / "run");
    auto const before = read_file(folder / "run/000000.spot");
    auto const next = record(existing::next, 0);
    CHECK(next.first == folder / "run-2");
    CHECK(next.second.good());
    auto const refused = record(existing::refuse, 0);
    CHECK(refused.first.empty());
    CHECK(refused.second.first_error.code == errc::exists);
    CHECK(!refused.second.good());
    CHECK(read_file(folder / "run/000000.spot") == before);
    CHECK(!std::filesystem::exists(folder / "run/000001.spot"));
    CHECK(record(existing::resume, 5).first == folder / "run");
    CHECK(read_file(folder / "run/000000.spot") == before);
    trial const run = open(folder / "run");
    CHECK(run.attempts() == 2);
    CHECK(run.steps() == trains(0, 10));
    CHECK(run.ordinal(train(9)).value_or(0) == 9);
    CHECK(record(existing::replace, 2).first == folder / "run");
    CHECK(open(folder / "run").steps() == trains(2, 7));
    CHECK(open(folder / "run").attempts() == 1);
}

TEST_CASE(
    "two hooks on two folders hold each its own [S63]; a second on the same folder is busy and its loop runs on") {
    temporary_folder const folder;
    hook a{folder / "a", everything};
    hook b{folder / "b", everything};
    hook second{folder / "a", everything, any("z", maximum > 0.0)};
    for (std::uint64_t i = 0; i < 3; ++i) {
        (void)a.step(train(i), "x"_t = 1.0);
        (void)b.step(eval(i), "y"_t = 1.0);
        CHECK(second.step(train(i), "z"_t = 1.0).size() == 1);
    }
    CHECK(second.health().first_error.code == errc::busy);
    a.finish(), b.finish(), second.finish();
    CHECK(open(folder / "a").names() == names_list{"x"});
    CHECK(open(folder / "b").names() == names_list{"y"});
    CHECK(open(folder / "b").modes() == std::vector{mode::eval});
}

TEST_CASE("SPOTTER=off and SPOTTER=dry leave no file; dry judges [A13][A14]") {
    for (char const* value : {"off", "dry"}) {
        temporary_folder const folder;
        ::setenv("SPOTTER", value, 1);
        {
            hook watch{folder / "run", everything, any("x", maximum > 0.0)};
            CHECK(watch.step(train(0), "x"_t = 1.0).size() == (value == std::string_view{"dry"} ? 1 : 0));
            CHECK(watch.path().empty());
            CHECK(watch.health().good());
        }
        ::unsetenv("SPOTTER");
        CHECK(!std::filesystem::exists(folder / "run"));
    }
}
