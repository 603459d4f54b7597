// SPDX-License-Identifier: Apache-2.0
// Threads that train one model without synchronisation (Hogwild), each a worker of the same run, at full speed.
#include <tests/stress/workers.hpp>

#include <spotter/rule/builtin/non_finite.hpp>

#include <atomic>
#include <chrono>
#include <thread>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::uint32_t crowd = 4;
constexpr std::size_t width = 64;

// Updated by all workers at once; relaxed atomics, so that the test has no data race of its own.
struct shared_model {
    std::atomic<float> w[width]{};
    void update(std::size_t i, float by) {
        w[i].store(w[i].load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
    }
};

// A gradient whose values identify the worker and the step.
std::vector<float> gradient_of(std::uint32_t worker, std::uint64_t step) {
    std::vector<float> values(width);
    for (std::size_t i = 0; i < width; ++i) {
        values[i] = static_cast<float>(worker) * 1e6F + static_cast<float>(step) + static_cast<float>(i) / 64;
    }
    return values;
}

worker_report train_worker(std::string const& run, std::uint32_t worker, overflow policy, std::uint64_t steps,
                           shared_model& model) {
    options const choices{.overflow = policy, .ring_bytes = 64 << 10, .worker = worker};
    hook watch{run, plan{collection{"c", "grad", always{}, payload | stats(l2)}}, choices, non_finite{}};
    worker_report reported;
    for (std::uint64_t i = 0; i < steps; ++i) {
        std::vector<float> const gradient = gradient_of(worker, i);
        watch.begin(train(i));
        watch.observe("grad", gradient);
        watch.scalar("samples", i);
        reported.came_in += 2;
        if (!watch.end()) { model.update(i % width, gradient[i % width] * 1e-9F); }
        ++reported.steps;
        if (i % 16 == 0) {
            watch.scalar("pace", 0.5F);
            ++reported.came_in;
        }
    }
    watch.finish();
    reported.health = watch.health();
    reported.path = watch.path();
    return reported;
}

}  // namespace

TEST_CASE(
    "workers that never wait for each other: every observation is stored or counted as dropped, and what is stored "
    "is what its worker saw [A11][A42]") {
    std::uint64_t const steps = 12'000 / slowness;  // each step makes some three calls
    for (overflow policy : {overflow::block, overflow::thin, overflow::drop}) {
        INFO("overflow " << static_cast<int>(policy));
        temporary_folder const folder;
        shared_model model;
        std::vector<worker_report> reported(crowd);
        {
            std::vector<std::thread> threads;
            for (std::uint32_t worker = 0; worker < crowd; ++worker) {
                threads.emplace_back(
                    [&, worker] { reported[worker] = train_worker(folder / "run", worker, policy, steps, model); });
            }
            for (std::thread& each : threads) { each.join(); }
        }
        for (std::uint32_t worker = 0; worker < crowd; ++worker) {
            trial const run = open_worker(folder / "run", worker);
            CHECK(reported[worker].path == path_of_worker(folder / "run", worker));
            check_accounts(reported[worker], run);
            if (policy == overflow::block) {
                CHECK((reported[worker].health.sink.dropped == 0 && reported[worker].health.sink.thinned == 0));
                CHECK(run["grad"].payload_steps().size() == steps);
                CHECK(run["samples"].steps().size() == steps);
            }
            if (policy == overflow::drop) { CHECK(reported[worker].health.sink.thinned == 0); }
            std::vector<step_id> const kept = run["grad"].payload_steps();
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < kept.size(); i += 1 + kept.size() / 50) {
                auto const values = run["grad"].at(kept[i]).to<std::vector<float>>();
                wrong += values && *values == gradient_of(worker, kept[i].index) ? 0 : 1;
            }
            CHECK(wrong == 0);
        }
    }
}

TEST_CASE("a reader in the same process follows a worker while it writes, and never sees less than before [S51]") {
    temporary_folder const folder;
    std::uint64_t const steps = 4'000 / slowness;
    shared_model model;
    std::vector<worker_report> reported(2);
    std::atomic<int> writing{2};
    std::vector<std::thread> threads;
    for (std::uint32_t worker = 0; worker < 2; ++worker) {
        threads.emplace_back([&, worker] {
            reported[worker] = train_worker(folder / "run", worker, overflow::block, steps, model);
            writing.fetch_sub(1);
        });
    }
    std::size_t latest = 0, backwards = 0, wrong = 0;
    while (writing.load() > 0) {
        auto const run = open_trial(folder / "run/worker-1");
        if (!run) { continue; }  // the run does not exist yet
        std::vector<step_id> const closed = run->steps();
        backwards += closed.size() < latest ? 1 : 0;
        latest = closed.size();
        if (!closed.empty()) {
            auto const values = (*run)["grad"].at(closed.back()).to<std::vector<float>>();
            wrong += values && *values == gradient_of(1, closed.back().index) ? 0 : 1;
        }
    }
    for (std::thread& each : threads) { each.join(); }
    CHECK(backwards == 0);
    CHECK(wrong == 0);
    CHECK(open(folder / "run/worker-1").steps() == trains(0, steps));
    check_accounts(reported[1], open(folder / "run/worker-1"));
}

