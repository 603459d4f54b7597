// SPDX-License-Identifier: Apache-2.0
// T5: the speed of the single pass over a tensor, compared with a plain sum over the same bytes.
#include "bench.hpp"
#include "read_sum.hpp"

#include <spotter/core/tensor_access.hpp>
#include <spotter/stat/summarize.hpp>

#include <cstring>
#include <memory>

using namespace spotter;

namespace {

constexpr stats_mask seven = stats_mask::nonfinite | stats_mask::zeros | stats_mask::range | stats_mask::sum |
                             stats_mask::sum_abs | stats_mask::sum_squares | stats_mask::variance;

// GB/s at the median; the warm-up loads small tensors into the cache.
template <class Call>
[[nodiscard]] double rate(std::size_t bytes, Call&& call) {
    std::size_t const calls = bytes >= (16U << 20) ? 1 : (std::max)((std::size_t{4} << 20) / bytes, std::size_t{1});
    std::size_t const times = bytes >= (16U << 20) ? bench::rounds(9, 3) : bench::rounds(400, 40);
    bench::samples each;
    call();
    for (std::size_t i = 0; i < times; ++i) { each.time(calls, call); }
    return static_cast<double>(bytes) / each.median();
}
[[nodiscard]] double summary_rate(tensor_ref const& tensor, stats_mask wanted) {
    return rate(static_cast<std::size_t>(tensor.bytes()), [&] { bench::do_not_optimise(summarize(tensor, wanted)); });
}
[[nodiscard]] double read_rate(void const* from, std::size_t bytes) {
    return rate(bytes, [&] { bench::do_not_optimise(bench::read_sum(from, bytes)); });
}

// The kernels of narrower vectors, which this processor would not choose.
template <class Path>
[[nodiscard]] double path_rate(Path gather_path, std::vector<float> const& values) {
    std::size_t const bytes = 512U << 10;
    return rate(bytes, [&] {
        gathered into;
        (void)gather_path(values.data(), bytes / sizeof(float), 0, seven, into);
        bench::do_not_optimise(into);
    });
}

// As many of `values` as fit into 512 KiB, each converted to another type.
template <class Value, class Convert>
void type_rate(char const* name, std::vector<float> const& values, double f32, Convert&& convert) {
    std::size_t const count = (512U << 10) / sizeof(Value);
    auto const converted = std::make_unique<Value[]>(count);  // not a vector: one of bool has no contiguous memory
    for (std::size_t i = 0; i < count; ++i) { converted[i] = convert(values[i]); }
    double const now = summary_rate(view_of(converted.get(), {count}), seven);
    bench::figure(std::string{"  seven terms of "} + name, now, "GB/s",
                  bench::control("elements", now / sizeof(Value), "G/s") + ", " +
                      bench::control("of f32", f32 / sizeof(float), "G/s"));
}

}  // namespace

