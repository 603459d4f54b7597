// SPDX-License-Identifier: Apache-2.0
// Core (L0): the element types in one table: name, size, and the C++ type of each.
#pragma once

#include <spotter/core/bits.hpp>

#include <array>
#include <concepts>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The values are part of the file format (docs/format.md).
enum class dtype : std::uint8_t {
    none = 0,
    boolean = 1,
    i8 = 2,
    i16 = 3,
    i32 = 4,
    i64 = 5,
    u8 = 6,
    u16 = 7,
    u32 = 8,
    u64 = 9,
    f16 = 10,
    bf16 = 11,
    f32 = 12,
    f64 = 13,
    c64 = 14,
    c128 = 15,
    f8_e4m3 = 16,
    f8_e5m2 = 17,
    text = 18,
};

// Storage types for formats that C++20 lacks. `bits` is the value; `widen` converts it to a double.
struct f16 {
    std::uint16_t bits = 0;  // IEEE binary16: 1 sign bit, 5 exponent bits, 10 mantissa bits
};
// The upper half of a float.
struct bf16 {
    std::uint16_t bits = 0;  // 1 sign bit, 8 exponent bits, 7 mantissa bits
};
struct f8_e4m3 {            // OCP 8-bit: no infinity, one NaN (S.1111.111)
    std::uint8_t bits = 0;  // 1 sign bit, 4 exponent bits, 3 mantissa bits
};
// OCP 8-bit with infinities and NaN, like IEEE.
struct f8_e5m2 {
    std::uint8_t bits = 0;  // 1 sign bit, 5 exponent bits, 2 mantissa bits
};
// A complex number of two floats.
struct c64 {
    float re = 0, im = 0;  // real and imaginary part
};
// A complex number of two doubles.
struct c128 {
    double re = 0, im = 0;  // real and imaginary part
};

// The properties of an element type.
struct dtype_row {
    std::string_view name;
    std::uint8_t bytes;  // of one element
};

// Indexed by dtype; the file format relies on the order. Namespace scope: inside the function each call would build it.
inline constexpr std::array<dtype_row, 19> dtype_rows{{{"none", 0},
                                                       {"bool", 1},
                                                       {"i8", 1},
                                                       {"i16", 2},
                                                       {"i32", 4},
                                                       {"i64", 8},
                                                       {"u8", 1},
                                                       {"u16", 2},
                                                       {"u32", 4},
                                                       {"u64", 8},
                                                       {"f16", 2},
                                                       {"bf16", 2},
                                                       {"f32", 4},
                                                       {"f64", 8},
                                                       {"c64", 8},
                                                       {"c128", 16},
                                                       {"f8_e4m3", 1},
                                                       {"f8_e5m2", 1},
                                                       {"text", 1}}};

// The row of a dtype; that of none for an invalid value.
[[nodiscard]] constexpr dtype_row const& describe_dtype(dtype type) noexcept {
    auto const index = static_cast<std::size_t>(type);
    return dtype_rows[index < dtype_rows.size() ? index : 0];
}
// Bytes of one element; 0 for none.
[[nodiscard]] constexpr std::size_t size_of(dtype type) noexcept { return describe_dtype(type).bytes; }
[[nodiscard]] constexpr std::string_view name_of(dtype type) noexcept { return describe_dtype(type).name; }
// Its elements are two numbers each.
[[nodiscard]] constexpr bool is_complex(dtype type) noexcept { return type == dtype::c64 || type == dtype::c128; }
// Whether the type has NaN; true for complex types.
[[nodiscard]] constexpr bool is_floating(dtype type) noexcept {
    return (type >= dtype::f16 && type <= dtype::c128) || type == dtype::f8_e4m3 || type == dtype::f8_e5m2;
}

// A type that stores one complex number as two floats or doubles, recognized without including its header.
template <class Value>
concept complex_like = requires(Value const& value) {
    typename Value::value_type;
    { value.real() } -> std::convertible_to<typename Value::value_type>;
    { value.imag() } -> std::convertible_to<typename Value::value_type>;
} && std::floating_point<typename Value::value_type> && sizeof(Value) == 2 * sizeof(typename Value::value_type);

