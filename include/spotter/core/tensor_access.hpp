// SPDX-License-Identifier: Apache-2.0
// Core (L0): recognizes tensors by their structure, without including the library that they come from.
#pragma once

#include <spotter/core/tensor_ref.hpp>

#include <type_traits>

namespace spotter::inline SPOTTER_ABI {

// Specialize it for a type with none of the structures below, with
//     static tensor_ref view(Tensor const&) noexcept;
template <class Tensor>
struct tensor_access {};

[[nodiscard]] constexpr std::string_view name_of(refusal why) noexcept {
    constexpr std::string_view names[] = {"none",          "not_contiguous",  "rank_too_deep", "null",
                                          "other_device",  "unknown_element", "ragged",        "negative_size",
                                          "size_mismatch", "too_large",       "axes_mismatch", "permuted"};
    return names[static_cast<std::size_t>(why)];
}

// A view that every hook refuses, with the reason.
[[nodiscard]] constexpr tensor_ref refused_view(refusal why) noexcept {
    tensor_ref view;
    view.refused = why;
    return view;
}
// A view whose element type is known only at run time. `strides` in elements; none: packed, row-major.
[[nodiscard]] inline tensor_ref view_of(void const* values, dtype type, extents const& shape,
                                        std::span<std::int64_t const> strides = {}) noexcept {
    auto const* const bytes = static_cast<std::uint8_t const*>(values);
    tensor_ref view = strides.empty() ? view_of(bytes, shape) : view_of(bytes, shape, strides);
    view.values.raw = values;
    view.type = type;
    if (type == dtype::none) { view.refused = refusal::unknown_element; }
    return view;
}

namespace detail {

template <class Tensor>
concept has_own_access = requires(Tensor const& tensor) {
    { tensor_access<Tensor>::view(tensor) } -> std::same_as<tensor_ref>;
};

template <class Tensor>
using element_of = std::remove_cvref_t<decltype(*std::declval<Tensor const&>().data())>;

template <class Tensor>
concept has_data = requires(Tensor const& tensor) {
    { tensor.data() } -> std::convertible_to<void const*>;
    requires element<element_of<Tensor>>;
};
template <class Tensor>
concept has_shape = has_data<Tensor> && requires(Tensor const& tensor) {
    tensor.size();
    { tensor.shape().size() } -> std::convertible_to<std::size_t>;
    { tensor.shape()[0] } -> std::convertible_to<std::uint64_t>;
};
// Eigen::Transform has fewer rows than its memory: use its matrix().
template <class Tensor>
concept hides_rows = requires { Tensor::HDim; };
template <class Tensor>
concept has_rows = has_data<Tensor> && !hides_rows<Tensor> && requires(Tensor const& tensor) {
    { tensor.rows() } -> std::convertible_to<std::uint64_t>;
    { tensor.cols() } -> std::convertible_to<std::uint64_t>;
};
// Eigen::Tensor and similar types: rank(), dimension(axis), and an enumerator that is 1 for row-major.
template <class Tensor>
concept has_dimensions = has_data<Tensor> && requires(Tensor const& tensor) {
    { tensor.rank() } -> std::convertible_to<std::size_t>;
    { tensor.dimension(0) } -> std::convertible_to<std::uint64_t>;
    { static_cast<int>(Tensor::Layout) };
};
// Text: std::string, std::string_view, a literal.
template <class Tensor>
concept is_letters = std::is_convertible_v<Tensor const&, std::string_view> && !has_own_access<Tensor>;
template <class Tensor>
concept has_size = has_data<Tensor> && requires(Tensor const& tensor) {
    { tensor.size() } -> std::convertible_to<std::size_t>;
};
template <class Tensor>
concept scalar = element<Tensor>;
template <class Tensor>
concept raw_array = std::is_array_v<Tensor> && element<std::remove_all_extents_t<Tensor>>;

// Views whose type says that their memory is not contiguous.
template <class Tensor>
concept says_not_contiguous =
    requires { requires !Tensor::contiguous_layout; } || requires { requires !Tensor::is_contiguous; };

template <has_shape Tensor>
[[nodiscard]] constexpr extents shape_of(Tensor const& tensor) noexcept {
    extents shape;
    auto const& sizes = tensor.shape();
    shape.rank = static_cast<std::uint8_t>(sizes.size() < 255 ? sizes.size() : 255);
    for (std::size_t axis = 0; axis < shape.rank && axis < max_rank; ++axis) {
        shape.size[axis] = static_cast<std::uint64_t>(sizes[axis]);
    }
    return shape;
}

template <has_shape Tensor>
[[nodiscard]] constexpr tensor_ref view_shaped(Tensor const& tensor) noexcept {
    extents const shape = shape_of(tensor);
    auto const* first = tensor.data();
    // A view of xtensor returns its container's memory, and separately the offset of its first element.
    if constexpr (requires {
                      { tensor.data_offset() } -> std::convertible_to<std::size_t>;
                  }) {
        first += tensor.data_offset();
    }
    if constexpr (requires { tensor.strides()[0]; }) {
        std::array<std::int64_t, max_rank> strides{};
        for (std::size_t axis = 0; axis < shape.rank && axis < max_rank; ++axis) {
            strides[axis] = static_cast<std::int64_t>(tensor.strides()[axis]);
        }
        // The stride of an axis of size 1 is arbitrary (xtensor writes 0); view_of ignores it.
        return view_of(first, shape, std::span{strides.data(), shape.rank < max_rank ? shape.rank : max_rank});
    } else {
        return view_of(first, shape);
    }
}

template <has_dimensions Tensor>
[[nodiscard]] constexpr tensor_ref view_dimensions(Tensor const& tensor) noexcept {
    extents shape;
    shape.rank = static_cast<std::uint8_t>(tensor.rank());
    for (std::uint8_t axis = 0; axis < shape.rank && axis < max_rank; ++axis) {
        shape.size[axis] = static_cast<std::uint64_t>(tensor.dimension(axis));
    }
    return view_of(tensor.data(), shape,
                   static_cast<int>(Tensor::Layout) == 1 ? order::row_major : order::column_major);
}

// A type that is a vector at compile time has one axis.
template <has_rows Tensor>
[[nodiscard]] constexpr tensor_ref view_matrix(Tensor const& matrix) noexcept {
    auto const rows = static_cast<std::uint64_t>(matrix.rows());
    auto const cols = static_cast<std::uint64_t>(matrix.cols());
    bool row_major = true;
    if constexpr (requires { Tensor::IsRowMajor; }) { row_major = Tensor::IsRowMajor; }
    tensor_ref view = view_of(matrix.data(), {rows, cols}, row_major ? order::row_major : order::column_major);
    if constexpr (requires { requires static_cast<bool>(Tensor::IsVectorAtCompileTime); }) {
        view.shape = {rows * cols};
        view.layout = order::row_major;
    }
    if constexpr (requires {
                      matrix.outerStride();
                      matrix.innerStride();
                  }) {
        auto const inner = static_cast<std::uint64_t>(row_major ? cols : rows);
        auto const outer = static_cast<std::uint64_t>(row_major ? rows : cols);
        bool const gaps = (inner > 1 && matrix.innerStride() != 1) ||
                          (outer > 1 && static_cast<std::uint64_t>(matrix.outerStride()) != inner);
        if (gaps && view.refused == refusal::none) { view.refused = refusal::not_contiguous; }
    }
    return view;
}

template <class Array>
[[nodiscard]] constexpr auto const* first_element(Array const& array) noexcept {
    if constexpr (std::is_array_v<std::remove_extent_t<Array>>) {
        return first_element(array[0]);
    } else {
        return &array[0];
    }
}
template <raw_array Array>
[[nodiscard]] constexpr tensor_ref view_array(Array const& array) noexcept {
    extents shape;
    [&]<std::size_t... Axis>(std::index_sequence<Axis...>) {
        shape = extents{static_cast<std::uint64_t>(std::extent_v<Array, Axis>)...};
    }(std::make_index_sequence<std::rank_v<Array>>{});
    return view_of(first_element(array), shape);
}

}  // namespace detail

// A type that a hook can observe: a scalar, a contiguous range, a type with data(), size() and shape(), a matrix with
// rows() and cols(), an array, or a type with its own tensor_access.
template <class Tensor>
concept tensor = !detail::is_letters<Tensor> &&
                 (std::same_as<Tensor, tensor_ref> || detail::has_own_access<Tensor> || detail::scalar<Tensor> ||
                  detail::raw_array<Tensor> || detail::has_shape<Tensor> || detail::has_rows<Tensor> ||
                  detail::has_dimensions<Tensor> || detail::has_size<Tensor>);

// The view of a tensor. O(1), no allocation; the tensor must outlive it.
template <class Tensor>
[[nodiscard]] constexpr tensor_ref as_tensor(Tensor const& it) noexcept {
    static_assert(!detail::is_letters<Tensor>,
                  "spotter: a text is no tensor: watch.scalar(\"name\", text) keeps it. Bytes that are numbers are "
                  "std::int8_t or std::uint8_t: view_of(pointer, {sizes...}).");
    static_assert(
        tensor<Tensor> || detail::is_letters<Tensor>,
        "spotter: not a contiguous tensor. Pass a scalar, a contiguous range, something with data(), size() and "
        "shape(), or view_of(pointer, {sizes...}); evaluate an expression (.eval()) and pack nested vectors first. "
        "Include the adapter in spotter/ext, or specialise spotter::tensor_access for the type.");
    static_assert(!detail::says_not_contiguous<Tensor>,
                  "spotter: this view is not contiguous. Copy it into a contiguous tensor first.");
    if constexpr (detail::is_letters<Tensor>) {
        return tensor_ref{};
    } else if constexpr (std::same_as<Tensor, tensor_ref>) {
        return it;
    } else if constexpr (detail::has_own_access<Tensor>) {
        return tensor_access<Tensor>::view(it);
    } else if constexpr (detail::scalar<Tensor>) {
        return view_of(&it, extents{});
    } else if constexpr (detail::raw_array<Tensor>) {
        return detail::view_array(it);
    } else if constexpr (detail::has_shape<Tensor>) {
        return detail::view_shaped(it);
    } else if constexpr (detail::has_rows<Tensor>) {
        return detail::view_matrix(it);
    } else if constexpr (detail::has_dimensions<Tensor>) {
        return detail::view_dimensions(it);
    } else if constexpr (detail::has_size<Tensor>) {
        return view_of(it.data(), {static_cast<std::uint64_t>(it.size())});
    } else {
        return tensor_ref{};
    }
}

}  // namespace spotter::inline SPOTTER_ABI
