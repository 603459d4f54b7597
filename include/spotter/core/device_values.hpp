// SPDX-License-Identifier: Apache-2.0
// Core (L0): values in a device's memory: their address, type and shape, and the stream that produces them.
#pragma once

#include <spotter/core/source.hpp>

namespace spotter::inline SPOTTER_ABI {

// A tensor that the host cannot read. A hook with a device (hook/device.hpp) lets the device compute its statistics;
// any other hook refuses it as refusal::other_device. Owns nothing.
struct device_values {
    static constexpr int any_device = -1;  // the hook's device

    // Type, shape and order; `values` is a device address, which is never read on the host.
    tensor_ref view{};
    void* stream = nullptr;    // the values are read after the work in it; CUDA's CUstream
    int ordinal = any_device;  // the device's number
    bool in_current = false;   // use the program's current stream instead of `stream`
};

// Values of a device: `watch.observe("w", on_device(pointer, {rows, columns}, stream))`. The host never reads the
// pointer. The values are those after all work that was put into the stream before the call.
template <element Value>
[[nodiscard]] constexpr device_values on_device(Value const* values, extents const& shape, void* stream = nullptr,
                                                int ordinal = device_values::any_device) noexcept {
    return {view_of(values, shape), stream, ordinal, false};
}
// The same with an element type known only at run time. `strides` in elements; none: packed, row-major.
[[nodiscard]] inline device_values on_device(void const* values, dtype type, extents const& shape,
                                             std::span<std::int64_t const> strides, void* stream = nullptr,
                                             int ordinal = device_values::any_device) noexcept {
    return {view_of(values, type, shape, strides), stream, ordinal, false};
}

// What a hook receives for device values: a view refused as refusal::other_device, and a `copy` that writes a
// `device_values` in place of the values. `source` must live until the call returns.
template <class Source>
[[nodiscard]] constexpr offered offer_of_device(Source const& source, tensor_ref const& view,
                                                bool (*where)(void const* source, std::byte* into)) noexcept {
    offered it{view, &source, where};
    it.view.refused = refusal::other_device;
    return it;
}

namespace detail {

// False where the values are in host memory.
[[nodiscard]] inline bool find_device_values(offered const& given, device_values& into) {
    if (given.view.refused != refusal::other_device || given.copy == nullptr) { return false; }
    return given.copy(given.source, reinterpret_cast<std::byte*>(&into));
}

}  // namespace detail

template <>
struct tensor_access<device_values> {
    [[nodiscard]] static constexpr tensor_ref view(device_values const& it) noexcept {
        tensor_ref view = it.view;
        if (view.refused == refusal::none) { view.refused = refusal::other_device; }
        return view;
    }
    [[nodiscard]] static constexpr offered offer(device_values const& it) noexcept {
        return offer_of_device(it, it.view, [](void const* from, std::byte* into) {
            std::memcpy(into, from, sizeof(device_values));
            return true;
        });
    }
};

}  // namespace spotter::inline SPOTTER_ABI
