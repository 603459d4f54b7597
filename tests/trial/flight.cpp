// SPDX-License-Identifier: Apache-2.0
// The flight recorder: the latest steps with everything in them, written once something is told, or after the process has died.
#include <tests/trial/runs.hpp>

#include <algorithm>

#include <csignal>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::size_t values_each = 4096;  // 16 KiB: an entry that is written in blocks comes with `large` below
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
// The steps of a flight, each of them whole and right.
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
    // Twice the latest ones, some tens of steps in a MiB, to the third step after.
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
    CHECK(watch.health().first.code == errc::dropped);
    CHECK(watch.health().first.what.view().find("flight_bytes") != std::string_view::npos);
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