// The dtype of an element type; dtype::none for any other type.
template <class Value>
[[nodiscard]] consteval dtype find_dtype() noexcept {
    if constexpr (std::same_as<Value, bool>) {
        return dtype::boolean;
    } else if constexpr (std::is_integral_v<Value> && sizeof(Value) <= 8) {
        constexpr int log = sizeof(Value) == 1 ? 0 : sizeof(Value) == 2 ? 1 : sizeof(Value) == 4 ? 2 : 3;
        constexpr dtype first = std::is_signed_v<Value> ? dtype::i8 : dtype::u8;
        return static_cast<dtype>(static_cast<int>(first) + log);
    } else if constexpr (std::same_as<Value, float>) {
        return dtype::f32;
    } else if constexpr (std::same_as<Value, double> || (std::same_as<Value, long double> && sizeof(Value) == 8)) {
        return dtype::f64;
    } else if constexpr (std::same_as<Value, f16>) {
        return dtype::f16;
    } else if constexpr (std::same_as<Value, bf16>) {
        return dtype::bf16;
    } else if constexpr (std::same_as<Value, f8_e4m3>) {
        return dtype::f8_e4m3;
    } else if constexpr (std::same_as<Value, f8_e5m2>) {
        return dtype::f8_e5m2;
    } else if constexpr (std::same_as<Value, c64>) {
        return dtype::c64;
    } else if constexpr (std::same_as<Value, c128>) {
        return dtype::c128;
    } else if constexpr (complex_like<Value>) {
        return sizeof(Value) == 8 ? dtype::c64 : dtype::c128;
    } else {
        return dtype::none;
    }
}
// The dtype of a C++ type, ignoring cv; none for any type that is not an element.
template <class Value>
inline constexpr dtype dtype_of = find_dtype<std::remove_cv_t<Value>>();

// is_object_v comes first: overload resolution of view_of(void*, ...) would otherwise take the size of void.
template <class Value>
concept element = std::is_object_v<Value> && dtype_of<Value> != dtype::none;

// The bits of the float that equals a value of a small IEEE-like format. Exact: float has more exponent and mantissa
// bits. Infinities and NaN keep their class.
template <int ExponentBits, int MantissaBits>
[[nodiscard]] constexpr std::uint32_t widen_small(std::uint32_t bits) noexcept {
    constexpr std::uint32_t exponent_mask = (1U << ExponentBits) - 1;
    constexpr int bias = (1 << (ExponentBits - 1)) - 1;
    std::uint32_t const sign = (bits >> (ExponentBits + MantissaBits)) << 31;
    std::uint32_t const exponent = (bits >> MantissaBits) & exponent_mask;
    std::uint32_t const mantissa = bits & ((1U << MantissaBits) - 1);
    if (exponent == exponent_mask) { return sign | 0x7F800000U | (mantissa << (23 - MantissaBits)); }
    if (exponent != 0) {
        std::uint32_t const widened = exponent + static_cast<std::uint32_t>(127 - bias);
        return sign | (widened << 23) | (mantissa << (23 - MantissaBits));
    }
    if (mantissa == 0) { return sign; }
    int const shift = std::countl_zero(mantissa) - (31 - MantissaBits);  // until the leading one is implicit
    std::uint32_t const normal = (mantissa << shift) & ((1U << MantissaBits) - 1);
    return sign | (static_cast<std::uint32_t>(127 - bias + 1 - shift) << 23) | (normal << (23 - MantissaBits));
}

// The bits of the float of the same value.
[[nodiscard]] constexpr std::uint32_t float_bits_of(f16 value) noexcept { return widen_small<5, 10>(value.bits); }
[[nodiscard]] constexpr std::uint32_t float_bits_of(bf16 value) noexcept {
    return static_cast<std::uint32_t>(value.bits) << 16;
}
[[nodiscard]] constexpr std::uint32_t float_bits_of(f8_e5m2 value) noexcept { return widen_small<5, 2>(value.bits); }
[[nodiscard]] constexpr std::uint32_t float_bits_of(f8_e4m3 value) noexcept {
    std::uint32_t const sign = static_cast<std::uint32_t>(value.bits >> 7) << 31;
    std::uint32_t const size = value.bits & 0x7FU;
    if (size == 0x7FU) { return sign | 0x7FC00000U; }
    if (size >= 0x78U) { return sign | (135U << 23) | ((size & 7U) << 20); }  // 256 to 448
    return widen_small<4, 3>(value.bits);
}

// The same as a float. Under clang's -ffast-math a returned float must be finite; use the bits there.
template <class Small>
    requires requires(Small value) { float_bits_of(value); }
[[nodiscard]] constexpr float to_float(Small value) noexcept {
    return std::bit_cast<float>(float_bits_of(value));
}

}  // namespace spotter::inline SPOTTER_ABI
