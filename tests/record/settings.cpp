// SPDX-License-Identifier: Apache-2.0
// What a program may bring of its own: worker number, clock, memory of the ring, a file system in memory.
#include <tests/catch.hpp>

#include <spotter/file/memory.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <new>
#include <thread>
#include <vector>

using namespace spotter;

namespace {

constexpr plan all_values{collection{"all", "*", always{}, payload}};

// One step with a value that tells who wrote it.
template <class Hook>
void write_steps(Hook& watch, std::uint64_t count, float value) {
    for (std::uint64_t i = 0; i < count; ++i) { (void)watch.step(train(i), "x"_t = value); }
}

}  // namespace

TEST_CASE("a run in memory needs no file system, and is read while it is written [S63]") {
    memory_file_system files;
    recorder record{"runs/a", {}, files};
    hook watch{record, all_values, non_finite{}};
    write_steps(watch, 3, 1.0F);
    watch.flush();
    auto opened = open_trial("runs/a", files);
    REQUIRE(opened);
    trial run = std::move(opened).value();
    CHECK(run.status() == run_status::running);
    CHECK(run.steps().size() == 3);
    (void)watch.step(train(3), "x"_t = 4.0F);
    watch.finish();
    REQUIRE_FALSE(run.refresh());
    CHECK(run.status() == run_status::finished);
    CHECK(run["x"].at(train(3)).to<float>().value() == 4.0F);
    CHECK(run["x"].at(train(0)).to<float>().value() == 1.0F);
    CHECK(open_trial("runs/b", files).error().code == errc::not_a_run);
}

TEST_CASE("workers of one run have records of their own, written at the same time [A42]") {
    memory_file_system files;
    std::vector<std::thread> threads;
    for (std::uint32_t worker : {0U, 1U, 2U, 10U}) {
        threads.emplace_back([&files, worker] {
            recorder record{"runs/a", {.ring_bytes = 1U << 16, .worker = worker}, files};
            hook watch{record, all_values};
            write_steps(watch, 100, static_cast<float>(worker));
        });
    }
    for (std::thread& each : threads) { each.join(); }
    for (std::uint32_t worker : {0U, 1U, 2U, 10U}) {
        auto run = open_trial("runs/a", spotter::worker{worker}, files);
        REQUIRE(run);
        CHECK(run->steps().size() == 100);
        CHECK((*run)["x"].at(train(99)).to<float>().value() == static_cast<float>(worker));
    }
    auto const all = open_trial("runs/a", files);
    REQUIRE(all);
    CHECK(all->workers() == std::vector<std::uint32_t>{0, 1, 2, 10});
    CHECK(all->steps(closed_by::all).size() == 100);
    CHECK((*all)["x"].at(train(99), worker{10}).to<float>().value() == 10.0F);
}

TEST_CASE("a second writer for the same worker is busy, and its loop runs on [S56]") {
    memory_file_system files;
    recorder first{"runs/a", {.worker = 1}, files};
    recorder second{"runs/a", {.worker = 1}, files};
    hook watch{second, all_values, any("x", maximum > 0.0)};
    CHECK(watch.health().first_error.code == errc::busy);
    CHECK(watch.step(train(0), "x"_t = 1.0F));
}

TEST_CASE("time comes from the clock that is given") {
    memory_file_system files;
    {
        recorder record{"runs/a", {.clock = []() noexcept { return 1234.5; }}, files};
        hook watch{record, all_values};
        write_steps(watch, 1, 1.0F);
        watch.scalar("between", 1.0);
    }
    auto const run = open_trial("runs/a", files);
    REQUIRE(run);
    CHECK(run->index().steps()[0].time == 1234.5);
    CHECK((*run)["between"].loose()[0].time == 1234.5);
}

TEST_CASE("the ring's memory comes from the source that is given, and goes back to it") {
    struct ledger {
        std::size_t taken = 0, given_back = 0, alignment = 0;
    } book;
    memory_source const source{[](std::size_t bytes, std::size_t alignment, void* context) noexcept -> void* {
                                   static_cast<ledger*>(context)->taken += bytes;
                                   static_cast<ledger*>(context)->alignment = alignment;
                                   return ::operator new(bytes, std::align_val_t{alignment}, std::nothrow);
                               },
                               [](void* memory, std::size_t bytes, void* context) noexcept {
                                   static_cast<ledger*>(context)->given_back += bytes;
                                   ::operator delete(memory, std::align_val_t{static_cast<ledger*>(context)->alignment});
                               },
                               &book};
    memory_file_system files;
    {
        recorder record{"runs/a", {.ring_bytes = 100'000, .memory = source}, files};
        hook watch{record, all_values};
        write_steps(watch, 10, 1.0F);
        CHECK(watch.health().good());
    }
    CHECK(book.taken == 131'072);
    CHECK(book.given_back == book.taken);
    CHECK(book.alignment == 64);

    memory_source const none{[](std::size_t, std::size_t, void*) noexcept -> void* { return nullptr; }, nullptr,
                             nullptr};
    recorder record{"runs/b", {.memory = none}, files};
    hook watch{record, all_values};
    CHECK(watch.health().first_error.code == errc::out_of_memory);
}
