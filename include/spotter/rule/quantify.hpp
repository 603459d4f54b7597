// SPDX-License-Identifier: Apache-2.0
// Rule (L2): quantifiers: a predicate over all tensors whose name matches, at one step.
#pragma once

#include <spotter/rule/compound.hpp>
#include <spotter/stat/predicate.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The counts of any, all and fraction during a step; undecided observations are left out of the share.
struct tally {
    std::uint32_t yes = 0, no = 0, undecided = 0;
    violation first{};
    evidence shown{};

    template <class Predicate>
    constexpr void count(Predicate const& ask, observation const& it) {
        truth const answer = ask(it.stats);
        if (answer == truth::yes) {
            blame(ask, it);
        } else {
            ++(answer == truth::no ? no : undecided);
        }
    }
    SPOTTER_COLD constexpr void tell(std::string_view reason, findings& out) const noexcept {
        finding found = first.as_finding(shown.measure, shown.how, shown.threshold, severity::warning);
        found.reason = reason;
        out.push(found);
    }
    SPOTTER_COLD constexpr void tell_share(double share, relation how, double limit, findings& out) const noexcept {
        finding found = first.as_finding("share of tensors", how, limit, severity::warning);
        found.measured = share;
        found.reason = shown.measure;
        out.push(found);
    }

private:
    template <class Predicate>
    SPOTTER_NOINLINE constexpr void blame(Predicate const& ask, observation const& it) {
        if (yes++ == 0) { shown = evidence_of(ask, it.stats); }
        first.blame(it, shown.measured);
    }
};

template <pattern Pattern, spotter::predicate Predicate>
struct quantifier {
    using kind = rule_kind;
    using state = tally;
    Pattern which;
    Predicate ask;

    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const {
        return which(tensor) ? needs_of(ask) | stats_mask::nonfinite : stats_mask::none;
    }
    constexpr void observe(state& seen, observation const& it) const { seen.count(ask, it); }
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept { return malformed_part(which); }
};

}  // namespace detail

// Yes if a matching tensor satisfies the predicate. Undecided if none matches or none is decided.
template <pattern Pattern, predicate Predicate>
struct any_rule : detail::quantifier<Pattern, Predicate> {
    static constexpr std::string_view name = "any";
    [[nodiscard]] constexpr truth close(detail::tally& seen, step_id, findings& out) const noexcept {
        truth const answer = seen.yes > 0                         ? truth::yes
                             : seen.undecided == 0 && seen.no > 0 ? truth::no
                                                                  : truth::undecided;
        if (answer == truth::yes) { seen.tell("holds for a tensor", out); }
        seen = {};
        return answer;
    }
};

// Yes if every matching tensor satisfies it. The finding names the first.
template <pattern Pattern, predicate Predicate>
struct all_rule : detail::quantifier<Pattern, Predicate> {
    static constexpr std::string_view name = "all";
    [[nodiscard]] constexpr truth close(detail::tally& seen, step_id, findings& out) const noexcept {
        truth const answer = seen.no > 0                           ? truth::no
                             : seen.undecided > 0 || seen.yes == 0 ? truth::undecided
                                                                   : truth::yes;
        if (answer == truth::yes) { seen.tell("holds for every tensor", out); }
        seen = {};
        return answer;
    }
};

// Compares the share of matching tensors that satisfy it, among the decided ones, with a limit.
template <pattern Pattern, predicate Predicate>
struct fraction_rule : detail::quantifier<Pattern, Predicate> {
    static constexpr std::string_view name = "fraction";
    relation how = relation::greater;  // the relation of the share to the limit that is a fault
    double limit = 0;                  // of the share, 0 to 1
    [[nodiscard]] constexpr truth close(detail::tally& seen, step_id, findings& out) const noexcept {
        std::uint32_t const decided = seen.yes + seen.no;
        double const share = static_cast<double>(seen.yes) / static_cast<double>(decided > 0 ? decided : 1);
        truth const answer = decided == 0 ? truth::undecided : truth_of(holds(share, how, limit));
        if (answer == truth::yes) { seen.tell_share(share, how, limit, out); }
        seen = {};
        return answer;
    }
};

// `fraction("act/*", zero_fraction > 0.95)` needs a comparison: `> 0.5`.
template <pattern Pattern, predicate Predicate>
struct fraction_of {
    Pattern which;  // the tensors
    Predicate ask;  // the predicate, for each of them

    [[nodiscard]] friend constexpr auto operator>(fraction_of it, double limit) noexcept {
        return it.rule(relation::greater, limit);
    }
    [[nodiscard]] friend constexpr auto operator>=(fraction_of it, double limit) noexcept {
        return it.rule(relation::greater_equal, limit);
    }
    [[nodiscard]] friend constexpr auto operator<(fraction_of it, double limit) noexcept {
        return it.rule(relation::less, limit);
    }
    [[nodiscard]] friend constexpr auto operator<=(fraction_of it, double limit) noexcept {
        return it.rule(relation::less_equal, limit);
    }

private:
    [[nodiscard]] constexpr fraction_rule<Pattern, Predicate> rule(relation how, double limit) const noexcept {
        return {{which, ask}, how, limit};
    }
};

// `any("grad/*", l2 > 1e3)`: see any_rule.
template <pattern_source Source, predicate Predicate>
[[nodiscard]] constexpr auto any(Source which, Predicate ask) noexcept {
    return any_rule<pattern_for<Source>, Predicate>{{as_pattern(which), ask}};
}
// `all("grad/*", mean_abs < 1e-7)`: see all_rule.
template <pattern_source Source, predicate Predicate>
[[nodiscard]] constexpr auto all(Source which, Predicate ask) noexcept {
    return all_rule<pattern_for<Source>, Predicate>{{as_pattern(which), ask}};
}
// `fraction("act/*", zero_fraction > 0.95) > 0.5`: see fraction_rule.
template <pattern_source Source, predicate Predicate>
[[nodiscard]] constexpr auto fraction(Source which, Predicate ask) noexcept {
    return fraction_of<pattern_for<Source>, Predicate>{as_pattern(which), ask};
}

}  // namespace spotter::inline SPOTTER_ABI
