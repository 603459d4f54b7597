// SPDX-License-Identifier: Apache-2.0
// Ext (L6): libtorch's tensors, observed directly, packed where they have gaps, and read from a record.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/device_values.hpp>
#include <spotter/trial/value.hpp>

#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Indexed by at::ScalarType. The numbers are part of torch's file format and so do not change. 23 to 29 came with torch
// 2; a file compiled with torch 1 only knows their numbers.
inline constexpr dtype torch_dtypes[] = {
    dtype::u8,      dtype::i8,      dtype::i16,  dtype::i32,  dtype::i64,     dtype::f16,  dtype::f32,
    dtype::f64,     dtype::none,    dtype::c64,  dtype::c128, dtype::boolean,  // 8: complex of two halves
    dtype::none,    dtype::none,    dtype::none, dtype::bf16,  // 12 to 14, and 16 to 22: quantised, bits
    dtype::none,    dtype::none,    dtype::none, dtype::none, dtype::none,    dtype::none, dtype::none,
    dtype::f8_e5m2, dtype::f8_e4m3, dtype::none, dtype::none, dtype::u16,     dtype::u32,  dtype::u64};

[[nodiscard]] constexpr dtype torch_dtype(::at::ScalarType type) noexcept {
    auto const number = static_cast<std::size_t>(type);
    return number < std::size(torch_dtypes) ? torch_dtypes[number] : dtype::none;
}
// at::ScalarType::Undefined where this version of torch lacks the type.
[[nodiscard]] constexpr ::at::ScalarType torch_type(dtype type) noexcept {
    auto const options = static_cast<std::size_t>(::at::ScalarType::NumOptions);
    std::size_t const known = options < std::size(torch_dtypes) ? options : std::size(torch_dtypes);
    for (std::size_t number = 0; number < known && type != dtype::none; ++number) {
        if (torch_dtypes[number] == type) { return static_cast<::at::ScalarType>(number); }
    }
    return ::at::ScalarType::Undefined;
}

// Has type and shape even where the values are refused for their place or gaps. A template, so that methods of newer
// versions can be used.
template <class Tensor>
[[nodiscard]] tensor_ref view_torch(Tensor const& it, bool anywhere = false) {
    if (!it.defined()) { return {}; }
    if (it.is_nested()) { return refused_view(refusal::ragged); }
    auto const sizes = it.sizes();
    if (sizes.size() > max_rank) { return refused_view(refusal::rank_too_deep); }
    extents shape;
    shape.rank = static_cast<std::uint8_t>(sizes.size());
    for (std::size_t axis = 0; axis < shape.rank; ++axis) {
        shape.size[axis] = static_cast<std::uint64_t>(sizes[axis]);
    }
    tensor_ref view{{}, shape.elements(), shape, torch_dtype(it.scalar_type()), order::row_major, refusal::none};
    if (view.type == dtype::none) {
        view.refused = refusal::unknown_element;
    } else if (!anywhere && !it.is_cpu()) {
        view.refused = refusal::other_device;
    } else if (it.layout() != ::at::kStrided || !it.has_storage() || it.is_conj() || it.is_neg()) {
        view.refused = refusal::not_contiguous;  // sparse, or the memory does not hold the values directly
    } else {
        if constexpr (requires { it.const_data_ptr(); }) {
            view.values.raw = it.const_data_ptr();  // data_ptr() would copy a copy-on-write tensor
        } else {
            view.values.raw = it.data_ptr();
        }
        if (view.values.raw == nullptr && view.count > 0) {
            view.refused = refusal::null;
        } else if (!it.is_contiguous()) {  // torch stores that as a flag
            auto const strides = it.strides();
            view = view_of(view.values.raw, view.type, shape,
                           std::span<std::int64_t const>{strides.data(), strides.size()});
        }
    }
    return view;
}

// Packed and row-major, from host memory; `view` has type and shape.
[[nodiscard]] inline bool copy_strided_torch(::at::TensorBase const& it, tensor_ref const& view, std::byte* into) {
    if (view.values.raw == nullptr) { return false; }
    std::array<std::int64_t, max_rank> strides{};
    std::size_t const rank = view.shape.rank;
    for (std::size_t axis = 0; axis < rank; ++axis) {
        strides[axis] = it.strides()[axis] * static_cast<std::int64_t>(size_of(view.type));
    }
    with_word(view.type, [&](auto word) {
        packed(static_cast<decltype(word) const*>(view.values.raw), view.shape, std::span{strides.data(), rank})
            .copy_to(into);
    });
    return true;
}

