// SPDX-License-Identifier: Apache-2.0
// Stat (L1): adds rows of a layer to the totals of its units, many units at a time; bit-equal to the walks in
// units.hpp.
#pragma once

#include <spotter/stat/change_kernel.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// One element for each unit. Non-zero finite elements: active += 1; finite elements: finite += 1.
template <std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void count_row(float const* row, std::size_t count, std::uint32_t* active,
                                             std::uint32_t* finite) noexcept {
    using Whole = vec<std::int32_t, Bytes>;
    constexpr std::size_t step = Bytes / sizeof(float);
    constexpr std::int32_t infinity = static_cast<std::int32_t>(f32_bits::exponent);
    constexpr std::int32_t size_mask = static_cast<std::int32_t>(f32_bits::magnitude);
    std::size_t i = 0;
    for (; i + step <= count; i += step) {
        Whole size, on, known;
        std::memcpy(&size, row + i, Bytes);
        std::memcpy(&on, active + i, Bytes);
        std::memcpy(&known, finite + i, Bytes);
        size &= size_mask;
        Whole const is_finite = size < infinity;
        on -= is_finite & (size > 0);
        known -= is_finite;
        std::memcpy(active + i, &on, Bytes);
        std::memcpy(finite + i, &known, Bytes);
    }
    for (; i < count; ++i) {
        number_class const kind = classify(row[i]);
        active[i] += kind == number_class::normal || kind == number_class::subnormal ? 1U : 0U;
        finite[i] += kind < number_class::pos_inf ? 1U : 0U;
    }
}
// For finite elements: sums += |x|, finite += 1.
template <std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void add_row_sizes(float const* row, std::size_t count, double* sums,
                                                 double* finite) noexcept {
    SPOTTER_STRICT_BODY
    using D = vec<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double);
    std::size_t const whole = count / lane_count * lane_count;
    std::size_t i = 0;
    if (whole > 0 && all_plain<float, Bytes>(row, whole)) {
        for (; i < whole; i += 2 * wide) {
            D x[2];
            load_wide<Bytes>(row + i, x);
            SPOTTER_UNROLL
            for (std::size_t k = 0; k < 2; ++k) {
                D size = x[k], sum, known;
                clear_sign(size);
                std::memcpy(&sum, sums + i + k * wide, Bytes);
                std::memcpy(&known, finite + i + k * wide, Bytes);
                sum += size;
                known += 1.0;
                std::memcpy(sums + i + k * wide, &sum, Bytes);
                std::memcpy(finite + i + k * wide, &known, Bytes);
            }
        }
    }
    for (; i < count; ++i) {
        seen_element const x = see(row[i]);
        if (x.kind >= number_class::pos_inf) { continue; }
        sums[i] += x.size;
        finite[i] += 1;
    }
}

SPOTTER_STRICT SPOTTER_NOINLINE inline void count_row_baseline(float const* row, std::size_t count,
                                                               std::uint32_t* active, std::uint32_t* finite) noexcept {
    count_row<16>(row, count, active, finite);
}
SPOTTER_STRICT SPOTTER_NOINLINE inline void add_row_sizes_baseline(float const* row, std::size_t count, double* sums,
                                                                   double* finite) noexcept {
    add_row_sizes<16>(row, count, sums, finite);
}
#if SPOTTER_X86_DISPATCH
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx2"))) inline void
count_row_avx2(float const* row, std::size_t count, std::uint32_t* active, std::uint32_t* finite) noexcept {
    count_row<32>(row, count, active, finite);
}
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx2"))) inline void
add_row_sizes_avx2(float const* row, std::size_t count, double* sums, double* finite) noexcept {
    add_row_sizes<32>(row, count, sums, finite);
}
#endif
inline void count_row_fast(float const* row, std::size_t count, std::uint32_t* active, std::uint32_t* finite) noexcept {
#if SPOTTER_X86_DISPATCH
    if (__builtin_cpu_supports("avx2")) { return count_row_avx2(row, count, active, finite); }
#endif
    count_row_baseline(row, count, active, finite);
}
inline void add_row_sizes_fast(float const* row, std::size_t count, double* sums, double* finite) noexcept {
#if SPOTTER_X86_DISPATCH
    if (__builtin_cpu_supports("avx2")) { return add_row_sizes_avx2(row, count, sums, finite); }
#endif
    add_row_sizes_baseline(row, count, sums, finite);
}

// Calls use(elements, first unit, count) for pieces of each row, as floats; for types that are is_narrow.
template <class Use>
void each_row(tensor_ref const& tensor, std::size_t units, Use&& use) noexcept {
    widened_blocks<float> pieces{tensor};
    auto const all = as_size(tensor.count);
    for (std::size_t row = 0; row < all; row += units) {
        for (std::size_t unit = 0; unit < units; unit += block_size) {
            std::size_t const count = units - unit < block_size ? units - unit : block_size;
            use(pieces.take(row + unit, count), unit, count);
        }
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
