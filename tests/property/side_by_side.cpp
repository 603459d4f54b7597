// SPDX-License-Identifier: Apache-2.0
// A single stream replayed side by side gives the same findings as a plain replay.
#include <tests/property/stream.hpp>

#include <spotter/replay/side_by_side.hpp>

#include <csignal>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan some{collection{"w", role::weight, every{3}, payload}, collection{"all", "*", always{}, stats(l2)}};

struct verdicts {
    alarms found;
    std::vector<plain_coverage> coverages;
    std::uint64_t steps = 0, fired = 0;
    bool whole = false;
    errc trouble = errc::none;
    friend bool operator==(verdicts const&, verdicts const&) = default;
};
template <class Play, class... Arguments>
verdicts tell(Play const& play, Arguments const&... arguments) {
    verdicts it;
    auto const report = play(arguments..., [&](spotter::step_alarm const& found) { keep(it.found, found); });
    for (coverage const& each : report.coverages) { it.coverages.push_back(plain(each)); }
    it.steps = report.steps, it.fired = report.fired, it.whole = report.whole, it.trouble = report.trouble.code;
    return it;
}
template <class... Arguments>
std::size_t compare(trial const& run, Arguments const&... arguments) {
    verdicts const alone = tell([&](auto const&... each) { return replay(run, each...); }, arguments...);
    verdicts const beside = tell([&](auto const&... each) { return replay_side_by_side(run, each...); }, arguments...);
    CHECK(alone.found == beside.found);
    CHECK(alone == beside);
    return alone.found.size();
}
std::size_t compare_all(trial const& run) {
    return compare(run, any("*", sum > 0.0), non_finite{}, vanishing_gradient{.threshold = 1, .patience = 2}) +
           compare(run, dead_relu{.threshold_layer = 0.1, .samples = 16},
                   update_ratio_band{.smoothing = 2, .warmup = 1, .patience = 2}, all_zero{.threshold = 0.5}) +
           compare(run, (any("*", l2 > 1.0) | for_steps{2}) && !any("grad/*", mean > 0.1), every{2}) +
           compare(run, loss_not_decreasing::sagemaker_defaults(), spike("*", maximum, {.window = 4}) | rearm{2},
                   during{mode::train}) +
           compare(run, stalled_training{.threshold = 3000}, stalled_training{.threshold = 2000} | rearm{2}, every{2});
}

// A clock of the record at which some steps come late.
double side_time = 1;
double tell_time() noexcept { return side_time; }

}  // namespace

TEST_CASE("side by side, one stream says what a replay says: random streams, with rewinds and tensors that come late") {
    std::size_t found = 0;
    for (std::uint64_t run = 0; run < property_runs(16); ++run) {
        INFO("stream " << run);
        stream const all = make_stream(run + 3000, 60);
        temporary_folder const folder;
        options choices;
        choices.segment_bytes = run % 2 == 0 ? 4096 : 1 << 20;
        choices.drain = drain::poll;
        choices.clock = &tell_time;
        hook watch{folder / "run", some, choices, non_finite{}, vanishing_gradient{.threshold = 1, .patience = 2}};
        for (stream_step const& step : all) {
            side_time += step.id.index % 7 == 3 ? 2500 : 900;
            (void)run_through(watch, {step});
            watch.flush();  // so that each close has its own time
        }
        watch.finish();
        found += compare_all(open(watch.path()));
    }
    CHECK(found > 200);
}

TEST_CASE(
    "a resumed run says the same: rules start afresh with each attempt, a step left open is judged by what it holds") {
    for (std::uint64_t run = 0; run < property_runs(6); ++run) {
        INFO("stream " << run);
        temporary_folder const folder;
        options choices;
        choices.existing = existing::resume;
        for (std::uint64_t attempt = 0; attempt < 3; ++attempt) {
            stream const all = make_stream(run * 3 + attempt + 4000, 25);
            auto const record = [&] {
                hook watch{folder / "run", everything, choices};
                (void)run_through(watch, all);
                watch.begin(train(1000));
                watch.observe("late", 2.0);
                watch.flush();
                if (attempt == 1) { ::raise(SIGKILL); }
            };
            if (attempt == 1) {
                in_killed_child(record);
            } else {
                record();
            }
        }
        trial const run_of_three = open(folder / "run");
        REQUIRE(run_of_three.attempts() == 3);
        CHECK(compare_all(run_of_three) > 0);
    }
}

TEST_CASE("a long run is read in pieces") {
    temporary_folder const folder;
    options choices;
    choices.segment_bytes = 1 << 20;
    hook watch{folder / "run", nothing, choices, any("x", l2 > 0.5) | for_steps{3}};
    random_source random{11};
    for (std::uint64_t i = 0; i < 20000; ++i) { (void)watch.step(train(i), "x"_t = random.unit()); }
    watch.finish();
    trial const run = open(watch.path());
    CHECK(compare(run, any("x", l2 > 0.5) | for_steps{3}) > 1000);
    CHECK(compare(run, any("x", l2 > 0.9) | cooldown{7}) > 100);
}
