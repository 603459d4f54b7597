// SPDX-License-Identifier: Apache-2.0
// Stat (L1): converts blocks of types without their own kernels to floats or doubles.
#pragma once

#include <spotter/core/tensor_ref.hpp>
#include <spotter/stat/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace spotter::inline SPOTTER_ABI::detail {

// 16-bit and smaller values fit a float, 32-bit integers a double; 64-bit integers are rounded to double, as
// everywhere.
template <class Value>
using wide_of = std::conditional_t<sizeof(Value) <= 2, float, double>;

// By a shift: g++ makes a branch of a comparison, and does not vectorize branches.
[[nodiscard]] SPOTTER_VECTORS SPOTTER_INLINE std::uint32_t ones_if_below(std::uint32_t value,
                                                                         std::uint32_t limit) noexcept {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(value - limit) >> 31);
}

// float_bits_of without branches. A subnormal is an integer times a power of two. `top` is the smallest magnitude that
// is not a normal number; from there on the exponent becomes that of infinity.
template <int ExponentBits, int MantissaBits>
[[nodiscard]] SPOTTER_VECTORS SPOTTER_INLINE std::uint32_t small_float_bits(std::uint32_t bits,
                                                                            std::uint32_t top) noexcept {
    constexpr int bias = (1 << (ExponentBits - 1)) - 1;
    constexpr int up = 23 - MantissaBits;
    constexpr std::uint32_t to_infinity = 255U - ((1U << ExponentBits) - 1) - (127U - bias);
    constexpr float least = __builtin_bit_cast(float, static_cast<std::uint32_t>(127 + 1 - bias - MantissaBits) << 23);
    std::uint32_t const sign = (bits >> (ExponentBits + MantissaBits)) << 31;
    std::uint32_t const size = bits & ((1U << (ExponentBits + MantissaBits)) - 1);
    std::uint32_t const is_small = ones_if_below(size, 1U << MantissaBits);
    std::uint32_t const beyond = ~ones_if_below(size, top) & (to_infinity << 23);
    std::uint32_t const normal = (size << up) + ((127U - bias) << 23) + beyond;
    float const tiny = static_cast<float>(static_cast<std::int32_t>(size)) * least;
    return sign | (__builtin_bit_cast(std::uint32_t, tiny) & is_small) | (normal & ~is_small);
}

// The sum of two halves that are exact in double, so that it rounds once, like a conversion. Processors before AVX-512
// have no vector conversion, and for unsigned numbers only one with a branch. `high` carries 2^84, `low` 2^52.
[[nodiscard]] SPOTTER_VECTORS SPOTTER_INLINE double double_of_halves(std::uint64_t value, double offset) noexcept {
    SPOTTER_STRICT_BODY
    double const high = __builtin_bit_cast(double, (value >> 32) | 0x4530000000000000U);
    double const low = __builtin_bit_cast(double, (value & 0xFFFFFFFFU) | 0x4330000000000000U);
    double top = high - offset;
    force_rounding(top);
    return top + low;
}

template <class Value>
SPOTTER_VECTORS SPOTTER_INLINE void widen_each(Value const* from, std::size_t count, wide_of<Value>* into) noexcept {
    SPOTTER_STRICT_BODY
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<Value, bf16>) {
            into[i] = __builtin_bit_cast(float, float_bits_of(from[i]));
        } else if constexpr (std::is_same_v<Value, f16>) {
            into[i] = __builtin_bit_cast(float, small_float_bits<5, 10>(from[i].bits, 0x7C00U));
        } else if constexpr (std::is_same_v<Value, f8_e5m2>) {
            into[i] = __builtin_bit_cast(float, small_float_bits<5, 2>(from[i].bits, 0x7CU));
        } else if constexpr (std::is_same_v<Value, f8_e4m3>) {  // has no infinity, and one NaN
            into[i] = __builtin_bit_cast(float, small_float_bits<4, 3>(from[i].bits, 0x7FU));
        } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
            into[i] = double_of_halves(from[i], 0x1p84 + 0x1p52);
        } else if constexpr (std::is_same_v<Value, std::int64_t>) {
            into[i] = double_of_halves(static_cast<std::uint64_t>(from[i]) ^ (std::uint64_t{1} << 63),
                                       0x1p84 + 0x1p63 + 0x1p52);
        } else {
            into[i] = static_cast<wide_of<Value>>(from[i]);
        }
    }
}

// Whether the kernels take a type, which is not complex, as floats rather than doubles.
[[nodiscard]] constexpr bool is_narrow(dtype type) noexcept { return size_of(type) <= 2 || type == dtype::f32; }

// Converts elements of a type that is not complex to `Wide`, the kernels' type for it.
template <class Wide>
SPOTTER_VECTORS SPOTTER_INLINE void widen_any(dtype type, void const* from, std::size_t count, Wide* into) noexcept {
    if (type == dtype_of<Wide>) {
        if (count > 0) { std::memcpy(into, from, count * sizeof(Wide)); }
        return;
    }
    if constexpr (std::is_same_v<Wide, float>) {
        switch (type) {
            case dtype::i8:
                return widen_each(static_cast<std::int8_t const*>(from), count, into);
            case dtype::i16:
                return widen_each(static_cast<std::int16_t const*>(from), count, into);
            case dtype::u16:
                return widen_each(static_cast<std::uint16_t const*>(from), count, into);
            case dtype::f16:
                return widen_each(static_cast<f16 const*>(from), count, into);
            case dtype::bf16:
                return widen_each(static_cast<bf16 const*>(from), count, into);
            case dtype::f8_e4m3:
                return widen_each(static_cast<f8_e4m3 const*>(from), count, into);
            case dtype::f8_e5m2:
                return widen_each(static_cast<f8_e5m2 const*>(from), count, into);
            default:  // a bool is 0 or 1; g++ does not vectorize bool
                return widen_each(static_cast<std::uint8_t const*>(from), count, into);
        }
    } else {
        switch (type) {
            case dtype::i32:
                return widen_each(static_cast<std::int32_t const*>(from), count, into);
            case dtype::u32:
                return widen_each(static_cast<std::uint32_t const*>(from), count, into);
            case dtype::i64:
                return widen_each(static_cast<std::int64_t const*>(from), count, into);
            default:
                return widen_each(static_cast<std::uint64_t const*>(from), count, into);
        }
    }
}

