// SPDX-License-Identifier: Apache-2.0
// T18: what a hook costs that is made and ended, and what memory one takes that records nothing yet.
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

// In MiB, of this process.
[[nodiscard]] double resident() {
    std::FILE* const file = std::fopen("/proc/self/statm", "r");
    unsigned long all = 0, mine = 0;
    if (file == nullptr || std::fscanf(file, "%lu %lu", &all, &mine) != 2) { mine = 0; }
    if (file != nullptr) { std::fclose(file); }
    return static_cast<double>(mine) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// `count` hooks at once, each with a folder of its own; times are a hook's, in milliseconds.
struct round {
    double made = 0, ended = 0, core = 0, memory = 0;

    round(std::size_t count, options const& choices) {
        bench::scratch_folder const folder;
        std::vector<std::string> paths;
        for (std::size_t i = 0; i < count; ++i) { paths.push_back(folder.path() + "/" + std::to_string(i)); }
        auto const hooks = std::make_unique<std::optional<a_hook>[]>(count);
        double const before = resident(), processor = processor_time();
        made = bench::nanoseconds([&] {
                   for (std::size_t i = 0; i < count; ++i) { hooks[i].emplace(std::string_view{paths[i]}, keep, choices); }
               }) * 1e-6 / static_cast<double>(count);
        memory = resident() - before;
        for (std::size_t i = 0; i < count; ++i) {
            if (!hooks[i]->health().good()) { std::printf("  not a measurement: a hook is in trouble\n"); }
        }
        ended = bench::nanoseconds([&] {
                    for (std::size_t i = 0; i < count; ++i) { hooks[i].reset(); }
                }) * 1e-6 / static_cast<double>(count);
        core = (processor_time() - processor) / static_cast<double>(count);
    }
};

void construction(std::size_t count, char const* where, options const& choices) {
    bench::samples unused;
    std::vector<double> wall, made, core, memory;
    for (std::size_t i = 0; i < bench::rounds(count == 1 ? 51 : 5, 1); ++i) {
        round const it{count, choices};
        wall.push_back(it.made + it.ended), made.push_back(it.made), core.push_back(it.core), memory.push_back(it.memory);
    }
    auto const median = [](std::vector<double>& all) {
        std::sort(all.begin(), all.end());
        return all[all.size() / 2];
    };
    std::printf("%zu %s: %.3f ms made, %.3f made and ended, core %.3f, memory %.2f\n", count, where, median(made), median(wall), median(core), median(memory));
}

}  // namespace

int main(int argc, char**) {
    rlimit files{};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
    construction(1, "plain", {});
    construction(1, "poll", {.drain = drain::poll});
    construction(1, "shared", {.ring_in = ring_in::shared_memory});
    construction(64, "plain", {});
    if (argc > 1) { construction(1000, "plain", {}); }
}
