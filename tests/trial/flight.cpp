// SPDX-License-Identifier: Apache-2.0
// The flight recorder: the latest steps with all their values, written after a finding, or recovered after the process
// died.
#include <tests/trial/runs.hpp>

#include <spotter/format/walker.hpp>
#include <spotter/record/recover.hpp>

#include <algorithm>

#include <csignal>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::size_t values_each = 4096;  // 16 KiB inside an entry; `large` below is written in blocks
constexpr plan little{collection{"losses", "loss", always{}, payload}};
constexpr auto high = any("loss", maximum > 1.0);
constexpr options flying{.drain = drain::poll, .flight_bytes = 1 << 20, .flight_steps_after = 3};

std::vector<float> weights_at(std::uint64_t step) {
    std::vector<float> values(values_each);
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<float>((step * 7919 + i * 104729) % 100003);
    }
    return values;
}
template <class Hook>
void one_step(Hook& watch, std::uint64_t i, bool bad) {
    std::vector<float> const w = weights_at(i);
    std::vector<float> const large(i % 10 == 0 ? 30000 : 10, static_cast<float>(i));
    watch.begin(train(i));
    watch.observe("loss", bad ? 2.0F : 0.5F);
    watch.observe("w", w);
    if (i % 10 == 0) { watch.observe("large", large); }
    watch.scalar("lr", 0.1);
    (void)watch.end();
}
// The steps of a flight; checks that each is whole and right.
std::vector<std::uint64_t> flown(std::string const& path) {
    trial const run = open(path);
    CHECK(run.damage().empty());
    std::vector<std::uint64_t> found;
    for (step_id const step : run.steps()) {
        INFO("step " << step.index);
        REQUIRE(run["w"].at(step).to<std::vector<float>>().value() == weights_at(step.index));
        REQUIRE(run["lr"].at(step).to<double>().value() == 0.1);
        REQUIRE(run["loss"].at(step));
        if (step.index % 10 == 0) {
            REQUIRE(run["large"].at(step).to<std::vector<float>>().value() ==
                    std::vector<float>(30000, static_cast<float>(step.index)));
        }
        found.push_back(step.index);
    }
    return found;
}
bool is_run_to(std::vector<std::uint64_t> const& steps, std::uint64_t last, std::size_t least) {
    for (std::size_t i = 1; i < steps.size(); ++i) {
        if (steps[i] != steps[i - 1] + 1) { return false; }
    }
    return steps.size() >= least && steps.back() == last;
}

// A step so large that the ring holds three.
constexpr std::size_t large_values = 75'000;
constexpr options flying_large{.drain = drain::poll, .flight_bytes = 1 << 20, .flight_steps_after = 6};
template <class Hook>
void one_large_step(Hook& watch, std::uint64_t i, bool bad) {
    std::vector<float> const large(large_values, static_cast<float>(i));
    (void)watch.step(train(i), "loss"_t = bad ? 2.0F : 0.5F, "large"_t = large);
}
std::vector<std::uint64_t> flown_large(std::string const& path) {
    trial const run = open(path);
    CHECK(run.damage().empty());
    std::vector<std::uint64_t> found;
    for (step_id const step : run.steps()) {
        INFO("step " << step.index);
        REQUIRE(run["large"].at(step).to<std::vector<float>>().value() ==
                std::vector<float>(large_values, static_cast<float>(step.index)));
        found.push_back(step.index);
    }
    return found;
}
// The number of closes in a segment's run_end.
std::uint64_t closes_reported(std::string const& segment) {
    std::vector<char> const bytes = read_file(segment);
    rows::run_end end{};
    frame_walker walk{std::as_bytes(std::span{bytes})};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what != walked::rows) { continue; }
        row_reader in_frame{walk.frame().body};
        for (row_view row{}; in_frame.next(row);) {
            if (row.kind == row_kind::run_end) { CHECK_FALSE(decode(row, end)); }
        }
    }
    return end.closes;
}

}  // namespace

TEST_CASE("what was before a finding and after it is written with all its values; the run itself is as it was") {
    temporary_folder const folder;
    std::vector<std::string> texts;
    for (bool const flies : {false, true}) {
        options choices = flying;
        if (!flies) { choices.flight_bytes = 0; }
        hook watch{folder / (flies ? "run" : "plain"), little, high, choices};
        for (std::uint64_t i = 0; i < 300; ++i) { one_step(watch, i, i == 100 || i == 102 || i == 250); }
        watch.finish();
        CHECK(watch.health().good());
        trial const run = open(watch.path());
        CHECK(run.steps() == trains(0, 300));
        CHECK_FALSE(run["w"].at(train(100)));
        CHECK(run.findings().size() == 3);
    }
    std::vector<std::uint64_t> const steps = flown(folder / "run/flight");
    // Two flights: the latest steps before each finding, some tens in a MiB, up to the third step after it.
    auto const second = std::find_if(steps.begin(), steps.end(), [](std::uint64_t each) { return each > 150; });
    CHECK(is_run_to({steps.begin(), second}, 103, 30));
    CHECK(is_run_to({second, steps.end()}, 253, 30));
    trial const run = open(folder / "run/flight");
    CHECK(run.findings().size() == 3);
    CHECK(run.status() == run_status::finished);
}

