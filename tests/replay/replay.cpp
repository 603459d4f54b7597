// SPDX-License-Identifier: Apache-2.0
// Replay: a record as the source of the same events. Policies limit the steps; what was not recorded is reported, not
// guessed.
#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>
#include <spotter/rules.hpp>

#include <array>
#include <csignal>
#include <limits>

#if !defined(_WIN32)
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr auto large = any("*", maximum > 10.0);

// Records {value} as "x" at these steps.
template <class Value>
trial recorded(temporary_folder const& folder, ids const& steps, Value const& value_of, stats_mask what = payload) {
    hook watch{folder / "run", plan{collection{"all", "*", always{}, what}}};
    for (step_id each : steps) { (void)watch.step(each, "x"_t = value_of(each)); }
    watch.finish();
    return open(watch.path());
}
ids steps_of(replay_report const& report) {
    ids list;
    for (finding const& each : report.findings) { list.push_back(each.step); }
    return list;
}

}  // namespace

TEST_CASE("units that were counted along another axis are counted anew from the values, or lacking") {
    temporary_folder const folder;
    std::vector<float> values(8 * 4, 0.0F);
    // One of eight rows is active: along axis 0, seven of eight units are dead.
    for (std::size_t i = 0; i < 4; ++i) { values[i] = 1.0F; }
    for (bool const with_values : {true, false}) {
        std::string const path = folder / (with_values ? "values" : "features");
        {
            hook watch{path, plan{collection{"act", "act/*", always{}, with_values ? payload : stats(l2)}},
                       dead_relu{.threshold_inactivity = 0.1, .samples = 8}};
            for (std::uint64_t i = 0; i < 3; ++i) {
                (void)watch.step(train(i), "act/1"_t = view_of(values.data(), {8, 4}));
            }
        }
        replay_report const same = replay(open(path), dead_relu{.threshold_inactivity = 0.1, .samples = 8});
        CHECK((same.fired == 0 && same.whole));
        replay_report const other = replay(open(path), dead_relu{.samples = 4, .unit_axis = 0});
        CHECK(other.fired == (with_values ? 3 : 0));
        CHECK(other.whole == with_values);
        CHECK(other.trouble.code == (with_values ? errc::none : errc::no_payload));
    }
}

TEST_CASE("what an earlier attempt dropped is counted, and the replay is not whole") {
    temporary_folder const folder;
    for (int attempt = 0; attempt < 2; ++attempt) {
        hook watch{
            folder / "run", plan{collection{"x", "x"}},
            options{
                .existing = existing::resume, .overflow = overflow::drop, .drain = drain::poll, .ring_bytes = 1 << 16}};
        std::vector<float> const values(attempt == 0 ? 1U << 16 : 4);
        for (std::uint64_t i = 0; i < 4; ++i) {
            (void)watch.step(train(4 * static_cast<std::uint64_t>(attempt) + i), "x"_t = values);
        }
    }
    trial const run = open(folder / "run");
    CHECK(run.totals().dropped == 4);
    CHECK(run.totals().stored == 4);
    CHECK(!replay(run, any("x", l2 > 1.0)).whole);
}

TEST_CASE("a rule is judged once at each closed step, and replay returns when there are no more [S66][S72]") {
    temporary_folder const folder;
    trial const run =
        recorded(folder, {train(0), train(4), train(8)}, [](step_id step) { return step.index == 4 ? 11.0 : 1.0; });
    replay_report const report = replay(run, large);
    CHECK(report.steps == 3);
    CHECK(report.fired == 1);
    CHECK(steps_of(report) == ids{train(4)});
    REQUIRE(report.coverages.size() == 1);
    CHECK(report.coverages[0].judged == 3);
    CHECK(report.coverages[0].fired == 1);
    CHECK(!report.trouble);
    CHECK(report.whole);
}

