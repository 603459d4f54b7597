// SPDX-License-Identifier: Apache-2.0
// Plan (L2): what a run keeps: a list of collections, as one value.
#pragma once

#include <spotter/core/pack.hpp>
#include <spotter/plan/collection.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

struct collection_reader {
    void operator()(collection_info const&) const noexcept;
};
template <class Value>
inline constexpr bool is_fallback = false;
template <policy Policy>
inline constexpr bool is_fallback<fallback<Policy>> = true;
template <class Collection, policy Policy>
using within = decltype(std::declval<Collection const&>().within(std::declval<fallback<Policy> const&>()));
// Tests the member's address, so that a (rule's) parameter of that name makes no plan, and no compiler error.
template <class Value>
concept has_limit = std::same_as<decltype(&Value::limit), std::size_t const*>;

}  // namespace detail

// What a hook needs from a plan, constant (plan) or made at run time (dynamic_plan). `limit` is the most collections
// that it may have, at most 64: the membership of a tensor, and what is due at a step, are 64-bit words.
template <class Value>
concept plan_like = detail::has_limit<Value> && Value::limit <= 64 &&
                    requires(Value const& value, step_id step, tensor_info const& tensor, std::uint64_t set) {
                        { value.due(step) } -> std::same_as<std::uint64_t>;
                        { value.members(tensor) } -> std::same_as<std::uint64_t>;
                        { value.wanted(set) } -> std::same_as<stats_mask>;
                        { value.malformed() } -> std::convertible_to<pattern_fault>;
                        value.list(detail::collection_reader{});
                    };

// What a run keeps: `constexpr plan keep{collection{...}, ...}`, with an optional `fallback` first. At most 64
// collections. A hook copies it. A malformed pattern is errc::bad_pattern when the hook starts; a malformed `regex` in
// a constant does not compile.
template <class... Collections>
struct plan {
    static_assert(sizeof...(Collections) <= 64, "spotter: a plan holds at most 64 collections.");
    static_assert((!detail::is_fallback<Collections> && ...),
                  "spotter: the fallback of a plan stands first: plan{fallback{...}, collection{...}, ...}.");
    static constexpr std::size_t size = sizeof...(Collections);
    // The limit (`plan_like`): a constant plan cannot grow.
    static constexpr std::size_t limit = size;

    // In the given order; bit i of a set is the i-th.
    pack<Collections...> collections;

    constexpr plan(Collections const&... each) noexcept : collections{std::in_place, each...} {}
    template <policy Policy, class... Given>
    constexpr plan(fallback<Policy> const& rest, Given const&... each) noexcept
        : collections{std::in_place, each.within(rest)...} {}

    // Bit i: collection i is due at this step.
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
    // The union of what a set of collections wants.
    [[nodiscard]] constexpr stats_mask wanted(std::uint64_t set) const noexcept {
        stats_mask all = stats_mask::none;
        collections.each([&](auto const& it, std::size_t i) {
            if ((set >> i & 1) != 0) { all = detail::together(all, it.what); }
        });
        return all;
    }
    // The first malformed pattern; empty if there is none.
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        pattern_fault found;
        collections.each([&](auto const& it, std::size_t) {
            if (found.empty()) { found = malformed_part(it.which); }
        });
        return found;
    }
    // Calls use(collection_info) for each collection, in order.
    template <class Use>
    constexpr void list(Use&& use) const noexcept {
        collections.each([&](auto const& it, std::size_t) { use(it.info()); });
    }
};

template <class... Collections>
plan(Collections...) -> plan<Collections...>;
template <policy Policy, class... Collections>
plan(fallback<Policy>, Collections...) -> plan<detail::within<Collections, Policy>...>;

}  // namespace spotter::inline SPOTTER_ABI
