// SPDX-License-Identifier: Apache-2.0
// Core (L0): floating-point numbers by their bits: no compiler flag changes a result (-ffast-math deletes isnan).
#pragma once

#include <spotter/core/fwd.hpp>

#include <bit>
#include <cstdint>
#include <type_traits>
#if !defined(__GNUC__) && !defined(__clang__)
#include <cmath>
#endif

namespace spotter::inline SPOTTER_ABI {

// The class of a number; those from pos_inf on are not finite.
enum class number_class : std::uint8_t { zero, subnormal, normal, pos_inf, neg_inf, nan };

// Exponent, mantissa and sign of an IEEE-like binary format held in `Bits`.
template <class Bits, int ExponentBits, int MantissaBits>
struct float_bits {
    static constexpr Bits sign = static_cast<Bits>(Bits{1} << (ExponentBits + MantissaBits));  // the sign's mask
    // The exponent's mask; its value as a number is infinity.
    static constexpr Bits exponent = static_cast<Bits>(((Bits{1} << ExponentBits) - 1) << MantissaBits);
    static constexpr Bits magnitude = static_cast<Bits>(sign - 1);  // mask of all bits but the sign

    // Uses the bits alone, so that compiler flags do not matter.
    [[nodiscard]] static constexpr number_class classify(Bits bits) noexcept {
        Bits const size = static_cast<Bits>(bits & magnitude);
        if (size > exponent) { return number_class::nan; }
        if (size == exponent) { return (bits & sign) != 0 ? number_class::neg_inf : number_class::pos_inf; }
        if (size == 0) { return number_class::zero; }
        return size < static_cast<Bits>(Bits{1} << MantissaBits) ? number_class::subnormal : number_class::normal;
    }
};

using f32_bits = float_bits<std::uint32_t, 8, 23>;   // of float
using f64_bits = float_bits<std::uint64_t, 11, 52>;  // of double

// By reference: under clang's -ffast-math every float that is passed or returned by value is assumed to be finite.
[[nodiscard]] constexpr number_class classify(float const& value) noexcept {
    return f32_bits::classify(std::bit_cast<std::uint32_t>(value));
}
[[nodiscard]] constexpr number_class classify(double const& value) noexcept {
    return f64_bits::classify(std::bit_cast<std::uint64_t>(value));
}
// Neither NaN nor infinite; works under -ffast-math.
template <class Float>
[[nodiscard]] constexpr bool is_finite(Float const& value) noexcept {
    return classify(value) < number_class::pos_inf;
}

// Works under -ffast-math.
[[nodiscard]] constexpr bool is_nan(double const& value) noexcept {
    return std::bit_cast<std::uint64_t>(value) << 1 > f64_bits::exponent << 1;
}

// Converts a finite float to the double of the same value, even where the process flushes subnormals to zero (code
// linked with -ffast-math sets that mode). A subnormal is an integer times 2^-149; both factors are normal doubles.
[[nodiscard]] constexpr double widen(float value) noexcept {
    auto const bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & f32_bits::exponent) != 0) { return static_cast<double>(value); }
    double const size = static_cast<double>(bits & f32_bits::magnitude) * 0x1p-149;
    // The sign as a bit: -ffast-math ignores the sign of a zero.
    auto const sign = static_cast<std::uint64_t>(bits & f32_bits::sign) << 32;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | sign);
}

// |x|, from its bits.
[[nodiscard]] constexpr double magnitude(double value) noexcept {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & f64_bits::magnitude);
}

// Rounds a product before it is added: under -ffp-contract=fast, which -ffast-math implies, clang fuses product and
// sum, whatever a pragma says. Costs no instruction. By reference, so that vectors of any width pass.
template <class Number>
SPOTTER_INLINE constexpr void force_rounding([[maybe_unused]] Number& product) noexcept {
#if defined(__clang__) && !defined(__NVPTX__)  // kernels of a GPU are compiled with -ffp-contract=off
#pragma clang fp reassociate(on)               // clang leaves the fence out where it sees nothing to fence
    if (!std::is_constant_evaluated()) {
#if defined(__x86_64__)
        product = __arithmetic_fence(product);
#elif defined(__aarch64__)
        asm("" : "+w"(product));
#else
        asm("" : "+m"(product));
#endif
    }
#endif
}