// A tensor in GPU memory, for a hook with the device: in the device's current stream (docs/device.md).
template <class Tensor>
[[nodiscard]] offered offer_torch_of_device(Tensor const& it, tensor_ref const& view) noexcept {
    return offer_of_device(it, view, [](void const* from, std::byte* into) {
        auto const& of = *static_cast<Tensor const*>(from);
        device_values const where{view_torch(of, true), nullptr, static_cast<int>(of.get_device()), true};
        std::memcpy(into, &where, sizeof where);
        return true;
    });
}

}  // namespace detail

// torch::Tensor is at::Tensor. Does not involve autograd: records no operation and counts no version. An undefined
// tensor is absent. A tensor whose axes are only in another order (a channels-last image, an output that is batch-first
// by permute or transpose) is copied where it is needed. Memory with gaps is refused: see packed(tensor).
template <std::derived_from<::at::TensorBase> Tensor>
struct tensor_access<Tensor> {
    [[nodiscard]] static tensor_ref view(Tensor const& it) noexcept {
        try {
            return detail::view_torch(it);
        } catch (...) {
            return refused_view(refusal::not_contiguous);  // a kind of tensor without sizes or memory
        }
    }
    [[nodiscard]] static offered offer(Tensor const& it) noexcept {
        offered given{view(it), nullptr, nullptr};
        if (given.view.refused == refusal::other_device && it.is_cuda()) {
            return detail::offer_torch_of_device(it, given.view);
        }
        if (given.view.refused != refusal::permuted) { return given; }
        given.view.refused = refusal::none;
        given.source = &it;
        given.copy = [](void const* from, std::byte* into) {
            auto const& tensor = *static_cast<Tensor const*>(from);
            return detail::copy_strided_torch(tensor, view(tensor), into);
        };
        return given;
    }
};

// Row-major, in host memory, without gradient.
template <>
struct tensor_from<::at::Tensor> {
    [[nodiscard]] static result<::at::Tensor> make(tensor_ref const& from) {
        ::at::ScalarType const type = detail::torch_type(from.type);
        if (type == ::at::ScalarType::Undefined) {
            error why{errc::wrong_type, "recorded as "};
            why.what << name_of(from.type) << ", which this torch has no element for: read it as std::vector";
            return why;
        }
        std::array<std::int64_t, max_rank> sizes{};
        for (std::size_t axis = 0; axis < from.shape.rank; ++axis) {
            sizes[axis] = static_cast<std::int64_t>(from.shape.size[axis]);
        }
        ::at::Tensor made{::at::detail::empty_cpu(::at::IntArrayRef{sizes.data(), from.shape.rank}, type)};
        detail::with_word(from.type, [&](auto word) {
            detail::copy_in_order(from, order::row_major, static_cast<decltype(word)*>(made.data_ptr()));
        });
        return made;
    }
};

// A tensor in any memory, made by packed(tensor): a view if possible, and otherwise a copy, which is only made at steps
// where it is needed. Holds a reference to the tensor, and so to its graph, as long as it lives.
class torch_values {
public:
    explicit torch_values(::at::Tensor const& it) noexcept : it_{it} {}

    [[nodiscard]] friend offered offer(torch_values const& values) noexcept {
        offered given{as_tensor(values.it_), nullptr, nullptr};
        refusal const why = given.view.refused;
        bool const copies = why == refusal::not_contiguous || why == refusal::permuted || why == refusal::other_device;
        if (given.view.type == dtype::none || !copies) { return given; }
        given.view.refused = refusal::none;
        given.source = &values;
        given.copy = [](void const* from, std::byte* into) {
            return static_cast<torch_values const*>(from)->copy_to(into);
        };
        return given;
    }

private:
    bool copy_to(std::byte* into) const {
        ::at::Tensor host = it_;
        if (!it_.is_cpu() || it_.layout() != ::at::kStrided || it_.is_conj() || it_.is_neg()) {
            host = it_.detach();  // so that later operations are not recorded
            if (host.layout() != ::at::kStrided) { host = host.to_dense(); }
            host = host.to(::at::kCPU).resolve_conj().resolve_neg();
        }
        tensor_ref const view = as_tensor(host);
        if (view.refused == refusal::none && view.layout == order::row_major) {
            if (view.count > 0) { std::memcpy(into, view.values.raw, as_size(view.bytes())); }
            return true;
        }
        return detail::copy_strided_torch(host, view, into);
    }

    ::at::Tensor it_;
};
// `watch.observe("w", packed(tensor))`: channels-last, slices, sparse tensors, tensors of another device.
[[nodiscard]] inline torch_values packed(::at::Tensor const& tensor) noexcept { return torch_values{tensor}; }

}  // namespace spotter::inline SPOTTER_ABI
