// SPDX-License-Identifier: Apache-2.0
// Stat (L1): compares tensors element by element, many lanes at a time; bit-equal to the definitions in this file.
#pragma once

#include <spotter/stat/any_values.hpp>
#include <spotter/stat/widen.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Element i of a tensor belongs to lane i % 16, independent of blocks.
struct change_sums {
    lane_sums gap;  // |x - previous|^2
    lane_sums dot;  // x * previous; of complex numbers the real part of x times conjugate of previous
    lane_sums old;  // |previous|^2
    std::uint64_t changed = 0;
    bool finite = true;  // all elements of both sides so far
};
struct element_change {
    double square;
    double product;
    bool differs;
};
template <class Value>
[[nodiscard]] SPOTTER_STRICT constexpr element_change change_of(Value const& now, Value const& before) noexcept {
    SPOTTER_STRICT_BODY
    if constexpr (requires {
                      now.re;
                      now.im;
                  }) {
        element_change const re = change_of(now.re, before.re);
        element_change const im = change_of(now.im, before.im);
        return {re.square + im.square, re.product + im.product, re.differs || im.differs};
    } else {
        double const x = see(now).value;
        double const y = see(before).value;
        double const gap = x - y;
        double square = gap * gap;
        double product = x * y;
        force_rounding(square), force_rounding(product);
        return {square, product, gap != 0};
    }
}
template <class Now, class Before>
SPOTTER_STRICT constexpr void compare_elements(Now const& now, Before const& before, std::size_t count,
                                               change_sums& into) noexcept {
    SPOTTER_STRICT_BODY
    for (std::size_t i = 0; i < count; ++i) {
        auto const& a = now[i];
        auto const& b = before[i];
        seen_element const x = see(a);
        seen_element const y = see(b);
        into.finite = into.finite && x.kind < number_class::pos_inf && y.kind < number_class::pos_inf;
        element_change const change = change_of(a, b);
        std::size_t const lane = i % lane_count;
        into.gap.lane[lane] += change.square;
        into.dot.lane[lane] += change.product;
        into.old.lane[lane] += y.square;
        into.changed += change.differs ? 1 : 0;
    }
}

// The sum of (x - previous) * gradient: the change along the gradient.
struct along_sums {
    lane_sums products;
    bool finite = true;  // all x so far
};
template <class Values, class Before, class Gradient>
SPOTTER_STRICT constexpr void change_along_elements(Values const& now, Before const& before, Gradient const& gradient,
                                                    std::size_t count, along_sums& into) noexcept {
    SPOTTER_STRICT_BODY
    for (std::size_t i = 0; i < count; ++i) {
        seen_element const x = see(now[i]);
        into.finite = into.finite && x.kind < number_class::pos_inf;
        double part = (x.value - see(before[i]).value) * see(gradient[i]).value;
        force_rounding(part);
        into.products.lane[i % lane_count] += part;
    }
}

template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE bool all_plain(Float const* values, std::size_t count) noexcept {
    std::uint64_t zeros = 0;
    return ordinary_block<Float, Bytes>(values, count) || plain_block<Float, Bytes>(values, count, zeros);
}

// One vector of lanes of a comparison. Separate variables: g++ would keep arrays in memory.
template <std::size_t Bytes>
struct change_vectors {
    using D = vec<double, Bytes>;
    using Whole = vec<std::int64_t, Bytes>;
    D gap, dot, old;
    Whole equal{};

    SPOTTER_INLINE void load(change_sums const& from, std::size_t lane) noexcept {
        std::memcpy(&gap, from.gap.lane + lane, Bytes);
        std::memcpy(&dot, from.dot.lane + lane, Bytes);
        std::memcpy(&old, from.old.lane + lane, Bytes);
    }
    template <class Float>
    SPOTTER_STRICT SPOTTER_INLINE void add(D const& x, D const& y) noexcept {
        SPOTTER_STRICT_BODY
        D const change = x - y;
        D square = change * change;
        force_rounding(square);
        gap += square;
        if constexpr (sizeof(Float) == 4) {
            add_exact_product<Bytes>(dot, x, y);
            add_exact_product<Bytes>(old, y, y);
        } else {
            D product = x * y;
            D before = y * y;
            force_rounding(product), force_rounding(before);
            dot += product;
            old += before;
        }
        if constexpr (Bytes == 64) {  // by the top bit of a difference: g++ 12 compares 64 bytes one by one
            D size = change;
            clear_sign(size);
            Whole bits;
            copy_bits(size, bits);
            equal += (bits - 1) >> 63;
        } else {
            equal += Whole(change == D{});
        }
    }
    SPOTTER_INLINE void store(change_sums& into, std::size_t lane) const noexcept {
        std::memcpy(into.gap.lane + lane, &gap, Bytes);
        std::memcpy(into.dot.lane + lane, &dot, Bytes);
        std::memcpy(into.old.lane + lane, &old, Bytes);
        for (std::size_t i = 0; i < Bytes / sizeof(double); ++i) {
            into.changed += static_cast<std::uint64_t>(equal[i]);
        }
    }
};