TEST_CASE("without a finding nothing of it is written, and a run that fails leaves its last steps") {
    temporary_folder const folder;
    {
        hook watch{folder / "well", little, high, flying};
        for (std::uint64_t i = 0; i < 200; ++i) { one_step(watch, i, false); }
        watch.finish();
        hook failed{folder / "failed", little, high, flying};
        for (std::uint64_t i = 0; i < 200; ++i) { one_step(failed, i, false); }
        failed.fail("out of patience");
    }
    CHECK(open(folder / "well/flight").steps().empty());
    CHECK(is_run_to(flown(folder / "failed/flight"), 199, 30));
}

TEST_CASE("after SIGKILL the last steps are in shared memory, until recover or the next run brings them in [T13]") {
    temporary_folder const folder;
    for (bool const resumes : {false, true}) {
        std::string const path = folder / (resumes ? "resumed" : "recovered");
        in_killed_child([&] {
            hook watch{path, little, high, flying};
            for (std::uint64_t i = 0; i < 123; ++i) { one_step(watch, i, i == 20); }
            watch.begin(train(123));
            watch.observe("w", weights_at(123));
            ::raise(SIGKILL);
        });
        if (resumes) {
            hook watch{path, little, high, flying};
            for (std::uint64_t i = 123; i < 140; ++i) { one_step(watch, i, false); }
            watch.finish();
            CHECK(watch.health().good());
        } else {
            auto const done = recover(path);
            REQUIRE(done);
            CHECK(done->rings == 1);
            CHECK(done->closes >= 30);
        }
        std::vector<std::uint64_t> const steps = flown(path + "/flight");
        auto const second = std::find_if(steps.begin(), steps.end(), [](std::uint64_t each) { return each > 23; });
        CHECK(is_run_to({steps.begin(), second}, 23, 20));
        CHECK(is_run_to({second, steps.end()}, 122, 30));
        CHECK_FALSE(std::filesystem::exists(path + "/flight/ring"));
    }
}

TEST_CASE("a step that is larger than the flight recorder is left out whole, and health says so") {
    temporary_folder const folder;
    hook watch{folder / "run", little, high, flying};
    std::vector<float> const huge(500'000, 1.0F);  // twice the ring
    for (std::uint64_t i = 0; i < 60; ++i) {
        if (i == 30) {
            (void)watch.step(train(i), "huge"_t = huge, "loss"_t = 0.5F);
        } else {
            one_step(watch, i, i == 50);
        }
    }
    watch.finish();
    CHECK(watch.health().first_error.code == errc::dropped);
    CHECK(watch.health().first_error.what.view().find("flight_bytes") != std::string_view::npos);
    CHECK(is_run_to(flown(folder / "run/flight"), 53, 20));
    CHECK(open(folder / "run").steps() == trains(0, 60));
}

TEST_CASE("a run that replaces another replaces its flights") {
    temporary_folder const folder;
    for (std::uint64_t const bad : {50U, 10U}) {
        options choices = flying;
        choices.existing = existing::replace;
        hook watch{folder / "run", little, high, choices};
        for (std::uint64_t i = 0; i < 60; ++i) { one_step(watch, i, i == bad); }
        watch.finish();
    }
    CHECK(is_run_to(flown(folder / "run/flight"), 13, 14));
    options plain = flying;
    plain.existing = existing::replace;
    plain.flight_bytes = 0;
    hook watch{folder / "run", little, plain};
    watch.finish();
    CHECK_FALSE(std::filesystem::exists(folder / "run/flight/000000.spot"));
}

TEST_CASE("the step of a finding is in the flight, however large the steps after it are") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", little, high, flying_large};
        for (std::uint64_t i = 0; i < 40; ++i) { one_large_step(watch, i, i == 10 || i == 12); }
        watch.finish();
        CHECK(watch.health().good());
    }
    CHECK(is_run_to(flown_large(folder / "run/flight"), 16, 8));
    CHECK(open(folder / "run/flight").findings().size() == 2);
    // It is killed before its last step.
    in_killed_child([&] {
        hook watch{folder / "killed", little, high, flying_large};
        for (std::uint64_t i = 0; i < 15; ++i) { one_large_step(watch, i, i == 10); }
        watch.begin(train(15));
        watch.observe("large", std::vector<float>(large_values, 1.0F));
        ::raise(SIGKILL);
    });
    REQUIRE(recover(folder / "killed"));
    CHECK(is_run_to(flown_large(folder / "killed/flight"), 14, 6));
}

