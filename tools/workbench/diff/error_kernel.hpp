// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: the errors of one block of two tensors, many lanes at a time.
#pragma once

#include <spotter/stat/kernel.hpp>
#include <spotter/stat/lanes.hpp>

#include <cstring>
#include <limits>
#include <type_traits>

namespace spotter::inline SPOTTER_ABI::detail {

// Sums over all elements that are finite on both sides. Element i of a tensor belongs to lane i % 16, whatever the
// block.
struct error_sums {
    lane_sums gap;    // |a - b|^2
    lane_sums dot;    // a * b
    lane_sums a, b;   // |a|^2, |b|^2
    double absolute;  // the largest |a - b| of this block
    double relative;  // the largest |a - b| / max(|a|, |b|) of this block
};

// One vector of lanes. Each sum is a separate variable: g++ keeps arrays of them in memory.
template <std::size_t Bytes>
struct error_vectors {
    using D = vec<double, Bytes>;
    D gap, dot, a, b, absolute{}, relative{};

    SPOTTER_INLINE void load(error_sums const& from, std::size_t lane) noexcept {
        std::memcpy(&gap, from.gap.lane + lane, Bytes);
        std::memcpy(&dot, from.dot.lane + lane, Bytes);
        std::memcpy(&a, from.a.lane + lane, Bytes);
        std::memcpy(&b, from.b.lane + lane, Bytes);
    }
    SPOTTER_STRICT SPOTTER_INLINE void add(D const& x, D const& y) noexcept {
        SPOTTER_STRICT_BODY
        D const error = x - y;
        D squared = error * error, product = x * y, of_a = x * x, of_b = y * y;
        force_rounding(squared), force_rounding(product), force_rounding(of_a), force_rounding(of_b);
        gap += squared, dot += product, a += of_a, b += of_b;
        D size = error, larger = y, size_x = x, divisor;
        clear_sign(size), clear_sign(larger), clear_sign(size_x);
        keep_larger(larger, size_x);
        blend(divisor, larger > 0.0, larger, D{} + 1.0);
        D const share = size / divisor;
        keep_larger(absolute, size);
        keep_larger(relative, share);
    }
    SPOTTER_INLINE void store(error_sums& into, std::size_t lane) const noexcept {
        std::memcpy(into.gap.lane + lane, &gap, Bytes);
        std::memcpy(into.dot.lane + lane, &dot, Bytes);
        std::memcpy(into.a.lane + lane, &a, Bytes);
        std::memcpy(into.b.lane + lane, &b, Bytes);
        for (std::size_t i = 0; i < Bytes / sizeof(double); ++i) {
            into.absolute = absolute[i] > into.absolute ? absolute[i] : into.absolute;
            into.relative = relative[i] > into.relative ? relative[i] : into.relative;
        }
    }
};

template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void add_errors_in(Float const* a, Float const* b, std::size_t count,
                                                 error_sums& into) noexcept {
    using D = vec<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double);
    for (std::size_t lane = 0; lane < lane_count; lane += 2 * wide) {
        error_vectors<Bytes> low, high;
        low.load(into, lane);
        high.load(into, lane + wide);
        for (std::size_t i = lane; i < count; i += lane_count) {
            D x[2], y[2];
            load_wide<Bytes>(a + i, x);
            load_wide<Bytes>(b + i, y);
            low.add(x[0], y[0]);
            high.add(x[1], y[1]);
        }
        low.store(into, lane);
        high.store(into, lane + wide);
    }
}
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE inline void add_errors_baseline(Float const* a, Float const* b, std::size_t count,
                                                                error_sums& into) noexcept {
    add_errors_in<Float, 16>(a, b, count, into);
}
#if SPOTTER_X86_DISPATCH
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx2"))) inline void
add_errors_avx2(Float const* a, Float const* b, std::size_t count, error_sums& into) noexcept {
    add_errors_in<Float, 32>(a, b, count, into);
}
#endif

// Requires finite elements, and a multiple of 16 of them (zeros on both sides add nothing).
template <class Float>
inline void add_errors(Float const* a, Float const* b, std::size_t count, error_sums& into) noexcept {
    into.absolute = into.relative = 0;
#if SPOTTER_X86_DISPATCH
    if (__builtin_cpu_supports("avx2")) { return add_errors_avx2(a, b, count, into); }
#endif
    add_errors_baseline(a, b, count, into);
}