TEST_CASE("a finding of replay names tensor, value, threshold and step, and lives as long as the trial [S71]") {
    temporary_folder const folder;
    trial const run =
        recorded(folder, trains(0, 5), [](step_id step) { return static_cast<float>(step.index * step.index); });
    finding const found = replay(run, large | named{"too large"}).findings.at(0);
    CHECK(found.rule == "too large");
    CHECK(found.tensor == "x");
    CHECK(found.step == train(4));
    CHECK(found.measure == "maximum");
    CHECK(found.measured == 16);
    CHECK(found.threshold == 10);
    CHECK(found.how == relation::greater);
}

TEST_CASE("callables get each alarm and the report; rules, policies and callables stand in any order") {
    temporary_folder const folder;
    trial const run = recorded(folder, trains(0, 20), [](step_id step) { return step.index >= 15 ? 11.0 : 1.0; });
    ids seen;
    std::uint64_t reports = 0;
    replay_report const report = replay(
        run, [&](replay_report const& it) { reports += it.fired; }, every{2},
        [&](spotter::step_alarm const& found) { seen.push_back(found.front().step); }, large, from{4});
    CHECK(seen == ids{train(16), train(18)});
    CHECK(reports == 2);
    CHECK(report.steps == 8);
}

TEST_CASE("a policy limits what rules see: their state starts fresh at the first step let through [A48]") {
    temporary_folder const folder;
    trial const run = recorded(folder, trains(0, 30), [](step_id) { return 11.0; });
    CHECK(steps_of(replay(run, large | for_steps{3})).front() == train(2));
    CHECK(steps_of(replay(run, large | for_steps{3}, from{10})).front() == train(12));
    CHECK(steps_of(replay(run, large | for_steps{3}, every{5})).front() == train(10));
    CHECK(replay(run, large, never{}).steps == 0);
    CHECK(replay(run, large, from{10} && every{5}).steps == 4);  // composed policies, and no alarm callback
    CHECK(replay(run, large, !from{10} || at{20}).steps == 11);
}

TEST_CASE("quantifiers over nothing are silent, and say that they could not run [S69]") {
    temporary_folder const folder;
    trial const run = recorded(folder, trains(0, 5), [](step_id) { return 11.0; });
    replay_report const report =
        replay(run, any("y*", maximum > 0.0), all("y*", maximum > 0.0), !any("y*", maximum > 0.0));
    CHECK(report.findings.empty());
    for (coverage const& each : report.coverages) { CHECK(each.reason == "no tensor matched"); }
}

TEST_CASE("steps hidden by only neither fire nor count [S70]; one in a hundred by cooldown, one in all by once [S68]") {
    temporary_folder const folder;
    ids order;
    for (std::uint64_t i = 0; i < 100; ++i) {
        order.push_back(train(i));
        if (i % 10 == 0) { order.push_back(eval(i)); }
    }
    trial const run = recorded(folder, order, [](step_id) { return 11.0; });
    CHECK(steps_of(replay(run, large | only{during{mode::eval}} | for_steps{2})).size() == 9);
    CHECK(replay(run, large, during{mode::train}).fired == 100);
    CHECK(replay(run, large | cooldown{50}, during{mode::train}).fired == 2);
    CHECK(replay(run, large | once).fired == 1);
}

TEST_CASE("a rule that asks for what was not recorded is undecided, and the report says what is lacking") {
    temporary_folder const folder;
    trial const run = recorded(folder, trains(0, 5), [](step_id) { return std::array{3.0, 4.0}; }, stats(l2));
    replay_report const report = replay(run, any("x", l2 > 4.0), large);
    CHECK(report.fired == 5);
    CHECK(!report.whole);
    CHECK(report.trouble.code == errc::no_payload);
    CHECK(report.trouble.what.view().find("\"x\"") != std::string_view::npos);
    CHECK(report.coverages[1].judged == 0);
    CHECK(replay(run, any("x", l2 > 4.0)).whole);
}

