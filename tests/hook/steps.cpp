// SPDX-License-Identifier: Apache-2.0
// Steps and their findings: opening and closing in any order, alarms and their order, several rules, options.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <spotter/rules.hpp>

#include <limits>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan all_steps{collection{"all", "*"}};
constexpr auto too_large = any("*", maximum > 10.0);

float const bad = std::bit_cast<float>(0x7FC00000U);  // a NaN, whatever the compiler's flags

}  // namespace

TEST_CASE("opening a step while one is open closes it; what it found comes with the next alarm [A04]") {
    collecting_sink sink;
    hook watch{sink, all_steps, too_large};
    watch.begin(train(0));
    watch.observe("x", 11.0);
    watch.begin(train(1));
    watch.observe("x", 12.0);
    watch.begin(train(2));
    watch.observe("x", 1.0);
    spotter::step_alarm const found = watch.end();
    REQUIRE(found.size() == 2);
    CHECK(found[0].step == train(0));
    CHECK(found[1].step == train(1));
    CHECK(sink.count("close") == 3);
    REQUIRE(sink.alarms.size() == 3);
    CHECK(sink.alarms[0].size() == 1);  // in the record each finding is at its own step, once
    CHECK(sink.alarms[2].empty());
    CHECK(watch.end().empty());
    CHECK(watch.health().steps == 3);
}

TEST_CASE("end without begin finds nothing and closes nothing") {
    collecting_sink sink;
    hook watch{sink, all_steps, too_large};
    CHECK(watch.end().empty());
    (void)watch.step(train(0), "x"_t = 99.0);
    CHECK(watch.end().empty());
    CHECK(sink.count("close") == 1);
    CHECK(watch.health().steps == 1);
}

TEST_CASE("findings of a step left open are still reported after finish") {
    collecting_sink sink;
    hook watch{sink, all_steps, too_large};
    watch.begin(train(0));
    watch.observe("x", 99.0);
    watch.finish();
    CHECK(sink.count("close") == 1);
    CHECK(watch.end().size() == 1);
    CHECK(watch.end().empty());
}

TEST_CASE("a tensor observed outside a step is refused, counted and named; the next step is whole") {
    collecting_sink sink;
    hook watch{sink, all_steps};
    watch.observe("x", 1.0);
    CHECK(watch.health().refused == 1);
    CHECK(watch.health().first_error.code == errc::no_step_open);
    CHECK(watch.health().first_error.what.view().find("\"x\"") != std::string_view::npos);
    (void)watch.step(train(0), "x"_t = 1.0);
    CHECK(sink.kept["x"].size() == 1);
    watch.finish();
    CHECK(sink.refused == 1);
}

TEST_CASE("after finish nothing is observed, nothing is closed, and nothing breaks") {
    collecting_sink sink;
    hook watch{sink, all_steps, too_large};
    (void)watch.step(train(0), "x"_t = 1.0);
    watch.finish();
    watch.finish();
    auto const before = sink.events;
    CHECK(watch.step(train(1), "x"_t = 99.0).empty());
    watch.scalar("y", 1.0);
    CHECK(sink.events == before);
    CHECK(watch.health().steps == 1);
    CHECK(watch.health().refused == 2);
    watch.scalar("note", "late");
    CHECK(sink.events == before);
    CHECK(watch.health().refused == 3);
    std::string_view why;
    watch.each_refused([&](refused_tensor const& each) { why = each.name == "note" ? each.why : why; });
    CHECK(why == "given after finish(): it is not in the record");
}

TEST_CASE("an alarm is true from a warning on, and its decision follows from severity unless said otherwise") {
    auto const judge = [](auto const& rule) {
        hook watch{plan{}, rule};
        return watch.step(train(0), "x"_t = 11.0, "y"_t = bad);
    };
    CHECK(judge(too_large));
    CHECK(judge(too_large).decision() == decision::proceed);
    CHECK(!judge(too_large | severity::info));
    CHECK(judge(too_large | severity::info).size() == 1);
    CHECK(judge(too_large | severity::error).decision() == decision::stop);
    CHECK(judge(on(too_large | severity::error, proceed)).decision() == decision::proceed);
    CHECK(judge(on(too_large | severity::info, stop)).decision() == decision::stop);
    CHECK(judge(non_finite{}).decision() == decision::skip_update);
    CHECK(judge(on(non_finite{}, stop)).decision() == decision::stop);
    CHECK(!judge(any("z", maximum > 0.0)));
}

