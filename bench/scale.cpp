// SPDX-License-Identifier: Apache-2.0
// What a run of many ranks costs in bytes, files and seconds, and how that grows: docs/scale.md.
//     bench_scale                                            the tables
//     bench_scale --keep FOLDER [RANKS [TENSORS [STEPS [OF]]]]    leaves a run, or the first ranks of one of OF, to try
//     a store or a tool with
// A rank is a process. Of its tensors half are weights and half gradients, 256 numbers each; two plans:
//     sparse   the loss at each step, four statistics of all at each hundredth, values of four ranks at each thousandth
//     judged   the same, and packs::supervised at each step, which leaves what it saw
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/packs.hpp>
#include <spotter/replay.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
#include <spotter/workbench/compact.hpp>
#include <spotter/workbench/parquet.hpp>

#include <sys/resource.h>
#include <sys/wait.h>

#include <cmath>
#include <string>
#include <unistd.h>
#include <vector>

using namespace spotter;

namespace {

struct size_of_run {
    std::uint32_t ranks = 1;
    std::size_t tensors = 1;
    std::uint64_t steps = 1;
    bool judged = false;
    std::uint32_t of = 0;  // the number of ranks that the run declares; 0: `ranks`
};

// The training of one hook: weights that decay, gradients that follow them.
template <class Hook>
void train_with(Hook& watch, size_of_run const& how, std::uint32_t rank) {
    constexpr std::size_t numbers = 256;
    std::size_t const layers = (how.tensors + 1) / 2;
    std::vector<std::vector<float>> weights(layers, bench::weights(numbers)), gradients = weights;
    std::vector<tensor_handle> w, g;
    for (std::size_t i = 0; i < layers; ++i) {
        w.push_back(watch.tensor("layer" + std::to_string(i) + "/w"));
        g.push_back(watch.tensor("grad/layer" + std::to_string(i) + "/w"));
    }
    for (std::uint64_t step = 0; step < how.steps; ++step) {
        auto const noise = static_cast<float>((step * 7919 + rank * 104729) % 1000) * 1e-6F;
        watch.begin(train(step));
        for (std::size_t i = 0; i < layers; ++i) {
            for (std::size_t k = 0; k < numbers; ++k) { gradients[i][k] = weights[i][k] + noise; }
            watch.observe(w[i], weights[i]);
            watch.observe(g[i], gradients[i]);
            for (std::size_t k = 0; k < numbers; ++k) { weights[i][k] -= 1e-3F * gradients[i][k]; }
        }
        watch.scalar("loss", 1.0 / (1.0 + 1e-3 * static_cast<double>(step)));
        bench::do_not_optimise(watch.end());
    }
    watch.finish();
}

void record(std::string const& path, size_of_run const& how, std::uint32_t rank) {
    std::uint32_t const all = how.of > 0 ? how.of : how.ranks;
    plan const keep{
        defaults::losses, collection{"all", "*", every{100}, stats(mean_abs, l2, nonfinite, zero_fraction)},
        collection{"values", role::weight, every{1000} && sampled{.worker = rank, .workers = all, .keep = 4}, payload}};
    options const choices{.ring_bytes = 1U << 20, .worker = rank, .workers = all};
    if (how.judged) {
        hook watch{path, keep, choices, packs::supervised};
        train_with(watch, how, rank);
    } else {
        hook watch{path, keep, choices};
        train_with(watch, how, rank);
    }
}

struct cost {
    double core_seconds = 0;  // of all ranks' processes, training and writing
    double resident = 0;      // MiB of the largest rank
    double bytes = 0, files = 0;
    double open = 0, compact = 0, open_compacted = 0;  // seconds
    double check = 0, table = 0, table_bytes = 0;      // seconds of one core, of all ranks; bytes of the Parquet table
    double reader = 0;                                 // MiB of the process that did that
};

// Each rank in a process of its own, two at a time.
void record_all(std::string const& path, size_of_run const& how, cost& into) {
    std::uint32_t begun = 0, running = 0;
    while (begun < how.ranks || running > 0) {
        if (begun < how.ranks && running < 2) {
            if (::fork() == 0) {
                record(path, how, begun);
                ::_exit(0);
            }
            ++begun, ++running;
            continue;
        }
        rusage used{};
        int status = 0;
        if (::wait4(-1, &status, 0, &used) <= 0) { break; }
        --running;
        if (status != 0) { std::printf("a rank ended with status %d\n", status); }
        auto const seconds = [](timeval const& time) {
            return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
        };
        into.core_seconds += seconds(used.ru_utime) + seconds(used.ru_stime);
        into.resident = (std::max)(into.resident, static_cast<double>(used.ru_maxrss) / 1024);
    }
}

void read_all(std::string const& path, size_of_run const& how, cost& it) {
    auto const open = [&] {
        auto const run = open_trial(path);
        if (!run || run->readers().size() != how.ranks || run->status() != run_status::finished) {
            std::printf("not all ranks were read\n");
        }
    };
    it.open = 1e-9 * bench::nanoseconds(open);
    it.compact = 1e-9 * bench::nanoseconds([&] {
                     if (!compact_run(path)) { std::printf("it was not compacted\n"); }
                 });
    it.open_compacted = 1e-9 * bench::nanoseconds(open);
    it.check = 1e-9 * bench::nanoseconds([&] {
                   for (std::uint32_t rank = 0; rank < how.ranks; ++rank) {
                       auto const one = open_trial(path, worker{rank});
                       if (!one || replay(*one, packs::supervised).steps != how.steps) {
                           std::printf("rank %u was not judged\n", rank);
                       }
                   }
               });
    it.table = 1e-9 * bench::nanoseconds([&] {
                   parquet_writer table{{}, [&](byte_view piece) {
                                            it.table_bytes += static_cast<double>(piece.size());
                                            return error{};
                                        }};
                   for (std::uint32_t rank = 0; rank < how.ranks; ++rank) {
                       auto const one = open_trial(path, worker{rank});
                       if (one) { table.add(*one); }
                   }
                   if (table.finish()) { std::printf("there is no table\n"); }
               });
}

// Reading runs in a process of its own, so that its memory does not count as a rank's.
[[nodiscard]] cost measure(size_of_run const& how) {
    bench::scratch_folder const folder;
    std::string const path = folder.path();
    std::filesystem::create_directories(path);
    cost it;
    record_all(path, how, it);
    it.bytes = static_cast<double>(folder.bytes());
    for (auto const& each : std::filesystem::recursive_directory_iterator{path}) {
        it.files += each.is_regular_file() ? 1 : 0;
    }
    int pipe[2]{};
    if (::pipe(pipe) != 0) { return it; }
    pid_t const reader = ::fork();
    if (reader == 0) {
        read_all(path, how, it);
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        it.reader = static_cast<double>(used.ru_maxrss) / 1024;
        std::fflush(stdout);
        ::_exit(::write(pipe[1], &it, sizeof it) == static_cast<ssize_t>(sizeof it) ? 0 : 1);
    }
    ::close(pipe[1]);
    if (::read(pipe[0], &it, sizeof it) != static_cast<ssize_t>(sizeof it)) { std::printf("the reader ended early\n"); }
    ::close(pipe[0]);
    (void)::waitpid(reader, nullptr, 0);
    return it;
}

void print_head() {
    std::printf("%-7s %6s %7s %7s | %10s %9s %7s %9s %6s | %9s %9s %9s | %9s %9s %9s %7s\n", "plan", "ranks", "tensors",
                "steps", "core s", "us a step", "MiB", "MB", "files", "open ms", "compact s", "then ms", "check s",
                "table s", "table MB", "MiB");
    std::fflush(stdout);  // otherwise a child would print it again
}
void print_row(size_of_run const& how, cost const& it) {
    double const steps = static_cast<double>(how.ranks) * static_cast<double>(how.steps);
    std::printf("%-7s %6u %7zu %7llu | %10.2f %9.2f %7.1f %9.3f %6.0f | %9.2f %9.3f %9.2f | %9.2f %9.2f %9.3f %7.1f\n",
                how.judged ? "judged" : "sparse", how.ranks, how.tensors, static_cast<unsigned long long>(how.steps),
                it.core_seconds, 1e6 * it.core_seconds / steps, it.resident, 1e-6 * it.bytes, it.files, 1e3 * it.open,
                it.compact, 1e3 * it.open_compacted, it.check, it.table, 1e-6 * it.table_bytes, it.reader);
    std::fflush(stdout);
}

// Lets one size grow while the others stay. Prints the exponent of the last growth behind each: 1 is proportional.
void grow(char const* what, std::vector<size_of_run> const& sizes) {
    std::printf("\n%s\n", what);
    print_head();
    std::vector<cost> all;
    for (size_of_run const& each : sizes) {
        all.push_back(measure(each));
        print_row(each, all.back());
    }
    if (sizes.size() < 2) { return; }
    size_of_run const &a = sizes[sizes.size() - 2], &b = sizes.back();
    double const grown = static_cast<double>(b.ranks) / static_cast<double>(a.ranks) * static_cast<double>(b.tensors) /
                         static_cast<double>(a.tensors) * static_cast<double>(b.steps) / static_cast<double>(a.steps);
    cost const &from = all[all.size() - 2], &to = all.back();
    auto const power = [&](double before, double after) {
        return before > 0 ? std::log(after / before) / std::log(grown) : 0.0;
    };
    std::printf("powers  core %.2f, bytes %.2f, files %.2f, open %.2f, compact %.2f, check %.2f, table %.2f\n",
                power(from.core_seconds, to.core_seconds), power(from.bytes, to.bytes), power(from.files, to.files),
                power(from.open, to.open), power(from.compact, to.compact), power(from.check, to.check),
                power(from.table, to.table));
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
    auto const number = [&](int at, unsigned long otherwise) {
        return count > at ? std::strtoul(arguments[at], nullptr, 10) : otherwise;
    };
    if (count > 2 && std::string_view{arguments[1]} == "--keep") {
        size_of_run const how{static_cast<std::uint32_t>(number(3, 100)), number(4, 10), number(5, 1000), false,
                              static_cast<std::uint32_t>(number(6, 0))};
        cost ignored;
        std::filesystem::create_directories(arguments[2]);
        record_all(arguments[2], how, ignored);
        return 0;
    }
    if (bench::quick()) {
        grow("a few", {{2, 4, 200, true}, {4, 4, 200, true}});
        return 0;
    }
    for (bool const judged : {false, true}) {
        grow("ranks grow", {{10, 10, 1000, judged}, {100, 10, 1000, judged}, {1000, 10, 1000, judged}});
        grow("tensors grow", {{10, 10, 1000, judged}, {10, 100, 1000, judged}, {10, 1000, 1000, judged}});
        grow("steps grow", {{10, 10, 1000, judged}, {10, 10, 10'000, judged}, {10, 10, 100'000, judged}});
    }
    return 0;
}
