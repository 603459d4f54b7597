// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: compares two tensors: ulp, absolute, relative and L2 error, cosine, and the worst element.
#pragma once

#include "diff/error_kernel.hpp"

#include <spotter/core/result.hpp>
#include <spotter/format/fwd.hpp>
#include <spotter/stat/change_kernel.hpp>
#include <spotter/workbench/diff.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Float>
class pair_measurer {
public:
    using Key = bits_of<Float>;

    pair_measurer(tolerance const& allowed, tensor_errors& into) noexcept : allowed_{allowed}, into_{into} {}

    [[nodiscard]] Float* a() noexcept { return a_; }
    [[nodiscard]] Float* b() noexcept { return b_; }
    [[nodiscard]] Key* key_a() noexcept { return key_a_; }
    [[nodiscard]] Key* key_b() noexcept { return key_b_; }

    // Measures the elements from `first` on in a(), b(), key_a() and key_b(), and overwrites these. `equal`: the caller
    // knows that all are equal.
    void take(std::size_t first, std::size_t count, bool equal) noexcept {
        if (!all_finite(a_, count) || !all_finite(b_, count)) { take_out_non_finite(first, count); }
        std::size_t const padded = (count + lane_count - 1) / lane_count * lane_count;
        for (std::size_t i = count; i < padded; ++i) { a_[i] = b_[i] = 0; }
        add_errors(a_, b_, padded, sums_);
        into_.elements += count;
        if (equal) { return; }
        key_errors const found = compare_keys(key_a_, key_b_, count);
        into_.differing += found.differing;
        into_.ulp = (std::max)(into_.ulp, found.largest);
        into_.relative = (std::max)(into_.relative, sums_.relative);
        into_.absolute = (std::max)(into_.absolute, sums_.absolute);
        if (found.differing > 0 && !has_mismatch() && sums_.absolute > worst_gap_) { find_worst(first, count); }
        std::uint64_t const signs = count_zero_signs(a_, b_, count);
        into_.zero_signs += signs;
        into_.outside += allowed_.zero_signs ? signs : 0;
        if (found.differing > 0) { into_.outside += count_outside(count, found.differing); }
    }
    void finish() noexcept {
        double const gap = sums_.gap.fold(), a = sums_.a.fold(), b = sums_.b.fold();
        if (!is_finite(gap) || !is_finite(a) || !is_finite(b)) {
            into_.relative_l2 = into_.cosine = std::numeric_limits<double>::quiet_NaN();
            return;
        }
        if (gap > 0) { into_.relative_l2 = a > 0 ? std::sqrt(gap / a) : std::numeric_limits<double>::infinity(); }
        if (a > 0 && b > 0) {
            double const cosine = sums_.dot.fold() / (std::sqrt(a) * std::sqrt(b));
            into_.cosine = gap > 0 ? (std::min)(1.0, (std::max)(-1.0, cosine)) : 1;
        } else {
            into_.cosine = a > 0 || b > 0 ? 0 : 1;
        }
    }

private:
    [[nodiscard]] bool has_mismatch() const noexcept { return into_.nan_mismatches + into_.inf_mismatches > 0; }

