// SPDX-License-Identifier: Apache-2.0
// Core (L0): a tuple: values of different types, visited in order, at a tenth of the compile time of <tuple>.
#pragma once

#include <spotter/core/fwd.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <std::size_t Index, class Value>
struct pack_slot {
    Value value;
};

template <class Sequence, class... Values>
struct pack_slots;
template <std::size_t... Index, class... Values>
struct pack_slots<std::index_sequence<Index...>, Values...> : pack_slot<Index, Values>... {
    template <class... From>
    constexpr explicit pack_slots(std::in_place_t, From const&... from) noexcept
        : pack_slot<Index, Values>{Values(from)}... {}

    // Calls use(value, index) for each.
    template <class Use>
    constexpr void each([[maybe_unused]] Use&& use) {
        (use(static_cast<pack_slot<Index, Values>&>(*this).value, Index), ...);
    }
    template <class Use>
    constexpr void each([[maybe_unused]] Use&& use) const {
        (use(static_cast<pack_slot<Index, Values> const&>(*this).value, Index), ...);
    }
    // Returns use(values...).
    template <class Use>
    constexpr decltype(auto) apply(Use&& use) const {
        return use(static_cast<pack_slot<Index, Values> const&>(*this).value...);
    }
};

}  // namespace detail

// A tuple that owns its values.
template <class... Values>
struct pack : detail::pack_slots<std::index_sequence_for<Values...>, Values...> {
    static constexpr std::size_t size = sizeof...(Values);
    // Constructs each value from its argument.
    template <class... From>
    constexpr explicit pack(std::in_place_t tag, From const&... from) noexcept
        : detail::pack_slots<std::index_sequence_for<Values...>, Values...>{tag, from...} {}
};

}  // namespace spotter::inline SPOTTER_ABI
