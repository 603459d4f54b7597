// SPDX-License-Identifier: Apache-2.0
// Stat (L1): statistics: functions from a summary to a number.
#pragma once

#include <spotter/core/algebra.hpp>
#include <spotter/core/bits.hpp>
#include <spotter/stat/summary.hpp>

#include <concepts>
#include <limits>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// A number, or unknown (no finite element, or the term was not computed).
struct measurement {
    double value = 0;    // only if `known`
    bool known = false;  // the number is known
};

// The built-in statistics. The values are part of the file format.
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

// A built-in statistic. All are over the finite elements. variance and stddev are of the population (divided by n); l1
// and l2 are vector norms for any rank. Counts are over all elements, and known for every tensor; zero_fraction is a
// fraction of the finite elements. Without a finite element, sum, l1 and l2 are 0, product is 1, and the others are
// unknown.
struct statistic {
    statistic_id id;   // the kind
    bool abs = false;  // of |x|

    [[nodiscard]] constexpr stats_mask needs() const noexcept {
        switch (id) {
            case statistic_id::minimum:
            case statistic_id::maximum:
                return abs ? stats_mask::abs_range : stats_mask::range;
            case statistic_id::mean:
            case statistic_id::sum:
                return abs ? stats_mask::sum_abs : stats_mask::sum;
            case statistic_id::stddev:
            case statistic_id::variance:
                return stats_mask::variance | stats_mask::sum | (abs ? stats_mask::sum_abs : stats_mask::none);
            case statistic_id::product:
                return stats_mask::product;
            case statistic_id::l1:
                return stats_mask::sum_abs;
            case statistic_id::l2:
                return stats_mask::sum_squares;
            case statistic_id::zeros:
            case statistic_id::zero_fraction:
                return stats_mask::zeros;
            default:
                return stats_mask::nonfinite;
        }
    }

    [[nodiscard]] constexpr measurement operator()(summary const& of) const noexcept;

    // Infinite sums may cancel to NaN; the other statistics of finite elements are never NaN.
    [[nodiscard]] constexpr bool may_be_nan() const noexcept {
        return id >= statistic_id::mean && id <= statistic_id::product;
    }
    // Counts are known for every tensor. Other statistics decide nothing without a finite element, although sum, l1 and
    // l2 are then 0, and product 1.
    [[nodiscard]] constexpr bool is_count() const noexcept {
        return id >= statistic_id::nonfinite && id != statistic_id::zero_fraction;
    }

    [[nodiscard]] constexpr std::string_view name() const noexcept {
        constexpr std::string_view plain[] = {"minimum", "maximum",       "mean",      "stddev",  "variance",
                                              "sum",     "product",       "l1",        "l2",      "nonfinite",
                                              "zeros",   "zero_fraction", "nan_count", "pos_inf", "neg_inf"};
        constexpr std::string_view of_sizes[] = {"minimum_abs",  "maximum_abs", "mean_abs",   "stddev_abs",
                                                 "variance_abs", "sum_abs",     "product_abs"};
        auto const index = static_cast<std::size_t>(id);
        return abs && index < 7 ? of_sizes[index] : plain[index];
    }
    // Whether a text names it: by its name, or as `of_abs(minimum)` for `minimum_abs`.
    [[nodiscard]] constexpr bool is_called(std::string_view text) const noexcept {
        constexpr std::string_view of_sizes = "of_abs(";
        if (text == name()) { return true; }
        return abs && text.starts_with(of_sizes) && text.ends_with(')') &&
               text.substr(of_sizes.size(), text.size() - of_sizes.size() - 1) == statistic{id}.name();
    }

    friend constexpr bool operator==(statistic const&, statistic const&) noexcept = default;
};

