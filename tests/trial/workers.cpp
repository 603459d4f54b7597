// SPDX-License-Identifier: Apache-2.0
// Several workers of one run, each read for itself.
#include <tests/trial/runs.hpp>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("what = shape: every worker's shapes can be read, nobody's values [S32]") {
    temporary_folder const folder;
    std::vector<float> const values(60, 1.0F);
    for (std::uint32_t worker = 0; worker < 3; ++worker) {
        options const choices{.ring_bytes = 1 << 16, .worker = worker};
        hook watch{folder / "run", plan{collection{"shapes", "*", every{2}, shape}}, choices};
        for (std::uint64_t i = 0; i < 5; ++i) {
            (void)watch.step(train(i), "x"_t = view_of(values.data(), {worker + 1, 4}),
                             "y"_t = view_of(values.data(), {5, worker + 2}), "s"_t = 1.0);
        }
        CHECK(watch.health().good());
    }
    for (std::uint32_t worker = 0; worker < 3; ++worker) {
        INFO(worker);
        trial const run = open(worker == 0 ? folder / "run" : folder / ("run/worker-" + std::to_string(worker)));
        CHECK(run.names() == names_list{"s", "x", "y"});
        CHECK(run.steps() == trains(0, 5, 2));
        for (step_id step : run.steps()) {
            CHECK(run["x"].shape(step).value_or({}) == extents{worker + 1, 4});
            CHECK(run["y"].shape(step).value_or({}) == extents{5, worker + 2});
            CHECK(run["s"].shape(step).value_or({9}) == extents{});
            for (char const* name : {"x", "y", "s"}) {
                CHECK(run[name].at(step).error().code == errc::no_payload);
                CHECK(run[name].stat(step, l2).error().code == errc::no_payload);
            }
        }
        CHECK(run["x"].payload_steps().empty());
    }
}
