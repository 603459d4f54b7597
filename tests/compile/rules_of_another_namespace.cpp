// SPDX-License-Identifier: Apache-2.0
// Two rules of one's own are composed in their own namespace, as docs/rule.md says: by using-declarations, or together.
#include <spotter/hook.hpp>
#include <spotter/rule/rule_pack.hpp>

namespace theirs {

struct mine {
    using kind = spotter::rule_kind;
    static constexpr std::string_view name = "mine";
    struct state {};
    constexpr spotter::stats_mask needs(spotter::tensor_info const&) const { return spotter::stats_mask::sum; }
    constexpr void observe(state&, spotter::observation const&) const {}
    constexpr spotter::truth close(state&, spotter::step_id, spotter::findings&) const { return spotter::truth::no; }
};
struct other : mine {};

using spotter::operator&&, spotter::operator||, spotter::operator!;

}  // namespace theirs

static_assert(spotter::rule<decltype(theirs::mine{} || theirs::other{})>);
static_assert(spotter::rule<decltype(theirs::mine{} && theirs::mine{})>);
static_assert(spotter::rule<decltype(!theirs::mine{})>);
static_assert(spotter::rule<decltype(spotter::together(theirs::mine{}, theirs::other{}))>);

namespace elsewhere {

// The namespace of the rules is searched, wherever they are composed.
inline constexpr auto composed = !theirs::mine{} && (theirs::mine{} || theirs::other{});
static_assert(spotter::rule<decltype(composed | spotter::once)>);

}  // namespace elsewhere