// For full blocks, or any multiple of 16 elements.
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void compare_block(Float const* now, Float const* before, std::size_t count,
                                                 change_sums& into) noexcept {
    using D = vec<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double);
    if (!all_plain<Float, Bytes>(now, count) || !all_plain<Float, Bytes>(before, count)) {
        return compare_elements(now, before, count, into);
    }
    for (std::size_t lane = 0; lane < lane_count; lane += 2 * wide) {
        change_vectors<Bytes> low, high;
        low.load(into, lane);
        high.load(into, lane + wide);
        for (std::size_t i = lane; i < count; i += lane_count) {
            D x[2], y[2];
            if (lane == 0) { fetch_ahead(before + i); }
            load_wide<Bytes>(now + i, x);
            load_wide<Bytes>(before + i, y);
            low.template add<Float>(x[0], y[0]);
            high.template add<Float>(x[1], y[1]);
        }
        low.store(into, lane);
        high.store(into, lane + wide);
    }
    into.changed += count;
}
template <class Float, std::size_t Bytes>
SPOTTER_STRICT SPOTTER_INLINE void change_along_block(Float const* now, Float const* before, Float const* gradient,
                                                      std::size_t count, along_sums& into) noexcept {
    SPOTTER_STRICT_BODY
    using D = vec<double, Bytes>;
    constexpr std::size_t wide = Bytes / sizeof(double);
    if (!all_plain<Float, Bytes>(now, count) || !all_plain<Float, Bytes>(before, count) ||
        !all_plain<Float, Bytes>(gradient, count)) {
        return change_along_elements(now, before, gradient, count, into);
    }
    for (std::size_t lane = 0; lane < lane_count; lane += 2 * wide) {
        D low, high;
        std::memcpy(&low, into.products.lane + lane, Bytes);
        std::memcpy(&high, into.products.lane + lane + wide, Bytes);
        for (std::size_t i = lane; i < count; i += lane_count) {
            D x[2], y[2], g[2];
            load_wide<Bytes>(now + i, x);
            load_wide<Bytes>(before + i, y);
            load_wide<Bytes>(gradient + i, g);
            D first = (x[0] - y[0]) * g[0];
            D second = (x[1] - y[1]) * g[1];
            force_rounding(first), force_rounding(second);
            low += first;
            high += second;
        }
        std::memcpy(into.products.lane + lane, &low, Bytes);
        std::memcpy(into.products.lane + lane + wide, &high, Bytes);
    }
}

template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE inline void compare_baseline(Float const* now, Float const* before, std::size_t count,
                                                             change_sums& into) noexcept {
    compare_block<Float, 16>(now, before, count, into);
}
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE inline void change_along_baseline(Float const* now, Float const* before,
                                                                  Float const* gradient, std::size_t count,
                                                                  along_sums& into) noexcept {
    change_along_block<Float, 16>(now, before, gradient, count, into);
}
#if SPOTTER_X86_DISPATCH
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx2,fma"))) inline void
compare_avx2(Float const* now, Float const* before, std::size_t count, change_sums& into) noexcept {
    compare_block<Float, 32>(now, before, count, into);
}
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx512f,avx512dq,fma"))) inline void
compare_avx512(Float const* now, Float const* before, std::size_t count, change_sums& into) noexcept {
    compare_block<Float, 64>(now, before, count, into);
}
template <class Float>
SPOTTER_STRICT SPOTTER_NOINLINE __attribute__((target("avx2"))) inline void
change_along_avx2(Float const* now, Float const* before, Float const* gradient, std::size_t count,
                  along_sums& into) noexcept {
    change_along_block<Float, 32>(now, before, gradient, count, into);
}
#endif

// For values as the kernels take them, a multiple of 16.
template <class Float>
inline void compare_fast(Float const* now, Float const* before, std::size_t count, change_sums& into) noexcept {
#if SPOTTER_X86_DISPATCH
    if (__builtin_cpu_supports("fma")) {
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) {
            return compare_avx512(now, before, count, into);
        }
        if (__builtin_cpu_supports("avx2")) { return compare_avx2(now, before, count, into); }
    }
#endif
    compare_baseline(now, before, count, into);
}
template <class Float>
inline void change_along_fast(Float const* now, Float const* before, Float const* gradient, std::size_t count,
                              along_sums& into) noexcept {
#if SPOTTER_X86_DISPATCH
    if (__builtin_cpu_supports("avx2")) { return change_along_avx2(now, before, gradient, count, into); }
#endif
    change_along_baseline(now, before, gradient, count, into);
}

