// SPDX-License-Identifier: Apache-2.0
// How the cost of a step on the training thread grows: with tensors, with bytes, with rules, and with the steps already recorded.
//     bench_growth [growth.csv]
// Prints what it measured, and writes it as CSV where a file is named; bench/growth_picture.py draws that.
#include "scratch_folder.hpp"
#include "thread_time.hpp"

#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

#include <cstring>

using namespace spotter;

namespace {

constexpr plan nothing{collection{"none", "*", never{}, payload}};
constexpr plan values{collection{"all", "*", always{}, payload}};
constexpr plan numbers{collection{"all", "*", always{}, stats(minimum, maximum, mean, stddev, l1, l2, zeros)}};

class table {
public:
    explicit table(char const* path) : file_{path != nullptr ? std::fopen(path, "w") : nullptr} {
        if (file_ != nullptr) { std::fprintf(file_, "panel,series,x,nanoseconds\n"); }
    }
    table(table const&) = delete;
    table& operator=(table const&) = delete;
    ~table() {
        if (file_ != nullptr) { std::fclose(file_); }
    }
    void row(char const* panel, char const* series, std::uint64_t x, double nanoseconds) {
        std::printf("  %-8s %-28s %10llu %14.1f ns a step\n", panel, series, static_cast<unsigned long long>(x),
                    nanoseconds);
        std::fflush(stdout);
        if (file_ != nullptr) {
            std::fprintf(file_, "%s,\"%s\",%llu,%.4g\n", panel, series, static_cast<unsigned long long>(x),
                         nanoseconds);
        }
    }

private:
    std::FILE* file_;
};

struct network {
    std::vector<std::string> names;
    std::vector<std::vector<float>> tensors;

    network(std::size_t count, std::size_t bytes) : tensors(count, bench::weights(bytes / sizeof(float))) {
        for (std::size_t i = 0; i < count; ++i) { names.push_back("layer" + std::to_string(i) + "/weight"); }
    }
};

// Processor time of a step, in nanoseconds. As many steps are timed as one as take about a millisecond, or as fit into half of the
// ring; what they left to the writer is written before the next.
template <class Hook>
[[nodiscard]] double step_time(Hook& watch, network const& net) {
    std::vector<tensor_handle> handles;
    for (std::string const& name : net.names) { handles.push_back(watch.tensor(name)); }
    std::uint64_t index = 0;
    auto const step = [&] {
        watch.begin(train(index++));
        for (std::size_t i = 0; i < handles.size(); ++i) { watch.observe(handles[i], net.tensors[i]); }
        bench::do_not_optimise(watch.end());
    };
    step();
    double const once = bench::thread_time{step}.core;
    watch.flush();
    std::size_t const bytes = net.tensors.size() * (net.tensors[0].size() * sizeof(float) + 128);
    std::size_t const fit = (std::max)((std::size_t{32} << 20) / bytes, std::size_t{1});
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

template <class Plan>
[[nodiscard]] double recorded_step(network const& net, Plan const& keep) {
    bench::scratch_folder const folder;
    hook watch{std::string_view{folder.path()}, keep};
    double const time = step_time(watch, net);
    watch.finish();
    if (health_report const health = watch.health(); !health.good()) {
        std::printf("  not a measurement: %s\n", std::string{health.first_error.what.view()}.c_str());
    }
    return time;
}

void by_tensors(table& out) {
    for (std::size_t const count : {1U, 3U, 10U, 30U, 100U, 300U, 1000U, 3000U, 10'000U}) {
        network const net{count, 64};
        hook idle{nothing};
        out.row("tensors", "nothing due", count, step_time(idle, net));
        out.row("tensors", "statistics", count, recorded_step(net, numbers));
        out.row("tensors", "values", count, recorded_step(net, values));
    }
}

void by_bytes(table& out) {
    std::vector<std::byte> into(64U << 20);  // as large as the ring, and as seldom in a cache
    std::size_t at = 0;
    for (std::size_t bytes = 64; bytes <= 16U << 20; bytes *= 4) {
        network const net{1, bytes};
        std::vector<double> copies;
        at = 0;
        std::size_t const at_once = (std::max)((std::size_t{4} << 20) / bytes, std::size_t{1});
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
        out.row("bytes", "memcpy", bytes, bench::median(copies));
        out.row("bytes", "statistics", bytes, recorded_step(net, numbers));
        out.row("bytes", "values", bytes, recorded_step(net, values));
    }
}

// So many rules that all look at one tensor.
template <std::size_t Count, class Make>
[[nodiscard]] double with_rules(network const& net, Make&& make) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
        hook watch{nothing, make(static_cast<double>(I))...};
        return step_time(watch, net);
    }
    (std::make_index_sequence<Count>{});
}
void by_rules(table& out) {
    auto const each = [&]<std::size_t... Count>(std::index_sequence<Count...>) {
        auto const composed = [](double i) { return any("*", l2 > 1e3 + i) || all("*", mean_abs < 1e-9); };
        auto const built_in = [](double i) { return exploding_gradient{.select = "*", .max_mean_abs = 1e3 + i}; };
        network const small{1, 64}, large{1, 64U << 10};
        (out.row("rules", "composed, 64 B", Count, with_rules<Count>(small, composed)), ...);
        (out.row("rules", "composed, 64 KiB", Count, with_rules<Count>(large, composed)), ...);
        (out.row("rules", "exploding_gradient, 64 B", Count, with_rules<Count>(small, built_in)), ...);
    };
    each(std::index_sequence<1, 2, 4, 8, 16, 32>{});
}

// One run that goes on and on: what its first steps cost, and those behind a hundred, a thousand, ... of them.
template <class... Rules>
void by_age(table& out, char const* series, Rules const&... rules) {
    bench::scratch_folder const folder;
    network const net{10, 64};
    hook watch{std::string_view{folder.path()}, values, rules...};
    std::vector<tensor_handle> handles;
    for (std::string const& name : net.names) { handles.push_back(watch.tensor(name)); }
    std::uint64_t index = 0;
    std::uint64_t const last = bench::rounds(1'000'000, 10'000);
    for (std::uint64_t mark = 100; mark <= last; mark *= 10) {
        std::vector<double> times;
        std::uint64_t const at_once = mark / 10;
        while (index < mark) {  // the last half of the way is timed
            std::uint64_t const start = index, end = start + (std::min)(at_once, std::uint64_t{1000});
            bench::thread_time const all{[&] {
                for (; index < end; ++index) {
                    watch.begin(train(index));
                    for (std::size_t i = 0; i < handles.size(); ++i) { watch.observe(handles[i], net.tensors[i]); }
                    bench::do_not_optimise(watch.end());
                }
            }};
            watch.flush();
            if (index > mark / 2) { times.push_back(all.core / static_cast<double>(end - start)); }
        }
        out.row("age", series, mark, bench::median(times));
    }
    watch.finish();
}

}  // namespace

int main(int count, char** arguments) {
    table out{count > 1 ? arguments[1] : nullptr};
    by_tensors(out);
    by_bytes(out);
    by_rules(out);
    by_age(out, "values of 10 tensors");
    by_age(out, "the same, with two rules", non_finite{}, loss_spike{.select = "*"});
    return 0;
}
