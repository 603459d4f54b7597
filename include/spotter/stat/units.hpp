// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the unit-activity feature: how many elements of each unit of a layer were active.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/stat/lanes.hpp>

namespace spotter::inline SPOTTER_ABI {

inline constexpr int default_axis = -1;
inline constexpr int no_axis = -2;

// The axis that counts units: the one asked for, or else the first that does not count samples (the second of a batch-first
// tensor, the only one of a vector); no_axis for a scalar, and where the tensor has not that many. `batch` is the batch axis where
// it is known, -1 otherwise.
[[nodiscard]] constexpr int unit_axis_of(extents const& shape, int asked, int batch = -1) noexcept {
    if (asked != default_axis) { return asked >= 0 && asked < shape.rank ? asked : no_axis; }
    if (shape.rank >= 2) { return batch <= 0 ? 1 : 0; }
    return shape.rank == 1 ? 0 : no_axis;
}
[[nodiscard]] constexpr std::uint64_t unit_count(extents const& shape, int asked, int batch = -1) noexcept {
    int const axis = unit_axis_of(shape, asked, batch);
    return axis < 0 ? 0 : shape.size[static_cast<std::size_t>(axis)];
}

// Adds to active[u] the finite non-zero elements of unit u and to finite[u] its finite elements. Both hold unit_count(...)
// values. O(n), one walk in storage order.
template <class = only_where_called>
constexpr void count_active(tensor_ref const& tensor, int asked_axis, std::uint32_t* active,
                            std::uint32_t* finite) noexcept {
    int const found = unit_axis_of(tensor.shape, asked_axis);
    if (found < 0 || tensor.count == 0) { return; }
    auto const axis = static_cast<std::size_t>(found);
    std::size_t const rank = tensor.shape.rank;
    std::size_t const units = static_cast<std::size_t>(tensor.shape.size[axis]);
    std::size_t inner = 1;  // elements in a row that belong to one unit
    for (std::size_t i = 0; i < rank; ++i) {
        bool const faster = tensor.layout == order::row_major ? i > axis : i < axis;
        if (faster) { inner *= static_cast<std::size_t>(tensor.shape.size[i]); }
    }
    visit_values(tensor, [&](auto values) {
        std::size_t i = 0;
        while (i < values.size()) {
            for (std::size_t unit = 0; unit < units; ++unit) {
                std::uint32_t on = 0;
                std::uint32_t known = 0;
                for (std::size_t k = 0; k < inner; ++k, ++i) {
                    number_class const kind = detail::see(values[i]).kind;
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
