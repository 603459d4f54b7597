// SPDX-License-Identifier: Apache-2.0
// Records made before the training thread stamped its steps.
#include <tests/catch.hpp>

#include <spotter/replay.hpp>
#include <spotter/rules.hpp>

using namespace spotter;

TEST_CASE("a record without times of its steps has none, and none are made up from when the writer met them") {
    trial const run = open_trial(SPOTTER_SOURCE_DIR "/tests/golden/runs/1-training").value();
    CHECK(run.closed_steps() > 20);
    CHECK(run.times().empty());
    auto const report = replay(run, step_time_outlier{.min_history = 2});
    REQUIRE(report.coverages.size() == 1);
    CHECK(report.coverages[0].matched == 0);
    CHECK(report.findings.empty());
}
