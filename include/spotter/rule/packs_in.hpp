// SPDX-License-Identifier: Apache-2.0
// Rule (L2): the names of the packs that a rule consists of. A record keeps them, so that a later replay can use the
// same packs.
#pragma once

#include <spotter/core/text.hpp>
#include <spotter/rule/adapt.hpp>
#include <spotter/rule/compound.hpp>
#include <spotter/rule/rule_pack.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Names, separated by blanks.
using pack_names = text<64>;

constexpr void add_pack(pack_names& into, std::string_view name) noexcept {
    for (std::string_view rest = into.view(); !rest.empty();) {
        std::size_t const end = rest.find(' ');
        if (rest.substr(0, end) == name) { return; }
        rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    if (!into.empty()) { into << ' '; }
    into << name;
}

// A rule that is not a pack has none.
template <class Rule>
struct packs_in {
    static constexpr void tell(Rule const& rule, pack_names& into) noexcept {
        if constexpr (requires { rule.tell_packs(into); }) { rule.tell_packs(into); }
    }
};
template <class Rule>
constexpr void tell_packs(Rule const& rule, pack_names& into) noexcept {
    packs_in<Rule>::tell(rule, into);
}
template <class Left, class Right>
struct packs_in<both_rules<Left, Right>> {
    static constexpr void tell(both_rules<Left, Right> const& it, pack_names& into) noexcept {
        tell_packs(it.left, into), tell_packs(it.right, into);
    }
};
template <class Left, class Right>
struct packs_in<either_rule<Left, Right>> {
    static constexpr void tell(either_rule<Left, Right> const& it, pack_names& into) noexcept {
        tell_packs(it.left, into), tell_packs(it.right, into);
    }
};
template <class Inner>
struct packs_in<not_rule<Inner>> {
    static constexpr void tell(not_rule<Inner> const& it, pack_names& into) noexcept { tell_packs(it.inner, into); }
};
template <class Inner, class Adaptor>
struct packs_in<adapted<Inner, Adaptor>> {
    static constexpr void tell(adapted<Inner, Adaptor> const& it, pack_names& into) noexcept {
        tell_packs(it.inner, into);
    }
};
template <class... Rules>
struct packs_in<rule_pack<Rules...>> {
    static constexpr void tell(rule_pack<Rules...> const& it, pack_names& into) noexcept {
        it.rules.apply([&](Rules const&... each) { (tell_packs(each, into), ...); });
    }
};

}  // namespace spotter::inline SPOTTER_ABI::detail
