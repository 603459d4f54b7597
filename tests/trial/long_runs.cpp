// SPDX-License-Identifier: Apache-2.0
// What grows with the length of a run and what does not; and values before and after an update.
#include <tests/file/faulty_files.hpp>
#include <tests/trial/runs.hpp>

#include <filesystem>
#include <map>
#include <random>

using namespace spotter;
using namespace spotter_test;

namespace {

std::string record_steps(std::string const& path, std::uint64_t steps) {
    hook watch{path, everything, options{.flush_milliseconds = only_when_asked}};
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
    // Opening reads the places: 112 bytes for 16 KiB of rows. bench/reading.cpp measures the times.
    CHECK(std::filesystem::file_size(many + "/000000.spotx") <=
          std::filesystem::file_size(many + "/000000.spot") / 40 + 4096);
}

TEST_CASE("of a run that goes back and forth a step is read as it was closed last, however it is asked for, and while "
          "it grows") {
    temporary_folder const folder;
    struct closing {
        float loss = 0, first = 0;
        bool has_w = false;
    };
    std::map<std::pair<mode, std::uint64_t>, closing> latest;
    std::mt19937 random{5};
    hook watch{folder / "run", everything};
    watch.flush();
    trial run = open(folder / "run");
    std::uint64_t at = 0;
    for (int part = 0; part < 12; ++part) {
        for (int i = 0; i < 300; ++i) {
            at = random() % 40 == 0 ? random() % (at + 20) : at + (random() % 10 == 0 ? 5 : 1);
            mode const which = random() % 7 == 0 ? mode::eval : mode::train;
            closing& now = latest[{which, at}];
            now.loss = static_cast<float>(random());
            if (random() % 5 == 0) {
                now.has_w = true;
                now.first = static_cast<float>(random());
                (void)watch.step(step_id{which, at}, "loss"_t = now.loss, "w"_t = std::vector<float>{now.first, 1});
            } else {
                (void)watch.step(step_id{which, at}, "loss"_t = now.loss);
            }
        }
        watch.flush();
        REQUIRE(!run.refresh());
        if (part % 3 == 2) { CHECK(run["loss"].steps().size() == latest.size()); }  // all rows were read
        for (auto const& [step, expected] : latest) {
            step_id const id{step.first, step.second};
            REQUIRE(run["loss"].at(id).to<float>().value() == expected.loss);
            recorded_value const w = run["w"].at(id);
            REQUIRE(static_cast<bool>(w) == expected.has_w);
            if (w) { REQUIRE(w.to<std::vector<float>>().value()[0] == expected.first); }
        }
    }
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