// The only loops for each type. The kernels for floats and doubles are always cloned for several instruction sets;
// these loops only in the compiled library, because every file that includes a hook would pay for the clones.
#if SPOTTER_X86_DISPATCH && defined(SPOTTER_SEPARATE)
#define SPOTTER_WIDEN_DISPATCH 1
#else
#define SPOTTER_WIDEN_DISPATCH 0
#endif

template <class Wide>
SPOTTER_VECTORS SPOTTER_NOINLINE inline void widen_baseline(dtype type, void const* from, std::size_t count,
                                                            Wide* into) noexcept {
    widen_any(type, from, count, into);
}
#if SPOTTER_WIDEN_DISPATCH
template <class Wide>
SPOTTER_VECTORS SPOTTER_NOINLINE __attribute__((target("avx2"))) inline void
widen_avx2(dtype type, void const* from, std::size_t count, Wide* into) noexcept {
    widen_any(type, from, count, into);
}
#endif
template <class Wide>
inline void widen_block(dtype type, void const* from, std::size_t count, Wide* into) noexcept {
#if SPOTTER_WIDEN_DISPATCH
    if (__builtin_cpu_supports("avx2")) { return widen_avx2(type, from, count, into); }
#endif
    widen_baseline(type, from, count, into);
}

// The same for a type known at compile time.
template <class Value>
inline void widen_block(Value const* from, std::size_t count, wide_of<Value>* into) noexcept {
    widen_block(dtype_of<Value>, from, count, into);
}

// Blocks of a tensor that is not complex, in the kernels' type: in place, or widened and valid until the next take().
template <class Float>
class widened_blocks {
public:
    explicit widened_blocks(tensor_ref const& of) noexcept
        : from_{static_cast<unsigned char const*>(of.values.raw)}, bytes_{size_of(of.type)}, type_{of.type} {}
    [[nodiscard]] Float const* take(std::size_t first, std::size_t count) noexcept {
        unsigned char const* const block = from_ + first * bytes_;
        if (type_ == dtype_of<Float>) { return reinterpret_cast<Float const*>(block); }
        widen_block(type_, block, count, buffer_);
        return buffer_;
    }

private:
    unsigned char const* from_;
    std::size_t bytes_;
    dtype type_;
    alignas(64) Float buffer_[block_size];
};

// The parts of a block of complex numbers, an even number of them. Only for c64: the squares of doubles may overflow.
struct complex_parts {
    alignas(64) double real[block_size], size[block_size], square[block_size];
};
template <class Pair>
SPOTTER_VECTORS SPOTTER_INLINE void split_each(Pair const* from, std::size_t count, complex_parts& into) noexcept {
    SPOTTER_STRICT_BODY
    for (std::size_t i = 0; i < count; ++i) {
        auto const re = static_cast<double>(from[i].re);
        auto const im = static_cast<double>(from[i].im);
        double const square = re * re + im * im;  // both products are exact
        into.real[i] = re;
        into.square[i] = square;
    }
    for (std::size_t i = 0; i < count; i += 2) {  // pairs by hand: errno keeps compilers from vectorizing
#if SPOTTER_GNU_VECTORS
        vec<double, 16> pair;
        std::memcpy(&pair, into.square + i, sizeof pair);
#if defined(__clang__) && __has_builtin(__builtin_elementwise_sqrt)
        pair = __builtin_elementwise_sqrt(pair);
#elif defined(__SSE2__) && !defined(__clang__)
        pair = __builtin_ia32_sqrtpd(pair);
#else
        pair[0] = square_root(pair[0]), pair[1] = square_root(pair[1]);
#endif
        std::memcpy(into.size + i, &pair, sizeof pair);
#else
        into.size[i] = square_root(into.square[i]), into.size[i + 1] = square_root(into.square[i + 1]);
#endif
    }
}
template <class Pair>
SPOTTER_VECTORS SPOTTER_NOINLINE inline void split_baseline(Pair const* from, std::size_t count,
                                                            complex_parts& into) noexcept {
    split_each(from, count, into);
}
#if SPOTTER_WIDEN_DISPATCH
template <class Pair>
SPOTTER_VECTORS SPOTTER_NOINLINE __attribute__((target("avx2"))) inline void
split_avx2(Pair const* from, std::size_t count, complex_parts& into) noexcept {
    split_each(from, count, into);
}
#endif
template <class Pair>
inline void split_block(Pair const* from, std::size_t count, complex_parts& into) noexcept {
#if SPOTTER_WIDEN_DISPATCH
    if (__builtin_cpu_supports("avx2")) { return split_avx2(from, count, into); }
#endif
    split_baseline(from, count, into);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
