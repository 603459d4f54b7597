// SPDX-License-Identifier: Apache-2.0
// Threads of a foreign pool: they end at any time, and another continues.
#include <tests/stress/workers.hpp>

#include <memory>
#include <thread>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr options small_ring(std::uint32_t worker, existing what = existing::next) {
    return options{.existing = what, .ring_bytes = 64 << 10, .worker = worker};
}
using watch_type = hook<recorder, std::remove_const_t<decltype(everything)>, options>;

void work(watch_type& watch, std::uint64_t from, std::uint64_t end) {
    for (std::uint64_t i = from; i < end; ++i) {
        (void)watch.step(train(i), "x"_t = static_cast<double>(i));
        watch.scalar("between", i);
    }
}
template <class Work>
void on_a_thread(Work&& what) {
    std::thread{std::forward<Work>(what)}.join();
}

}  // namespace

TEST_CASE("a thread ends without finishing, and the next one goes on with the same hook: nothing is lost") {
    temporary_folder const folder;
    std::unique_ptr<watch_type> watch;
    constexpr std::uint64_t threads = 12, steps = 40;
    on_a_thread([&] { watch = std::make_unique<watch_type>(folder / "run", everything, small_ring(3)); });
    for (std::uint64_t each = 0; each < threads; ++each) {
        on_a_thread([&] { work(*watch, each * steps, (each + 1) * steps); });
    }
    // The next thread ends within a step, and the one after it opens another step.
    on_a_thread([&] {
        watch->begin(train(threads * steps));
        watch->observe("x", -1.0);
    });
    on_a_thread([&] { work(*watch, threads * steps + 1, threads * steps + 2); });
    on_a_thread([&] { watch->finish(); });
    CHECK(watch->health().good());
    trial const run = open(folder / "run/worker-3");
    CHECK(run.status() == run_status::finished);
    CHECK(run.steps() == trains(0, threads * steps + 2));
    CHECK(run["x"].at(train(threads * steps)).to<double>().value_or(0) == -1);
    CHECK(run["between"].loose().size() == threads * steps + 1);
    CHECK(run.totals().dropped == 0);
}

TEST_CASE("a hook that belongs to a thread ends with it; its successor takes the number over and the record goes on") {
    temporary_folder const folder;
    constexpr std::uint64_t generations = 6, steps = 30;
    for (std::uint64_t generation = 0; generation < generations; ++generation) {
        std::vector<std::thread> threads;
        for (std::uint32_t worker = 0; worker < 3; ++worker) {
            threads.emplace_back([&, worker] {
                // Two of the three threads just return; the third one's hook lives until its thread ends.
                if (worker == 2) {
                    thread_local std::unique_ptr<watch_type> mine;
                    mine =
                        std::make_unique<watch_type>(folder / "run", everything, small_ring(worker, existing::resume));
                    return work(*mine, generation * steps, (generation + 1) * steps);
                }
                watch_type watch{folder / "run", everything, small_ring(worker, existing::resume)};
                work(watch, generation * steps, (generation + 1) * steps);
            });
        }
        for (std::thread& each : threads) { each.join(); }
    }
    for (std::uint32_t worker = 0; worker < 3; ++worker) {
        trial const run = open_worker(folder / "run", worker);
        CHECK(run.status() == run_status::finished);
        CHECK(run.attempts() == generations);
        CHECK(run.steps() == trains(0, generations * steps));
        CHECK(run.ordinal(train(generations * steps - 1)).value_or(0) == generations * steps - 1);
        CHECK(run["between"].loose().size() == generations * steps);
    }
}

TEST_CASE("a hook that its thread left behind: what it closed can be read, its number is busy, another number is free, "
          "and its end can come later") {
    temporary_folder const folder;
    watch_type* left_behind = nullptr;
    on_a_thread([&] {
        left_behind = new watch_type{folder / "run", everything, small_ring(1)};
        work(*left_behind, 0, 50);
    });
    left_behind->flush();
    trial run = open(folder / "run/worker-1");
    CHECK(run.status() == run_status::running);
    CHECK(run.steps() == trains(0, 50));

    on_a_thread([&] {
        watch_type same{folder / "run", everything, small_ring(1, existing::resume)};
        work(same, 50, 60);
        CHECK(same.health().first_error.code == errc::busy);
        CHECK((same.health().sink.stored == 0 && same.health().sink.dropped == 20));
    });
    on_a_thread([&] {
        watch_type other{folder / "run", everything, small_ring(2)};
        work(other, 50, 60);
        CHECK(other.health().good());
    });
    CHECK(open(folder / "run/worker-2").steps() == trains(50, 60));

    delete left_behind;
    CHECK(!run.refresh());
    CHECK(run.status() == run_status::finished);
    CHECK(run.steps() == trains(0, 50));
    CHECK(run["between"].loose().size() == 50);
}

TEST_CASE("a worker that polls is drained by whichever thread comes next") {
    temporary_folder const folder;
    options choices = small_ring(1);
    choices.drain = drain::poll;
    watch_type watch{folder / "run", everything, choices};
    for (std::uint64_t each = 0; each < 10; ++each) {
        on_a_thread([&] { work(watch, each * 20, (each + 1) * 20); });
        on_a_thread([&] { watch.poll(); });
    }
    watch.finish();
    CHECK((watch.health().good() && watch.health().sink.stored == 400 && watch.health().sink.dropped == 0));
    CHECK(open(folder / "run/worker-1").steps() == trains(0, 200));
}
