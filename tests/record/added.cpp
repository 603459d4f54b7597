// SPDX-License-Identifier: Apache-2.0
// The result of an examination is added to a run: reported with the next alarm, and recorded.
#include <spotter/preflight.hpp>
#include <spotter/response/finding_json.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>
#include <tests/preflight/net.hpp>
#include <tests/temporary_folder.hpp>

#include <algorithm>
#include <optional>
#include <string>

using namespace spotter;
using spotter_test::collecting_sink;
using spotter_test::temporary_folder;

namespace {

preflight_result examined_adding() {
    preflight_test::perceptron<> net;
    net.rate = -net.rate;
    return preflight_test::examined(net);
}

}  // namespace

TEST_CASE("findings of an examination are reported with the next alarm, once, though the result is gone") {
    collecting_sink sink;
    hook watch{sink, plan<>{}};
    {
        std::optional<preflight_result> found{examined_adding()};
        REQUIRE(found->first() == preflight_cause::update_direction);
        watch.add(*found);
        found.reset();
    }
    step_alarm const alarm = watch.step(train(0), "loss"_t = 1.0);
    REQUIRE(alarm);
    CHECK(alarm.front().id == rule_id::update_direction);
    CHECK(alarm.front().tensor == "update");
    CHECK(alarm.front().step == train(0));
    CHECK(alarm.decision() == decision::stop);
    CHECK(alarm.front().reason == "proven: the update moves along the gradient, not against it");
    CHECK(json_of(alarm.front()).view().find("\"rule\": \"update_direction\"") != std::string_view::npos);
    CHECK(watch.step(train(1), "loss"_t = 1.0).empty());
    REQUIRE(!sink.alarms.empty());
    CHECK(sink.alarms[0].empty());  // it belongs to no step
}

TEST_CASE("where nothing was found the run says that it was examined, and no alarm does") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan<>{}};
        preflight_test::perceptron<> net;
        watch.add(preflight_test::examined(net));
        CHECK(!watch.step(train(0), "loss"_t = 1.0));
    }
    trial const run = open_trial(folder / "run").value();
    auto const reported = run["preflight"].loose();
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].bytes.find("5 of 5 gradients are right; nothing was found wrong") == 0);
    for (finding const& each : run.findings()) { CHECK(each.severity == severity::info); }
}

TEST_CASE("findings of an examination are recorded, with the last step, also where no step follows") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan<>{}};
        (void)watch.step(train(7), "loss"_t = 1.0);
        watch.add(examined_adding());
        watch.finish();
        CHECK(watch.health().first_error.code == errc::none);
        watch.add(examined_adding());  // after the end it has no effect
        CHECK(watch.end().size() > 0);
    }
    trial const run = open_trial(folder / "run").value();
    auto const& all = run.findings();
    REQUIRE(std::count_if(all.begin(), all.end(), [](finding const& it) { return it.severity == severity::error; }) ==
            1);
    CHECK(all[0].rule == "update_direction");
    CHECK(all[0].step == train(7));
    CHECK(all[0].decision == decision::stop);
    CHECK(run["preflight/finding"].loose().size() == all.size());
}

TEST_CASE("a hook that is not there, or records nothing, takes an examination, too") {
    null_hook nothing;
    nothing.add(examined_adding());
    hook watch{plan<>{}};
    watch.begin(train(3));
    watch.add(examined_adding());
    step_alarm const alarm = watch.end();
    REQUIRE(alarm);
    CHECK(alarm.front().step == train(3));
}
