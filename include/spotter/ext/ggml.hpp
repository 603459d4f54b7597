// SPDX-License-Identifier: Apache-2.0
// Ext (L6): ggml tensors, recognised by the members of struct ggml_tensor; ggml is neither included nor linked. Include
// ggml.h before this file, and ggml-backend.h if tensors may be in the memory of a device.
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/core/tensor_access.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Tensor>
concept ggml_like = requires(Tensor const& it) {
    { static_cast<int>(it.type) };
    { it.ne[3] } -> std::convertible_to<std::int64_t>;
    { it.nb[3] } -> std::convertible_to<std::size_t>;
    { it.data } -> std::convertible_to<void const*>;
    { &it.name[0] } -> std::convertible_to<char const*>;
    requires sizeof(it.ne) / sizeof(it.ne[0]) == 4 && sizeof(it.nb) / sizeof(it.nb[0]) == 4;
};

// The numbers are those of the public enumeration ggml_type in ggml.h (github.com/ggml-org/ggml); all others are
// quantised.
[[nodiscard]] constexpr dtype ggml_dtype(int type) noexcept {
    constexpr dtype from_24[] = {dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::f64, dtype::none, dtype::bf16};
    if (type == 0 || type == 1) { return type == 0 ? dtype::f32 : dtype::f16; }
    return type >= 24 && type <= 30 ? from_24[type - 24] : dtype::none;
}

// Names that ggml generates for unnamed tensors: node_12, leaf_3.
[[nodiscard]] constexpr bool ggml_made_up(std::string_view name) noexcept {
    if (!name.starts_with("node_") && !name.starts_with("leaf_")) { return false; }
    std::string_view const number = name.substr(5);
    return !number.empty() && number.find_first_not_of("0123456789") == number.npos;
}

// The roles of the names that ggml's optimizer (ggml-opt) gives to nodes: its losses have one value.
[[nodiscard]] constexpr role ggml_role(std::string_view name, std::uint64_t elements) noexcept {
    if (name.starts_with("loss_") && elements == 1) { return role::loss; }
    return guess_role(name);
}

}  // namespace detail

// ggml stores the fastest axis first: ne = {columns, rows, 1, 1} is observed as {rows, columns}. Trailing ones are
// dropped. Quantised types are refused as refusal::unknown_element, buffers outside the host's memory as
// refusal::other_device.
template <detail::ggml_like Tensor>
struct tensor_access<Tensor> {
    [[nodiscard]] static tensor_ref view(Tensor const& it) noexcept {
        dtype const type = detail::ggml_dtype(static_cast<int>(it.type));
        if (type == dtype::none) { return refused_view(refusal::unknown_element); }
        if constexpr (requires { static_cast<bool>(ggml_backend_buffer_is_host(it.buffer)); }) {
            if (it.buffer != nullptr && !ggml_backend_buffer_is_host(it.buffer)) {
                return refused_view(refusal::other_device);
            }
        }
        std::size_t rank = 4;
        while (rank > 1 && it.ne[rank - 1] == 1) { --rank; }
        extents shape;
        shape.rank = static_cast<std::uint8_t>(rank);
        std::int64_t strides[4] = {};
        for (std::size_t axis = 0; axis < rank; ++axis) {
            auto const bytes = static_cast<std::size_t>(it.nb[rank - 1 - axis]);
            shape.size[axis] = static_cast<std::uint64_t>(it.ne[rank - 1 - axis]);
            if (bytes % size_of(type) != 0) { return refused_view(refusal::not_contiguous); }
            strides[axis] = static_cast<std::int64_t>(bytes / size_of(type));
        }
        return view_of(static_cast<void const*>(it.data), type, shape, std::span<std::int64_t const>{strides, rank});
    }
};

// For ggml's evaluation callback: `params.cb_eval = observe_ggml<decltype(watch), ggml_tensor>;
// params.cb_eval_user_data = &watch;` between watch.begin(...) and watch.end(). It observes every named node, with the
// role that ggml-opt's names imply. It skips unnamed nodes and generated names (node_12).
template <class Hook, detail::ggml_like Tensor>
bool observe_ggml(Tensor* it, bool ask, void* hook) {
    std::string_view const name{&it->name[0]};
    bool const named = !name.empty() && !detail::ggml_made_up(name);
    if (!ask && named) {
        auto const elements = static_cast<std::uint64_t>(it->ne[0] * it->ne[1] * it->ne[2] * it->ne[3]);
        static_cast<Hook*>(hook)->observe(name, *it, detail::ggml_role(name, elements));
    }
    return ask ? named : true;
}

}  // namespace spotter::inline SPOTTER_ABI
