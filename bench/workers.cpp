// SPDX-License-Identifier: Apache-2.0
// The time to open runs of many workers, and the memory that they take: bench_workers [WORKERS...] (100, 1000 and
// 10000). Each worker keeps statistics of ten tensors, and a loss, for twenty steps.
#include "bench.hpp"
#include "scratch_folder.hpp"
#include "thread_time.hpp"

#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
#include <spotter/workbench/compact.hpp>

#include <cstdlib>
#include <string>
#include <vector>

using namespace spotter;

namespace {

constexpr plan keep{collection{"all", "*", always{}, stats(minimum, maximum, mean, l2)}};

void record(std::string const& path, std::uint32_t worker, std::uint32_t workers) {
    options choices{.drain = drain::poll, .ring_bytes = 1U << 20, .worker = worker, .workers = workers};
    hook watch{path, keep, choices};
    std::vector<std::string> names;
    for (int i = 0; i < 10; ++i) { names.push_back("layer" + std::to_string(i) + "/weight"); }
    std::vector<float> values(64, 1.0F);
    for (std::uint64_t step = 0; step < 20; ++step) {
        watch.begin(train(step));
        for (std::string const& name : names) {
            values[0] = static_cast<float>(worker + step);
            watch.observe(name, values);
        }
        watch.scalar("loss", 1.0 / static_cast<double>(step + 1));
        bench::do_not_optimise(watch.end());
        watch.poll();
    }
    watch.finish();
}

// The median of several runs, in milliseconds.
template <class Work>
[[nodiscard]] double time_of(Work&& work) {
    std::vector<double> times;
    for (std::size_t i = 0; i < bench::rounds(5, 1); ++i) { times.push_back(1e-6 * bench::nanoseconds(work)); }
    return bench::median(times);
}

[[nodiscard]] bool measure(std::uint32_t workers) {
    bench::scratch_folder const folder;
    for (std::uint32_t worker = 0; worker < workers; ++worker) { record(folder.path(), worker, workers); }
    bool sound = true;
    auto const open = [&] {
        auto const run = open_trial(folder.path());
        sound = sound && run && run->readers().size() == workers && run->status() == run_status::finished;
    };
    auto const ask = [&] {
        auto const run = open_trial(folder.path());
        sound = sound && run && run->steps().size() == 20 && run->names().size() == 11;
    };
    double const plain = time_of(open), asked = time_of(ask);
    compacted_run done{};
    double const merging = time_of([&] { done = compact_run(folder.path()).value_or({}); });
    sound = sound && done.workers == workers;
    double const merged = time_of(open), merged_asked = time_of(ask);
    double const each = 1e3 / workers;
    std::printf(
        "%6u workers: open %8.1f ms (%5.1f us each), and all steps and names %8.1f ms; compact %8.1f ms, %llu bytes; "
        "then open %7.1f ms (%5.1f us each), and all steps and names %8.1f ms\n",
        workers, plain, plain * each, asked, merging, static_cast<unsigned long long>(done.bytes), merged,
        merged * each, merged_asked);
    if (!sound) { std::printf("%6u workers: not all of them were read\n", workers); }
    return sound;
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<std::uint32_t> sizes;
    for (int i = 1; i < count; ++i) {
        sizes.push_back(static_cast<std::uint32_t>(std::strtoul(arguments[i], nullptr, 10)));
    }
    if (sizes.empty()) {
        sizes = bench::quick() ? std::vector<std::uint32_t>{20} : std::vector<std::uint32_t>{100, 1000, 10000};
    }
    bool sound = true;
    for (std::uint32_t const workers : sizes) { sound = measure(workers) && sound; }
    return sound ? 0 : 1;
}
