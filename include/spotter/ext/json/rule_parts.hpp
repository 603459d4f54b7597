// SPDX-License-Identifier: Apache-2.0
// Ext (L6), part of ext/json/rules.hpp: patterns, policies and predicates of a rules file as values for rules, and
// their storage.
#pragma once

#include <spotter/plan/dynamic_plan.hpp>
#include <spotter/replay/envelope_file.hpp>
#include <spotter/stat/predicate.hpp>

#include <deque>
#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

// An expression that a store keeps.
struct dynamic_pattern {
    using kind = pattern_kind;
    dynamic_plan const* in = nullptr;
    dynamic_plan::part which{};
    [[nodiscard]] bool operator()(tensor_info const& tensor) const noexcept { return in->matches(which, tensor); }
};
struct dynamic_policy {
    using kind = policy_kind;
    dynamic_plan const* in = nullptr;
    dynamic_plan::part when{};
    [[nodiscard]] bool operator()(step_id step) const noexcept { return in->admits(when, step); }
};

// A comparison, or `&&`, `||`, `!` of others.
struct predicate_node {
    enum class what : std::uint8_t { comparison, both, either, negated };
    what is = what::comparison;
    statistic left{statistic_id::mean};
    relation how = relation::none;
    double limit = 0;
    predicate_node const *first = nullptr, *second = nullptr;
    std::uint32_t depth = 0;  // nesting depth below it

    [[nodiscard]] truth operator()(summary const& of) const noexcept;
    [[nodiscard]] stats_mask needs() const noexcept;
    [[nodiscard]] evidence shown(summary const& of) const noexcept;
};
struct dynamic_predicate {
    using kind = predicate_kind;
    predicate_node const* it = nullptr;
    [[nodiscard]] truth operator()(summary const& of) const noexcept { return (*it)(of); }
};
[[nodiscard]] inline stats_mask needs_of(dynamic_predicate const& asked) noexcept { return asked.it->needs(); }
[[nodiscard]] evidence evidence_of(dynamic_predicate const& asked, summary const& of) noexcept;

// Everything that the rules of a file refer to; each rule shares ownership. Its parts never move.
struct rule_store {
    dynamic_plan expressions{};
    std::deque<std::string> texts{};
    std::deque<dynamic_pattern> patterns{};
    std::deque<predicate_node> predicates{};
    std::deque<envelope> envelopes{};
};

#if SPOTTER_BODIES

SPOTTER_BODY truth predicate_node::operator()(summary const& of) const noexcept {
    switch (is) {
        case what::both:
            return conjunction((*first)(of), (*second)(of));
        case what::either:
            return disjunction((*first)(of), (*second)(of));
        case what::negated:
            return negation((*first)(of));
        case what::comparison:
            break;
    }
    measurement const found = measure(left, of);
    if (!found.known || is_nan(found.value) || (!left.is_count() && of.finite() == 0)) { return truth::undecided; }
    return truth_of(holds(found.value, how, limit));
}

SPOTTER_BODY stats_mask predicate_node::needs() const noexcept {
    if (is == what::comparison) { return left.needs(); }
    return first->needs() | (second != nullptr ? second->needs() : stats_mask::none);
}

SPOTTER_BODY evidence predicate_node::shown(summary const& of) const noexcept {
    if (is == what::comparison) { return {left.name(), measure(left, of).value, limit, how}; }
    if (is != what::negated) { return (*first)(of) == (*this)(of) ? first->shown(of) : second->shown(of); }
    evidence found = first->shown(of);
    found.how = opposite_of(found.how);
    return found;
}

SPOTTER_BODY evidence evidence_of(dynamic_predicate const& asked, summary const& of) noexcept {
    return asked.it->shown(of);
}

#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
