// SPDX-License-Identifier: Apache-2.0
// Plan (L2): a collection: a name, which tensors, at which steps, what of them.
#pragma once

#include <spotter/core/pattern.hpp>
#include <spotter/plan/describe.hpp>
#include <spotter/stat/statistic.hpp>

namespace spotter::inline SPOTTER_ABI {

// `what` is `payload`, `stats(...)` or both joined by `|`. A tensor may belong to several collections; at a step it keeps the
// union of what those that are due ask for, once.
template <class Pattern, class Policy>
struct collection {
    std::string_view name;  // must outlive the plan; a literal does
    Pattern which;
    Policy when;
    terms what;

    template <pattern_source Source>
    constexpr collection(char const* name_, Source which_, Policy when_, terms what_) noexcept
        : name{name_}, which{as_pattern(which_)}, when{when_}, what{what_} {}
    // Without a policy: always. Without contents: the values.
    template <pattern_source Source>
    constexpr collection(char const* name_, Source which_, Policy when_) noexcept : collection{name_, which_, when_, payload} {}
    template <pattern_source Source>
    constexpr collection(char const* name_, Source which_) noexcept : collection{name_, which_, always{}, payload} {}

    template <class Text>
    constexpr explicit collection(Text) noexcept {
        static_assert(!std::convertible_to<Text, char const*>,
                      "spotter: a collection needs to know which tensors: collection{\"name\", \"pattern/*\", when, what}.");
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
collection(char const*, Source) -> collection<pattern_for<Source>, always>;
template <class Text>
collection(Text) -> collection<glob, always>;

}  // namespace spotter::inline SPOTTER_ABI