// Calls use(first, size) for each block; the last one has a multiple of 16 elements. Calls definition(first, size) for
// the rest.
template <class Use, class Definition>
constexpr void each_block(std::size_t count, Use&& use, Definition&& definition) noexcept {
    std::size_t const whole = count - count % lane_count;
    for (std::size_t first = 0; first < whole; first += block_size) {
        use(first, whole - first < block_size ? whole - first : block_size);
    }
    if (whole < count) { definition(whole, count - whole); }
}

// `replace`: null, or the memory of `before`, to which the values of `now` are copied block by block, while both are in
// the cache.
template <class Float>
void compare_blocks(tensor_ref const& now, tensor_ref const& before, change_sums& into,
                    unsigned char* replace) noexcept {
    widened_blocks<Float> left{now}, right{before};
    std::size_t const bytes = size_of(now.type);
    auto const keep = [&](std::size_t first, std::size_t size) {
        if (replace == nullptr) { return; }
        std::memcpy(replace + first * bytes, static_cast<unsigned char const*>(now.values.raw) + first * bytes,
                    size * bytes);
    };
    each_block(
        as_size(now.count),
        [&](std::size_t first, std::size_t size) {
            compare_fast(left.take(first, size), right.take(first, size), size, into);
            keep(first, size);
        },
        [&](std::size_t first, std::size_t size) {
            compare_elements(left.take(first, size), right.take(first, size), size, into);
            keep(first, size);
        });
}

// For a complex type, by the definition.
template <class Pair>
constexpr void compare_pairs(Pair const* now, Pair const* before, std::size_t count, change_sums& into,
                             unsigned char* replace) noexcept {
    compare_elements(now, before, count, into);
    if (replace != nullptr && count > 0) { std::memcpy(replace, now, count * sizeof(Pair)); }
}

// The blocks of change_along_all.
template <class Float>
void change_along_blocks(tensor_ref const& now, Float* before, Float const* gradient, along_sums& into) noexcept {
    widened_blocks<Float> left{now};
    each_block(
        as_size(now.count),
        [&](std::size_t first, std::size_t size) {
            Float const* const block = left.take(first, size);
            change_along_fast(block, before + first, gradient + first, size, into);
            std::memcpy(before + first, block, size * sizeof *before);
        },
        [&](std::size_t first, std::size_t size) {
            Float const* const block = left.take(first, size);
            change_along_elements(block, before + first, gradient + first, size, into);
            std::memcpy(before + first, block, size * sizeof *before);
        });
}

}  // namespace detail

// Copies values as floats or doubles, which hold them exactly; non-finite values may become any value.
template <class Wide>
constexpr void copy_widened(tensor_ref const& from, Wide* into) noexcept {
    bool const as_held = !is_complex(from.type) && (detail::is_narrow(from.type) == (sizeof(Wide) == sizeof(float)));
    if (as_held && !std::is_constant_evaluated()) {
        return detail::widen_block(from.type, from.values.raw, as_size(from.count), into);
    }
    visit_seen(from, [&](auto const& values) {
        for (auto const& each : values) { *into++ = static_cast<Wide>(detail::see(each).value); }
    });
}

// Compares `now` with `before`, of the same type and size, element by element. `replace`: null, or the memory of
// `before`, to which the values of `now` are copied.
constexpr void compare_all(tensor_ref const& now, tensor_ref const& before, detail::change_sums& into,
                           unsigned char* replace = nullptr) noexcept {
    auto const count = as_size(now.count);
    if (now.type == dtype::c64) {
        detail::compare_pairs(now.values.c64, before.values.c64, count, into, replace);
    } else if (now.type == dtype::c128) {
        detail::compare_pairs(now.values.c128, before.values.c128, count, into, replace);
    } else if (std::is_constant_evaluated()) {
        detail::compare_elements(seen_values{now}, seen_values{before}, count, into);
    } else if (detail::is_narrow(now.type)) {
        detail::compare_blocks<float>(now, before, into, replace);
    } else {
        detail::compare_blocks<double>(now, before, into, replace);
    }
}

// Sums the change from `before` to `now` along a gradient, and copies the values of `now` to `before`. Both copies have
// the kernels' type for `now`, which must not be complex.
template <class Float>
constexpr void change_along_all(tensor_ref const& now, Float* before, Float const* gradient,
                                detail::along_sums& into) noexcept {
    if (std::is_constant_evaluated()) {
        detail::change_along_elements(seen_values{now}, before, gradient, as_size(now.count), into);
        return copy_widened(now, before);
    }
    detail::change_along_blocks(now, before, gradient, into);
}

}  // namespace spotter::inline SPOTTER_ABI
