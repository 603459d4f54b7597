// SPDX-License-Identifier: Apache-2.0
// The cost of reading a long run whole, as `spotter export` and `spotter diff` do: seconds, and memory of a process of
// its own. Also how the time to read one value grows with their number.
#include "bench.hpp"
#include "scratch_folder.hpp"
#include "thread_time.hpp"

#include <spotter/export/safetensors.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
#include <spotter/workbench/diff.hpp>
#include <spotter/workbench/export.hpp>
#include <spotter/workbench/npy.hpp>

#include <sys/resource.h>
#include <sys/wait.h>

#include <string>
#include <unistd.h>
#include <vector>

using namespace spotter;

namespace {

constexpr auto everything = plan{collection{"all", "*", always{}, payload}};

// Records one number a step, or a tensor of `elements` floats.
void record(std::string const& path, std::uint64_t steps, std::size_t elements = 0) {
    hook watch{path, everything};
    std::vector<float> values(elements, 0.5F);
    for (std::uint64_t i = 0; i < steps; ++i) {
        float const loss = 1.0F / static_cast<float>(i + 1);
        if (elements == 0) {
            (void)watch.step(train(i), "x"_t = loss);
        } else {
            values[0] = loss;
            (void)watch.step(train(i), "x"_t = values);
        }
    }
    watch.finish();
}

struct cost {
    double seconds = 0, processor = 0, megabytes = 0;
    bool good = false;
};

// Runs in a process of its own, so that its peak memory is its own.
template <class Work>
[[nodiscard]] cost cost_of(Work&& work) {
    cost it;
    int pipe[2]{};
    if (::pipe(pipe) != 0) { return it; }
    std::fflush(stdout);
    pid_t const child = ::fork();
    if (child == 0) {
        it.seconds = 1e-9 * bench::nanoseconds([&] { it.good = work(); });
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        for (timeval const& each : {used.ru_utime, used.ru_stime}) {
            it.processor += static_cast<double>(each.tv_sec) + 1e-6 * static_cast<double>(each.tv_usec);
        }
        it.megabytes = static_cast<double>(used.ru_maxrss) * 1024e-6;
        ::_exit(::write(pipe[1], &it, sizeof it) == static_cast<ssize_t>(sizeof it) ? 0 : 1);
    }
    ::close(pipe[1]);
    if (::read(pipe[0], &it, sizeof it) != static_cast<ssize_t>(sizeof it) || !it.good) { std::printf("it failed\n"); }
    ::close(pipe[0]);
    (void)::waitpid(child, nullptr, 0);
    return it;
}

struct whole_run {
    trial run;
    export_choice choice{};
    std::vector<std::string> names;
    recorded_arrays arrays{run, choice, names};

    explicit whole_run(std::string const& path) : run{open_trial(path).value()}, names{run.names()} {}
};

struct written_file {
    explicit written_file(std::string const& path) : file{system_files().create(path).value()} {}
    written_file(written_file const&) = delete;
    written_file& operator=(written_file const&) = delete;
    ~written_file() { (void)system_files().close(file); }
    error operator()(std::span<std::byte const> bytes) { return system_files().append(file, bytes); }

    opened_file file;
};

bool export_npz(std::string const& path) {
    whole_run it{path};
    written_file file{path + ".npz"};
    npz_writer writer{[&](std::span<std::byte const> bytes) { return file(bytes); }};
    error const why = it.arrays.each([&](recorded_array const& each) { return writer.add(each.key, each.view); });
    return !why && !writer.finish();
}

bool export_safetensors(std::string const& path) {
    whole_run it{path};
    safetensors_header header;
    if (it.arrays.each([&](recorded_array const& each) { return header.add(each.key, each.view); })) { return false; }
    written_file file{path + ".safetensors"};
    std::string const head = header.text();
    if (file(std::as_bytes(std::span{head}))) { return false; }
    return !it.arrays.each([&](recorded_array const& each) { return file(row_major_bytes(each.view)); });
}

bool differs_not(std::string const& path, std::string const& other, std::uint64_t steps) {
    auto const a = open_side(path), b = open_side(other);
    if (!a || !b) { return false; }
    auto const report = diff(*a, *b);
    return report && report->equal() && report->steps == steps;
}

void tell(std::string const& what, cost const& it, double seconds) {
    bench::target("T22 " + what, it.seconds, "s", bench::wanted::at_most, seconds,
                  bench::control("of the processor", it.processor, "s"));
    bench::target("T22 " + what + ", memory", it.megabytes, "MB", bench::wanted::at_most, 100);
}

// Processor nanoseconds to read one of its values at random. All are read once before: the first read of a page is the
// system's.
double time_at(std::string const& path) {
    trial const run = open_trial(path).value();
    track const x = run["x"];
    std::uint64_t const steps = x.payload_steps().size();
    for (std::uint64_t i = 0; i < steps; ++i) { bench::do_not_optimise(x.at(train(i)).type()); }
    constexpr std::size_t reads = 2000;
    std::uint64_t state = 1;
    std::vector<double> times;
    for (std::size_t round = 0; round < bench::rounds(9, 1); ++round) {
        bench::thread_time const all{[&] {
            for (std::size_t i = 0; i < reads; ++i) {
                state = state * 6364136223846793005ULL + 1442695040888963407ULL;
                bench::do_not_optimise(x.at(train((state >> 33) % steps)).type());
            }
        }};
        times.push_back(all.core / static_cast<double>(reads));
    }
    return bench::median(std::move(times));
}

// The remaining growth at a thousand times as many is due to cache misses.
void grow(std::string const& folder, char const* what, std::uint64_t few, std::uint64_t many, std::size_t elements) {
    std::string const a = folder + "/few" + what, b = folder + "/many" + what;
    record(a, few, elements), record(b, many, elements);
    double const before = time_at(a), after = time_at(b);
    bench::target(std::string{"T22 track::at, one of "} + std::to_string(many) + ' ' + what + " against one of " +
                      std::to_string(few),
                  after / before, "x", bench::wanted::at_most, 3, bench::control("one", after, "ns"));
}

}  // namespace

int main() {
    bench::scratch_folder const folder;
    std::filesystem::create_directories(folder.path());
    std::string const path = folder.path() + "/run";
    std::uint64_t const steps = bench::rounds(1'000'000, 20'000);
    (void)cost_of([&] { return record(path, steps), true; });
    std::string const of = " of " + std::to_string(steps) + " steps with a number each";
    tell("export npz" + of, cost_of([&] { return export_npz(path); }), 2);
    tell("export safetensors" + of, cost_of([&] { return export_safetensors(path); }), 2);
    tell("diff with itself" + of, cost_of([&] { return differs_not(path, path, steps); }), 2);
    cost const back = cost_of([&] { return differs_not(path, path + ".npz", steps); });
    bench::figure("diff with its npz" + of, back.seconds, "s",
                  bench::control("of the processor", back.processor, "s") + ", " +
                      bench::control("memory", back.megabytes, "MB"));
    grow(folder.path(), "numbers", 1000, steps, 0);
    grow(folder.path(), "tensors", 100, bench::rounds(100'000, 1000), 64);
    return 0;
}