namespace detail {

[[nodiscard]] SPOTTER_STRICT_SMALL constexpr double quotient(double over, double under) noexcept {
    SPOTTER_STRICT_BODY
    return over / under;
}
// The variance of |x| from that of x: E|x|^2 is the same, only the mean differs.
[[nodiscard]] SPOTTER_STRICT_SMALL constexpr double variance_of(summary const& of, double finite, bool abs) noexcept {
    SPOTTER_STRICT_BODY
    double squared = of.moment2 / finite;
    if (abs) {
        double const centre = of.sum / finite;
        double const centre_abs = of.sum_abs / finite;
        double gap = (centre - centre_abs) * (centre + centre_abs);
        force_rounding(gap);
        squared += gap;
        if (squared < 0) { squared = 0; }
    }
    return squared;
}

// A count is far below 2^63, and converting a signed integer to double takes one instruction.
[[nodiscard]] constexpr double number_of(std::uint64_t count) noexcept {
    return static_cast<double>(static_cast<std::int64_t>(count));
}

// Whether the number is known.
template <statistic_id Id>
[[nodiscard]] constexpr bool is_known(summary const& of, bool abs) noexcept {
    if (!has(of.has, statistic{Id, abs}.needs())) { return false; }
    bool const is_of_nothing_too = Id >= statistic_id::sum && Id != statistic_id::zero_fraction;
    return is_of_nothing_too || of.finite() > 0;
}
// The number, if it is known.
template <statistic_id Id>
[[nodiscard]] constexpr double value_of(summary const& of, bool abs) noexcept {
    if constexpr (Id == statistic_id::minimum) {
        return abs ? of.abs_minimum : of.minimum;
    } else if constexpr (Id == statistic_id::maximum) {
        return abs ? of.abs_maximum : of.maximum;
    } else if constexpr (Id == statistic_id::mean) {
        return quotient(abs ? of.sum_abs : of.sum, number_of(of.finite()));
    } else if constexpr (Id == statistic_id::variance) {
        return variance_of(of, number_of(of.finite()), abs);
    } else if constexpr (Id == statistic_id::stddev) {
        return square_root(variance_of(of, number_of(of.finite()), abs));
    } else if constexpr (Id == statistic_id::sum) {
        return abs ? of.sum_abs : of.sum;
    } else if constexpr (Id == statistic_id::product) {
        return abs ? magnitude(of.product) : of.product;
    } else if constexpr (Id == statistic_id::l1) {
        return of.sum_abs;
    } else if constexpr (Id == statistic_id::l2) {
        return square_root(of.sum_squares);
    } else if constexpr (Id == statistic_id::nonfinite) {
        return number_of(of.nonfinite());
    } else if constexpr (Id == statistic_id::zeros) {
        return number_of(of.zeros);
    } else if constexpr (Id == statistic_id::zero_fraction) {
        return quotient(number_of(of.zeros), number_of(of.finite()));
    } else if constexpr (Id == statistic_id::nan_count) {
        return number_of(of.nan);
    } else if constexpr (Id == statistic_id::pos_inf) {
        return number_of(of.pos_inf);
    } else {
        return number_of(of.neg_inf);
    }
}
// The fraction of zeros among all elements; NaN is not zero. Unknown if there is no finite element.
[[nodiscard]] constexpr measurement zeros_among_all(summary const& of) noexcept {
    if (!has(of.has, stats_mask::zeros) || of.finite() == 0) { return {}; }
    return {quotient(number_of(of.zeros), number_of(of.count)), true};
}
template <statistic_id Id>
[[nodiscard]] constexpr measurement read(summary const& of, bool abs) noexcept {
    return is_known<Id>(of, abs) ? measurement{value_of<Id>(of, abs), true} : measurement{};
}

}  // namespace detail

constexpr measurement statistic::operator()(summary const& of) const noexcept {
    constexpr measurement (*readers[])(summary const&, bool) noexcept = {
        &detail::read<statistic_id::minimum>,   &detail::read<statistic_id::maximum>,
        &detail::read<statistic_id::mean>,      &detail::read<statistic_id::stddev>,
        &detail::read<statistic_id::variance>,  &detail::read<statistic_id::sum>,
        &detail::read<statistic_id::product>,   &detail::read<statistic_id::l1>,
        &detail::read<statistic_id::l2>,        &detail::read<statistic_id::nonfinite>,
        &detail::read<statistic_id::zeros>,     &detail::read<statistic_id::zero_fraction>,
        &detail::read<statistic_id::nan_count>, &detail::read<statistic_id::pos_inf>,
        &detail::read<statistic_id::neg_inf>};
    auto const index = static_cast<std::size_t>(id);
    return index < std::size(readers) ? readers[index](of, abs) : measurement{};
}

// What a record says of a summary: of one element its value, although it is not finite. Rules use `which(of)`, which is
// over finite elements.
[[nodiscard]] constexpr measurement recorded_measurement(statistic which, summary const& of) noexcept {
    bool const is_spread = which.id == statistic_id::stddev || which.id == statistic_id::variance;
    bool const is_value = which.id <= statistic_id::l2 && !is_spread && has(of.has, which.needs());
    if (!is_value || of.count != 1 || of.finite() != 0) { return which(of); }
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (of.nan != 0) { return {std::numeric_limits<double>::quiet_NaN(), true}; }
    bool const is_size = which.abs || which.id == statistic_id::l1 || which.id == statistic_id::l2;
    return {of.neg_inf != 0 && !is_size ? -infinity : infinity, true};
}

// A statistic whose kind is part of its type, like `mean`: a rule on it costs a load and a comparison. Converts to
// `statistic`.
template <statistic_id Id, bool Abs = false>
struct fixed_statistic {
    constexpr operator statistic() const noexcept { return {Id, Abs}; }  // the same, as a value
    [[nodiscard]] static constexpr stats_mask needs() noexcept { return statistic{Id, Abs}.needs(); }
    [[nodiscard]] static constexpr std::string_view name() noexcept { return statistic{Id, Abs}.name(); }
    [[nodiscard]] constexpr measurement operator()(summary const& of) const noexcept {
        return detail::read<Id>(of, Abs);
    }
    // operator() in two parts: whether the number is known, and the number.
    [[nodiscard]] static constexpr bool is_known(summary const& of) noexcept { return detail::is_known<Id>(of, Abs); }
    // Only if is_known() is true.
    [[nodiscard]] static constexpr double value_of(summary const& of) noexcept { return detail::value_of<Id>(of, Abs); }
};

