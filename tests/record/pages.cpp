// SPDX-License-Identifier: Apache-2.0
// The memory of a ring: it is allocated only when something is recorded. Once tensors are declared, the training thread
// meets no page faults in it.
#include <tests/catch.hpp>
#include <tests/trial/runs.hpp>

#include <spotter/record/run_writer.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SPOTTER_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SPOTTER_TEST_SANITIZED
#endif
#endif

#if defined(__linux__)
#include <cstddef>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#endif

using namespace spotter;
using namespace spotter_test;

namespace {

using a_hook = decltype(hook{std::string_view{}, everything, options{}});

}  // namespace

TEST_CASE("a sleeper sleeps its time, and is woken by a call, be it from before it slept") {
    sleeper sleep;
    CHECK_FALSE(sleep.sleep(1000));
    sleep.wake();
    CHECK(sleep.sleep(600'000'000));
    CHECK_FALSE(sleep.sleep(1000));  // the call woke one sleep
    bool woken = false;
    std::thread thread{[&] { woken = sleep.sleep(600'000'000); }};
    sleep.wake();
    thread.join();
    CHECK(woken);
}

TEST_CASE("a hook that ends does not wait until its writer has slept") {
    temporary_folder const folder;
    auto least = std::chrono::nanoseconds::max();
    for (int i = 0; i < 8; ++i) {
        std::optional<a_hook> watch;
        watch.emplace(std::string_view{folder / ("run" + std::to_string(i))}, everything, options{});
        std::this_thread::sleep_for(std::chrono::milliseconds{10});  // the writer sleeps for up to 100 ms
        auto const begin = std::chrono::steady_clock::now();
        watch.reset();
        least = (std::min)(least, std::chrono::nanoseconds{std::chrono::steady_clock::now() - begin});
    }
    CHECK(least < std::chrono::milliseconds{50});  // the smallest of several, as the machine may be busy
}

TEST_CASE("the first step comes into the file without a flush though the writer slept, be it an empty one") {
    for (bool const empty : {true, false}) {
        temporary_folder const folder;
        hook watch{folder / "run", everything, options{}};
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        watch.begin(train(0));
        if (!empty) { watch.scalar("loss", 0.5F); }
        (void)watch.end();
        auto run = open(folder / "run");
        for (int i = 0; i < 2000 && run.closed_steps() == 0; ++i) {  // without a call of flush
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
            REQUIRE_FALSE(run.refresh());
        }
        CHECK(run.closed_steps() == 1);
    }
}

#if !defined(__linux__)
TEST_CASE("64 threads whose hooks record nothing take less than 64 MiB [T18]") {
    SPOTTER_SKIP("what memory a process has, and its page faults, are counted on Linux only");
}
#elif defined(SPOTTER_TEST_SANITIZED)
TEST_CASE("64 threads whose hooks record nothing take less than 64 MiB [T18]") {
    SPOTTER_SKIP("a sanitizer takes memory of its own");
}
#else

