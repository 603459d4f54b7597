// SPDX-License-Identifier: Apache-2.0
// Tensors in GPU memory through the C interface: a hook made with the device, on a stand-in for CUDA's driver.
#include <spotter/c/implementation.hpp>
#include <spotter/ext/cuda.hpp>
#include <tests/ext/cuda/device.hpp>

#include <tests/catch.hpp>

#include <limits>
#include <string>
#include <vector>

using namespace spotter;
using spotter_test::card;
using spotter_test::on_card;
using spotter_test::stand_in;

TEST_CASE(
    "a NaN in a device tensor is reported in C, one close later, and a hook without the device refuses the tensor") {
    card();
    std::vector<float> values(300, 1.0F);
    values[123] = std::numeric_limits<float>::quiet_NaN();
    on_card<float> const w{values};
    cuda_device gpu{stand_in()};
    constexpr plan keep{collection{"all", "*", always{}, stats(mean)}};
    spotter_uint64 const shape[] = {30, 10};
    for (bool const with_device : {true, false}) {
        spotter_hook* const watch = with_device ? make_c_hook(nullptr, keep, non_finite{}, gpu.tensors())
                                                : make_c_hook(nullptr, keep, non_finite{});
        REQUIRE(watch != nullptr);
        std::size_t found = 0;
        for (spotter_uint64 i = 0; i < 3; ++i) {
            spotter_begin(watch, SPOTTER_TRAIN, i);
            spotter_observe_device(watch, "w", SPOTTER_ROLE_GUESS, SPOTTER_FLAG_NONE, SPOTTER_F32, w.data(), 2, shape,
                                   nullptr);
            found += spotter_end(watch).findings;
            if (i == 0) { CHECK(found == 0); }
        }
        spotter_health health;
        (void)spotter_get_health(watch, &health);
        CHECK((found > 0) == with_device);
        CHECK(health.refused == (with_device ? 0U : 3U));
        spotter_destroy(watch);
    }
}
