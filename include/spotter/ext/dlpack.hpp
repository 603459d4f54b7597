// SPDX-License-Identifier: Apache-2.0
// Ext (L6): DLPack tensors, from any version of its header or any struct with the same members; includes none.
#pragma once

#include <spotter/core/device_values.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Tensor>
concept dlpack_tensor = requires(Tensor const& it) {
    { it.data } -> std::convertible_to<void const*>;
    { it.ndim } -> std::convertible_to<int>;
    { it.shape } -> std::convertible_to<std::int64_t const*>;
    { it.strides } -> std::convertible_to<std::int64_t const*>;
    { it.byte_offset } -> std::convertible_to<std::uint64_t>;
    { it.dtype.code } -> std::convertible_to<int>;
    { it.dtype.bits } -> std::convertible_to<int>;
    { it.dtype.lanes } -> std::convertible_to<int>;
    { static_cast<int>(it.device.device_type) };
    { static_cast<int>(it.device.device_id) };
};
template <class Managed>
concept dlpack_managed =
    requires(Managed const& it) { requires dlpack_tensor<std::remove_cvref_t<decltype(it.dl_tensor)>>; };

// The codes are those of the enumeration DLDataTypeCode in dlpack.h (github.com/dmlc/dlpack), up to version 1.1.
[[nodiscard]] constexpr dtype dlpack_dtype(int code, int bits) noexcept {
    auto const sized = [&](dtype b8, dtype b16, dtype b32, dtype b64, dtype b128 = dtype::none) {
        return bits == 8     ? b8
               : bits == 16  ? b16
               : bits == 32  ? b32
               : bits == 64  ? b64
               : bits == 128 ? b128
                             : dtype::none;
    };
    constexpr dtype no = dtype::none;
    switch (code) {
        case 0:
            return sized(dtype::i8, dtype::i16, dtype::i32, dtype::i64);
        case 1:
            return sized(dtype::u8, dtype::u16, dtype::u32, dtype::u64);
        case 2:
            return sized(no, dtype::f16, dtype::f32, dtype::f64);
        case 4:
            return sized(no, dtype::bf16, no, no);
        case 5:
            return sized(no, no, no, dtype::c64, dtype::c128);
        case 6:
            return sized(dtype::boolean, no, no, no);
        case 10:
            return sized(dtype::f8_e4m3, no, no, no);  // e4m3fn, the OCP format
        case 12:
            return sized(dtype::f8_e5m2, no, no, no);
        default:
            return no;
    }
}

}  // namespace detail

namespace detail {

// kDLCPU and kDLCUDAHost: host memory. kDLCUDA and kDLCUDAManaged: memory of a GPU.
[[nodiscard]] constexpr bool dlpack_is_here(int device) noexcept { return device == 1 || device == 3; }
[[nodiscard]] constexpr bool dlpack_is_cuda(int device) noexcept { return device == 2 || device == 13; }

// The view, wherever the memory is.
template <dlpack_tensor Tensor>
[[nodiscard]] tensor_ref view_dlpack(Tensor const& it) noexcept {
    if (it.ndim < 0 || it.ndim > static_cast<int>(max_rank)) { return refused_view(refusal::rank_too_deep); }
    dtype const type = it.dtype.lanes == 1 ? dlpack_dtype(it.dtype.code, it.dtype.bits) : dtype::none;
    if (type == dtype::none) { return refused_view(refusal::unknown_element); }
    auto const rank = static_cast<std::size_t>(it.ndim);
    extents shape;
    shape.rank = static_cast<std::uint8_t>(rank);
    for (std::size_t axis = 0; axis < rank; ++axis) { shape.size[axis] = static_cast<std::uint64_t>(it.shape[axis]); }
    if (it.data == nullptr) { return view_of(nullptr, type, shape); }
    auto const* const first = static_cast<std::byte const*>(static_cast<void const*>(it.data)) + it.byte_offset;
    std::size_t const word = is_complex(type) ? size_of(type) / 2 : size_of(type);
    // Unaligned.
    if (reinterpret_cast<std::uintptr_t>(first) % word != 0) { return refused_view(refusal::not_contiguous); }
    if (it.strides == nullptr || rank == 0) { return view_of(first, type, shape); }
    return view_of(first, type, shape, std::span<std::int64_t const>{it.strides, rank});
}

}  // namespace detail

// Host memory (kDLCPU, kDLCUDAHost) is observed directly; GPU memory (kDLCUDA) by a hook that has the device, in the
// device's current stream (docs/device.md). Other devices are refused as refusal::other_device; several lanes, opaque
// handles and unknown formats as refusal::unknown_element.
template <detail::dlpack_tensor Tensor>
struct tensor_access<Tensor> {
    [[nodiscard]] static tensor_ref view(Tensor const& it) noexcept {
        bool const here = detail::dlpack_is_here(static_cast<int>(it.device.device_type));
        return here ? detail::view_dlpack(it) : refused_view(refusal::other_device);
    }
    [[nodiscard]] static offered offer(Tensor const& it) noexcept {
        if (!detail::dlpack_is_cuda(static_cast<int>(it.device.device_type))) { return {view(it), nullptr, nullptr}; }
        return offer_of_device(it, detail::view_dlpack(it), [](void const* from, std::byte* into) {
            auto const& of = *static_cast<Tensor const*>(from);
            device_values const where{detail::view_dlpack(of), nullptr, static_cast<int>(of.device.device_id), true};
            std::memcpy(into, &where, sizeof where);
            return true;
        });
    }
};
template <detail::dlpack_managed Managed>
struct tensor_access<Managed> {
    [[nodiscard]] static tensor_ref view(Managed const& it) noexcept { return as_tensor(it.dl_tensor); }
    [[nodiscard]] static offered offer(Managed const& it) noexcept { return spotter::offer(it.dl_tensor); }
};

}  // namespace spotter::inline SPOTTER_ABI
