// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the unit-activity feature: how many elements of each unit of a layer were active.
#pragma once

#include <spotter/stat/any_values.hpp>
#include <spotter/stat/unit_axis.hpp>
#include <spotter/stat/unit_kernel.hpp>

namespace spotter::inline SPOTTER_ABI {

// Calls `use(unit, seen_element)` for each element, in storage order. Does nothing if `axis` is no axis.
template <class Use>
constexpr void for_each_unit(tensor_ref const& tensor, int axis, Use&& use) noexcept {
    if (axis < 0 || tensor.count == 0) { return; }
    axis_layout const lie = layout_along(tensor, axis);
    visit_seen(tensor, [&](auto const& values) SPOTTER_STRICT {
        SPOTTER_STRICT_BODY
        auto at = values.begin();
        for (std::size_t group = 0; group < lie.groups; ++group) {
            for (std::size_t unit = 0; unit < lie.units; ++unit) {
                for (std::size_t i = 0; i < lie.inner; ++i, ++at) { use(unit, detail::see(*at)); }
            }
        }
    });
}
// Calls `use(row)` for each position, a sample or a pixel of one, that has one element of every unit: row(unit) is the
// element.
template <class Use>
constexpr void for_each_row(tensor_ref const& tensor, int axis, Use&& use) noexcept {
    if (axis < 0 || tensor.count == 0) { return; }
    axis_layout const lie = layout_along(tensor, axis);
    visit_seen(tensor, [&](auto const& values) SPOTTER_STRICT {
        SPOTTER_STRICT_BODY
        for (std::size_t group = 0; group < lie.groups; ++group) {
            for (std::size_t i = 0; i < lie.inner; ++i) {
                std::size_t const first = group * lie.units * lie.inner + i;
                use([&](std::size_t unit) { return detail::see(values[first + unit * lie.inner]); });
            }
        }
    });
}

namespace detail {

// Whether elements of adjacent units are adjacent, and the kernels take the type as floats.
[[nodiscard]] constexpr bool by_rows(tensor_ref const& tensor, axis_layout const& lie) noexcept {
    return !std::is_constant_evaluated() && lie.inner == 1 && tensor.refused == refusal::none &&
           is_narrow(tensor.type) && tensor.type != dtype::none;
}

}  // namespace detail

// Adds the magnitudes of the finite elements of unit u to sums[u], and their number to finite[u], element by element in
// storage order. Both hold unit_count(...) values. Does nothing if `axis` is no axis.
template <class = only_where_called>
SPOTTER_STRICT constexpr void add_sizes(tensor_ref const& tensor, int axis, double* sums, double* finite) noexcept {
    SPOTTER_STRICT_BODY
    if (axis < 0 || tensor.count == 0) { return; }
    axis_layout const lie = layout_along(tensor, axis);
    if (detail::by_rows(tensor, lie)) {
        return detail::each_row(tensor, lie.units, [&](float const* row, std::size_t first, std::size_t count) {
            detail::add_row_sizes_fast(row, count, sums + first, finite + first);
        });
    }
    for_each_unit(tensor, axis, [&](std::size_t unit, seen_element const& it) SPOTTER_STRICT {
        SPOTTER_STRICT_BODY
        if (it.kind >= number_class::pos_inf) { return; }
        sums[unit] += it.size;
        finite[unit] += 1;
    });
}

// Adds the number of finite non-zero elements of unit u to active[u], and that of its finite elements to finite[u].
// Both hold unit_count(...) values. O(n), one walk in storage order.
template <class = only_where_called>
constexpr void count_active(tensor_ref const& tensor, int asked_axis, std::uint32_t* active,
                            std::uint32_t* finite) noexcept {
    int const axis = unit_axis_of(tensor.shape, asked_axis);
    if (axis < 0 || tensor.count == 0) { return; }
    axis_layout const lie = layout_along(tensor, axis);
    if (detail::by_rows(tensor, lie)) {
        return detail::each_row(tensor, lie.units, [&](float const* row, std::size_t first, std::size_t count) {
            detail::count_row_fast(row, count, active + first, finite + first);
        });
    }
    visit_seen(tensor, [&](auto const& values) {
        auto at = values.begin();
        for (std::size_t group = 0; group < lie.groups; ++group) {
            for (std::size_t unit = 0; unit < lie.units; ++unit) {
                std::uint32_t on = 0;
                std::uint32_t known = 0;
                for (std::size_t k = 0; k < lie.inner; ++k, ++at) {
                    number_class const kind = detail::see(*at).kind;
                    known += kind < number_class::pos_inf ? 1U : 0U;
                    on += kind == number_class::normal || kind == number_class::subnormal ? 1U : 0U;
                }
                active[unit] += on;
                finite[unit] += known;
            }
        }
    });
}

}  // namespace spotter::inline SPOTTER_ABI
