// SPDX-License-Identifier: Apache-2.0
// Tensors of a GPU, by a stand-in for CUDA's driver that runs the kernels' source on the processor: no card was at hand.
#include <spotter/ext/cuda.hpp>
#include <spotter/replay.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
#include <tests/ext/cuda/device.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <array>
#include <bit>
#include <limits>
#include <string>
#include <vector>

using namespace spotter;
using namespace spotter::literals;
using spotter_test::card;
using spotter_test::driver;
using spotter_test::on_card;
using spotter_test::stand_in;
using spotter_test::temporary_folder;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr auto sick = any("*", nonfinite > 0);
constexpr plan keep_statistics{collection{"all", "*", always{}, stats(l2, mean, stddev, minimum, maximum, zeros)}};

std::vector<float> ramp(std::size_t count, float from) {
    std::vector<float> all(count);
    for (std::size_t i = 0; i < count; ++i) { all[i] = from + 0.37F * static_cast<float>(i); }
    return all;
}

}  // namespace

TEST_CASE("a NaN on the device is found with its element and its step, one close later") {
    card();
    std::vector<float> values = ramp(5000, -3);
    on_card<float> w{values};
    cuda_device gpu{stand_in()};
    hook watch{keep_statistics, sick, gpu.tensors()};
    REQUIRE(watch.health().good());
    CHECK(!watch.step(train(0), "w"_t = w.whole()));
    w.data()[4321] = not_a_number;
    CHECK(!watch.step(train(1), "w"_t = w.whole()));
    w.data()[4321] = 1;
    step_alarm const found = watch.step(train(2), "w"_t = w.whole());
    REQUIRE(found);
    CHECK(found.begin()->step == train(1));
    CHECK(found.begin()->tensor == "w");
    CHECK(found.begin()->measured == 1);
    CHECK(!watch.step(train(3), "w"_t = w.whole()));
    watch.finish();
    CHECK(watch.health().good());
    CHECK(gpu.done().launches == 4);
    CHECK(gpu.done().copied_bytes == 0);
}

TEST_CASE("a record of device tensors reads as that of the processor's") {
    card();
    temporary_folder const folder;
    auto const run = [&](std::string const& name, auto const& values_of, auto const&... device) {
        hook watch{folder / name, keep_statistics, sick, any("w", l2 > 300.0), device...};
        for (std::uint64_t i = 0; i < 20; ++i) {
            watch.scalar("rate", 0.5F / static_cast<float>(i + 1));
            float const loss = 10.0F / static_cast<float>(i + 1);
            (void)watch.step(train(i), "w"_t = values_of(i), "loss"_t = loss);
        }
        watch.finish();
        INFO(watch.health().first_error.what.view());
        CHECK(watch.health().good());
        CHECK(watch.health().steps == 20);
    };
    auto const at = [](std::uint64_t i) {
        std::vector<float> values = ramp(3000 + 7 * (i % 3), static_cast<float>(i));
        if (i == 7) { values[2222] = not_a_number; }
        return values;
    };
    run("processor", at);
    std::vector<std::unique_ptr<on_card<float>>> tensors;
    for (std::uint64_t i = 0; i < 20; ++i) { tensors.push_back(std::make_unique<on_card<float>>(at(i))); }
    cuda_device gpu{stand_in()};
    run("device", [&](std::uint64_t i) { return tensors[i]->whole(); }, gpu.tensors());

    trial const processor = open_trial(folder / "processor").value(), device = open_trial(folder / "device").value();
    std::array<statistic, 7> const shown{l2, mean, stddev, minimum, maximum, zeros, nonfinite};
    for (auto const& name : {"w", "loss"}) {
        for (std::uint64_t i = 0; i < 20; ++i) {
            INFO(name << " at " << i);
            for (statistic const& which : shown) {
                double const left = processor[name].stat(train(i), which).value();
                double const right = device[name].stat(train(i), which).value();
                CHECK(std::bit_cast<std::uint64_t>(left) == std::bit_cast<std::uint64_t>(right));
            }
            CHECK(processor[name].shape(train(i)).value() == device[name].shape(train(i)).value());
        }
    }
    auto const said = [](trial const& it) {
        std::string all;
        for (finding const& each : it.findings()) {
            all += std::string{each.tensor} + " " + std::to_string(each.step.index) + " " +
                   std::to_string(each.measured) + "\n";
        }
        return all;
    };
    CHECK(said(processor) == said(device));
    CHECK(!said(device).empty());
    auto const again = replay(device, sick, any("w", l2 > 300.0));
    CHECK(again.trouble.code == errc::none);
    CHECK(again.findings.size() == device.findings().size());
}
