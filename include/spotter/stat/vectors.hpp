// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the compiler's vector types, or plain arrays that compute the same.
#pragma once

#include <spotter/core/bits.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace spotter::inline SPOTTER_ABI::detail {

// The integer of a number's width: the type of a vector's bits, and of the result of a comparison (0 or all ones).
template <class Number>
using bits_of = std::conditional_t<sizeof(Number) == 4, std::int32_t, std::int64_t>;

// Vectors of `Bytes` bytes: every x86-64 and ARM has 16, AVX2 has 32, AVX-512 has 64. The same source serves every
// path, without an intrinsics header, which would cost every user a quarter of a second.
#if SPOTTER_GNU_VECTORS
template <class Value, std::size_t Bytes>
struct vector_of {
    typedef Value type __attribute__((vector_size(Bytes)));
};
template <class Value, std::size_t Bytes>
using vec = typename vector_of<Value, Bytes>::type;

// `mask ? yes : no`, element by element. The results are references: a vector cannot be returned to a caller with wider
// registers than the callee's.
template <class Mask, class Vector>
SPOTTER_INLINE void blend(Vector& into, Mask const& mask, Vector const& yes, Vector const& no) noexcept {
    into = mask ? yes : no;
}
// The smaller or larger of each element and the value so far. Comparison and choice are one expression; otherwise g++
// 12 does not find the instruction.
template <class Vector>
SPOTTER_STRICT SPOTTER_INLINE void keep_smaller(Vector& so_far, Vector const& x) noexcept {
    SPOTTER_STRICT_BODY
    so_far = x < so_far ? x : so_far;
}
template <class Vector>
SPOTTER_STRICT SPOTTER_INLINE void keep_larger(Vector& so_far, Vector const& x) noexcept {
    SPOTTER_STRICT_BODY
    so_far = x > so_far ? x : so_far;
}
// Converts each element to another type; the vectors differ in width.
template <class From, class Into>
SPOTTER_INLINE void convert_elements(From const& from, Into& into) noexcept {
    into = __builtin_convertvector(from, Into);
}
// The bits of a vector as another type.
template <class From, class Into>
SPOTTER_INLINE void copy_bits(From const& from, Into& into) noexcept {
    into = reinterpret_cast<Into>(from);
}
#else
template <class Value, std::size_t Bytes>
struct vec {
    using mask = vec<bits_of<Value>, Bytes>;
    static constexpr std::size_t count = Bytes / sizeof(Value);
    Value lane[count];

    vec() = default;
    SPOTTER_INLINE constexpr vec(Value all) noexcept {  // like the compiler's types: a number converts to a vector
        for (Value& each : lane) { each = all; }
    }
    SPOTTER_INLINE constexpr Value& operator[](std::size_t i) noexcept { return lane[i]; }
    SPOTTER_INLINE constexpr Value const& operator[](std::size_t i) const noexcept { return lane[i]; }

    friend SPOTTER_STRICT SPOTTER_INLINE vec operator+(vec a, vec const& b) noexcept { return a += b; }
    friend SPOTTER_STRICT SPOTTER_INLINE vec operator-(vec a, vec const& b) noexcept { return a -= b; }
    friend SPOTTER_STRICT SPOTTER_INLINE vec operator*(vec a, vec const& b) noexcept { return a *= b; }
    friend SPOTTER_STRICT SPOTTER_INLINE vec operator/(vec a, vec const& b) noexcept {
        SPOTTER_STRICT_BODY
        for (std::size_t i = 0; i < count; ++i) { a[i] /= b[i]; }
        return a;
    }
    SPOTTER_STRICT SPOTTER_INLINE vec& operator+=(vec const& b) noexcept {
        SPOTTER_STRICT_BODY
        for (std::size_t i = 0; i < count; ++i) { lane[i] += b[i]; }
        return *this;
    }
    SPOTTER_STRICT SPOTTER_INLINE vec& operator-=(vec const& b) noexcept {
        SPOTTER_STRICT_BODY
        for (std::size_t i = 0; i < count; ++i) { lane[i] -= b[i]; }
        return *this;
    }
    SPOTTER_STRICT SPOTTER_INLINE vec& operator*=(vec const& b) noexcept {
        SPOTTER_STRICT_BODY
        for (std::size_t i = 0; i < count; ++i) { lane[i] *= b[i]; }
        return *this;
    }

