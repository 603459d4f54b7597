// SPDX-License-Identifier: Apache-2.0
// Time lines: samples of the machine beside a run appear in them as counters.
#include <spotter/ext/system.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
#include <spotter/workbench/export.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <chrono>
#include <thread>

using namespace spotter;
using spotter_test::temporary_folder;

namespace {

void hold_memory(system_load& it, void*) noexcept {
    it.memory = 1000;
    it.held = 100;
    it.learn(system_load::part::memory);
}

[[nodiscard]] std::size_t count_of(std::string_view what, std::string const& in) {
    std::size_t count = 0;
    for (std::size_t at = 0; (at = in.find(what, at)) != std::string::npos; ++at) { ++count; }
    return count;
}

}  // namespace

TEST_CASE("a time line has a counter for each sample of the machine") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    system_sampler machine{system_options{.seconds = 0.002, .fill = &hold_memory}};
    {
        options choices{};
        choices.beside = &machine;
        hook watch{path, plan{collection{"loss", "loss", always{}, payload}}, choices};
        for (std::uint64_t i = 0; i < 30; ++i) {
            (void)watch.step(train(i), "loss"_t = 1.0F);
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }
    auto const samples = open_trial(path + "/system");
    auto const run = open_trial(path);
    REQUIRE(samples);
    REQUIRE(run);
    REQUIRE(samples->steps().size() >= 2);
    std::string text;
    auto const take = [&](std::string_view piece) {
        text += piece;
        return error{};
    };
    export_counts counts;
    REQUIRE(!write_trace(*run, {}, take, counts));
    CHECK(count_of("\"ph\":\"C\",\"name\":\"sys/memory\",\"ts\":", text) == samples->steps().size());
    CHECK(count_of("\"ph\":\"X\",\"name\":\"train ", text) == 30);
}
