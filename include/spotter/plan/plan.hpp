// SPDX-License-Identifier: Apache-2.0
// Plan (L2): what a run keeps: a list of collections, as one value.
#pragma once

#include <spotter/core/pack.hpp>
#include <spotter/plan/collection.hpp>

namespace spotter::inline SPOTTER_ABI {

// At most 64 collections: membership of a tensor, and what is due at a step, are one 64-bit word each.
template <class... Collections>
struct plan {
    static_assert(sizeof...(Collections) <= 64, "spotter: a plan holds at most 64 collections.");
    static constexpr std::size_t size = sizeof...(Collections);

    pack<Collections...> collections;

    constexpr plan(Collections const&... each) noexcept : collections{std::in_place, each...} {}

    // Bit i: collection i wants steps like this one.
    [[nodiscard]] constexpr std::uint64_t due(step_id step) const {
        std::uint64_t bits = 0;
        collections.each([&](auto const& it, std::size_t i) { bits |= std::uint64_t{it.when(step)} << i; });
        return bits;
    }
    // Bit i: the tensor is a member of collection i.
    [[nodiscard]] constexpr std::uint64_t members(tensor_info const& tensor) const {
        std::uint64_t bits = 0;
        collections.each([&](auto const& it, std::size_t i) { bits |= std::uint64_t{it.which(tensor)} << i; });
        return bits;
    }
    // The union of what the collections of a set ask for.
    [[nodiscard]] constexpr terms wanted(std::uint64_t set) const noexcept {
        terms all = terms::none;
        collections.each([&](auto const& it, std::size_t i) {
            if ((set >> i & 1) != 0) { all |= it.what; }
        });
        return all;
    }
    // The text of the first malformed pattern; empty where there is none.
    [[nodiscard]] constexpr std::string_view malformed() const noexcept {
        std::string_view found;
        collections.each([&](auto const& it, std::size_t) {
            if (found.empty()) { found = malformed_part(it.which); }
        });
        return found;
    }
    // Calls use(collection_info) for each, in order.
    template <class Use>
    constexpr void list(Use&& use) const noexcept {
        collections.each([&](auto const& it, std::size_t) { use(it.info()); });
    }
};

template <class... Collections>
plan(Collections...) -> plan<Collections...>;

namespace detail {
template <class Value>
inline constexpr bool is_plan = false;
template <class... Collections>
inline constexpr bool is_plan<plan<Collections...>> = true;
}  // namespace detail

// Collections that most training loops want, by role. Losses and metrics are tiny and always kept whole: a rule that sees one
// step in 500 is blind. Gradients and optimizer state exist only in training.
namespace defaults {

inline constexpr collection losses{"losses", role::loss, always{}, payload};
inline constexpr collection metrics{"metrics", role::metric, always{}, payload};
inline constexpr collection weights{"weights", role::weight, every{500}, payload};
inline constexpr collection biases{"biases", role::bias, every{500}, payload};
inline constexpr collection gradients{"gradients", role::gradient, every{500} && during{mode::train}, payload};
inline constexpr collection optimizer{"optimizer", role::optimizer, every{500} && during{mode::train}, payload};

}  // namespace defaults

}  // namespace spotter::inline SPOTTER_ABI
