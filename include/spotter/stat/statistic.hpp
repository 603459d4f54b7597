// SPDX-License-Identifier: Apache-2.0
// Stat (L1): statistics: summary -> number.
#pragma once

#include <spotter/core/algebra.hpp>
#include <spotter/core/bits.hpp>
#include <spotter/stat/summary.hpp>

#include <concepts>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// A number, or the knowledge that there is none (no finite element, a term that was not taken).
struct measurement {
    double value = 0;
    bool known = false;
};

enum class statistic_id : std::uint8_t {
    minimum = 0,
    maximum = 1,
    mean = 2,
    stddev = 3,
    variance = 4,
    sum = 5,
    product = 6,
    l1 = 7,
    l2 = 8,
    nonfinite = 9,
    zeros = 10,
    zero_fraction = 11,
    nan_count = 12,
    pos_inf = 13,
    neg_inf = 14,
};

// A built-in statistic. All are over the finite elements; variance and stddev are of the population (divided by n); l1 and
// l2 are vector norms whatever the rank; counts and zero_fraction (of all elements) are known for every tensor. Without a
// finite element sum, l1 and l2 are 0 and product 1, the others unknown.
struct statistic {
    statistic_id id;
    bool abs = false;  // of |x|

    [[nodiscard]] constexpr terms needs() const noexcept {
        switch (id) {
            case statistic_id::minimum:
            case statistic_id::maximum:
                return abs ? terms::abs_range : terms::range;
            case statistic_id::mean:
            case statistic_id::sum:
                return abs ? terms::sum_abs : terms::sum;
            case statistic_id::stddev:
            case statistic_id::variance:
                return terms::variance | terms::sum | (abs ? terms::sum_abs : terms::none);
            case statistic_id::product:
                return terms::product;
            case statistic_id::l1:
                return terms::sum_abs;
            case statistic_id::l2:
                return terms::sum_squares;
            case statistic_id::zeros:
            case statistic_id::zero_fraction:
                return terms::zeros;
            default:
                return terms::nonfinite;
        }
    }

    [[nodiscard]] SPOTTER_STRICT constexpr measurement operator()(summary const& of) const noexcept {
        SPOTTER_STRICT_BODY
        if (!has(of.has, needs())) { return {}; }
        auto const finite = static_cast<double>(of.finite());
        bool const any_finite = of.finite() > 0;
        switch (id) {
            case statistic_id::minimum:
                return {abs ? of.abs_minimum : of.minimum, any_finite};
            case statistic_id::maximum:
                return {abs ? of.abs_maximum : of.maximum, any_finite};
            case statistic_id::mean:
                return any_finite ? measurement{(abs ? of.sum_abs : of.sum) / finite, true} : measurement{};
            case statistic_id::variance:
                return spread(of, finite, any_finite);
            case statistic_id::stddev: {
                measurement const squared = spread(of, finite, any_finite);
                return {square_root(squared.value), squared.known};
            }
            case statistic_id::sum:
                return {abs ? of.sum_abs : of.sum, true};
            case statistic_id::product:
                return {abs ? magnitude(of.product) : of.product, true};
            case statistic_id::l1:
                return {of.sum_abs, true};
            case statistic_id::l2:
                return {square_root(of.sum_squares), true};
            case statistic_id::nonfinite:
                return {static_cast<double>(of.nonfinite()), true};
            case statistic_id::zeros:
                return {static_cast<double>(of.zeros), true};
            case statistic_id::zero_fraction:
                return of.count > 0 ? measurement{static_cast<double>(of.zeros) / static_cast<double>(of.count), true}
                                    : measurement{};
            case statistic_id::nan_count:
                return {static_cast<double>(of.nan), true};
            case statistic_id::pos_inf:
                return {static_cast<double>(of.pos_inf), true};
            case statistic_id::neg_inf:
                return {static_cast<double>(of.neg_inf), true};
        }
        return {};
    }

    // A count is known of every tensor. Any other number is no ground for a decision where there is no finite element, though
    // sum, l1 and l2 are 0 and product 1 there.
    [[nodiscard]] constexpr bool is_count() const noexcept { return id >= statistic_id::nonfinite; }

