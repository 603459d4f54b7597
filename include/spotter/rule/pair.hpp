// SPDX-License-Identifier: Apache-2.0
// Rule (L2): pairs: compares the latest values of two series: ratio_of, gap_of.
#pragma once

#include <spotter/core/pattern.hpp>
#include <spotter/rule/machine.hpp>
#include <spotter/stat/predicate.hpp>

namespace spotter::inline SPOTTER_ABI {

// One side of a pair: the last known value of a statistic, in any mode or in one. If several tensors match, the one
// that was observed last counts.
template <pattern Pattern, any_statistic Statistic>
struct latest_value {
    Pattern which;              // evaluated once for each tensor
    Statistic of;               // of the whole tensor
    mode within = mode::train;  // only this mode
    bool any_mode = true;       // or any
};
// The latest value of a statistic of the tensors that match, in any mode or in one.
template <pattern_source Source, any_statistic Statistic>
[[nodiscard]] constexpr auto latest(Source which, Statistic of) noexcept {
    return latest_value<pattern_for<Source>, Statistic>{as_pattern(which), of, mode::train, true};
}
template <pattern_source Source, any_statistic Statistic>
[[nodiscard]] constexpr auto latest(Source which, Statistic of, mode within) noexcept {
    return latest_value<pattern_for<Source>, Statistic>{as_pattern(which), of, within, false};
}

namespace detail {

enum class pairing : std::uint8_t { ratio, gap };

[[nodiscard]] SPOTTER_STRICT constexpr double pair_up(pairing how, double left, double right) noexcept {
    SPOTTER_STRICT_BODY
    return how == pairing::ratio ? left / right : left - right;
}

}  // namespace detail

// Decides at a close in which either side was observed, once both values are known. A ratio to 0 is undecided, and so
// is a value that is not finite. The finding names the left tensor.
template <class Left, class Right>
struct pair_rule {
    using kind = rule_kind;
    static constexpr std::string_view name = "pair";
    Left left;                         // what is compared
    Right right;                       // with what
    detail::pairing pairing;           // by division or subtraction
    relation how = relation::greater;  // the relation of the result to the limit that is a fault
    double limit = 0;                  // of the ratio or the difference

    struct side {                          // the known value of one side
        slot_array<std::uint8_t> watched;  // by tensor
        double value = 0;                  // the last finite one
        std::string_view tensor{};         // whose value it is
        bool known = false;                // a finite value was observed
    };
    struct state {
        side left, right;
        bool news = false;
    };

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const {
        return (left.which(tensor) ? needs_of(left.of) | stats_mask::nonfinite : stats_mask::none) |
               (right.which(tensor) ? needs_of(right.of) | stats_mask::nonfinite : stats_mask::none);
    }
    [[nodiscard]] constexpr bool declare(state& seen, tensor_info const& tensor) const {
        return watch(seen.left, tensor, left.which(tensor)) && watch(seen.right, tensor, right.which(tensor));
    }
    constexpr void observe(state& seen, observation const& it) const {
        take(left, seen.left, seen, it);
        take(right, seen.right, seen, it);
    }
    constexpr truth close(state& seen, step_id, findings& out) const noexcept {
        if (!std::exchange(seen.news, false) || !seen.left.known || !seen.right.known) { return truth::undecided; }
        if (pairing == detail::pairing::ratio && seen.right.value == 0) { return truth::undecided; }
        double const found = detail::pair_up(pairing, seen.left.value, seen.right.value);
        if (classify(found) >= number_class::pos_inf) { return truth::undecided; }
        if (!holds(found, how, limit)) { return truth::no; }
        finding reported;
        reported.tensor = seen.left.tensor;
        reported.reason = pairing == detail::pairing::ratio ? "ratio" : "gap";
        reported.measure = pairing == detail::pairing::ratio ? "left / right" : "left - right";
        reported.measured = found;
        reported.threshold = limit;
        reported.how = how;
        reported.severity = severity::warning;
        reported.detail << "against \"" << seen.right.tensor << "\": " << seen.left.value << " and "
                        << seen.right.value;
        out.push(reported);
        return truth::yes;
    }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        pattern_fault const first = malformed_part(left.which);
        return first.empty() ? malformed_part(right.which) : first;
    }
    [[nodiscard]] constexpr std::string_view silence(state const& seen) const noexcept {
        return !seen.left.known ? "the left side was never known" : "the right side was never known";
    }

private:
    [[nodiscard]] static constexpr bool watch(side& it, tensor_info const& tensor, bool matches) noexcept {
        if (!it.watched.grow(tensor.id + std::size_t{1})) { return false; }
        it.watched[tensor.id] = matches ? 1 : 0;
        return true;
    }
    template <class Side>
    static constexpr void take(Side const& asked, side& into, state& seen, observation const& it) {
        if (!into.watched.holds(it.tensor.id) || into.watched[it.tensor.id] == 0) { return; }
        if (!asked.any_mode && it.step.mode != asked.within) { return; }
        measurement const value = measure(asked.of, it.stats);
        if (!value.known || classify(value.value) >= number_class::pos_inf) { return; }
        into.value = value.value;
        into.tensor = it.tensor.name;
        into.known = seen.news = true;
    }
};

// Needs a comparison: `ratio_of(latest("loss", mean, mode::eval), latest("loss", mean, mode::train)) > 1.2`.
template <class Left, class Right>
struct pair_of {
    Left left;                // what is compared
    Right right;              // with what
    detail::pairing pairing;  // by division or subtraction

    [[nodiscard]] friend constexpr auto operator>(pair_of const& it, double limit) noexcept {
        return it.rule(relation::greater, limit);
    }
    [[nodiscard]] friend constexpr auto operator>=(pair_of const& it, double limit) noexcept {
        return it.rule(relation::greater_equal, limit);
    }
    [[nodiscard]] friend constexpr auto operator<(pair_of const& it, double limit) noexcept {
        return it.rule(relation::less, limit);
    }
    [[nodiscard]] friend constexpr auto operator<=(pair_of const& it, double limit) noexcept {
        return it.rule(relation::less_equal, limit);
    }

private:
    [[nodiscard]] constexpr pair_rule<Left, Right> rule(relation how, double limit) const noexcept {
        return {left, right, pairing, how, limit};
    }
};

// Left divided by right.
template <pattern LeftPattern, any_statistic LeftStatistic, pattern RightPattern, any_statistic RightStatistic>
[[nodiscard]] constexpr auto ratio_of(latest_value<LeftPattern, LeftStatistic> left,
                                      latest_value<RightPattern, RightStatistic> right) noexcept {
    return pair_of<decltype(left), decltype(right)>{left, right, detail::pairing::ratio};
}
// Left minus right.
template <pattern LeftPattern, any_statistic LeftStatistic, pattern RightPattern, any_statistic RightStatistic>
[[nodiscard]] constexpr auto gap_of(latest_value<LeftPattern, LeftStatistic> left,
                                    latest_value<RightPattern, RightStatistic> right) noexcept {
    return pair_of<decltype(left), decltype(right)>{left, right, detail::pairing::gap};
}

}  // namespace spotter::inline SPOTTER_ABI