// The distance of elements, as integers in the order of the numbers: for floats in units in the last place.
struct key_errors {
    std::uint64_t largest = 0;
    std::uint64_t differing = 0;
};
template <class Key>
SPOTTER_VECTORS SPOTTER_INLINE key_errors compare_keys_in(Key const* a, Key const* b, std::size_t count) noexcept {
    using Unsigned = std::make_unsigned_t<Key>;
    Unsigned largest = 0, differing = 0;
    for (std::size_t i = 0; i < count; ++i) {
        Unsigned const x = static_cast<Unsigned>(a[i]), y = static_cast<Unsigned>(b[i]);
        Unsigned const gap = a[i] > b[i] ? static_cast<Unsigned>(x - y) : static_cast<Unsigned>(y - x);
        largest = gap > largest ? gap : largest;
        differing = static_cast<Unsigned>(differing + (gap != 0 ? 1U : 0U));
    }
    return {largest, differing};
}
template <class Key>
SPOTTER_VECTORS SPOTTER_NOINLINE inline key_errors compare_keys_baseline(Key const* a, Key const* b,
                                                                         std::size_t count) noexcept {
    return compare_keys_in(a, b, count);
}
#if SPOTTER_X86_DISPATCH
template <class Key>
SPOTTER_VECTORS SPOTTER_NOINLINE __attribute__((target("avx2"))) inline key_errors
compare_keys_avx2(Key const* a, Key const* b, std::size_t count) noexcept {
    return compare_keys_in(a, b, count);
}
#endif
template <class Key>
[[nodiscard]] inline key_errors compare_keys(Key const* a, Key const* b, std::size_t count) noexcept {
#if SPOTTER_X86_DISPATCH
    if (__builtin_cpu_supports("avx2")) { return compare_keys_avx2(a, b, count); }
#endif
    return compare_keys_baseline(a, b, count);
}

// The bits of a float as an integer with the order of the numbers; both zeros are 0, and adjacent numbers are adjacent
// integers.
template <class Bits>
[[nodiscard]] SPOTTER_INLINE constexpr Bits ordered_key(Bits bits) noexcept {
    constexpr Bits sign = (std::numeric_limits<Bits>::min)();
    return bits < 0 ? static_cast<Bits>(static_cast<std::make_unsigned_t<Bits>>(sign) -
                                        static_cast<std::make_unsigned_t<Bits>>(bits))
                    : bits;
}
template <class Float>
SPOTTER_VECTORS SPOTTER_NOINLINE inline void order_floats(Float const* from, std::size_t count,
                                                          bits_of<Float>* into) noexcept {
    for (std::size_t i = 0; i < count; ++i) { into[i] = ordered_key(__builtin_bit_cast(bits_of<Float>, from[i])); }
}

// Whether every element is finite.
template <class Float>
[[nodiscard]] SPOTTER_VECTORS SPOTTER_NOINLINE inline bool all_finite(Float const* values, std::size_t count) noexcept {
    using Bits = bits_of<Float>;
    constexpr auto exponent = __builtin_bit_cast(Bits, std::numeric_limits<Float>::infinity());
    Bits other = 0;
    for (std::size_t i = 0; i < count; ++i) {
        other |= (__builtin_bit_cast(Bits, values[i]) & exponent) == exponent ? Bits{1} : Bits{0};
    }
    return other == 0;
}

// The number of pairs of zeros with different signs.
template <class Float>
[[nodiscard]] SPOTTER_VECTORS SPOTTER_NOINLINE inline std::uint64_t count_zero_signs(Float const* a, Float const* b,
                                                                                     std::size_t count) noexcept {
    using Bits = bits_of<Float>;
    constexpr Bits sign = (std::numeric_limits<Bits>::min)();
    Bits found = 0;
    for (std::size_t i = 0; i < count; ++i) {
        Bits const x = __builtin_bit_cast(Bits, a[i]), y = __builtin_bit_cast(Bits, b[i]);
        found = static_cast<Bits>(found + ((x ^ y) == sign && ((x | y) & ~sign) == 0 ? 1 : 0));
    }
    return static_cast<std::uint64_t>(found);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
