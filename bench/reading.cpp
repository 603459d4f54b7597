// SPDX-License-Identifier: Apache-2.0
// T10 and T11: opening a run, reading one record of it, and the delay until another process sees a closed step. HDF5,
// if installed, does the same on the same values.
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <atomic>
#include <new>
#include <random>
#include <string>
#include <thread>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(SPOTTER_BENCH_HDF5)
#include <hdf5.h>
#endif

using namespace spotter;

namespace {

constexpr auto everything = plan{collection{"all", "*", always{}, payload}};

std::vector<float> noise(std::size_t count) {
    std::mt19937 random{1};
    std::normal_distribution<float> normal;
    std::vector<float> values(count);
    for (float& each : values) { each = normal(random); }
    return values;
}
void record_scalars(std::string const& path, std::size_t steps, std::size_t series) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < series; ++i) { names.push_back("metric/" + std::to_string(i)); }
    hook watch{path, everything};
    for (std::size_t i = 0; i < steps; ++i) {
        watch.begin(train(i));
        for (std::size_t k = 0; k < series; ++k) { watch.observe(names[k], static_cast<float>(i + k)); }
        (void)watch.end();
    }
    watch.finish();
}
void record_tensors(std::string const& path, std::size_t steps) {
    hook watch{path, everything};
    std::vector<float> values = noise(1024);
    for (std::size_t i = 0; i < steps; ++i) {
        values[0] = static_cast<float>(i);
        (void)watch.step(train(i), "w"_t = values);
    }
    watch.finish();
}

// The median time to open the run, in milliseconds.
double open_time(std::string const& path) {
    bench::samples times;
    for (std::size_t i = 0; i < bench::rounds(50, 3); ++i) {
        times.time(1, [&] { bench::do_not_optimise(open_trial(path)); });
    }
    return times.median() * 1e-6;
}
// The median time to read a value at a random step, from an open run that has read nothing else; -1 if the run or a
// value is wrong.
template <class Expected>
double read_time(std::string const& path, std::size_t steps, std::string const& name, Expected&& expected) {
    auto const run = open_trial(path);
    if (!run) { return -1; }
    std::mt19937_64 random{3};
    bench::samples times;
    for (std::size_t i = 0; i < bench::rounds(400, 20); ++i) {
        std::uint64_t const step = random() % steps;
        bool right = false;
        times.time(1, [&] {
            auto const value = (*run)[name].at(train(step));
            right = value && value.view().count > 0 &&
                    *static_cast<float const*>(value.view().values.raw) == expected(step);
        });
        if (!right) { return -1; }
    }
    return times.median() * 1e-6;
}

