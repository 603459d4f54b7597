// SPDX-License-Identifier: Apache-2.0
// What grows with the length of a run, and what does not; and values on either side of an update.
#include <tests/file/faulty_files.hpp>
#include <tests/trial/runs.hpp>

#include <filesystem>

using namespace spotter;
using namespace spotter_test;

namespace {

std::string record_steps(std::string const& path, std::uint64_t steps) {
    hook watch{path, everything};
    for (std::uint64_t i = 0; i < steps; ++i) {
        (void)watch.step(train(i), "loss"_t = 1.0F / static_cast<float>(i + 1), "w"_t = std::vector<float>(5, 0.5F));
    }
    watch.finish();
    return path;
}
std::size_t files_in(std::string const& path) {
    std::size_t count = 0;
    for (auto const& each : std::filesystem::recursive_directory_iterator{path}) { count += each.is_regular_file(); }
    return count;
}

}  // namespace

TEST_CASE("ten times as many steps leave no more files, and opening them asks no more of the disk [D15][D16]") {
    temporary_folder const folder;
    std::string const few = record_steps(folder / "few", 1000), many = record_steps(folder / "many", 10'000);
    CHECK(files_in(many) == files_in(few));
    std::uint64_t asked[2]{};
    for (int i = 0; i < 2; ++i) {
        faulty_file_system files{~std::uint64_t{0}};
        auto const run = open_trial(i == 0 ? few : many, files);
        REQUIRE(run);
        asked[i] = files.operations();
        CHECK(run->steps().size() == (i == 0 ? 1000 : 10'000));
    }
    CHECK(asked[0] == asked[1]);
    // What opening reads: the places, of 112 bytes for 16 KiB of rows; bench/reading.cpp has the times.
    CHECK(std::filesystem::file_size(many + "/000000.spotx") <=
          std::filesystem::file_size(many + "/000000.spot") / 40 + 4096);
}

TEST_CASE("weights before and gradients after the update are the copies that the loop took [S60]") {
    temporary_folder const folder;
    std::vector<std::vector<float>> weights, gradients;
    {
        hook watch{folder / "run", plan{collection{"weights", "w", every{20}, payload},
                                        collection{"gradients", "grad/w", every{20}, payload}}};
        std::vector<float> w(40, 1.0F), g(40);
        for (std::uint64_t i = 0; i < 100; ++i) {
            watch.begin(train(i));
            watch.observe("w", w);
            if (i % 20 == 0) { weights.push_back(w); }
            for (std::size_t k = 0; k < w.size(); ++k) { g[k] = w[k] * 0.1F + static_cast<float>(k); }
            for (std::size_t k = 0; k < w.size(); ++k) { w[k] -= 0.01F * g[k]; }
            watch.observe("grad/w", g);
            if (i % 20 == 0) { gradients.push_back(g); }
            (void)watch.end();
        }
        watch.finish();
    }
    trial const run = open(folder / "run");
    REQUIRE(run["w"].payload_steps() == std::vector<step_id>{train(0), train(20), train(40), train(60), train(80)});
    for (std::uint64_t i = 0; i < 5; ++i) {
        CHECK(run["w"].at(train(20 * i)).to<std::vector<float>>().value_or({}) == weights[i]);
        CHECK(run["grad/w"].at(train(20 * i)).to<std::vector<float>>().value_or({}) == gradients[i]);
    }
}