// The least finite element.
inline constexpr fixed_statistic<statistic_id::minimum> minimum{};
// The greatest finite element.
inline constexpr fixed_statistic<statistic_id::maximum> maximum{};
// The mean of the finite elements.
inline constexpr fixed_statistic<statistic_id::mean> mean{};
// The square root of the variance.
inline constexpr fixed_statistic<statistic_id::stddev> stddev{};
// The variance of the finite elements, of the population: divided by n.
inline constexpr fixed_statistic<statistic_id::variance> variance{};
// The sum of the finite elements, in a fixed order (docs/internals/stat.md).
inline constexpr fixed_statistic<statistic_id::sum> sum{};
// The product of the finite elements.
inline constexpr fixed_statistic<statistic_id::product> product{};
// The sum of the magnitudes of the finite elements, for any rank.
inline constexpr fixed_statistic<statistic_id::l1> l1{};
// The square root of the sum of squares of the finite elements, for any rank.
inline constexpr fixed_statistic<statistic_id::l2> l2{};
// The number of elements that are NaN or infinite.
inline constexpr fixed_statistic<statistic_id::nonfinite> nonfinite{};
// The number of zeros.
inline constexpr fixed_statistic<statistic_id::zeros> zeros{};
// The fraction of zeros among the finite elements, 0 to 1.
inline constexpr fixed_statistic<statistic_id::zero_fraction> zero_fraction{};
// The number of NaN.
inline constexpr fixed_statistic<statistic_id::nan_count> nan_count{};
// The number of +infinity.
inline constexpr fixed_statistic<statistic_id::pos_inf> pos_inf{};
// The number of -infinity.
inline constexpr fixed_statistic<statistic_id::neg_inf> neg_inf{};

// The same statistic of |x|, named `minimum_abs` and so on. Applies to minimum, maximum, mean, stddev, variance, sum,
// product; l1, l2 and counts do not change.
[[nodiscard]] constexpr statistic of_abs(statistic plain) noexcept { return {plain.id, true}; }
template <statistic_id Id, bool Abs>
[[nodiscard]] constexpr fixed_statistic<Id, true> of_abs(fixed_statistic<Id, Abs>) noexcept {
    return {};
}
// The least magnitude of a finite element.
inline constexpr auto minimum_abs = of_abs(minimum);
// The greatest magnitude of a finite element.
inline constexpr auto maximum_abs = of_abs(maximum);
// The mean of the magnitudes.
inline constexpr auto mean_abs = of_abs(mean);
// The square root of the magnitudes' variance.
inline constexpr auto stddev_abs = of_abs(stddev);
// The variance of the magnitudes.
inline constexpr auto variance_abs = of_abs(variance);
// The sum of the magnitudes.
inline constexpr auto sum_abs = of_abs(sum);
// The product of the magnitudes.
inline constexpr auto product_abs = of_abs(product);

// A user's statistic: `static constexpr terms needs`, a `name`, and a call that returns a number or a measurement.
template <class Value>
concept own_statistic = !std::convertible_to<Value, statistic> && requires(Value const& value, summary const& of) {
    { Value::needs } -> std::convertible_to<stats_mask>;
    { Value::name } -> std::convertible_to<std::string_view>;
    value(of);
};
// A built-in or a user's statistic.
template <class Value>
concept any_statistic = std::convertible_to<Value, statistic> || own_statistic<Value>;

template <any_statistic Statistic>
[[nodiscard]] constexpr stats_mask needs_of(Statistic const& it) noexcept {
    if constexpr (std::convertible_to<Statistic, statistic>) {
        return it.needs();
    } else {
        return Statistic::needs;
    }
}
template <any_statistic Statistic>
[[nodiscard]] constexpr std::string_view name_of(Statistic const& it) noexcept {
    if constexpr (std::convertible_to<Statistic, statistic>) {
        return it.name();
    } else {
        return Statistic::name;
    }
}
// Evaluates either kind; a plain number from a user's statistic counts as known.
template <any_statistic Statistic>
[[nodiscard]] constexpr measurement measure(Statistic const& it, summary const& of) {
    if constexpr (std::convertible_to<decltype(it(of)), measurement>) {
        return it(of);
    } else {
        return {static_cast<double>(it(of)), true};
    }
}

// The contents of a collection: these statistics; `payload` for the values; `shape` for neither; joined by `|`.
template <any_statistic... Statistics>
[[nodiscard]] constexpr stats_mask stats(Statistics const&... each) noexcept {
    return (stats_mask::nonfinite | ... | needs_of(each));
}
inline constexpr stats_mask payload = stats_mask::payload;  // the values, in a collection's contents
using stats_mask::shape;  // not a variable: many functions have a local variable of that name

}  // namespace spotter::inline SPOTTER_ABI
