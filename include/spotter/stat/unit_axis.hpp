// SPDX-License-Identifier: Apache-2.0
// Stat (L1): the axis that counts the units of a layer, and the memory layout around it.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/event.hpp>

namespace spotter::inline SPOTTER_ABI {

inline constexpr int default_axis = -1;  // chosen by unit_axis_of
inline constexpr int no_axis = -2;       // there is none

// The axis that counts units: `asked`, or by default the first that does not count samples (the second of a batch-first
// tensor, the only one of a vector). no_axis for a scalar, or if the tensor has fewer axes. `batch`: the batch axis; -1
// if unknown.
[[nodiscard]] constexpr int unit_axis_of(extents const& shape, int asked, int batch = -1) noexcept {
    if (asked != default_axis) { return asked >= 0 && asked < shape.rank ? asked : no_axis; }
    if (shape.rank >= 2) { return batch <= 0 ? 1 : 0; }
    return shape.rank == 1 ? 0 : no_axis;
}
// The number of units along that axis; 0 if there is none.
[[nodiscard]] constexpr std::uint64_t unit_count(extents const& shape, int asked, int batch = -1) noexcept {
    int const axis = unit_axis_of(shape, asked, batch);
    return axis < 0 ? 0 : shape.size[static_cast<std::size_t>(axis)];
}

// Rules judge a sample of a layer with many units, which limits what is recorded for them: one unit of each of `most`
// equal ranges, at a pseudo-random place that is always the same. Of a layer with at most `most` units all are judged.
struct unit_sample {
    static constexpr std::size_t most_units = 120;  // the default for one layer

    std::size_t units = 0;          // of the layer
    std::size_t most = most_units;  // limit of judged units

    [[nodiscard]] constexpr std::size_t size() const noexcept { return units < most ? units : most; }
    // Ascending.
    [[nodiscard]] constexpr std::size_t operator[](std::size_t index) const noexcept {
        if (units <= most) { return index; }
        std::size_t const first = index * units / most, end = (index + 1) * units / most;
        std::uint64_t const mixed = (index + 1) * 0x9E3779B97F4A7C15ULL;
        return first + as_size(mixed >> 33U) % (end - first);
    }
};

// The layout of elements around an axis, in storage order: element i of unit u in group g has the index (g * units + u)
// * inner + i.
struct axis_layout {
    // Number of groups; of units in a group; of adjacent elements of a unit.
    std::size_t groups = 0, units = 0, inner = 0;
};
// `along` is an axis of the tensor; there are no groups if it has no elements.
[[nodiscard]] constexpr axis_layout layout_along(tensor_ref const& tensor, int along) noexcept {
    auto const axis = static_cast<std::size_t>(along);
    axis_layout it{0, static_cast<std::size_t>(tensor.shape.size[axis]), 1};
    for (std::size_t i = 0; i < tensor.shape.rank; ++i) {
        bool const faster = tensor.layout == order::row_major ? i > axis : i < axis;
        if (faster) { it.inner *= static_cast<std::size_t>(tensor.shape.size[i]); }
    }
    if (tensor.count > 0) { it.groups = static_cast<std::size_t>(tensor.count) / (it.units * it.inner); }
    return it;
}

}  // namespace spotter::inline SPOTTER_ABI