namespace {

[[nodiscard]] double resident_megabytes() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    REQUIRE(file != nullptr);
    unsigned long all = 0, resident = 0;
    int const read = std::fscanf(file, "%lu %lu", &all, &resident);
    std::fclose(file);
    REQUIRE(read == 2);
    return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// The number of voluntary waits of the process's other threads.
[[nodiscard]] long waits_of_others() {
    long all = 0;
    for (auto const& each : std::filesystem::directory_iterator{"/proc/self/task"}) {
        if (each.path().filename() == std::to_string(::gettid())) { continue; }
        std::ifstream file{each.path() / "status"};
        for (std::string line; std::getline(file, line);) {
            constexpr std::string_view label = "voluntary_ctxt_switches:";
            if (line.starts_with(label)) { all += std::stol(line.substr(label.size())); }
        }
    }
    return all;
}

// Minor page faults of this thread.
[[nodiscard]] long faults() noexcept {
    rusage used{};
    (void)::getrusage(RUSAGE_THREAD, &used);
    return used.ru_minflt;
}

// Whether the system can populate pages without writing to them.
[[nodiscard]] bool makes_ready() {
    std::size_t const bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool const can = make_ready({static_cast<std::byte*>(memory), bytes});
    ::munmap(memory, bytes);
    return can;
}

constexpr std::size_t values_a_step = 1 << 18;  // 1 MiB
constexpr std::uint64_t steps = 12;             // fewer MiB than the ring's 16

// The page faults of the steps after the declaring one. They fill 3072 pages of the ring.
[[nodiscard]] long faults_after_declaration(std::string const& path, options const& choices) {
    hook watch{path, everything, choices};
    std::vector<float> const values(values_a_step, 0.25F);
    auto const step = [&](std::uint64_t index) {
        watch.begin(train(index));
        watch.observe("weight", values);
        for (int i = 0; i < 10; ++i) { watch.scalar("loss", 0.5F); }
        return watch.end().size();
    };
    (void)step(0);
    long const before = faults();
    std::size_t found = 0;
    for (std::uint64_t i = 1; i <= steps; ++i) { found += step(i); }
    long const met = faults() - before;
    CHECK(found == 0);
    CHECK(watch.health().good());
    return met;
}
constexpr long few = 64;  // for code and data used for the first time

// The exit status of `work` in a child whose system refuses to populate pages; -1 if seccomp is not allowed.
template <class Work>
[[nodiscard]] int where_pages_are_not_made_ready(Work&& work) {
    pid_t const child = ::fork();
    if (child == 0) {
        sock_filter lines[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                               {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, __NR_madvise},
                               {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, args[2])},
                               {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 23},
                               {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EINVAL},
                               {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
        sock_fprog program{std::size(lines), lines};
        bool const good = ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
                          ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
        ::_exit(good ? work() : 255);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status) == 255 ? -1 : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("64 threads whose hooks record nothing take less than 64 MiB [T18]") {
    temporary_folder const folder;
    constexpr std::size_t count = 64;
    double const before = resident_megabytes();
    std::atomic<std::size_t> made{0};
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < count; ++i) {
        threads.emplace_back([&, i] {
            hook watch{folder / ("run" + std::to_string(i)), everything, options{}};
            made += watch.health().good() ? 1 : 0;
            while (!over) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }
        });
    }
    for (int i = 0; i < 20000 && made < count; ++i) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }
    double const taken = resident_megabytes() - before;
    over = true;
    for (std::thread& each : threads) { each.join(); }
    CHECK(made == count);
    CHECK(taken < 64);
}

TEST_CASE("the steps after a declaration meet no page faults in the ring, whoever drains it and wherever it is") {
    for (ring_in const where : {ring_in::memory, ring_in::shared_memory}) {
        for (drain const how : {drain::thread, drain::poll}) {
            temporary_folder const folder;
            options const choices{.drain = how, .ring_bytes = 32U << 20, .ring_in = where};
            INFO((where == ring_in::memory ? "plain" : "shared")
                 << " memory, " << (how == drain::thread ? "thread" : "poll"));
            CHECK(faults_after_declaration(folder / "run", choices) <= few);
        }
    }
}

TEST_CASE("the writer makes the whole ring ready, so do polls: no further round of steps meets page faults") {
    if (!makes_ready()) { SPOTTER_SKIP("this system makes no pages ready (Linux before 5.14)"); }
    constexpr std::size_t ring_megabytes = 32;
    for (drain const how : {drain::thread, drain::poll}) {
        INFO((how == drain::thread ? "thread" : "poll"));
        temporary_folder const folder;
        double const before = resident_megabytes();
        hook watch{folder / "run", everything, options{.drain = how, .ring_bytes = ring_megabytes << 20}};
        std::vector<float> const values(values_a_step, 0.25F);
        (void)watch.step(train(0), "weight"_t = values);
        // No more is recorded until all pages are populated: their number stays equal over five polls and five writer
        // wake-ups.
        double now = resident_megabytes();
        int calm = 0;
        long waits = waits_of_others();
        for (int i = 0; i < 20000; ++i) {
            watch.poll();
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
            double const then = std::exchange(now, resident_megabytes());
            if (now - before < ring_megabytes || now > then) {
                calm = 0;
                waits = waits_of_others();
            } else if (++calm >= 5 && (how == drain::poll || waits_of_others() >= waits + 5)) {
                break;
            }
        }
        CHECK(now - before >= ring_megabytes);
        long most = 0;
        for (std::uint64_t i = 1; i < 40; ++i) {  // more than once around the ring
            long const met = faults();
            (void)watch.step(train(i), "weight"_t = values);
            most = (std::max)(most, faults() - met);
            watch.poll();
        }
        CHECK(most <= few);
    }
}
#endif
