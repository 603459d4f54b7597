// SPDX-License-Identifier: Apache-2.0
// Plan (L2): a collection: a name, which tensors, at which steps, what of them.
#pragma once

#include <spotter/core/pattern.hpp>
#include <spotter/plan/describe.hpp>
#include <spotter/stat/statistic.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI {

// What a plan's collections take where they do not say when or what: `plan{fallback{.when = every{500}}, ...}`. It stands first.
// Without one it is always and the values.
template <policy Policy = always>
struct fallback {
    Policy when{};
    terms what = terms::payload;
};

namespace detail {

// `by_default` is replaced wherever it stands, so `by_default{every{500}} && during{mode::train}` keeps its mode.
template <policy Policy, policy Instead>
[[nodiscard]] constexpr Policy fall_back(Policy const& said, Instead const&) noexcept {
    return said;
}
template <policy Policy, policy Instead>
[[nodiscard]] constexpr Instead fall_back(by_default<Policy> const&, Instead const& instead) noexcept {
    return instead;
}
template <policy Left, policy Right, policy Instead>
[[nodiscard]] constexpr auto fall_back(both<Left, Right> const& it, Instead const& instead) noexcept {
    return fall_back(it.left, instead) && fall_back(it.right, instead);
}

}  // namespace detail

// `what` is `payload`, `stats(...)`, `shape` or several joined by `|`. A tensor may belong to several collections; at a step it
// keeps the union of what those that are due ask for, once.
template <class Pattern, class Policy>
struct collection {
    std::string_view name;  // must outlive the plan; a literal does
    Pattern which;
    Policy when;
    terms what;
    bool what_is_said = true;  // false: the plan's fallback decides

    template <pattern_source Source>
    constexpr collection(char const* name_, Source which_, Policy when_, terms what_) noexcept
        : name{name_}, which{as_pattern(which_)}, when{when_}, what{what_} {}
    // Without a policy: always. Without contents: the values. Either gives way to the fallback of a plan that has one.
    template <pattern_source Source>
    constexpr collection(char const* name_, Source which_, Policy when_) noexcept
        : name{name_}, which{as_pattern(which_)}, when{when_}, what{terms::payload}, what_is_said{false} {}
    template <pattern_source Source>
    constexpr collection(char const* name_, Source which_) noexcept : collection{name_, which_, Policy{}} {}

    template <class Text>
    constexpr explicit collection(Text) noexcept {
        static_assert(
            sizeof(Text) == 0,
            "spotter: a collection needs to know which tensors: collection{\"name\", \"pattern/*\", when, what}.");
    }
    constexpr collection(std::in_place_t, std::string_view name_, Pattern const& which_, Policy const& when_,
                         terms what_) noexcept
        : name{name_}, which{which_}, when{when_}, what{what_} {}

    // This collection in a plan with that fallback.
    template <policy Instead>
    [[nodiscard]] constexpr auto within(fallback<Instead> const& rest) const noexcept {
        auto const at_steps = detail::fall_back(when, rest.when);
        return collection<Pattern, std::remove_const_t<decltype(at_steps)>>{std::in_place, name, which, at_steps,
                                                                            what_is_said ? what : rest.what};
    }

    [[nodiscard]] constexpr collection_info info() const noexcept {
        collection_info line{name, {}};
        sentence out;
        describe(which, out);
        out << ", ";
        describe(when, out);
        out << ": ";
        describe(what, out);
        line.what = out;
        return line;
    }
};

template <pattern_source Source, policy Policy>
collection(char const*, Source, Policy, terms) -> collection<pattern_for<Source>, Policy>;
template <pattern_source Source, policy Policy>
collection(char const*, Source, Policy) -> collection<pattern_for<Source>, Policy>;
template <pattern_source Source>
collection(char const*, Source) -> collection<pattern_for<Source>, by_default<always>>;
template <class Text>
collection(Text) -> collection<glob, always>;

}  // namespace spotter::inline SPOTTER_ABI