    [[nodiscard]] constexpr std::string_view name() const noexcept {
        constexpr std::string_view plain[] = {"minimum", "maximum",       "mean",      "stddev",  "variance",
                                              "sum",     "product",       "l1",        "l2",      "nonfinite",
                                              "zeros",   "zero_fraction", "nan_count", "pos_inf", "neg_inf"};
        constexpr std::string_view of_sizes[] = {"minimum_abs",  "maximum_abs", "mean_abs",   "stddev_abs",
                                                 "variance_abs", "sum_abs",     "product_abs"};
        auto const index = static_cast<std::size_t>(id);
        return abs && index < 7 ? of_sizes[index] : plain[index];
    }

    friend constexpr bool operator==(statistic const&, statistic const&) noexcept = default;

private:
    // The variance of |x| follows from that of x: E|x|^2 is the same, only the mean differs.
    [[nodiscard]] SPOTTER_STRICT constexpr measurement spread(summary const& of, double finite,
                                                              bool any_finite) const noexcept {
        SPOTTER_STRICT_BODY
        if (!any_finite) { return {}; }
        double squared = of.moment2 / finite;
        if (abs) {
            double const centre = of.sum / finite;
            double const centre_abs = of.sum_abs / finite;
            double gap = (centre - centre_abs) * (centre + centre_abs);
            settle(gap);
            squared += gap;
            if (squared < 0) { squared = 0; }
        }
        return {squared, true};
    }
};

inline constexpr statistic minimum{statistic_id::minimum};
inline constexpr statistic maximum{statistic_id::maximum};
inline constexpr statistic mean{statistic_id::mean};
inline constexpr statistic stddev{statistic_id::stddev};
inline constexpr statistic variance{statistic_id::variance};
inline constexpr statistic sum{statistic_id::sum};
inline constexpr statistic product{statistic_id::product};
inline constexpr statistic l1{statistic_id::l1};
inline constexpr statistic l2{statistic_id::l2};
inline constexpr statistic nonfinite{statistic_id::nonfinite};
inline constexpr statistic zeros{statistic_id::zeros};
inline constexpr statistic zero_fraction{statistic_id::zero_fraction};
inline constexpr statistic nan_count{statistic_id::nan_count};
inline constexpr statistic pos_inf{statistic_id::pos_inf};
inline constexpr statistic neg_inf{statistic_id::neg_inf};

// The same statistic of |x|: minimum, maximum, mean, stddev, variance, sum, product (l1, l2 and counts are their own).
[[nodiscard]] constexpr statistic of_abs(statistic plain) noexcept { return {plain.id, true}; }
inline constexpr statistic mean_abs = of_abs(mean);

// A statistic of the user's: `static constexpr terms needs`, a `name`, and a call that gives a number or a measurement.
template <class Value>
concept own_statistic = !std::same_as<Value, statistic> && requires(Value const& value, summary const& of) {
    { Value::needs } -> std::convertible_to<terms>;
    { Value::name } -> std::convertible_to<std::string_view>;
    value(of);
};
template <class Value>
concept any_statistic = std::same_as<Value, statistic> || own_statistic<Value>;

template <any_statistic Statistic>
[[nodiscard]] constexpr terms needs_of(Statistic const& it) noexcept {
    if constexpr (std::same_as<Statistic, statistic>) {
        return it.needs();
    } else {
        return Statistic::needs;
    }
}
template <any_statistic Statistic>
[[nodiscard]] constexpr std::string_view name_of(Statistic const& it) noexcept {
    if constexpr (std::same_as<Statistic, statistic>) {
        return it.name();
    } else {
        return Statistic::name;
    }
}
template <any_statistic Statistic>
[[nodiscard]] constexpr measurement measure(Statistic const& it, summary const& of) {
    if constexpr (std::convertible_to<decltype(it(of)), measurement>) {
        return it(of);
    } else {
        return {static_cast<double>(it(of)), true};
    }
}

// What a collection keeps: these statistics, `payload` for the values, `shape` for neither; joined by `|`.
template <any_statistic... Statistics>
[[nodiscard]] constexpr terms stats(Statistics const&... each) noexcept {
    return (terms::nonfinite | ... | needs_of(each));
}
inline constexpr terms payload = terms::payload;
using terms::shape;  // not a variable: many a function has a local of that name

}  // namespace spotter::inline SPOTTER_ABI