namespace detail {

// a * b, where it is added, or where `a` is a difference from 1: clang would fuse either (see force_rounding()).
[[nodiscard]] SPOTTER_STRICT constexpr double rounded_product(double a, double b) noexcept {
    SPOTTER_STRICT_BODY
    force_rounding(a);
    double product = a * b;
    force_rounding(product);
    return product;
}
// x * factor where x is above zero. A value below zero changes by the same share of its size: -1 times 1.1 is -0.9.
[[nodiscard]] SPOTTER_STRICT constexpr double rescaled(double x, double factor) noexcept {
    SPOTTER_STRICT_BODY
    return x + rounded_product(factor - 1, magnitude(x));
}

// The product of two sizes. False if it does not fit into 64 bits; `product` is then undefined.
[[nodiscard]] constexpr bool product_fits(std::uint64_t a, std::uint64_t b, std::uint64_t& product) noexcept {
#if defined(__GNUC__) || defined(__clang__)
    return !__builtin_mul_overflow(a, b, &product);
#else
    product = a * b;
    return b == 0 || product / b == a;
#endif
}

}  // namespace detail

// Square root, also inside a static_assert (there by Newton's iteration, within one unit in the last place).
[[nodiscard]] constexpr double square_root(double value) noexcept {
    if (!std::is_constant_evaluated()) {
#if defined(__GNUC__) || defined(__clang__)
        return __builtin_sqrt(value);
#else
        return std::sqrt(value);
#endif
    }
    if (!(value > 0)) { return 0; }
    double root = value > 1 ? value : 1;
    for (int round = 0; round < 1100; ++round) {
        double const next = 0.5 * (root + value / root);
        if (!(next < root)) { break; }
        root = next;
    }
    return root;
}

// Natural logarithm of a positive finite number; -1e308 for zero and negative numbers. The same on every platform (no
// libm). value = 2^k * m with m near 1, and ln m = 2 artanh((m-1)/(m+1)); the series at |argument| <= 0.172 is exact to
// double after 11 terms.
[[nodiscard]] SPOTTER_STRICT constexpr double natural_log(double value) noexcept {
    SPOTTER_STRICT_BODY
    auto bits = std::bit_cast<std::uint64_t>(value);
    if (bits == 0 || (bits & f64_bits::sign) != 0) { return -1e308; }
    int power = -1023;
    if (bits < 0x0010000000000000ULL) {  // an integer times 2^-1074; works where subnormals are flushed
        bits = std::bit_cast<std::uint64_t>(static_cast<double>(bits));
        power -= 1074;
    }
    power += static_cast<int>(bits >> 52);
    double mantissa = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
    if (mantissa > 1.41421356237309504880) {
        mantissa *= 0.5;
        ++power;
    }
    double const ratio = (mantissa - 1) / (mantissa + 1);
    double const square = ratio * ratio;
    double series = 0;
    for (int term = 23; term >= 1; term -= 2) {
        double product = series * square;
        force_rounding(product);
        series = product + 1.0 / term;
    }
    double rest = 2 * ratio * series;
    double large = power * 0.693147180559945309417;
    force_rounding(rest), force_rounding(large);
    return rest + large;
}
// Base-10 logarithm, like natural_log.
[[nodiscard]] constexpr double decimal_log(double value) noexcept {
    return natural_log(value) * 0.434294481903251827651;
}

// e^value by halving the argument until the series converges within a double's precision; for reports, not for sums.
[[nodiscard]] SPOTTER_STRICT constexpr double exponential(double value) noexcept {
    SPOTTER_STRICT_BODY
    if (value > 709) { return 1.7e308; }
    if (value < -709) { return 0; }
    int halvings = 0;
    while (magnitude(value) > 0.125) { value *= 0.5, ++halvings; }
    double term = 1, series = 1;
    for (int i = 1; i < 14; ++i) { series += term *= value / i; }
    for (; halvings > 0; --halvings) { series *= series; }
    return series;
}

// 64-bit hash of bytes for name look-up (FNV-1a: short inputs, no alignment, constexpr). `hash` is the hash of the
// bytes before these.
template <class Char>
[[nodiscard]] constexpr std::uint64_t hash_bytes(Char const* bytes, std::size_t count,
                                                 std::uint64_t hash = 0xCBF29CE484222325ULL) noexcept {
    for (std::size_t i = 0; i < count; ++i) { hash = (hash ^ static_cast<unsigned char>(bytes[i])) * 0x100000001B3ULL; }
    return hash;
}

}  // namespace spotter::inline SPOTTER_ABI
