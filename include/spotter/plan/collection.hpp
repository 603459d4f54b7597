// SPDX-License-Identifier: Apache-2.0
// Plan (L2): a collection: a name, a pattern of tensors, a policy of steps, and what is kept.
#pragma once

#include <spotter/core/pattern.hpp>
#include <spotter/plan/describe.hpp>
#include <spotter/stat/statistic.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI {

// The default policy and contents of a plan's collections: `plan{fallback{.when = every{500}}, ...}`. It must come
// first. Without one the default is always and the values.
template <policy Policy = always>
struct fallback {
    Policy when{};                          // at which steps
    stats_mask what = stats_mask::payload;  // what is kept of each tensor
};

namespace detail {

// Replaces `by_default` anywhere in a policy: `by_default{every{500}} && during{mode::train}` keeps its mode.
template <policy Policy, policy Instead>
[[nodiscard]] constexpr Policy fall_back(Policy const& said, Instead const&) noexcept {
    return said;
}
template <policy Policy, policy Instead>
[[nodiscard]] constexpr Instead fall_back(by_default<Policy> const&, Instead const& instead) noexcept {
    return instead;
}
template <policy Left, policy Right, policy Instead>
[[nodiscard]] constexpr auto fall_back(both_expressions<Left, Right> const& it, Instead const& instead) noexcept {
    return fall_back(it.left, instead) && fall_back(it.right, instead);
}

// What a collection cannot be made of gets an explanatory error. Parts: name, pattern, policy, contents.
template <class Value>
concept literal_name = std::convertible_to<Value, char const*>;
template <class... Given>
inline constexpr bool makes_collection = false;
template <literal_name Name, pattern_source Source>
inline constexpr bool makes_collection<Name, Source> = true;
template <literal_name Name, pattern_source Source, policy Policy>
inline constexpr bool makes_collection<Name, Source, Policy> = true;
template <literal_name Name, pattern_source Source, policy Policy, std::convertible_to<stats_mask> What>
inline constexpr bool makes_collection<Name, Source, Policy, What> = true;

template <class Value>
inline constexpr bool says_what = any_statistic<Value> || std::convertible_to<Value, stats_mask>;
template <class Name, class Source = void, class When = always, class What = stats_mask, class... More>
constexpr void tell_what_is_wrong() noexcept {
    static_assert(literal_name<Name>, "spotter: the name of a collection is a text between quotes, which outlives it.");
    static_assert(
        pattern_source<Source>,
        "spotter: a collection needs to know which tensors: collection{\"name\", \"pattern/*\", when, what}; a "
        "role (role::weight) or a function of the name will do, too.");
    static_assert(
        policy<When> || !says_what<When>,
        "spotter: a policy is missing, at which steps: collection{\"name\", \"pattern/*\", always{}, what}, or "
        "every{100} in place of always{}.");
    static_assert(policy<When> || says_what<When>,
                  "spotter: the third of a collection is a policy, at which steps: always{}, every{100}, at{0, 1}, "
                  "during{mode::eval}.");
    static_assert(
        std::convertible_to<What, stats_mask> && sizeof...(More) == 0,
        "spotter: what a collection keeps is payload, shape or stats(...): a statistic stands in stats, as in "
        "stats(l2, maximum); several of the three are joined by |.");
}

}  // namespace detail

// `what` is `payload`, `stats(...)`, `shape` or several joined by `|`. A tensor may belong to several collections; at a
// step the union of what its due collections want is kept once.
template <class Pattern, class Policy>
struct collection {
    std::string_view name;     // must outlive the plan; a literal does
    Pattern which;             // which tensors; evaluated once for each declaration
    Policy when;               // at which steps
    stats_mask what;           // what is kept of each tensor
    bool what_is_said = true;  // false: the plan's fallback applies

    template <pattern_source Source>
    constexpr collection(char const* name_, Source which_, Policy when_, stats_mask what_) noexcept
        : name{name_}, which{as_pattern(which_)}, when{when_}, what{what_} {}
    // The default policy is always, the default contents are the values; a plan's fallback replaces both.
    template <pattern_source Source>
    constexpr collection(char const* name_, Source which_, Policy when_) noexcept
        : name{name_}, which{as_pattern(which_)}, when{when_}, what{stats_mask::payload}, what_is_said{false} {}
    template <pattern_source Source>
    constexpr collection(char const* name_, Source which_) noexcept : collection{name_, which_, Policy{}} {}

    // Other arguments do not compile; the error says why.
    template <class... Given>
        requires(sizeof...(Given) > 0 && !detail::makes_collection<std::decay_t<Given const&>...>)
    constexpr explicit collection(Given const&...) noexcept : which{""}, when{}, what{} {
        detail::tell_what_is_wrong<std::decay_t<Given const&>...>();
    }
    constexpr collection(std::in_place_t, std::string_view name_, Pattern const& which_, Policy const& when_,
                         stats_mask what_) noexcept
        : name{name_}, which{which_}, when{when_}, what{what_} {}

    // This collection with the plan's fallback applied.
    template <policy Instead>
    [[nodiscard]] constexpr auto within(fallback<Instead> const& rest) const noexcept {
        auto const at_steps = detail::fall_back(when, rest.when);
        return collection<Pattern, std::remove_const_t<decltype(at_steps)>>{std::in_place, name, which, at_steps,
                                                                            what_is_said ? what : rest.what};
    }

    // Its name, and its contents in words, as in a record's `collections()`.
    [[nodiscard]] collection_info info() const noexcept {
        collection_info line{name, {}};
        describe(which, line.what);
        line.what << ", ";
        describe(when, line.what);
        line.what << ": ";
        describe(what, line.what);
        return line;
    }
};

template <pattern_source Source, policy Policy>
collection(char const*, Source, Policy, stats_mask) -> collection<pattern_for<Source>, Policy>;
template <pattern_source Source, policy Policy>
collection(char const*, Source, Policy) -> collection<pattern_for<Source>, Policy>;
template <pattern_source Source>
collection(char const*, Source) -> collection<pattern_for<Source>, by_default<always>>;
template <class... Given>
    requires(sizeof...(Given) > 0 && !detail::makes_collection<std::decay_t<Given const&>...>)
collection(Given const&...) -> collection<glob, always>;

}  // namespace spotter::inline SPOTTER_ABI
