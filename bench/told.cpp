// SPDX-License-Identifier: Apache-2.0
// The cost of a step whose alarm is in the file before the loop gets it, compared with a ring in shared memory. Also
// how often the finding is in the record of a program that dies in its next call.
#include "bench.hpp"
#include "measured_process.hpp"
#include "scratch_folder.hpp"

#include <spotter/record/recover.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>

using namespace spotter;
using namespace spotter::literals;

namespace {

constexpr plan keep{collection{"all", "*", always{}, payload}};
constexpr auto tells_error = any("alarm", mean > 0.5) | severity::error;
constexpr auto tells_warning = any("alarm", mean > 0.5) | severity::warning;

// `overflow::thin` never waits for the writer. That was the behaviour of all modes, and would be with a ring in shared
// memory.
constexpr options as_it_is{};
constexpr options as_it_was{.overflow = overflow::thin};
constexpr options shared{.overflow = overflow::thin, .ring_in = ring_in::shared_memory};

// The time of a step of a loss and a thousand values, one of `every` with an alarm. The loop rests in between for
// `rest_microseconds`.
struct paces {
    double median = 0, p99 = 0;
};
template <class Rule>
[[nodiscard]] paces alarmed(Rule const& rule, options const& choices, std::uint64_t every, unsigned rest_microseconds,
                            bool count_alarms = true) {
    bench::scratch_folder const folder;
    std::vector<float> const w = bench::weights(1000);
    bench::samples taken;
    hook watch{folder.path(), keep, rule, choices};
    std::uint64_t const steps = bench::rounds(1000, 20) * every;
    for (std::uint64_t i = 0; i < steps; ++i) {
        bool const alarm = i % every == every - 1;
        double const spent = bench::nanoseconds(
            [&] { (void)watch.step(train(i), "loss"_t = 1.0, "w"_t = w, "alarm"_t = alarm ? 1.0 : 0.0); });
        if (alarm == count_alarms && i >= steps / 10) { taken.add(spent); }
        if (rest_microseconds > 0) { ::usleep(rest_microseconds); }
    }
    return {taken.median() / 1e3, taken.percentile(0.99) / 1e3};
}
void tell(char const* what, paces it) {
    std::printf("%s: p50 %.3g us, p99 %.3g us\n", what, it.median, it.p99);
    std::fflush(stdout);
}

// An alarm while the writer still has `bytes` unwritten.
void tell_behind(std::size_t bytes) {
    bench::scratch_folder const folder;
    std::vector<float> const w = bench::weights(bytes / sizeof(float));
    bench::samples taken;
    hook watch{folder.path(), keep, tells_error};
    for (std::uint64_t i = 0; i < bench::rounds(20, 2); ++i) {
        watch.flush();
        (void)watch.step(train(2 * i), "w"_t = w, "alarm"_t = 0.0);
        taken.add(bench::nanoseconds([&] { (void)watch.step(train(2 * i + 1), "alarm"_t = 1.0); }));
    }
    std::printf("  the same behind %zu MiB that are not written yet: p50 %.3g ms\n", bytes >> 20, taken.median() / 1e6);
}

// Construction and end of a hook, and its memory, /dev/shm included.
void tell_start(char const* what, options const& choices) {
    bench::samples taken, memory;
    for (std::size_t i = 0; i < bench::rounds(21, 3); ++i) {
        bench::scratch_folder const folder;
        double const before = bench::resident_bytes();
        std::uintmax_t const free_before = std::filesystem::space("/dev/shm").free;
        taken.add(bench::nanoseconds([&] {
            hook watch{folder.path(), keep, tells_error, choices};
            std::uintmax_t const gone = free_before - (std::min)(free_before, std::filesystem::space("/dev/shm").free);
            memory.add(bench::resident_bytes() - before + static_cast<double>(gone));
        }));
    }
    std::printf("a hook made and ended, %s: %.3g ms; memory before anything is recorded %.3g MiB\n", what,
                taken.median() / 1e6, memory.median() / (1 << 20));
}

void tell_size(char const* what, options choices) {
    bench::scratch_folder const folder;
    choices.overflow = overflow::block;
    std::uint64_t const steps = bench::rounds(100'000, 1000);
    {
        hook watch{folder.path(), keep, choices};
        std::vector<std::string> names;
        for (int i = 0; i < 10; ++i) { names.push_back("s" + std::to_string(i)); }
        for (std::uint64_t i = 0; i < steps; ++i) {
            watch.begin(train(i));
            for (std::string const& each : names) { watch.scalar(each, static_cast<float>(i)); }
            (void)watch.end();
        }
    }
    std::printf("%llu steps of 10 numbers, %s: %.3g bytes a number\n", static_cast<unsigned long long>(steps), what,
                static_cast<double>(folder.bytes()) / static_cast<double>(10 * steps));
}

[[gnu::noinline]] std::uint64_t overflow_stack(std::uint64_t depth) {
    std::uint64_t volatile frame[512] = {depth};
    return depth == ~std::uint64_t{0} ? frame[0] : overflow_stack(depth + 1) + frame[1];
}
constexpr void (*deaths[])() = {
    [] { std::abort(); },     [] { ::raise(SIGSEGV); },        [] { std::exit(1); },     [] { ::_exit(1); },
    [] { std::terminate(); }, [] { ::raise(SIGKILL); },        [] { ::raise(SIGABRT); },  // as an assert does
    [] { throw 1; },          [] { (void)overflow_stack(0); },
};

[[nodiscard]] bool has_finding(std::string const& path) {
    auto const run = open_trial(path);
    return run && !run->findings().empty();
}
void tell_deaths(char const* what, options const& choices) {
    std::size_t there = 0, recovered = 0, all = 0;
    for (std::size_t round = 0; round < bench::rounds(20, 1); ++round) {
        for (auto const die : deaths) {
            bench::scratch_folder const folder;
            std::fflush(stdout);
            pid_t const child = ::fork();
            if (child == 0) {
                int const nothing = ::open("/dev/null", O_WRONLY);
                ::dup2(nothing, STDERR_FILENO);
                std::thread{[&] {  // a thread in which nothing catches exceptions
                    hook watch{folder.path(), keep, tells_error, choices};
                    for (std::uint64_t i = 0;; ++i) {
                        if (watch.step(train(i), "alarm"_t = i == 5 ? 1.0 : 0.0)) { die(); }
                    }
                }}
                    .join();
            }
            (void)::waitpid(child, nullptr, 0);
            ++all;
            there += has_finding(folder.path()) ? 1U : 0U;
            (void)recover(folder.path());
            recovered += has_finding(folder.path()) ? 1U : 0U;
        }
    }
    std::printf("of %zu programs that died behind an alarm, by nine ways, %s: %zu have the finding in their record, "
                "%zu once it was recovered\n",
                all, what, there, recovered);
}

}  // namespace

int main() {
    tell("a step without an alarm", alarmed(tells_error, as_it_is, 100, 0, false));
    tell("  as it was", alarmed(tells_error, as_it_was, 100, 0, false));
    tell("  the ring in shared memory", alarmed(tells_error, shared, 100, 0, false));
    tell("a step with a warning", alarmed(tells_warning, as_it_is, 100, 0));
    tell("a step with an error, one of 100", alarmed(tells_error, as_it_is, 100, 0));
    tell("  one of 10, a millisecond between the steps", alarmed(tells_error, as_it_is, 10, 1000));
    tell("  each", alarmed(tells_error, as_it_is, 1, 0));
    tell("  one of 100, as it was", alarmed(tells_error, as_it_was, 100, 0));
    tell("  one of 100, the ring in shared memory", alarmed(tells_error, shared, 100, 0));
    for (std::size_t const mebibytes : {1U, 16U, 56U}) { tell_behind(mebibytes << 20); }
    tell_start("plain memory", as_it_is);
    tell_start("the ring in shared memory", shared);
    tell_size("plain memory", as_it_is);
    tell_size("the ring in shared memory", shared);
    tell_deaths("as it was", as_it_was);
    tell_deaths("as it is", as_it_is);
    tell_deaths("the ring in shared memory", shared);
    return 0;
}
