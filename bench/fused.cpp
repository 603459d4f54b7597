// SPDX-License-Identifier: Apache-2.0
// T6: the cost on the training thread of a tensor kept with values and seven statistics, compared with a memcpy of it.
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/spotter.hpp>
#include <spotter/stat/summarize.hpp>

#include <cstring>

using namespace spotter;

namespace {

constexpr std::uint64_t ring_bytes = 256ULL << 20;
constexpr stats_mask seven = stats(minimum, maximum, mean, variance, l1, l2, zeros);

[[nodiscard]] auto make_hook(std::string_view path, stats_mask keep) {
    return hook{path, plan{collection{"all", "*", always{}, keep}},
                options{.drain = drain::poll, .copying = copying::streaming, .ring_bytes = ring_bytes}};
}

// A recorded run. This thread writes the records between the measurements.
class kept_run {
public:
    explicit kept_run(stats_mask keep) : watch_{make_hook(folder_.path(), keep)} { watch_.begin(train(index_++)); }
    void hand(std::vector<float> const& values) noexcept { watch_.observe("weight", values); }
    void rest() {
        (void)watch_.end();
        watch_.flush();
        watch_.begin(train(index_++));
    }
    void finish() {
        (void)watch_.end();
        health_report const health = watch_.health();
        if (!health.good() || health.sink.dropped + health.sink.thinned > 0) {
            std::printf("  not a measurement: %s, dropped %llu, thinned %llu\n",
                        std::string{health.first_error.what.view()}.c_str(),
                        static_cast<unsigned long long>(health.sink.dropped),
                        static_cast<unsigned long long>(health.sink.thinned));
        }
    }

private:
    bench::scratch_folder folder_;
    decltype(make_hook({}, {})) watch_;
    std::uint64_t index_ = 0;
};

// Measures the control and the subjects in turn, so that a busy neighbour slows all of them alike.
void tensors(std::string const& size, std::size_t bytes, std::size_t calls, std::size_t rounds) {
    std::vector<float> const values = bench::weights(bytes / sizeof(float));
    std::vector<std::byte> memory(ring_bytes);  // touched, and cycled through like the ring
    std::size_t at = 0;
    bench::samples copy, only_stats, only_values, both;
    kept_run with_values{payload}, with_both{payload | seven};
    with_values.hand(values), with_both.hand(values);  // declares
    for (std::size_t round = 0; round < rounds; ++round) {
        with_values.rest(), with_both.rest();
        for (std::size_t i = 0; i < 4; ++i) {
            copy.time(calls, [&] {
                at = at + bytes > memory.size() ? 0 : at;
                std::memcpy(memory.data() + at, values.data(), bytes);
                bench::do_not_optimise(memory);
                at += bytes;
            });
            only_stats.time(calls, [&] { bench::do_not_optimise(summarize(as_tensor(values), seven)); });
            only_values.time(calls, [&] { with_values.hand(values); });
            both.time(calls, [&] { with_both.hand(values); });
        }
    }
    with_values.finish(), with_both.finish();
    double const control = copy.median();
    std::string const beside = bench::control("memcpy", control / 1000, "us");
    bench::figure("  seven statistics of " + size, only_stats.median() / control, "x memcpy", beside);
    bench::figure("  hook.observe of " + size + ", values only", only_values.median() / control, "x memcpy", beside);
    bench::target("T6 hook.observe of " + size + ", values and seven statistics", both.median() / control, "x memcpy",
                  bench::wanted::at_most, 1.35, beside);
}

}  // namespace

int main() {
    tensors("64 KiB", 64U << 10, 16, bench::rounds(60, 6));
    tensors("1 MiB", 1U << 20, 4, bench::rounds(40, 3));
    tensors("16 MiB", 16U << 20, 1, bench::rounds(10, 2));
    return 0;
}
