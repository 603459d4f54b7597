// SPDX-License-Identifier: Apache-2.0
// What a program may supply itself: worker number, clock, memory of the ring, a file system in memory.
#include <tests/catch.hpp>

#include <spotter/file/memory.hpp>
#include <spotter/ring/byte_ring.hpp>
#include <spotter/ring/copy.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <new>
#include <thread>
#include <vector>

using namespace spotter;

namespace {

constexpr plan all_values{collection{"all", "*", always{}, payload}};

// Records one step whose value identifies the writer.
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
                                   ::operator delete(memory,
                                                     std::align_val_t{static_cast<ledger*>(context)->alignment});
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

TEST_CASE("how values are copied is found out in the ring at the first of 4 KiB, unless it was said") {
    if (!detail::can_stream) { SPOTTER_SKIP("there is one way to copy on this processor"); }
    // Whether copies were tried out in the part of the ring that no entry has reached.
    auto const tried = [](copying how, std::size_t count) {
        struct ground {
            std::vector<std::byte> bytes = std::vector<std::byte>((8U << 20) + byte_ring::alignment);
            std::byte* first = nullptr;
        } all;
        for (std::size_t i = 0; i < all.bytes.size(); ++i) {
            all.bytes[i] = static_cast<std::byte>(i * 0x9E3779B1U >> 20);
        }
        std::vector<std::byte> const before = all.bytes;
        memory_source const source{[](std::size_t, std::size_t alignment, void* context) noexcept -> void* {
                                       auto& it = *static_cast<ground*>(context);
                                       auto const at = reinterpret_cast<std::uintptr_t>(it.bytes.data());
                                       return it.first = it.bytes.data() + (alignment - at % alignment) % alignment;
                                   },
                                   [](void*, std::size_t, void*) noexcept {}, &all};
        memory_file_system files;
        {
            recorder record{
                "runs/a", {.drain = drain::poll, .copying = how, .ring_bytes = 8U << 20, .memory = source}, files};
            hook watch{record, all_values};
            std::vector<float> const values(count, 0.5F);
            watch.begin(train(0));
            watch.observe("x", values);
            std::size_t changed = 0;
            auto const from = static_cast<std::size_t>(all.first - all.bytes.data()) + (1U << 20);
            for (std::size_t i = from; i < from + 4096; ++i) { changed += all.bytes[i] != before[i] ? 1 : 0; }
            (void)watch.end();
            CHECK(watch.health().good());
            return changed > 1000;
        }
    };
    CHECK(tried(copying::automatic, 1024));
    CHECK(tried(copying::automatic, 64U << 10));
    CHECK_FALSE(tried(copying::automatic, 1023));
    CHECK_FALSE(tried(copying::cached, 64U << 10));
    CHECK_FALSE(tried(copying::streaming, 64U << 10));
}
