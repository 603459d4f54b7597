// SPDX-License-Identifier: Apache-2.0
// The bodies of rule_parts.hpp.
#pragma once

#include <spotter/ext/json/rule_parts.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

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

}  // namespace spotter::inline SPOTTER_ABI::detail
