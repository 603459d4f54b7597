// SPDX-License-Identifier: Apache-2.0
// Stat (L1): predicates compare a statistic with a limit. They are undecided if the statistic is unknown or NaN and,
// except for counts, if the tensor has no finite element.
#pragma once

#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// How a number compares with a limit.
enum class relation : std::uint8_t { none = 0, less = 1, less_equal = 2, greater = 3, greater_equal = 4 };

// The operator; empty for none.
[[nodiscard]] constexpr std::string_view symbol_of(relation how) noexcept {
    constexpr std::string_view symbols[] = {"", "<", "<=", ">", ">="};
    return symbols[static_cast<std::size_t>(how)];
}
// Whether the relation holds; `none` never does.
[[nodiscard]] constexpr bool holds(double left, relation how, double right) noexcept {
    switch (how) {
        case relation::less:
            return left < right;
        case relation::less_equal:
            return left <= right;
        case relation::greater:
            return left > right;
        case relation::greater_equal:
            return left >= right;
        case relation::none:
            break;
    }
    return false;
}

// The negation of a relation.
[[nodiscard]] constexpr relation opposite_of(relation how) noexcept {
    switch (how) {
        case relation::less:
            return relation::greater_equal;
        case relation::less_equal:
            return relation::greater;
        case relation::greater:
            return relation::less_equal;
        case relation::greater_equal:
            return relation::less;
        case relation::none:
            break;
    }
    return relation::none;
}

// The kind of predicates: they combine with each other by `&&`, `||` and `!`, in Kleene's logic.
struct predicate_kind : stateless_kind {};

// Tests a tensor's statistics; the result is yes, no or undecided: `l2 > 1e3`, `zero_fraction > 0.9 && mean < 0`.
template <class Value>
concept predicate = expression<Value> && std::same_as<typename Value::kind, predicate_kind>;

// `l2 > 1e3` as a type: a statistic, a relation and a limit.
template <any_statistic Statistic, relation How>
struct comparison {
    using kind = predicate_kind;
    static constexpr relation how = How;  // of the statistic to the limit
    Statistic left;                       // the statistic
    double limit;                         // in the statistic's unit
    // Undecided if the number is unknown or NaN or, except for counts, if there is no finite element.
    [[nodiscard]] constexpr truth operator()(summary const& of) const {
        if constexpr (requires { left.value_of(of); }) {
            constexpr statistic plain = Statistic{};
            if (!left.is_known(of) || (!plain.is_count() && of.finite() == 0)) { return truth::undecided; }
            double const value = left.value_of(of);
            if (plain.may_be_nan() && is_nan(value)) { return truth::undecided; }
            return truth_of(holds(value, how, limit));
        } else {
            measurement const found = measure(left, of);
            if (!found.known || is_nan(found.value)) { return truth::undecided; }
            if constexpr (std::same_as<Statistic, statistic>) {
                if (!left.is_count() && of.finite() == 0) { return truth::undecided; }
            }
            return truth_of(holds(found.value, how, limit));
        }
    }
};

// Predicates on a statistic; a limit of NaN never holds.
template <any_statistic Statistic>
[[nodiscard]] constexpr comparison<Statistic, relation::less> operator<(Statistic left, double limit) noexcept {
    return {left, limit};
}
template <any_statistic Statistic>
[[nodiscard]] constexpr comparison<Statistic, relation::less_equal> operator<=(Statistic left, double limit) noexcept {
    return {left, limit};
}
// Like `<`.
template <any_statistic Statistic>
[[nodiscard]] constexpr comparison<Statistic, relation::greater> operator>(Statistic left, double limit) noexcept {
    return {left, limit};
}
// Like `<`.
template <any_statistic Statistic>
[[nodiscard]] constexpr comparison<Statistic, relation::greater_equal> operator>=(Statistic left,
                                                                                  double limit) noexcept {
    return {left, limit};
}

// The terms that a predicate needs.
template <predicate Predicate>
[[nodiscard]] constexpr stats_mask needs_of(Predicate const& it) noexcept {
    if constexpr (requires { it.right; }) {
        return needs_of(it.left) | needs_of(it.right);
    } else if constexpr (requires { it.inner; }) {
        return needs_of(it.inner);
    } else if constexpr (requires { it.limit; }) {
        return needs_of(it.left);
    } else {
        return Predicate::needs;
    }
}

// The comparison that a finding shows for a predicate: of a compound the leftmost one whose result is that of the
// whole.
struct evidence {
    std::string_view measure{};     // the statistic's name
    double measured = 0;            // its value
    double threshold = 0;           // its limit
    relation how = relation::none;  // the required relation
};
// For a tensor with a decided result. For a callable that is not a comparison the measure is only "predicate".
template <predicate Predicate>
[[nodiscard]] constexpr evidence evidence_of(Predicate const& it, summary const& of) {
    if constexpr (requires { it.right; }) {
        return it.left(of) == it(of) ? evidence_of(it.left, of) : evidence_of(it.right, of);
    } else if constexpr (requires { it.inner; }) {
        evidence shown = evidence_of(it.inner, of);
        shown.how = opposite_of(shown.how);
        return shown;
    } else if constexpr (requires { it.limit; }) {
        return {name_of(it.left), measure(it.left, of).value, it.limit, it.how};
    } else {
        return {"predicate", 0, 0, relation::none};
    }
}

}  // namespace spotter::inline SPOTTER_ABI
