// SPDX-License-Identifier: Apache-2.0
// How the cost of a step on the training thread and the memory of the process grow: with hooks that each have a thread,
// with tensors, with bytes, with rules, and with steps already recorded. Also what opening costs with many workers.
//     bench_growth [growth.csv]
// Prints its measurements, and writes them as CSV if a file is named; bench/growth_picture.py draws that. Each line
// comes from a process of its own. Its memory is the peak growth since its tensors were made, without the rings, whose
// size is an option.
#include "measured_process.hpp"
#include "scratch_folder.hpp"

#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
#include <spotter/workbench/compact.hpp>

#include <cstring>
#include <thread>

using namespace spotter;

namespace {

constexpr plan nothing{collection{"none", "*", never{}, payload}};
constexpr plan values{collection{"all", "*", always{}, payload}};
constexpr plan numbers{collection{"all", "*", always{}, stats(minimum, maximum, mean, stddev, l1, l2, zeros)}};
constexpr std::size_t ring = options{}.ring_bytes;

class table {
public:
    explicit table(char const* path) : file_{path != nullptr ? std::fopen(path, "w") : nullptr} {
        if (file_ != nullptr) { std::fprintf(file_, "panel,series,x,nanoseconds,bytes\n"); }
    }
    table(table const&) = delete;
    table& operator=(table const&) = delete;
    ~table() {
        if (file_ != nullptr) { std::fclose(file_); }
    }
    // Prints the rows that work(say) reports, in a process of its own.
    template <class Work>
    void rows(char const* panel, char const* series, Work&& work) {
        bool const sound = bench::in_a_process(work, [&](bench::grown const& it) {
            auto const size = static_cast<unsigned long long>(it.size);
            std::printf("  %-8s %-30s %10llu %14.1f ns %10.3f MiB\n", panel, series, size, it.nanoseconds,
                        it.bytes / (1 << 20));
            std::fflush(stdout);
            if (file_ != nullptr) {
                std::fprintf(file_, "%s,\"%s\",%llu,%.4g,%.0f\n", panel, series, size, it.nanoseconds, it.bytes);
            }
        });
        if (!sound) { std::printf("  %-8s %-30s ended early\n", panel, series); }
    }

private:
    std::FILE* file_;
};

// The sizes to measure; in a quick run those up to `when_quick`.
[[nodiscard]] std::vector<std::uint64_t> sizes(std::vector<std::uint64_t> all, std::uint64_t when_quick) {
    if (bench::quick()) {
        std::erase_if(all, [&](std::uint64_t each) { return each > when_quick; });
    }
    return all;
}

struct network {
    std::vector<std::string> names;
    std::vector<std::vector<float>> tensors;

    network(std::size_t count, std::size_t bytes) : tensors(count) {
        std::vector<float> const some = bench::weights((std::min)(bytes / sizeof(float), std::size_t{4096}));
        for (std::size_t i = 0; i < count; ++i) {
            names.push_back("layer" + std::to_string(i) + "/weight");
            // Not copied from a vector of this size, which would count as peak memory.
            tensors[i].resize(bytes / sizeof(float));
            for (std::size_t k = 0; k < tensors[i].size(); ++k) { tensors[i][k] = some[k % some.size()]; }
        }
    }
};

// The peak growth of the process since construction, without the rings.
struct memory {
    double before = bench::resident_bytes();