int main() {
    std::size_t const large = 256U << 20;
    std::vector<float> const values = bench::weights(large / sizeof(float));
    auto const first = [&](std::size_t bytes) { return view_of(values.data(), {bytes / sizeof(float)}); };

    double slowest = 0;
    double read_in_cache = 0;
    for (std::size_t const bytes : {256U << 10, 512U << 10, 1024U << 10}) {
        double const now = summary_rate(first(bytes), seven);
        slowest = slowest == 0 ? now : (std::min)(slowest, now);
        read_in_cache = read_rate(values.data(), bytes);
        bench::figure("  seven terms of " + std::to_string(bytes >> 10) + " KiB of f32", now, "GB/s",
                      bench::control("read-sum", read_in_cache, "GB/s"));
    }
    bool wide = false;
#if SPOTTER_X86_DISPATCH
    wide = __builtin_cpu_supports("avx2");
#endif
    bench::target("T5 stats in L2, slowest of the three", slowest, "GB/s", bench::wanted::at_least, wide ? 12 : 4,
                  bench::control("read-sum", read_in_cache, "GB/s"));
#if SPOTTER_X86_DISPATCH
    if (wide) { bench::figure("  the same with AVX2 only", path_rate(detail::gather_avx2<float>, values), "GB/s"); }
#endif
    bench::target("T5 stats in L2 without AVX2", path_rate(detail::gather_baseline<float>, values), "GB/s",
                  bench::wanted::at_least, 4);

    bench::samples reads, passes;  // in turn, so that a busy neighbour slows both alike
    for (std::size_t i = 0; i < bench::rounds(9, 3); ++i) {
        reads.time(1, [&] { bench::do_not_optimise(bench::read_sum(values.data(), large)); });
        passes.time(1, [&] { bench::do_not_optimise(summarize(first(large), seven)); });
    }
    double const read = static_cast<double>(large) / reads.median();
    bench::target("T5 stats of 256 MiB", static_cast<double>(large) / passes.median(), "GB/s", bench::wanted::at_least,
                  0.8 * read, bench::control("0.8 x read-sum of", read, "GB/s"));

    struct {
        char const* name;
        stats_mask wanted;
    } const single[] = {{"nonfinite", stats_mask::nonfinite},
                        {"zeros", stats_mask::zeros},
                        {"range", stats_mask::range},
                        {"abs_range", stats_mask::abs_range},
                        {"sum", stats_mask::sum},
                        {"sum_abs", stats_mask::sum_abs},
                        {"sum_squares", stats_mask::sum_squares},
                        {"variance", stats_mask::variance},
                        {"product", stats_mask::product},
                        {"hash", stats_mask::hash}};
    for (auto const& each : single) {
        bench::figure(std::string{"  512 KiB of f32, only "} + each.name, summary_rate(first(512U << 10), each.wanted),
                      "GB/s");
    }

    double const f32 = summary_rate(first(512U << 10), seven);
    auto const scaled = [](double scale) {
        return [scale](float x) { return static_cast<std::int64_t>(static_cast<double>(x) * scale) | 1; };
    };
    type_rate<double>("f64", values, f32, [](float x) { return static_cast<double>(x); });
    type_rate<bf16>("bf16", values, f32,
                    [](float x) { return bf16{static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16)}; });
    // Bits of normal numbers of both signs.
    type_rate<f16>("f16", values, f32,
                   [&](float x) { return f16{static_cast<std::uint16_t>((scaled(1e5)(x) & 0x83FF) | 0x2C00)}; });
    type_rate<f8_e4m3>("f8_e4m3", values, f32,
                       [&](float x) { return f8_e4m3{static_cast<std::uint8_t>((scaled(500)(x) & 0x8F) | 0x30)}; });
    type_rate<f8_e5m2>("f8_e5m2", values, f32,
                       [&](float x) { return f8_e5m2{static_cast<std::uint8_t>((scaled(500)(x) & 0x87) | 0x38)}; });
    type_rate<std::int8_t>("i8", values, f32, [&](float x) { return static_cast<std::int8_t>(scaled(500)(x)); });
    type_rate<std::uint8_t>("u8", values, f32, [&](float x) { return static_cast<std::uint8_t>(scaled(500)(x)); });
    type_rate<std::int16_t>("i16", values, f32, [&](float x) { return static_cast<std::int16_t>(scaled(1e5)(x)); });
    type_rate<std::int32_t>("i32", values, f32, [&](float x) { return static_cast<std::int32_t>(scaled(1e6)(x)); });
    type_rate<std::int64_t>("i64", values, f32, scaled(1e12));
    type_rate<std::uint64_t>("u64", values, f32, [&](float x) { return static_cast<std::uint64_t>(scaled(1e12)(x)); });
    type_rate<bool>("bool", values, f32, [](float x) { return x > 0; });
    type_rate<c64>("c64", values, f32, [](float x) { return c64{x, x}; });

    // A run that diverged: the speed with non-finite values as a share of the speed without, measured in pairs.
    for (std::size_t const every : {block_size, std::size_t{2}, std::size_t{1}}) {
        std::vector<float> sick(values.begin(), values.begin() + (512 << 10) / 4);
        for (std::size_t i = 0; i < sick.size(); i += every) { sick[i] = std::bit_cast<float>(0x7FC00000U); }
        double least = 1e12, clean = 0;
        for (int i = 0; i < 5; ++i) {
            double const without = summary_rate(first(512U << 10), seven);
            double const share = summary_rate(view_of(sick.data(), {sick.size()}), seven) / without;
            if (share < least) { least = share, clean = without; }
        }
        bench::target("T23 seven terms of f32, a NaN every " + std::to_string(every), least, "x the speed without",
                      bench::wanted::at_least, 0.5, bench::control("without", clean, "GB/s"));
    }
    return 0;
}
