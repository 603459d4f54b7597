// SPDX-License-Identifier: Apache-2.0
// Several workers of one run, recorded side by side.
#include <tests/trial/runs.hpp>

#include <atomic>
#include <memory>
#include <thread>

using namespace spotter;
using namespace spotter_test;

namespace {

using numbers = std::vector<std::uint32_t>;

}  // namespace

TEST_CASE("what = shape: every worker's shapes can be read, no worker's values [S32]") {
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
        trial const run = open_trial(folder / "run", spotter::worker{worker}).value();
        CHECK(run.workers() == numbers{worker});
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
    trial const all = open(folder / "run");
    for (std::uint32_t number = 0; number < 3; ++number) {
        track const x = all["x"].of(worker{number});
        CHECK(x.shape(train(2)).value_or({}) == extents{number + 1, 4});
        CHECK(all["x"].at(train(2), worker{number}).error().code == errc::no_payload);
    }
    CHECK(all["x"].shape(train(2)).value_or({}) == extents{1, 4});
}

TEST_CASE("a worker of a hook has its plan and rules, and records beside it, in the folder that the first one chose") {
    temporary_folder const folder;
    constexpr plan keep{collection{"x", "x", every{2}, payload}};
    {
        hook finished{folder / "run", keep};
        (void)finished.step(train(0), "x"_t = 1.0);
    }
    for (int attempt = 0; attempt < 2; ++attempt) {
        hook first{attempt == 0 ? folder / "run" : folder / "run-2", keep, any("x", maximum > 10.0) | named{"large"},
                   options{.existing = attempt == 0 ? existing::next : existing::resume, .ring_bytes = 1 << 16}};
        CHECK(first.path() == folder / "run-2");
        std::vector<std::thread> threads;
        std::atomic<int> fired{0};
        for (std::uint32_t number = 1; number < 4; ++number) {
            threads.emplace_back([&, number] {
                auto mine = first.worker(number);
                for (std::uint64_t i = 0; i < 6; ++i) {
                    double const value = 4.0 * number;
                    for (finding const& each :
                         mine.step(train(10 * static_cast<std::uint64_t>(attempt) + i), "x"_t = value)) {
                        fired += each.rule == "large" && each.worker == number ? 1 : 0;
                    }
                }
                CHECK(mine.path() == folder / ("run-2/worker-" + std::to_string(number)));
                CHECK(mine.health().good());
            });
        }
        (void)first.step(train(10 * static_cast<std::uint64_t>(attempt)), "x"_t = 1.0);
        for (auto& each : threads) { each.join(); }
        CHECK(fired == 6);
    }
    for (std::uint32_t number = 1; number < 4; ++number) {
        trial const run = open(folder / ("run-2/worker-" + std::to_string(number)));
        CHECK(run.closed_steps() == 12);
        CHECK(run["x"].at(train(4)).to<double>().value() == 4.0 * number);
        CHECK(run["x"].payload_steps().size() == 6);
    }
}

TEST_CASE("a worker of a hook that only judges judges alone") {
    hook const first{plan{}, any("x", maximum > 10.0)};
    CHECK(first.path().empty());
    hook watch{plan{}, any("x", maximum > 10.0)};
    watch.begin(train(0));
    CHECK(watch.end("x"_t = 11.0).size() == 1);
}

TEST_CASE("ranks of one run meet in one folder, in any order and whatever each of them recorded before") {
    for (int const first : {0, 1, 2}) {
        temporary_folder const folder;
        auto const record = [&](std::uint32_t worker) {
            hook watch{folder / "run", plan{collection{"x", "x"}},
                       options{.ring_bytes = 1 << 16, .worker = worker, .workers = 2}};
            (void)watch.step(train(0), "x"_t = 1.0);
            return std::string{watch.path()};
        };
        CHECK(record(1) == folder / "run/worker-1");  // from an earlier run of two ranks
        CHECK(record(0) == folder / "run");
        std::vector<std::string> paths(3);
        // Now three ranks, all open at the same time.
        std::vector<std::unique_ptr<hook<recorder, plan<>, options>>> ranks;
        for (int i = 0; i < 3; ++i) {
            auto const worker = static_cast<std::uint32_t>((first + i) % 3);
            ranks.push_back(std::make_unique<hook<recorder, plan<>, options>>(
                folder / "run", plan{}, options{.ring_bytes = 1 << 16, .worker = worker}));
            paths[worker] = std::string{ranks.back()->path()};
        }
        CHECK(paths ==
              std::vector<std::string>{folder / "run-2", folder / "run-2/worker-1", folder / "run-2/worker-2"});
    }
}

TEST_CASE("replacing a run replaces its workers, but not one that is being written") {
    temporary_folder const folder;
    auto const make = [&](std::uint32_t worker, existing what) {
        return std::make_unique<hook<recorder, plan<>, options>>(
            folder / "run", plan{}, options{.existing = what, .ring_bytes = 1 << 16, .worker = worker});
    };
    { auto const old = make(0, existing::next); }
    { auto const old = make(3, existing::resume); }
    auto const writing = make(4, existing::resume);
    auto const fresh = make(0, existing::replace);
    CHECK(fresh->health().good());
    CHECK(!std::filesystem::exists(folder / "run/worker-3/000000.spot"));
    CHECK(std::filesystem::exists(folder / "run/worker-4/000000.spot"));
}