TEST_CASE("findings of several rules come strongest first, equals in the order of the rules") {
    hook watch{plan{},
               too_large | named{"first"},
               non_finite{},
               too_large | severity::error | named{"second"},
               too_large | severity::info | named{"last"},
               too_large | named{"third"}};
    spotter::step_alarm const found = watch.step(train(3), "x"_t = 11.0, "y"_t = bad);
    REQUIRE(found.size() == 5);
    CHECK(found[0].rule == "second");  // an error that stops
    CHECK(found[1].rule == "non_finite");
    CHECK(found[2].rule == "first");
    CHECK(found[3].rule == "third");
    CHECK(found[4].rule == "last");
    for (finding const& each : found) { CHECK(each.step == train(3)); }
}

TEST_CASE("an alarm holds the eight strongest findings and counts the rest") {
    auto const above = [](double limit, severity level) { return any("x", maximum > limit) | level; };
    auto const warn = [&](double limit) { return above(limit, severity::warning); };
    auto const info = [&](double limit) { return above(limit, severity::info); };
    hook watch{plan{},
               info(1),
               warn(2),
               info(3),
               warn(4),
               info(5),
               warn(6),
               info(7),
               warn(8),
               info(9),
               above(10, severity::error)};
    spotter::step_alarm const found = watch.step(train(0), "x"_t = 11.0);
    CHECK(found.size() == spotter::step_alarm::capacity);
    CHECK(found.left_out() == 2);
    CHECK(found[0].severity == severity::error);
    CHECK(found[4].severity == severity::warning);
    CHECK(found[5].severity == severity::info);
}

TEST_CASE("options may stand anywhere among the rules and are no rule") {
    options const choices{.dry_run = true};
    hook front{plan{}, choices, too_large};
    hook back{plan{}, too_large, choices};
    hook amid{plan{}, too_large, choices, non_finite{}};
    CHECK(front.step(train(0), "x"_t = 11.0).size() == 1);
    CHECK(back.step(train(0), "x"_t = 11.0).size() == 1);
    CHECK(amid.step(train(0), "x"_t = bad).size() == 1);
}

TEST_CASE("rules keep their state over modes that alternate, each mode for itself") {
    hook watch{plan{}, too_large | for_steps{3}, too_large | only{during{mode::eval}} | named{"eval"}};
    for (std::uint64_t i = 0; i < 6; ++i) {
        spotter::step_alarm const training = watch.step(train(i), "x"_t = 11.0);
        CHECK((training.size() == 1) == (i >= 2));
        spotter::step_alarm const evaluating = watch.step(eval(i), "x"_t = 11.0);
        REQUIRE(!evaluating.empty());
        CHECK((evaluating.size() == 2) == (i >= 2));
        CHECK(evaluating[evaluating.size() - 1].rule == "eval");
    }
}

TEST_CASE("a failure that the loop tells is how the run ended, also without words") {
    for (std::string_view why : {"out of data", ""}) {
        collecting_sink sink;
        {
            hook watch{sink, all_steps};
            watch.fail(why);
        }
        CHECK(sink.ended == "failed: " + std::string{why});
    }
}

#if SPOTTER_EXCEPTIONS
TEST_CASE("a hook left by an exception ends as failed, and the step it left half done is not closed [D10]") {
    collecting_sink sink;
    try {
        hook watch{sink, all_steps};
        (void)watch.step(train(0), "x"_t = 1.0);
        watch.begin(train(1));
        watch.observe("x", 2.0);
        throw 1;
    } catch (int) {}
    CHECK(sink.ended.starts_with("failed: "));
    CHECK(sink.ended.find("exception") != std::string::npos);
    CHECK(sink.ended.find("train(1)") != std::string::npos);
    CHECK(sink.count("close") == 1);
}

