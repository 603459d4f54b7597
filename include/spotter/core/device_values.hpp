// SPDX-License-Identifier: Apache-2.0
// Core (L0): values in the memory of a device: where they are, what they are, and behind what they are to be read.
#pragma once

#include <spotter/core/source.hpp>

namespace spotter::inline SPOTTER_ABI {

// A tensor that this processor cannot read. A hook with a device (hook/device.hpp) has its statistics computed where it
// is; any other hook refuses it as refusal::other_device. Owns nothing.
struct device_values {
    static constexpr int any_device = -1;  // the one that the hook has

    // Its type, shape and order; `values` is an address of the device's, that nobody reads here.
    tensor_ref view{};
    void* stream = nullptr;    // of work on the device, behind which the values are read: CUDA's CUstream
    int ordinal = any_device;  // of the device
};

// Values of a device: `watch.observe("w", on_device(pointer, {rows, columns}, stream))`. The pointer is never read by
// the processor; the values are those that it has once all work is done that was put into the stream before the call.
template <element Value>
[[nodiscard]] constexpr device_values on_device(Value const* values, extents const& shape, void* stream = nullptr,
                                                int ordinal = device_values::any_device) noexcept {
    return {view_of(values, shape), stream, ordinal};
}
// Of a type that is known only when the program runs. `strides` in elements; none: packed, row-major.
[[nodiscard]] inline device_values on_device(void const* values, dtype type, extents const& shape,
                                             std::span<std::int64_t const> strides, void* stream = nullptr,
                                             int ordinal = device_values::any_device) noexcept {
    return {view_of(values, type, shape, strides), stream, ordinal};
}

namespace detail {

// What is handed to a hook: a view that is refused, whose source is the device_values.
[[nodiscard]] constexpr offered offer_of_device(device_values const& values) noexcept {
    offered it;
    it.view = values.view;
    if (it.view.refused == refusal::none) { it.view.refused = refusal::other_device; }
    it.source = &values;
    return it;
}
// Null where the values are this processor's.
[[nodiscard]] constexpr device_values const* device_values_in(offered const& given) noexcept {
    bool const elsewhere = given.view.refused == refusal::other_device && given.copy == nullptr;
    return elsewhere ? static_cast<device_values const*>(given.source) : nullptr;
}

}  // namespace detail

template <>
struct tensor_access<device_values> {
    [[nodiscard]] static constexpr tensor_ref view(device_values const& it) noexcept {
        return detail::offer_of_device(it).view;
    }
    [[nodiscard]] static constexpr offered offer(device_values const& it) noexcept {
        return detail::offer_of_device(it);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
