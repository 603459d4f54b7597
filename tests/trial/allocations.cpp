// SPDX-License-Identifier: Apache-2.0
// With a recorder behind it, too, a step of a known model allocates nothing on the thread that trains.
#include <tests/hook/count_allocations.hpp>
#include <tests/trial/runs.hpp>

#include <spotter/rules.hpp>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("once every name has been met, recording allocates nothing on the training thread [D22]") {
    temporary_folder const folder;
    options const choices{.segment_bytes = 1 << 20};
    hook watch{folder / "run",
               plan{collection{"all", "*", every{2}, payload | stats(l2, stddev)}},
               choices,
               update_ratio_band{},
               dead_relu{.samples = 8},
               any("loss", minimum > 0.0)};
    std::vector<float> w(2000, 1.0F);
    auto const step = [&](step_id id) {
        w[3] *= 1.01F;
        return watch
            .step(id, "loss"_t = 1.0F, "fc/w"_t = view_of(w.data(), {20, 100}),
                  "act/fc"_t = view_of(w.data(), {100, 20}))
            .size();
    };
    auto const ten_steps = [&](std::uint64_t from) {
        for (std::uint64_t i = from; i < from + 10; ++i) {
            (void)step(train(i));
            (void)step(eval(i));
            watch.scalar("lr", 0.5);
        }
    };
    ten_steps(0);
    for (std::uint64_t i = 10; i < 400; i += 10) {
        REQUIRE(allocations_in([&] { ten_steps(i); }) == 0);
    }
    CHECK(watch.health().good());
    watch.finish();
    CHECK(open(watch.path())["fc/w"].steps().size() == 800);
}