TEST_CASE("a new question to an old record: statistics, changes and unit activity come from the values") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    std::vector<float> w(6, 1.0F);
    std::vector<float> act(40, 0.0F);
    for (std::uint64_t i = 0; i < 30; ++i) {
        (void)watch.step(train(i), "fc/w"_t = view_of(w.data(), {2, 3}), "act/1"_t = view_of(act.data(), {8, 5}));
        for (float& each : w) { each *= 2; }
    }
    watch.finish();
    trial const run = open(watch.path());
    replay_report const report =
        replay(run, update_ratio_band{.smoothing = 1, .warmup = 2, .patience = 2}, dead_relu{.samples = 16});
    CHECK(report.whole);
    std::uint64_t ratio = 0, dead = 0;
    for (finding const& each : report.findings) { (each.rule == "dead_relu" ? dead : ratio) += 1; }
    CHECK(dead == 15);
    CHECK(ratio > 20);
}

TEST_CASE("a rule that is malformed or throws is off in replay as in the loop, and the report says so") {
    temporary_folder const folder;
    trial const run = recorded(folder, trains(0, 5), [](step_id) { return 11.0; });
    std::string const bad = "{";
    replay_report const report = replay(run, any(glob{std::string_view{bad}}, l2 > 0.0), large);
    CHECK(report.trouble.code == errc::bad_pattern);
    CHECK(report.fired == 5);
    CHECK(report.coverages[0].reason == "switched off: malformed pattern");
#if SPOTTER_EXCEPTIONS
    auto const throwing = [](std::string_view) -> bool { throw 1; };
    replay_report const thrown = replay(run, any(throwing, l2 > 0.0), large);
    CHECK(thrown.trouble.code == errc::user_code_threw);
    CHECK(thrown.fired == 5);
#endif
}

TEST_CASE("scalars of a step are judged, texts and loose scalars are not") {
    temporary_folder const folder;
    hook watch{folder / "run", plan{}, large};
    std::uint64_t inside = 0;
    for (std::uint64_t i = 0; i < 6; ++i) {
        watch.scalar("x", 99.0);
        watch.begin(train(i));
        watch.scalar("note", "words");
        watch.scalar("x", i == 3 ? 11 : 1);
        inside += watch.end().size();
    }
    watch.finish();
    replay_report const report = replay(open(watch.path()), large);
    CHECK(inside == 1);
    CHECK(steps_of(report) == ids{train(3)});
}

TEST_CASE("a step still open is not judged, and a live run can be replayed again after refresh [S65]") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "x"_t = 11.0);
    watch.begin(train(1));
    watch.observe("x", 12.0);
    watch.flush();
    trial run = open(watch.path());
    CHECK(steps_of(replay(run, large)) == ids{train(0)});
    (void)watch.end();
    (void)watch.step(train(2), "x"_t = 13.0);
    watch.flush();
    CHECK(steps_of(replay(run, large)) == ids{train(0)});
    CHECK(!run.refresh());
    CHECK(steps_of(replay(run, large)) == trains(0, 3));
}