TEST_CASE(
    "a step that an exception left is judged when the hook is left: responses and the sink get its findings, as left") {
    collecting_sink sink;
    std::vector<std::string> reported;
    auto const tell = call{[&reported](finding const& each) { reported.push_back(text_of(each.step)); }};
    try {
        hook watch{sink, all_steps, on(non_finite{}, tell)};
        (void)watch.step(train(0), "x"_t = 1.0);
        watch.begin(train(1));
        watch.observe("x", std::numeric_limits<double>::quiet_NaN());
        throw 1;
    } catch (int) {}
    CHECK(reported == std::vector<std::string>{"train(1)"});
    CHECK(sink.count("leave train(1)") == 1);
    CHECK(sink.count("close train(1)") == 0);
    REQUIRE(sink.alarms.size() == 2);
    CHECK(sink.alarms[1].size() == 1);
    CHECK(sink.blamed == std::vector<std::string>{"x"});
    REQUIRE(!sink.coverages.empty());
    CHECK(sink.coverages[0].judged == 2);
}

TEST_CASE("so is the step in which the loop reports its failure; its findings can still be read, and the step is not "
          "closed") {
    collecting_sink sink;
    hook watch{sink, all_steps, too_large};
    (void)watch.step(train(0), "x"_t = 1.0);
    watch.begin(train(1));
    watch.observe("x", 99.0);
    watch.fail("the framework threw");
    watch.finish();
    CHECK(sink.events.back() == "leave train(1)");
    CHECK(watch.end().size() == 1);
    CHECK(watch.health().steps == 1);
    CHECK(!watch.healthy_since(train(1)));
    CHECK(sink.ended == "failed: the framework threw");
}

TEST_CASE("a sink without the call for steps that were left gets no close for them") {
    struct plain_sink : null_sink {
        int* closes;
        explicit plain_sink(int& count) : closes{&count} {}
        void close(step_id, spotter::step_alarm const&) noexcept { ++*closes; }
    };
    int closes = 0;
    plain_sink sink{closes};
    try {
        hook watch{sink, all_steps, too_large};
        watch.begin(train(0));
        watch.observe("x", 99.0);
        throw 1;
    } catch (int) {}
    CHECK(closes == 0);
}

TEST_CASE("a hook that lives and dies inside a handler or a destructor at unwinding is not taken for failed") {
    collecting_sink sink;
    struct careful {
        collecting_sink& into;
        ~careful() { hook watch{into, all_steps}; }
    };
    try {
        careful const guard{sink};
        throw 1;
    } catch (int) {}
    CHECK(sink.ended == "finished");
}
#endif

TEST_CASE("at the end each leaf rule says how much it could judge, and why not") {
    collecting_sink sink;
    {
        hook watch{sink, plan{}, too_large || any("nobody/*", l2 > 1.0), options{}, dead_relu{}};
        for (std::uint64_t i = 0; i < 4; ++i) {
            (void)watch.step(train(i), "x"_t = i == 2 ? 11.0 : 1.0, "act/1"_t = std::vector<float>(4));
        }
    }
    REQUIRE(sink.coverages.size() == 3);
    CHECK(sink.coverages[0].rule == "any");
    CHECK(sink.coverages[0].matched == 2);
    CHECK(sink.coverages[0].judged == 4);
    CHECK(sink.coverages[0].fired == 1);
    CHECK(sink.coverages[0].could_run());
    CHECK(!sink.coverages[1].could_run());
    CHECK(sink.coverages[1].reason == "no tensor matched");
    CHECK(sink.coverages[2].rule == "dead_relu");
    CHECK(sink.coverages[2].matched == 1);
    CHECK(sink.coverages[2].judged == 0);
    CHECK(sink.coverages[2].reason.find("warm-up") != std::string_view::npos);
}

TEST_CASE("100 000 steps in modes that change at random close one by one, and rules fire where they should") {
    hook watch{plan{}, too_large, any("loss", maximum > 0.0) | only{during{mode::predict}}};
    std::uint64_t state = 1, index[mode_count]{}, fired = 0, expected = 0;
    for (int i = 0; i < 100'000; ++i) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        auto const which = static_cast<mode>((state >> 33) % 3);
        double const value = (state >> 40) % 100 == 0 ? 11.0 : -1.0;
        expected += value > 0 ? (which == mode::predict ? 2 : 1) : 0;
        fired += watch.step({which, index[index_of(which)]++}, "loss"_t = value).size();
    }
    CHECK(fired == expected);
    CHECK(watch.health().steps == 100'000);
    CHECK(watch.health().good());
}