    // Counts elements that are not finite on one side, and sets them to zero on both.
    void take_out_non_finite(std::size_t first, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            number_class const x = classify(a_[i]), y = classify(b_[i]);
            if (x < number_class::pos_inf && y < number_class::pos_inf) { continue; }
            if (x != y) {
                if (!has_mismatch()) { set_worst(first, i); }
                bool const nan = x == number_class::nan || y == number_class::nan;
                ++(nan ? into_.nan_mismatches : into_.inf_mismatches);
                ++into_.differing, ++into_.outside;
            }
            a_[i] = b_[i] = 0;
            key_a_[i] = key_b_[i] = 0;
        }
    }
    void set_worst(std::size_t first, std::size_t i) noexcept {
        into_.worst = first + i;
        into_.worst_a = static_cast<double>(a_[i]);
        into_.worst_b = static_cast<double>(b_[i]);
    }
    // Among the differing elements. 64-bit integers may differ and be equal as doubles.
    void find_worst(std::size_t first, std::size_t count) noexcept {
        for (std::size_t i = 0; i < count; ++i) {
            double const gap = magnitude(static_cast<double>(a_[i]) - static_cast<double>(b_[i]));
            if (!(gap > worst_gap_) || key_a_[i] == key_b_[i]) { continue; }
            worst_gap_ = gap;
            set_worst(first, i);
        }
    }
    [[nodiscard]] std::uint64_t count_outside(std::size_t count, std::uint64_t differing) const noexcept {
        if (allowed_.ulp == 0 && !(allowed_.relative > 0) && !(allowed_.absolute > 0)) { return differing; }
        std::uint64_t found = 0;
        for (std::size_t i = 0; i < count; ++i) {
            std::uint64_t const apart =
                key_a_[i] > key_b_[i] ? unsigned_gap(key_a_[i], key_b_[i]) : unsigned_gap(key_b_[i], key_a_[i]);
            double const x = static_cast<double>(a_[i]), y = static_cast<double>(b_[i]);
            double const larger = (std::max)(magnitude(x), magnitude(y));
            bool const near_enough = magnitude(x - y) <= allowed_.absolute + allowed_.relative * larger;
            bool const few_ulps = apart == 0 || (into_.has_ulp && apart <= allowed_.ulp);
            found += !few_ulps && !near_enough ? 1U : 0U;
        }
        return found;
    }
    [[nodiscard]] static std::uint64_t unsigned_gap(Key high, Key low) noexcept {
        using Unsigned = std::make_unsigned_t<Key>;
        return static_cast<Unsigned>(static_cast<Unsigned>(high) - static_cast<Unsigned>(low));
    }

    tolerance const& allowed_;
    tensor_errors& into_;
    error_sums sums_{};
    double worst_gap_ = -1;
    alignas(64) Float a_[block_size];
    alignas(64) Float b_[block_size];
    alignas(64) Key key_a_[block_size];
    alignas(64) Key key_b_[block_size];
};

// Maps values to integers in the order of the numbers; integers to themselves, so that none is rounded.
template <class Value, class Key>
inline void order_values(Value const* from, std::size_t count, Key* into) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        if constexpr (std::is_same_v<Value, std::uint64_t>) {
            into[i] = static_cast<Key>(from[i] ^ (std::uint64_t{1} << 63U));
        } else if constexpr (std::is_integral_v<Value>) {
            into[i] = static_cast<Key>(from[i]);
        } else if constexpr (sizeof(Value) == 2) {
            into[i] = ordered_key(static_cast<std::int16_t>(from[i].bits));
        } else {
            into[i] = ordered_key(static_cast<std::int8_t>(from[i].bits));
        }
    }
}

template <class Value>
void measure_alike(Value const* a, Value const* b, std::size_t count, tolerance const& allowed, tensor_errors& into) {
    using Float = std::conditional_t<is_narrow(dtype_of<Value>), float, double>;
    auto const work = std::make_unique<pair_measurer<Float>>(allowed, into);  // 24 KiB: too large for a stack of
                                                                              // unknown size
    for (std::size_t first = 0; first < count; first += block_size) {
        std::size_t const size = (std::min)(count - first, block_size);
        Value const *const x = a + first, *const y = b + first;
        bool const equal = std::memcmp(x, y, size * sizeof(Value)) == 0;
        if constexpr (std::is_same_v<Value, Float>) {
            std::memcpy(work->a(), x, size * sizeof(Value));
            std::memcpy(work->b(), y, size * sizeof(Value));
            if (!equal) { order_floats(x, size, work->key_a()), order_floats(y, size, work->key_b()); }
        } else {
            widen_block(x, size, work->a());
            widen_block(y, size, work->b());
            if (!equal) { order_values(x, size, work->key_a()), order_values(y, size, work->key_b()); }
        }
        work->take(first, size, equal);
    }
    work->finish();
}

}  // namespace detail

// A view of the tensor with its axes reversed, as a transposed matrix. Copies nothing.
[[nodiscard]] tensor_ref with_axes_reversed(tensor_ref view) noexcept;

// The sizes of all axes with more than one element: equal for [1, 256], [256, 1] and [256].
[[nodiscard]] extents without_unit_axes(extents const& shape) noexcept;

}  // namespace spotter::inline SPOTTER_ABI