#if defined(SPOTTER_BENCH_HDF5)
// Writes as many datasets of 1024 floats as HDF5's users would; then opens the file and reads one.
void hdf5(std::string const& path, std::size_t count, double opened, double read) {
    std::vector<float> values = noise(1024);
    hsize_t const size = values.size();
    hid_t const out = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t const space = H5Screate_simple(1, &size, nullptr);
    for (std::size_t i = 0; i < count; ++i) {
        std::string const name = "w" + std::to_string(i);
        values[0] = static_cast<float>(i);
        hid_t const set = H5Dcreate2(out, name.c_str(), H5T_NATIVE_FLOAT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        H5Dwrite(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        H5Dclose(set);
    }
    H5Sclose(space);
    H5Fclose(out);
    bench::samples opens, reads;
    for (std::size_t i = 0; i < bench::rounds(50, 3); ++i) {
        opens.time(1, [&] { H5Fclose(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)); });
    }
    std::mt19937_64 random{3};
    hid_t const in = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    for (std::size_t i = 0; i < bench::rounds(400, 20); ++i) {
        std::string const name = "w" + std::to_string(random() % count);
        reads.time(1, [&] {
            hid_t const set = H5Dopen2(in, name.c_str(), H5P_DEFAULT);
            H5Dread(set, H5T_NATIVE_FLOAT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
            H5Dclose(set);
        });
    }
    H5Fclose(in);
    bench::figure("HDF5, the same tensors: open", opens.median() * 1e-6, "ms", bench::control("spotter", opened, "ms"));
    bench::figure("HDF5, the same tensors: a random one", reads.median() * 1e-6, "ms",
                  bench::control("spotter", read, "ms"));
}
#else
void hdf5(std::string const&, std::size_t, double, double) {
    std::puts("HDF5 is not installed (libhdf5-dev): no comparison with it");
}
#endif

// A child closes a step from time to time and notes the instant. This process looks for it every millisecond, as
// `spotter::trial::wait` does.
double visible_after(std::string const& path) {
    using clock = std::chrono::steady_clock;
    struct shared_notes {
        std::atomic<std::int64_t> closed_at[64]{};
    };
    void* const memory =
        ::mmap(nullptr, sizeof(shared_notes), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) { return -1; }
    auto* const notes = new (memory) shared_notes;
    std::size_t const steps = bench::rounds(30, 4);
    pid_t const child = ::fork();
    if (child == 0) {
        hook watch{path, everything};
        for (std::size_t i = 0; i < steps; ++i) {
            (void)watch.step(train(i), "loss"_t = 0.5F);
            notes->closed_at[i] = clock::now().time_since_epoch().count();
            std::this_thread::sleep_for(std::chrono::milliseconds{100});  // there is no next step
        }
        ::_exit(0);
    }
    bench::samples delays;
    double slowest = 0;
    auto run = open_trial(path);
    while (!run) { run = open_trial(path); }
    for (std::size_t i = 0; i < steps; ++i) {
        if (run->wait(train(i), std::chrono::milliseconds{2000})) { slowest = 2000; }
        auto const seen = clock::now().time_since_epoch().count();
        std::int64_t closed = notes->closed_at[i];
        while (closed == 0) { closed = notes->closed_at[i]; }
        slowest = (std::max)(slowest, static_cast<double>(seen - closed) * 1e-6);
    }
    ::waitpid(child, nullptr, 0);
    ::munmap(memory, sizeof(shared_notes));
    return slowest;
}

}  // namespace

int main() {
    bench::scratch_folder const folder;
    std::string const scalars = folder.path() + "/scalars", tensors = folder.path() + "/tensors";
    std::size_t const steps = bench::rounds(10'000, 500);
    record_scalars(scalars, steps, 100);
    record_tensors(tensors, steps);
    std::string const many = std::to_string(steps * 100) + " scalars",
                      much = std::to_string(steps) + " tensors of 4 KiB";
    bench::target("T10 open " + many, open_time(scalars), "ms", bench::wanted::at_most, 0.2);
    double const opened = open_time(tensors);
    bench::target("T10 open " + much, opened, "ms", bench::wanted::at_most, 0.2);
    bench::target(
        "T10 a random one of " + many,
        read_time(scalars, steps, "metric/7", [](std::uint64_t step) { return static_cast<float>(step + 7); }), "ms",
        bench::wanted::at_most, 0.1);
    double const read = read_time(tensors, steps, "w", [](std::uint64_t step) { return static_cast<float>(step); });
    bench::target("T10 a random one of " + much, read, "ms", bench::wanted::at_most, 0.1);
    hdf5(folder.path() + "/tensors.h5", steps, opened, read);

    double cost[2];
    for (std::size_t i = 0; i < 2; ++i) {
        std::string const path = folder.path() + "/growth" + std::to_string(i);
        record_scalars(path, 4000 << i, 1);
        bench::samples times;
        for (std::size_t round = 0; round < bench::rounds(30, 3); ++round) {
            times.time(1, [&] {
                auto const run = open_trial(path);
                bench::do_not_optimise(run->steps());  // and to list its steps
            });
        }
        cost[i] = times.median() * 1e-6;
    }
    bench::target("opening 8000 steps and listing them", cost[1] / cost[0], "x 4000 steps", bench::wanted::at_most, 2.5,
                  bench::control("4000 steps", cost[0], "ms"));
    bench::target("T11 a closed step is seen by another process", visible_after(folder.path() + "/live"), "ms at most",
                  bench::wanted::at_most, 50);
}