    // For integers.
    friend SPOTTER_INLINE vec operator&(vec a, vec const& b) noexcept { return a &= b; }
    friend SPOTTER_INLINE vec operator|(vec a, vec const& b) noexcept { return a |= b; }
    friend SPOTTER_INLINE vec operator>>(vec a, int bits) noexcept {
        for (Value& each : a.lane) { each = static_cast<Value>(each >> bits); }
        return a;
    }
    friend SPOTTER_INLINE vec operator~(vec a) noexcept {
        for (Value& each : a.lane) { each = static_cast<Value>(~each); }
        return a;
    }
    SPOTTER_INLINE vec& operator&=(vec const& b) noexcept {
        for (std::size_t i = 0; i < count; ++i) { lane[i] &= b[i]; }
        return *this;
    }
    SPOTTER_INLINE vec& operator|=(vec const& b) noexcept {
        for (std::size_t i = 0; i < count; ++i) { lane[i] |= b[i]; }
        return *this;
    }
    SPOTTER_INLINE vec& operator^=(vec const& b) noexcept {
        for (std::size_t i = 0; i < count; ++i) { lane[i] ^= b[i]; }
        return *this;
    }

    friend SPOTTER_STRICT SPOTTER_INLINE mask operator<(vec const& a, vec const& b) noexcept {
        SPOTTER_STRICT_BODY
        mask less{};
        for (std::size_t i = 0; i < count; ++i) { less[i] = a[i] < b[i] ? -1 : 0; }
        return less;
    }
    friend SPOTTER_STRICT SPOTTER_INLINE mask operator>(vec const& a, vec const& b) noexcept { return b < a; }
    friend SPOTTER_STRICT SPOTTER_INLINE mask operator==(vec const& a, vec const& b) noexcept {
        SPOTTER_STRICT_BODY
        mask equal{};
        for (std::size_t i = 0; i < count; ++i) { equal[i] = a[i] == b[i] ? -1 : 0; }
        return equal;
    }
};

using spotter::force_rounding;
template <class Value, std::size_t Bytes>
SPOTTER_INLINE void force_rounding(vec<Value, Bytes>& product) noexcept {
    for (Value& each : product.lane) { force_rounding(each); }
}

template <class Mask, class Vector>
SPOTTER_INLINE void blend(Vector& into, Mask const& mask, Vector const& yes, Vector const& no) noexcept {
    Vector chosen{};  // `into` may be an argument
    for (std::size_t i = 0; i < Vector::count; ++i) { chosen[i] = mask[i] != 0 ? yes[i] : no[i]; }
    into = chosen;
}
template <class Vector>
SPOTTER_STRICT SPOTTER_INLINE void keep_smaller(Vector& so_far, Vector const& x) noexcept {
    SPOTTER_STRICT_BODY
    for (std::size_t i = 0; i < Vector::count; ++i) { so_far[i] = x[i] < so_far[i] ? x[i] : so_far[i]; }
}
template <class Vector>
SPOTTER_STRICT SPOTTER_INLINE void keep_larger(Vector& so_far, Vector const& x) noexcept {
    SPOTTER_STRICT_BODY
    for (std::size_t i = 0; i < Vector::count; ++i) { so_far[i] = x[i] > so_far[i] ? x[i] : so_far[i]; }
}
template <class From, class Into>
SPOTTER_INLINE void convert_elements(From const& from, Into& into) noexcept {
    for (std::size_t i = 0; i < Into::count; ++i) { into[i] = from[i]; }
}
template <class From, class Into>
SPOTTER_INLINE void copy_bits(From const& from, Into& into) noexcept {
    static_assert(sizeof(From) == sizeof(Into));
    std::memcpy(&into, &from, sizeof into);
}
#endif

// |x|
template <class Vector>
SPOTTER_INLINE void clear_sign(Vector& x) noexcept {
    using Number = std::remove_cvref_t<decltype(x[0])>;
    vec<bits_of<Number>, sizeof(Vector)> bits;
    copy_bits(x, bits);
    bits &= (std::numeric_limits<bits_of<Number>>::max)();
    copy_bits(bits, x);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