#if !defined(_WIN32)
TEST_CASE("in a resumed run rules start afresh with each attempt, as they did in the loop; a step left open is judged "
          "by what it "
          "holds") {
    temporary_folder const folder;
    auto const rule = large | for_steps{4};
    pid_t const child = ::fork();
    if (child == 0) {
        hook watch{folder / "run", everything, rule};
        for (std::uint64_t i = 0; i < 6; ++i) { (void)watch.step(train(i), "x"_t = 11.0); }
        watch.begin(train(6));
        watch.observe("late", 11.0);
        watch.flush();
        ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ids inside = trains(3, 6);  // from the first attempt
    {
        hook watch{folder / "run", everything, rule};
        for (std::uint64_t i = 6; i < 12; ++i) {
            if (!watch.step(train(i), "x"_t = 11.0).empty()) { inside.push_back(train(i)); }
        }
        std::uint64_t judged = 0;
        watch.coverage_of_rules([&](coverage const& each) { judged = each.judged; });
        CHECK(judged == 6);
    }
    trial const run = open(folder / "run");
    REQUIRE(run.attempts() == 2);
    replay_report const report = replay(run, rule);
    CHECK(report.open == 1);  // train(6) of the first attempt, which held only "late"
    ids expected = trains(3, 7);
    expected.insert(expected.end(), inside.begin() + 3, inside.end());
    CHECK(steps_of(report) == expected);
    CHECK(report.findings[3].tensor == "late");
    CHECK(report.steps == 13);
    CHECK(report.coverages[0].judged == 13);
    CHECK(report.coverages[0].matched == 2);
}
#endif

namespace {

// Two healthy steps, then one with a NaN loss; the caller decides how the loop is left.
template <class Watch>
void observe_a_nan(Watch& watch) {
    (void)watch.step(train(0), "loss"_t = 1.0, "w"_t = 1.0);
    (void)watch.step(train(1), "loss"_t = 1.0, "w"_t = 1.0);
    watch.begin(train(2));
    watch.observe("loss", std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

#if !defined(_WIN32)
TEST_CASE(
    "the NaN that ended a run is found in the step that was never closed: killed, in every replay of the record") {
    temporary_folder const folder;
    pid_t const child = ::fork();
    if (child == 0) {
        hook watch{folder / "run", everything, non_finite{}};
        observe_a_nan(watch);
        watch.flush();
        ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    trial run = open(folder / "run");
    CHECK(run.status() == run_status::died);
    CHECK(run.findings().empty());  // no rule was there to judge it
    REQUIRE(run.open_steps().size() == 1);
    std::size_t alarms = 0, findings = 0;
    auto const hear = [&](spotter::step_alarm const& found) { alarms += found.size(); };
    auto const listen = [&](finding const&) { ++findings; };
    for (int way = 0; way < 3; ++way) {
        replay_report const report = way == 0   ? replay(run, non_finite{}, hear, listen)
                                     : way == 1 ? replay_report{replay_side_by_side(run, non_finite{}, hear, listen)}
                                                : follow(run, non_finite{}, hear, listen);
        CHECK(steps_of(report) == ids{train(2)});
        CHECK(report.steps == 3);
        CHECK(report.open == 1);
        CHECK(report.coverages[0].judged == 3);
    }
    CHECK(alarms == 3);
    CHECK(findings == 3);
    CHECK(replay(run, non_finite{}, during{mode::eval}).findings.empty());
}
#endif

#if SPOTTER_EXCEPTIONS
TEST_CASE("of a run that an exception left a replay finds in the last step what the hook found in it") {
    for (bool resumed : {false, true}) {
        temporary_folder const folder;
        try {
            hook watch{folder / "run", everything, non_finite{}};
            observe_a_nan(watch);
            throw 1;
        } catch (int) {}
        if (resumed) {
            hook watch{folder / "run", everything, options{.existing = existing::resume}, non_finite{}};
            (void)watch.step(train(2), "loss"_t = 1.0, "w"_t = 1.0);
        }
        trial const run = open(folder / "run");
        REQUIRE(run.findings().size() == 1);
        for (bool beside : {false, true}) {
            replay_report const report =
                beside ? replay_report{replay_side_by_side(run, non_finite{})} : replay(run, non_finite{});
            REQUIRE(report.findings.size() == 1);
            CHECK(report.findings[0].step == run.findings()[0].step);
            CHECK(report.findings[0].tensor == run.findings()[0].tensor);
            CHECK(report.findings[0].reason == run.findings()[0].reason);
            CHECK(report.steps == (resumed ? 4 : 3));
            CHECK(report.open == 1);
        }
    }
}
#endif

TEST_CASE("drops are reported: a record that lost something is not whole") {
    temporary_folder const folder;
    options const tiny{.overflow = overflow::thin, .drain = drain::poll, .ring_bytes = 64 << 10};
    hook watch{folder / "run", everything, tiny};
    std::vector<float> const values(4000, 1.0F);
    for (std::uint64_t i = 0; i < 20; ++i) { (void)watch.step(train(i), "x"_t = values); }
    watch.finish();
    REQUIRE(watch.health().sink.thinned + watch.health().sink.dropped > 0);
    trial const run = open(watch.path());
    CHECK(run.totals().thinned + run.totals().dropped > 0);
    CHECK(!replay(run, any("x", l2 > 0.0)).whole);
}
