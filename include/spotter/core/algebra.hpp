// SPDX-License-Identifier: Apache-2.0
// Core (L0): `&&`, `||` and `!` for every kind of expression. They are defined once, and never mix kinds.
#pragma once

#include <spotter/core/fwd.hpp>

#include <concepts>

namespace spotter::inline SPOTTER_ABI {

// Ordered: `&&` is the minimum, `||` the maximum.
enum class truth : std::uint8_t { no = 0, undecided = 1, yes = 2 };

// Yes or no.
[[nodiscard]] constexpr truth truth_of(bool value) noexcept { return value ? truth::yes : truth::no; }
// Yes or no.
[[nodiscard]] constexpr bool decided(truth value) noexcept { return value != truth::undecided; }

// Kleene's `and`: no if either is no, otherwise undecided if either is undecided.
[[nodiscard]] constexpr truth conjunction(truth a, truth b) noexcept { return a < b ? a : b; }
// Kleene's `or`.
[[nodiscard]] constexpr truth disjunction(truth a, truth b) noexcept { return a < b ? b : a; }
// Negation; undecided stays undecided.
[[nodiscard]] constexpr truth negation(truth a) noexcept { return static_cast<truth>(2 - static_cast<int>(a)); }

[[nodiscard]] constexpr bool conjunction(bool a, bool b) noexcept { return a && b; }
[[nodiscard]] constexpr bool disjunction(bool a, bool b) noexcept { return a || b; }
[[nodiscard]] constexpr bool negation(bool a) noexcept { return !a; }

// Every expression names its kind (predicate, policy, pattern, rule). The kind defines the types of its compounds.
template <class Value>
concept expression = requires { typename Value::kind; };

// Both may be operands of one `&&` or `||`.
template <class Left, class Right>
concept same_kind = expression<Left> && expression<Right> && std::same_as<typename Left::kind, typename Right::kind>;

// The compounds of stateless expressions. They own their operands and evaluate both, without short-circuiting. Not
// noexcept: an operand may be a user's own. They accept exactly the arguments that their operands accept, so that code
// that takes several kinds of callables (replay) can distinguish them.
template <class Left, class Right>
struct both_expressions {
    using kind = typename Left::kind;
    Left left;    // evaluated first
    Right right;  // evaluated in any case
    template <class... In>
        requires std::invocable<Left const&, In const&...> && std::invocable<Right const&, In const&...>
    [[nodiscard]] constexpr auto operator()(In const&... in) const {
        return conjunction(left(in...), right(in...));
    }
};
template <class Left, class Right>
struct either_expression {  // `a || b`, likewise
    using kind = typename Left::kind;
    Left left;    // evaluated first
    Right right;  // evaluated in any case
    template <class... In>
        requires std::invocable<Left const&, In const&...> && std::invocable<Right const&, In const&...>
    [[nodiscard]] constexpr auto operator()(In const&... in) const {
        return disjunction(left(in...), right(in...));
    }
};
template <class Inner>
struct not_expression {  // `!a`, likewise
    using kind = typename Inner::kind;
    Inner inner;  // the operand
    template <class... In>
        requires std::invocable<Inner const&, In const&...>
    [[nodiscard]] constexpr auto operator()(In const&... in) const {
        return negation(inner(in...));
    }
};

// A kind whose expressions are plain functions of their input.
struct stateless_kind {
    template <class Left, class Right>
    using both = spotter::both_expressions<Left, Right>;  // `a && b`
    template <class Left, class Right>
    using either = spotter::either_expression<Left, Right>;  // `a || b`
    template <class Inner>
    using negated = spotter::not_expression<Inner>;  // `!a`
};

// Operands of one kind: the result is that kind's compound, which owns both. Never short-circuits.
template <expression Left, expression Right>
    requires same_kind<Left, Right>
[[nodiscard]] constexpr auto operator&&(Left left, Right right) noexcept {
    return typename Left::kind::template both<Left, Right>{left, right};
}
// Like `&&`.
template <expression Left, expression Right>
    requires same_kind<Left, Right>
[[nodiscard]] constexpr auto operator||(Left left, Right right) noexcept {
    return typename Left::kind::template either<Left, Right>{left, right};
}
// Like `&&`, with one operand.
template <expression Inner>
[[nodiscard]] constexpr auto operator!(Inner inner) noexcept {
    return typename Inner::kind::template negated<Inner>{inner};
}

}  // namespace spotter::inline SPOTTER_ABI