TEST_CASE("after a flight a step that is larger than the ring is left out again") {
    temporary_folder const folder;
    hook watch{folder / "run", little, high, flying_large};
    std::vector<float> const huge(500'000, 1.0F);
    for (std::uint64_t i = 0; i < 40; ++i) {
        if (i == 11 || i == 30) {
            (void)watch.step(train(i), "large"_t = huge, "loss"_t = 0.5F);
        } else {
            one_large_step(watch, i, i == 10 || i == 35);
        }
    }
    watch.finish();
    CHECK(watch.health().first_error.code == errc::dropped);
    trial const run = open(folder / "run/flight");
    CHECK(run["large"].at(train(11)).to<std::vector<float>>().value() == huge);  // written as it came
    CHECK_FALSE(run["large"].at(train(30)));
    CHECK(run["large"].at(train(35)));
}

TEST_CASE("a finding at every step is written once, and again after a step without one") {
    temporary_folder const folder;
    hook watch{folder / "run", little, high, flying};
    for (std::uint64_t i = 0; i < 300; ++i) { one_step(watch, i, (i >= 100 && i < 200) || i == 250); }
    watch.finish();
    CHECK(watch.health().good());
    std::vector<std::uint64_t> const steps = flown(folder / "run/flight");
    auto const second = std::find_if(steps.begin(), steps.end(), [](std::uint64_t each) { return each > 103; });
    CHECK(is_run_to({steps.begin(), second}, 103, 30));
    CHECK(*second > 200);
    CHECK(is_run_to({second, steps.end()}, 253, 30));
}

TEST_CASE("a scalar stands in a flight once, and its end says how much is in it") {
    temporary_folder const folder;
    hook watch{folder / "run", little, high, flying};
    for (std::uint64_t i = 0; i < 600; ++i) { one_step(watch, i, i == 300); }
    watch.finish();
    trial const run = open(folder / "run/flight");
    std::size_t const steps = run.steps().size();
    REQUIRE(steps < 100);
    std::size_t values = 0;
    for (char const* const name : {"loss", "lr", "w"}) {
        INFO(name);
        std::size_t const there = run[name].history(mean).size();
        CHECK(there == steps);
        values += there;
    }
    values += run["large"].history(mean).size();
    CHECK(run.totals().stored == values);
    CHECK(run.totals().dropped + run.totals().thinned == 0);
    CHECK(closes_reported(folder / "run/flight/000000.spot") == steps);
}

TEST_CASE("a flight of a killed process is brought in by the next run, also by one that keeps none itself") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    in_killed_child([&] {
        hook watch{path, little, high, flying};
        for (std::uint64_t i = 0; i < 60; ++i) { one_step(watch, i, false); }
        ::raise(SIGKILL);
    });
    REQUIRE(std::filesystem::exists(path + "/flight/ring"));
    options plain = flying;
    plain.flight_bytes = 0;
    hook watch{path, little, plain};
    CHECK_FALSE(std::filesystem::exists(path + "/flight/ring"));
    CHECK(is_run_to(flown(path + "/flight"), 59, 20));
    watch.finish();
    CHECK(watch.health().good());
}

TEST_CASE("a flight says whose it is") {
    temporary_folder const folder;
    options choices = flying;
    choices.worker = 3;
    hook watch{folder / "run", little, high, choices};
    for (std::uint64_t i = 0; i < 20; ++i) { one_step(watch, i, i == 5); }
    watch.finish();
    trial const run = open(folder / "run/worker-3/flight");
    REQUIRE(run.findings().size() == 1);
    CHECK(run.findings()[0].worker == 3);
    CHECK(is_run_to(flown(folder / "run/worker-3/flight"), 8, 9));
}

TEST_CASE("recover counts a live worker once, and steps over files that are called as folders are") {
    temporary_folder const folder;
    options choices = flying;
    choices.ring_in = ring_in::shared_memory;
    hook watch{folder / "run", little, high, choices};
    one_step(watch, 0, false);
    auto const done = recover(folder / "run");
    REQUIRE(done);
    CHECK(done->live == 1);
    CHECK(done->rings == 0);
    watch.finish();
    {
        hook other{folder / "other", little};
        one_step(other, 0, false);
    }
    write_file(folder / "other/flight", {'x'});
    write_file(folder / "other/worker-1", {'x'});
    auto const none = recover(folder / "other");
    CHECK((none && none->rings + none->live == 0));
}

TEST_CASE("without a folder for a flight nothing more is tried, and health says so") {
    temporary_folder const folder;
    std::filesystem::create_directories(folder / "run");
    write_file(folder / "run/flight", {'x'});
    recorder record{folder / "run", flying};
    CHECK_FALSE(record.wants_all());
    CHECK(record.health().first_error.code == errc::unwritable);
    CHECK(recorder{folder / "other", flying}.wants_all());
}
