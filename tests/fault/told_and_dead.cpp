// SPDX-License-Identifier: Apache-2.0
// A loop gets an alarm and dies in its next call, in any way: the record has the finding and the values of the step.
#include <spotter/rule/builtin/non_finite.hpp>

#include <tests/catch.hpp>
#include <tests/file/faulty_files.hpp>
#include <tests/record/killed.hpp>
#include <tests/trial/runs.hpp>

#include <cmath>
#include <csignal>
#include <functional>
#include <limits>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#undef NDEBUG
#include <cassert>

using namespace spotter;
using namespace spotter_test;

namespace {

[[gnu::noinline]] std::uint64_t overflow_stack(std::uint64_t depth) {
    std::uint64_t volatile frame[512] = {depth};
    return depth == ~std::uint64_t{0} ? frame[0] : overflow_stack(depth + 1) + frame[1];
}

// A null pointer that no compiler can see through.
[[gnu::noinline]] int volatile* nowhere() {
    int volatile* place = nullptr;
    asm volatile("" : "+r"(place));
    return place;
}

struct death {
    char const* name;
    void (*die)();
};
constexpr death deaths[] = {
    {"abort", [] { std::abort(); }},
    {"a segfault", [] { *nowhere() = 1; }},
    {"exit(1)", [] { std::exit(1); }},
    {"_exit", [] { ::_exit(1); }},
    {"std::terminate", [] { std::terminate(); }},
    {"SIGKILL", [] { ::raise(SIGKILL); }},
    {"assert", [] { assert(nowhere() != nullptr); }},
#if SPOTTER_EXCEPTIONS
    {"an exception that nobody catches", [] { throw std::string{"out of range"}; }},
#endif
    {"an overflow of the stack", [] { (void)overflow_stack(0); }},
};

// Runs `work` in a process of its own, in a thread where nothing catches exceptions. Its output is discarded, and its
// signals have no handlers.
template <class Work>
void in_process(Work&& work) {
    std::fflush(nullptr);
    pid_t const child = ::fork();
    if (child == 0) {
        int const nothing = ::open("/dev/null", O_WRONLY);
        for (int const each : {1, 2}) { ::dup2(nothing, each); }
        for (int const each : {SIGABRT, SIGSEGV, SIGBUS}) { std::signal(each, SIG_DFL); }
        rlimit const no_core{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_core);
        std::thread{[&] { work(); }}.join();
        ::_exit(77);  // not reached: it has to die
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK_FALSE((WIFEXITED(status) && WEXITSTATUS(status) == 77));
}

constexpr std::uint64_t healthy = 6;  // steps before the one with a NaN
constexpr float none = std::numeric_limits<float>::quiet_NaN();
constexpr plan kept{collection{"all", "*", always{}, payload}};

// The watched tensor at a step.
[[nodiscard]] std::vector<float> weights_at(std::uint64_t step) {
    std::vector<float> w = values_of(step, 5000);
    if (step == healthy) { w[17] = none; }
    return w;
}
template <class Watch>
[[nodiscard]] step_alarm do_step(Watch& watch, std::uint64_t i) {
    return watch.step(train(i), "loss"_t = 1.0 / static_cast<double>(i + 1), "w"_t = weights_at(i));
}
// Trains until there is an alarm, and dies on it.
template <class Watch>
void train_and_die(Watch& watch, void (*die)(), unsigned milliseconds = 0) {
    for (std::uint64_t i = 0; i < 100; ++i) {
        if (do_step(watch, i)) { die(); }
        if (milliseconds > 0) { ::usleep(milliseconds * 1000); }
    }
}

// A disk whose writes block while `silent`, like a server out of reach.
class silent_disk final : public faulty_file_system {
public:
    silent_disk() noexcept : faulty_file_system{~std::uint64_t{0}} {}
    error append(spotter::opened_file file, std::span<std::byte const> bytes) noexcept override {
        while (silent) { detail::nap(1000); }
        return faulty_file_system::append(file, bytes);
    }
    std::atomic<bool> silent{false};
};

void check_reported(std::string const& path, std::string_view rule = "non_finite") {
    auto opened = open_trial(path);
    REQUIRE(opened);
    trial& run = *opened;
    // A leak checker at exit holds the dead process's files for a moment, and the lock with them.
    for (int i = 0; i < 2000 && run.status() == run_status::running; ++i) {
        detail::nap(1000);
        CHECK_FALSE(run.refresh());
    }
    CHECK(run.status() == run_status::died);
    CHECK(run.damage().empty());
    CHECK(run.steps() == trains(0, healthy + 1));
    std::uint64_t reported = 0;
    for (finding const& each : run.findings()) { reported += each.rule == rule && each.step == train(healthy) ? 1 : 0; }
    CHECK(reported == 1);
    for (std::uint64_t i = 0; i <= healthy; ++i) {
        auto const w = run["w"].at(train(i)).to<std::vector<float>>();
        REQUIRE(w);
        auto const expected = weights_at(i);
        CHECK(std::memcmp(w->data(), expected.data(), expected.size() * sizeof(float)) == 0);
        CHECK(run["loss"].at(train(i)).to<double>().value() == 1.0 / static_cast<double>(i + 1));
    }
}

}  // namespace

TEST_CASE("a program that dies in the call behind an alarm leaves a record that says why, with default options, "
          "however it dies [D09][S51]") {
    temporary_folder const folder;
    for (death const& each : deaths) {
        std::string const path = folder / std::to_string(&each - deaths);
        INFO(each.name);
        in_process([&] {
            hook watch{path, kept, non_finite{}};
            train_and_die(watch, each.die);
        });
        check_reported(path);
    }
}

TEST_CASE("so it is at 40 ms a step, in the middle of the next one, and of what skips an update or stops without an "
          "error [D09][S51]") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    void (*const die)() = deaths[0].die;
    SECTION("at 40 ms a step") {
        in_process([&] {
            hook watch{path, kept, non_finite{}};
            train_and_die(watch, die, 40);
        });
        check_reported(path);
    }
    SECTION("a loop that does not listen, in its next step") {
        in_process([&] {
            hook watch{path, kept, non_finite{}};
            for (std::uint64_t i = 0; i <= healthy; ++i) { (void)do_step(watch, i); }
            watch.begin(train(healthy + 1));
            watch.observe("loss", 1.0);
            deaths[1].die();
        });
        check_reported(path);
    }
    SECTION("a warning that skips the update") {
        in_process([&] {
            hook watch{path, kept, on(any("w", nonfinite > 0), skip_update) | named{"skips"}};
            train_and_die(watch, die);
        });
        check_reported(path, "skips");
    }
    SECTION("a step that the next one closes unasked") {
        in_process([&] {
            hook watch{path, kept, non_finite{}};
            for (std::uint64_t i = 0; i < healthy; ++i) { (void)do_step(watch, i); }
            watch.begin(train(healthy));
            watch.observe("loss", 1.0 / static_cast<double>(healthy + 1));
            watch.observe("w", weights_at(healthy));
            watch.begin(train(healthy + 1));
            die();
        });
        check_reported(path);
    }
    SECTION("who dies in a response to it") {
        in_process([&] {
            hook watch{path, kept, on(non_finite{}, call{[&](finding const&) { die(); }})};
            train_and_die(watch, die);
        });
        check_reported(path);
    }
    SECTION("one that is reported with its first declarations, while the ring's pages are being made ready") {
        in_process([&] {
            hook watch{path, kept, non_finite{}};
            (void)watch.step(train(0), "w"_t = std::vector<float>{1, none});
            die();
        });
        CHECK(open(path).findings().size() == 1);
    }
}