TEST_CASE("a reader of the whole run sees workers come and go while they write, and judges them all [S51][S65][A42]") {
    temporary_folder const folder;
    std::uint64_t const steps = 3'000 / slowness;
    shared_model model;
    std::vector<worker_report> reported(crowd);
    std::vector<std::thread> threads;
    for (std::uint32_t worker = 0; worker < crowd; ++worker) {
        threads.emplace_back([&, worker] {
            std::this_thread::sleep_for(std::chrono::milliseconds{10 * (crowd - worker)});  // the first one starts last
            reported[worker] = train_worker(folder / "run", worker, overflow::block, steps, model);
        });
    }
    result<trial> run = open_trial(folder / "run");
    while (!run) { run = open_trial(folder / "run"); }
    std::size_t latest = 0, backwards = 0, wrong = 0, rounds = 0;
    while (run->workers().size() < crowd || !run->over()) {
        if (error const why = run->refresh()) { FAIL(std::string{why.what.view()}); }
        std::vector<step_id> const closed = run->steps();
        backwards += closed.size() < latest ? 1 : 0;
        latest = closed.size();
        for (std::uint32_t number : run->workers()) {
            std::vector<step_id> const its = run->steps(worker{number});
            if (its.empty()) { continue; }
            auto const values = (*run)["grad"].at(its.back(), worker{number}).to<std::vector<float>>();
            wrong += values && *values == gradient_of(number, its.back().index) ? 0 : 1;
        }
        ++rounds;
    }
    for (std::thread& each : threads) { each.join(); }
    INFO(rounds << " rounds");
    CHECK((backwards == 0 && wrong == 0));
    REQUIRE(!run->refresh());
    CHECK(run->status() == run_status::finished);
    CHECK(run->steps(closed_by::all) == trains(0, steps));
    std::uint64_t stored = 0;
    for (worker_report const& each : reported) { stored += each.health.sink.stored; }
    CHECK(run->totals().stored == stored);
    CHECK(run->damage().empty());
    CHECK((*run)["grad"].at(train(7)).to<std::vector<float>>().value_or({}) == gradient_of(0, 7));
}

TEST_CASE(
    "two hooks on two threads of one program have nothing in common: names, steps, modes, findings, health [S63]") {
    temporary_folder const folder;
    write_file(folder / "file", {'x'});
    std::uint64_t const steps = 3'000 / slowness;
    struct outcome {
        std::size_t found = 0;
        health_report health{};
        std::string path{};
    } first, second, third;
    auto const work = [&](outcome& seen, std::string const& name, mode which, double limit, std::string const& path) {
        hook watch{path, everything, options{.ring_bytes = 64 << 10}, any("*", maximum > limit) | named{"limit"}};
        auto const x = watch.tensor(name);
        for (std::uint64_t i = 0; i < steps; ++i) {
            watch.begin(step_id{which, i});
            watch.observe(x, static_cast<double>(i));
            seen.found += watch.end().size();
        }
        watch.finish();
        seen.health = watch.health();
        seen.path = watch.path();
    };
    std::thread a{[&] { work(first, "a", mode::train, 0.5, folder / "a"); }};
    std::thread b{[&] { work(second, "b", mode::eval, 1e9, folder / "b"); }};
    std::thread c{[&] { work(third, "c", mode::train, 0.5, folder / "file"); }};  // cannot start, and affects no other
    a.join(), b.join(), c.join();
    CHECK((first.found == steps - 1 && second.found == 0 && third.found == steps - 1));
    CHECK((first.health.good() && second.health.good() && !third.health.good()));
    CHECK((third.path.empty() && third.health.sink.dropped == steps));
    trial const run_a = open(first.path), run_b = open(second.path);
    CHECK(run_a.names() == names_list{"a"});
    CHECK(run_b.names() == names_list{"b"});
    CHECK(run_a.modes() == std::vector{mode::train});
    CHECK(run_b.modes() == std::vector{mode::eval});
    CHECK(run_a.steps().size() == steps);
    CHECK(run_b.steps().size() == steps);
    CHECK(run_a.findings().size() == steps - 1);
    CHECK(run_b.findings().empty());
}
