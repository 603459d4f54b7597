// SPDX-License-Identifier: Apache-2.0
// T21: the cost of a sample of the machine, whether real faults of the machine are found, and what healthy programs get
// reported.
#include "perceptron.hpp"
#include "scratch_folder.hpp"
#include "thread_time.hpp"

#include <spotter/ext/system.hpp>
#include <spotter/packs.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;

namespace {

using namespace std::chrono_literals;

// Seconds between samples beside a running program: ten times as often as by default, so that these tests take minutes.
constexpr double every_seconds = 0.1;

void cost_of_a_sample() {
    bench::scratch_folder const folder;
    system_sampler machine{packs::system};
    std::uint64_t now = 1'000'000;
    machine.begin(folder.path(), options{}, now);
    std::vector<double> core, wall;
    for (std::size_t i = 0; i < bench::rounds(4000, 50); ++i) {
        now += 1000;
        loop_progress const loop{10 * (i + 1), 1e-3 * static_cast<double>(now)};
        bench::thread_time const one{[&] { bench::do_not_optimise(machine.work(now, loop)); }};
        core.push_back(one.core * 1e-3), wall.push_back(one.wall * 1e-3);
    }
    machine.end();
    bench::target("T21 a sample", bench::median(core), "us", bench::wanted::at_most, 100,
                  bench::control("by the clock", bench::median(wall), "us"));
    bench::figure("  of a core at one a second", bench::median(core) * 1e-4, "%");
}

// The samples of a training beside a sampler, the rules with findings in order, and the sample number of each. `first`
// is a rule's number; 0 if it found nothing.
struct watched_training {
    std::uint64_t samples = 0;
    std::vector<std::string> reported{};
    [[nodiscard]] std::uint64_t first(std::string_view rule) const {
        for (std::size_t i = 0; i < reported.size(); ++i) {
            if (reported[i] == rule) { return at[i]; }
        }
        return 0;
    }
    std::vector<std::uint64_t> at{};
};
template <class Between>
watched_training train_beside(bench::pictures const& data, std::uint64_t samples, Between between) {
    bench::scratch_folder const folder;
    bench::perceptron net{data};
    system_sampler machine{system_options{.seconds = every_seconds}, packs::system};
    auto const began = std::chrono::steady_clock::now();
    double const lasts = every_seconds * static_cast<double>(samples);
    {
        hook watch{folder.path() + "/run", plan<>{}, packs::system, options{.beside = &machine}};
        for (std::uint64_t i = 0;; ++i) {
            double const since = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
            if (since > lasts) { break; }
            between(since / lasts);
            net.forward_backward();
            (void)watch.step(train(i));
            net.update();
        }
    }
    watched_training made;
    auto const samples_of = open_trial(machine.path());
    auto const run = open_trial(folder.path() + "/run");
    if (!samples_of || !run) { return made; }
    made.samples = samples_of->steps().size();
    for (finding const& each : samples_of->findings()) {
        if (each.severity == severity::info) { continue; }
        made.reported.push_back(std::string{each.rule});
        made.at.push_back(each.step.index + 1);
    }
    for (finding const& each : run->findings()) {  // findings of the loop's own rules
        if (each.severity == severity::info || made.first(each.rule) != 0) { continue; }
        made.reported.push_back(std::string{each.rule});
        made.at.push_back(each.step.index);
    }
    return made;
}

// Starts this many processes that only use the processor; the destructor ends them.
class neighbours {
public:
    explicit neighbours(unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            pid_t const child = ::fork();
            if (child == 0) {
                for (unsigned long long busy = 0;; ++busy) { bench::do_not_optimise(busy); }
            }
            if (child > 0) { children_.push_back(child); }
        }
    }
    neighbours(neighbours const&) = delete;
    neighbours& operator=(neighbours const&) = delete;
    ~neighbours() {
        for (pid_t const each : children_) {
            (void)::kill(each, SIGKILL);
            (void)::waitpid(each, nullptr, 0);
        }
    }

private:
    std::vector<pid_t> children_;
};

void found(char const* fault, char const* rule, watched_training const& it) {
    std::uint64_t const at = it.first(rule);
    std::string const beside =
        at == 0 ? bench::control("not found in", static_cast<double>(it.samples), "samples") : std::string{};
    bench::target(std::string{"T21 "} + fault + ": " + rule + " at sample",
                  at == 0 ? HUGE_VAL : static_cast<double>(at), "", bench::wanted::at_most, 60, beside);
    for (std::size_t i = 0; i < it.reported.size(); ++i) {
        if (it.reported[i] != rule) {
            std::printf("    beside it %s at %llu\n", it.reported[i].c_str(),
                        static_cast<unsigned long long>(it.at[i]));
        }
    }
}

}  // namespace

int main(int count, char** arguments) {
    cost_of_a_sample();
    bench::pictures const data = bench::load_pictures(count > 1 ? arguments[1] : "");
    std::uint64_t const samples = bench::rounds(62, 10);
    {
        std::vector<std::vector<char>> kept;
        double const all =
            static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
        double done = 0;
        constexpr std::size_t piece = 1U << 20;
        found("a leak of 0.02 % of the memory a sample", "memory_leak", train_beside(data, samples, [&](double at) {
                  double const wanted = at * 0.0002 * static_cast<double>(samples) * all;
                  for (; done < wanted; done += piece) {
                      kept.emplace_back(piece);
                      std::memset(kept.back().data(), 1, piece);
                  }
              }));
    }
    {
        std::unique_ptr<neighbours> beside;
        found("as many busy programs as cores, from the tenth sample on", "noisy_neighbour",
              train_beside(data, samples, [&](double at) {
                  if (at > 10.0 / static_cast<double>(samples) && !beside) {
                      beside = std::make_unique<neighbours>(static_cast<unsigned>(::sysconf(_SC_NPROCESSORS_ONLN)));
                  }
              }));
    }
    std::size_t const runs = bench::rounds(40, 1);
    std::uint64_t alarmed = 0, seen = 0;
    for (std::size_t i = 0; i < runs; ++i) {
        // In turn: nothing beside it; a pause now and then, like an evaluation or a checkpoint; a cache that fills in
        // the first third; a second thread that computes.
        std::vector<std::vector<char>> cache;
        std::atomic<bool> over{false};
        std::thread second{[&] {
            for (unsigned long long busy = 0; i % 4 == 3 && !over.load(std::memory_order_relaxed); ++busy) {
                bench::do_not_optimise(busy);
            }
        }};
        std::uint64_t steps = 0;
        watched_training const it = train_beside(data, bench::rounds(60, 10), [&](double at) {
            if (i % 4 == 1 && ++steps % 500 == 0) { std::this_thread::sleep_for(50ms); }
            if (i % 4 == 2 && at < 0.33 && static_cast<double>(cache.size()) < at * 1500) {
                cache.emplace_back(1U << 20, 'a');
            }
        });
        over.store(true, std::memory_order_relaxed);
        second.join();
        seen += it.samples;
        alarmed += it.reported.empty() ? 0 : 1;
        for (std::string const& each : it.reported) { std::printf("    told in vain: %s\n", each.c_str()); }
    }
    bench::target("T21 healthy runs that are alarmed, of " + std::to_string(runs), static_cast<double>(alarmed), "",
                  bench::wanted::at_most, 0, bench::control("samples", static_cast<double>(seen), ""));
    return 0;
}