TEST_CASE("the same holds for every writer, for every place of the ring, and for each worker [D09][S51]") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    void (*const die)() = deaths[5].die;
    options choices{};
    SECTION("poll") { choices.drain = drain::poll; }
    SECTION("several compressors") { choices.compressors = 3; }
    SECTION("brought to the disk") { choices.disk_sync = disk_sync::flushes; }
    SECTION("a flush that is far off") { choices.flush_milliseconds = 60'000; }
    SECTION("a ring in shared memory, of which nothing was recovered") { choices.ring_in = ring_in::shared_memory; }
    SECTION("a ring that is full all the time") { choices.ring_bytes = 64 << 10; }
    in_process([&] {
        hook watch{path, kept, non_finite{}, choices};
        train_and_die(watch, die);
    });
    check_reported(path);
    (void)recover(path);  // a ring goes
    in_process([&] {
        hook watch{folder / "several", kept, non_finite{}, choices};
        auto mine = watch.worker(1);
        train_and_die(mine, die);
    });
    check_reported(folder / "several/worker-1");
    (void)recover(folder / "several");
}

TEST_CASE("a step without an alarm, a note and a warning do not wait for the writer [D09]") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, kept, any("w", maximum > 0) | severity::warning, any("loss", mean > 0) | severity::info,
               options{.flush_milliseconds = 60'000}};
    for (std::uint64_t i = 0; i < 5; ++i) { CHECK(do_step(watch, i)); }
    detail::nap(20'000);
    CHECK(open(path).closed_steps() == 0);
    watch.flush();
    CHECK(open(path).closed_steps() == 5);
}

TEST_CASE("a disk that does not answer holds a loop up once, for two seconds, and health names it; a loop that is "
          "never to wait not at all [D09]") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    silent_disk files;
    options choices{};
    SECTION("one that waits for the writer") {}
    SECTION("one that does not") { choices.overflow = overflow::thin; }
    {
        recorder sink{path, choices, files};
        hook watch{sink, kept, any("loss", mean > 0) | severity::error};
        files.silent = true;
        // Half an hour, if the hook waited at each step.
        for (std::uint64_t i = 0; i < 1000; ++i) { CHECK(watch.step(train(i), "loss"_t = 1.0)); }
        error const why = watch.health().first_error;
        CHECK((choices.overflow == overflow::block) == (why.code == errc::not_yet));
        CHECK((!why || why.what.view().find("2 s") != why.what.view().npos));
        files.silent = false;
        watch.flush();
        CHECK(watch.step(train(1000), "loss"_t = 1.0));  // this step is waited for again
        if (choices.overflow == overflow::block) { CHECK(open(path).findings().size() == 1001); }
        watch.finish();
        CHECK(watch.health().sink.dropped == 0);
    }
    trial const run = open(path);
    CHECK(run.steps() == trains(0, 1001));
    CHECK(run.findings().size() == 1001);
}

TEST_CASE("a disk that is full at an alarm: the loop goes on, health says so, and earlier steps are there [D09]") {
    temporary_folder const folder;
    std::uint64_t const whole = [&] {
        faulty_file_system files{~std::uint64_t{0}};
        recorder sink{folder / "whole", {}, files};
        hook watch{sink, kept, non_finite{}};
        for (std::uint64_t i = 0; i < healthy; ++i) { (void)do_step(watch, i); }
        watch.flush();
        return files.operations();
    }();
    for (std::uint64_t more = 1; more < 6; ++more) {
        temporary_folder const place;
        faulty_file_system files{whole + more, true};
        recorder sink{place / "run", {}, files};
        hook watch{sink, kept, non_finite{}};
        for (std::uint64_t i = 0; i < healthy; ++i) { (void)do_step(watch, i); }
        watch.flush();
        for (std::uint64_t i = healthy; i < healthy + 100; ++i) {
            CHECK(static_cast<bool>(do_step(watch, i)) == (i == healthy));
        }
        watch.finish();
        CHECK(watch.health().first_error.code == errc::disk_full);
        CHECK(open(place / "run").closed_steps() >= healthy);
    }
}
