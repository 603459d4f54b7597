// SPDX-License-Identifier: Apache-2.0
// T18: the cost of constructing and ending a hook, and the memory of one that records nothing yet.
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/spotter.hpp>

#include <memory>
#include <optional>

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

using namespace spotter;

namespace {

constexpr plan keep{collection{"all", "*", always{}, payload}};

using a_hook = decltype(hook{std::string_view{}, keep, options{}});

// Of all threads, in milliseconds.
[[nodiscard]] double processor_time() noexcept {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

// Resident memory of this process, in MiB.
[[nodiscard]] double resident() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    unsigned long all = 0, mine = 0;
    if (file == nullptr || std::fscanf(file, "%lu %lu", &all, &mine) != 2) { mine = 0; }
    if (file != nullptr) { std::fclose(file); }
    return static_cast<double>(mine) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// `count` hooks alive at once, each with its own folder. Times are per hook, in milliseconds.
struct round {
    double made = 0, ended = 0, core = 0, memory = 0;

    round(std::size_t count, options const& choices) {
        bench::scratch_folder const folder;
        std::vector<std::string> paths;
        for (std::size_t i = 0; i < count; ++i) { paths.push_back(folder.path() + "/" + std::to_string(i)); }
        auto const hooks = std::make_unique<std::optional<a_hook>[]>(count);
        double const before = resident(), processor = processor_time();
        auto const each = [&](auto&& call) {
            double const all = bench::nanoseconds([&] {
                for (std::size_t i = 0; i < count; ++i) { call(i); }
            });
            return all * 1e-6 / static_cast<double>(count);
        };
        made = each([&](std::size_t i) { hooks[i].emplace(std::string_view{paths[i]}, keep, choices); });
        memory = resident() - before;
        for (std::size_t i = 0; i < count; ++i) {
            if (!hooks[i]->health().good()) { std::printf("  not a measurement: a hook is in trouble\n"); }
        }
        ended = each([&](std::size_t i) { hooks[i].reset(); });
        core = (processor_time() - processor) / static_cast<double>(count);
    }
};

[[nodiscard]] double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

struct times {
    double made = 0, both = 0, core = 0, memory = 0;

    times(std::size_t count, std::size_t rounds, options const& choices) {
        std::vector<double> of_making, of_both, of_core, of_memory;
        for (std::size_t i = 0; i < rounds; ++i) {
            round const it{count, choices};
            of_making.push_back(it.made);
            of_both.push_back(it.made + it.ended);
            of_core.push_back(it.core);
            of_memory.push_back(it.memory);
        }
        made = median(of_making), both = median(of_both), core = median(of_core), memory = median(of_memory);
    }
    void print(std::string const& what) const {
        bench::figure("  " + what + ", made", made, "ms");
        bench::figure("  " + what + ", made and ended, processor time of all threads", core, "ms");
        bench::figure("  " + what + ", memory of all before anything is recorded", memory, "MiB");
    }
};

}  // namespace

int main() {
    rlimit files{};  // a hook opens three
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    times const one{1, bench::rounds(51, 5), {}};
    bench::target("T18 a default hook, made and ended", one.both, "ms", bench::wanted::at_most, 1);
    one.print("1 hook");
    times const polled{1, bench::rounds(51, 5), {.drain = drain::poll}};
    bench::figure("  1 hook with drain::poll, made and ended", polled.both, "ms");
    times const shared{1, bench::rounds(21, 3), {.ring_in = ring_in::shared_memory}};
    bench::figure("  1 hook with a ring in shared memory, which is allocated at once, made and ended", shared.both,
                  "ms");
    times const many{64, bench::rounds(5, 1), {}};
    bench::target("T18 memory of 64 default hooks before anything is recorded", many.memory, "MiB",
                  bench::wanted::at_most, 64);
    bench::figure("  64 hooks, made and ended, each", many.both, "ms");
    many.print("64 hooks");
    times const most{1000, bench::rounds(3, 1), {}};
    bench::figure("  1000 hooks, made and ended, each", most.both, "ms");
    most.print("1000 hooks");
    return 0;
}
