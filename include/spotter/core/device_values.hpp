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
    bool in_current = false;   // the stream is the one that the program works in now: its device asks for it
};

// Values of a device: `watch.observe("w", on_device(pointer, {rows, columns}, stream))`. The pointer is never read by
// the processor; the values are those that it has once all work is done that was put into the stream before the call.
template <element Value>
[[nodiscard]] constexpr device_values on_device(Value const* values, extents const& shape, void* stream = nullptr,
                                                int ordinal = device_values::any_device) noexcept {
    return {view_of(values, shape), stream, ordinal, false};
}
// Of a type that is known only when the program runs. `strides` in elements; none: packed, row-major.
[[nodiscard]] inline device_values on_device(void const* values, dtype type, extents const& shape,
                                             std::span<std::int64_t const> strides, void* stream = nullptr,
                                             int ordinal = device_values::any_device) noexcept {
    return {view_of(values, type, shape, strides), stream, ordinal, false};
}
// The same, behind what is in the stream that the program works in where it is observed.
[[nodiscard]] inline device_values on_current_device(void const* values, dtype type, extents const& shape,
                                                     std::span<std::int64_t const> strides, int ordinal) noexcept {
    return {view_of(values, type, shape, strides), nullptr, ordinal, true};
}

// What is handed to a hook of such values: a view that is refused as refusal::other_device, and a copy that writes no
// values, but where they are, a `device_values`. Its source must live as long as the call.
template <class Source>
[[nodiscard]] constexpr offered offer_of_device(Source const& source, tensor_ref const& view,
                                                bool (*where)(void const* source, std::byte* into)) noexcept {
    offered it{view, &source, where};
    it.view.refused = refusal::other_device;
    return it;
}

namespace detail {

// False where the values are this processor's.
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