    [[nodiscard]] double grown(double rings = 0) const { return (std::max)(bench::peak_bytes() - before - rings, 0.0); }
};

void say_if_unsound(health_report const& health) {
    if (!health.good()) {
        std::printf("  not a measurement: %s\n", std::string{health.first_error.what.view()}.c_str());
    }
}

// Processor time of a step, in nanoseconds. Times as many steps together as take about a millisecond, or fit into half
// of the ring. The writer drains them before the next sample.
template <class Hook>
[[nodiscard]] double step_time(Hook& watch, network const& net, std::size_t ring_bytes = ring) {
    std::vector<tensor_handle> handles;
    for (std::string const& name : net.names) { handles.push_back(watch.tensor(name)); }
    std::uint64_t index = 0;
    auto const step = [&] {
        watch.begin(train(index++));
        for (std::size_t i = 0; i < handles.size(); ++i) { watch.observe(handles[i], net.tensors[i]); }
        bench::do_not_optimise(watch.end());
    };
    step();
    watch.flush();
    double const once = bench::thread_time{step}.core;
    watch.flush();
    std::size_t const bytes = net.tensors.size() * (net.tensors[0].size() * sizeof(float) + 128);
    std::size_t const fit = (std::max)(ring_bytes / 2 / bytes, std::size_t{1});
    std::size_t const at_once = std::clamp(static_cast<std::size_t>(1e6 / once), std::size_t{1}, fit);
    std::vector<double> times;
    for (std::size_t round = 0; round < bench::rounds(31, 3); ++round) {
        bench::thread_time const all{[&] {
            for (std::size_t i = 0; i < at_once; ++i) { step(); }
        }};
        watch.flush();
        times.push_back(all.core / static_cast<double>(at_once));
    }
    return bench::median(times);
}

// The step of one hook; with `recorded` false it has no folder.
template <class Plan>
[[nodiscard]] bench::grown of_one_hook(std::uint64_t size, network const& net, Plan const& keep, bool recorded) {
    memory const memory;
    if (!recorded) {
        hook watch{keep};
        double const time = step_time(watch, net);
        return {size, time, memory.grown()};
    }
    bench::scratch_folder const folder;
    hook watch{std::string_view{folder.path()}, keep};
    double const time = step_time(watch, net);
    watch.finish();
    say_if_unsound(watch.health());
    return {size, time, memory.grown(ring)};
}

void by_tensors(table& out) {
    for (std::uint64_t const count : sizes({1, 3, 10, 30, 100, 300, 1000, 3000, 10'000, 30'000, 100'000}, 1000)) {
        auto const row = [&](char const* series, auto const& keep, bool recorded) {
            out.rows("tensors", series, [&](auto say) { say(of_one_hook(count, network{count, 64}, keep, recorded)); });
        };
        row("nothing due", nothing, false);
        row("statistics", numbers, true);
        row("values", values, true);
    }
}

void by_bytes(table& out) {
    for (std::uint64_t const bytes :
         sizes({4, 16, 64, 256, 1U << 10, 4U << 10, 16U << 10, 64U << 10, 256U << 10, 1U << 20, 4U << 20, 16U << 20},
               64U << 10)) {
        out.rows("bytes", "memcpy", [&](auto say) {
            std::vector<std::byte> into(ring);  // as large as the ring, and as rarely in a cache
            network const net{1, bytes};
            std::size_t at = 0;
            std::size_t const at_once = (std::max)(std::size_t{4U << 20} / bytes, std::size_t{1});
            std::vector<double> copies;
            for (std::size_t round = 0; round < bench::rounds(31, 3); ++round) {
                bench::thread_time const all{[&] {
                    for (std::size_t i = 0; i < at_once; ++i) {
                        std::memcpy(into.data() + at, net.tensors[0].data(), bytes);
                        at = at + 2 * bytes <= into.size() ? at + bytes : 0;
                        bench::do_not_optimise(into);
                    }
                }};
                copies.push_back(all.core / static_cast<double>(at_once));
            }
            say(bench::grown{bytes, bench::median(copies), 0});
        });
        out.rows("bytes", "statistics", [&](auto say) { say(of_one_hook(bytes, network{1, bytes}, numbers, true)); });
        out.rows("bytes", "values", [&](auto say) { say(of_one_hook(bytes, network{1, bytes}, values, true)); });
    }
}

// `count` hooks at once, each with a training thread and a writer, and with a ring of 1 MiB. The result is the median
// of their step times.
template <class Plan>
[[nodiscard]] bench::grown of_many_hooks(std::uint64_t count, network const& net, Plan const& keep, bool recorded) {
    constexpr std::size_t small_ring = 1U << 20;
    bench::scratch_folder const folder;
    memory const memory;
    std::vector<double> times(count);
    std::vector<std::thread> threads;
    for (std::uint32_t number = 0; number < count; ++number) {
        threads.emplace_back([&, number] {
            if (!recorded) {
                hook watch{keep};
                times[number] = step_time(watch, net);
                return;
            }
            hook watch{
                folder.path(), keep,
                options{.ring_bytes = small_ring, .worker = number, .workers = static_cast<std::uint32_t>(count)}};
            times[number] = step_time(watch, net, small_ring);
            watch.finish();
            say_if_unsound(watch.health());
        });
    }
    for (std::thread& each : threads) { each.join(); }
    return {count, bench::median(times), memory.grown(recorded ? static_cast<double>(count * small_ring) : 0.0)};
}

void by_hooks(table& out) {
    for (std::uint64_t const count : sizes({1, 2, 4, 8, 16, 32, 64}, 4)) {
        auto const row = [&](char const* series, auto const& keep, bool recorded) {
            out.rows("hooks", series, [&](auto say) { say(of_many_hooks(count, network{10, 64}, keep, recorded)); });
        };
        row("nothing due", nothing, false);
        row("statistics of 10 tensors", numbers, true);
        row("values of 10 tensors", values, true);
    }
}

// `Packs` packs of `Each` rules, which all look at one tensor. A hook takes up to 64 packs or rules, and a pack up to
// 64 rules.
template <std::size_t Packs, std::size_t Each, class Make>
[[nodiscard]] bench::grown with_rules(network const& net, Make&& make) {
    auto const one_pack = [&]<std::size_t... I>(double first, std::index_sequence<I...>) {
        return together(make(first + static_cast<double>(I))...);
    };
    return [&]<std::size_t... I>(std::index_sequence<I...>) -> bench::grown {
        memory const memory;
        hook watch{nothing, one_pack(static_cast<double>(I * Each), std::make_index_sequence<Each>{})...};
        double const time = step_time(watch, net);
        return {Packs * Each, time, memory.grown()};
    }(std::make_index_sequence<Packs>{});
}
void by_rules(table& out) {
    auto const composed = [](double i) { return any("*", l2 > 1e3 + i) || all("*", mean_abs < 1e-9); };
    auto const built_in = [](double i) { return exploding_gradient{.select = "*", .max_mean_abs = 1e3 + i}; };
    auto const row = [&]<std::size_t Packs, std::size_t Each>() {
        out.rows("rules", "composed, 64 B", [&](auto say) { say(with_rules<Packs, Each>(network{1, 64}, composed)); });
        out.rows("rules", "composed, 64 KiB",
                 [&](auto say) { say(with_rules<Packs, Each>(network{1, 64U << 10}, composed)); });
        out.rows("rules", "exploding_gradient, 64 B",
                 [&](auto say) { say(with_rules<Packs, Each>(network{1, 64}, built_in)); });
    };
    row.operator()<1, 1>();
    row.operator()<1, 5>();
    row.operator()<1, 10>();
    row.operator()<1, 50>();
    row.operator()<2, 50>();
    row.operator()<10, 50>();
}

// One run that repeats the same step: the cost of its first steps, and of those after a hundred, a thousand, ...; and
// the peak memory until then.
template <class Hook, class Step>
void grow_old(Hook& watch, memory const& memory, std::uint64_t last, Step&& step, auto say) {
    std::uint64_t index = 0;
    for (std::uint64_t mark = 1000; mark <= last; mark *= 10) {
        std::uint64_t const at_once = (std::min)(mark / 10, std::uint64_t{10'000});
        std::vector<double> times;
        while (index < mark) {  // the second half is timed
            std::uint64_t const end = index + at_once;
            bench::thread_time const all{[&] {
                for (; index < end; ++index) {
                    watch.begin(train(index));
                    step();
                    bench::do_not_optimise(watch.end());
                }
            }};
            watch.flush();
            if (index > mark / 2) { times.push_back(all.core / static_cast<double>(at_once)); }
        }
        say(bench::grown{mark, bench::median(times), memory.grown(ring)});
    }
    watch.finish();
    say_if_unsound(watch.health());
}
template <class... Rules>
void by_age(table& out, char const* series, Rules const&... rules) {
    out.rows("steps", series, [&](auto say) {
        bench::scratch_folder const folder;
        network const net{10, 64};
        memory const memory;
        hook watch{std::string_view{folder.path()}, values, rules...};
        std::vector<tensor_handle> handles;
        for (std::string const& name : net.names) { handles.push_back(watch.tensor(name)); }
        grow_old(
            watch, memory, bench::rounds(1'000'000, 10'000),
            [&] {
                for (std::size_t i = 0; i < handles.size(); ++i) { watch.observe(handles[i], net.tensors[i]); }
            },
            say);
    });
}
void by_age_of_a_number(table& out) {
    out.rows("steps", "one number", [&](auto say) {
        bench::scratch_folder const folder;
        memory const memory;
        hook watch{std::string_view{folder.path()}, values};
        tensor_handle const loss = watch.tensor("loss");
        grow_old(watch, memory, bench::rounds(100'000'000, 100'000), [&] { watch.scalar(loss, 0.25); }, say);
        std::printf("  %-8s %-30s %10.1f MB on disk, %.3f MiB when finished\n", "steps", "one number",
                    1e-6 * static_cast<double>(folder.bytes()), memory.grown(ring) / (1 << 20));
    });
}

// Opens a run of this many workers in a process of its own; the workers are like those of bench_workers.
void by_workers(table& out) {
    for (std::uint64_t const workers : sizes({1, 3, 10, 30, 100, 300, 1000}, 10)) {
        bench::scratch_folder const folder;
        auto const aside = [&](auto&& work) {
            if (!bench::in_a_process([&](auto) { work(); }, [](bench::grown const&) {})) {
                std::printf("  workers: there is no run\n");
            }
        };
        aside([&] {
            network const net{10, 256};
            for (std::uint32_t worker = 0; worker < workers; ++worker) {
                options const choices{.drain = drain::poll,
                                      .ring_bytes = 1U << 20,
                                      .worker = worker,
                                      .workers = static_cast<std::uint32_t>(workers)};
                hook watch{folder.path(), numbers, choices};
                for (std::uint64_t step = 0; step < 20; ++step) {
                    watch.begin(train(step));
                    for (std::size_t i = 0; i < net.names.size(); ++i) { watch.observe(net.names[i], net.tensors[i]); }
                    watch.scalar("loss", 1.0 / static_cast<double>(step + 1));
                    bench::do_not_optimise(watch.end());
                    watch.poll();
                }
                watch.finish();
            }
        });
        auto const row = [&](char const* series, bool ask) {
            out.rows("workers", series, [&](auto say) {
                memory const memory;
                bool sound = true;
                std::vector<double> times;
                for (std::size_t round = 0; round < bench::rounds(5, 1); ++round) {
                    times.push_back(bench::thread_time{[&] {
                                        auto const run = open_trial(folder.path());
                                        sound = sound && run && run->readers().size() == workers &&
                                                run->status() == run_status::finished;
                                        if (ask) {
                                            sound = sound && run->steps().size() == 20 && run->names().size() == 11;
                                        }
                                    }}.core);
                }
                if (!sound) { std::printf("  not a measurement: not all workers were read\n"); }
                say(bench::grown{workers, bench::median(times), memory.grown()});
            });
        };
        row("opened", false);
        row("and all steps and names", true);
        aside([&] { (void)compact_run(folder.path()); });
        row("opened, compacted", false);
    }
}

}  // namespace

int main(int count, char** arguments) {
    table out{count > 1 ? arguments[1] : nullptr};
    by_hooks(out);
    by_tensors(out);
    by_bytes(out);
    by_rules(out);
    by_age_of_a_number(out);
    by_age(out, "values of 10 tensors");
    by_age(out, "the same, with two rules", non_finite{}, loss_spike{.select = "*"});
    by_workers(out);
    return 0;
}
