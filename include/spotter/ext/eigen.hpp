// SPDX-License-Identifier: Apache-2.0
// Ext (L6): recorded values as Eigen matrices, arrays, vectors and tensors, and tensors of Eigen's 16-bit floats.
// (Other dense Eigen objects with data() are observed without this header: core/tensor_access.hpp.)
#pragma once

#include <spotter/core/tensor_access.hpp>
#include <spotter/trial/value.hpp>

#include <Eigen/Core>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The stored type of an Eigen scalar.
template <class Scalar>
struct eigen_storage {
    using type = Scalar;
};
template <>
struct eigen_storage<Eigen::half> {
    using type = f16;
};
#if EIGEN_VERSION_AT_LEAST(3, 3, 90)
template <>
struct eigen_storage<Eigen::bfloat16> {
    using type = bf16;
};
#endif
template <class Scalar>
using eigen_storage_t = typename eigen_storage<Scalar>::type;

template <class Scalar>
concept eigen_scalar = element<eigen_storage_t<Scalar>> && sizeof(Scalar) == sizeof(eigen_storage_t<Scalar>);
template <class Scalar>
concept eigen_small_float = eigen_scalar<Scalar> && !element<Scalar>;

template <class Dense>
concept eigen_small_dense = requires(Dense const& dense) {
    requires eigen_small_float<typename Dense::Scalar>;
    { dense.data() } -> std::convertible_to<typename Dense::Scalar const*>;
} && std::derived_from<Dense, Eigen::DenseBase<Dense>>;

// The same matrix with an element type that core supports.
template <class Dense>
struct eigen_as_stored {
    Dense const& dense;
    static constexpr bool IsRowMajor = Dense::IsRowMajor;
    static constexpr bool IsVectorAtCompileTime = Dense::IsVectorAtCompileTime;

    [[nodiscard]] auto const* data() const noexcept {
        return reinterpret_cast<eigen_storage_t<typename Dense::Scalar> const*>(dense.data());
    }
    [[nodiscard]] auto rows() const noexcept { return dense.rows(); }
    [[nodiscard]] auto cols() const noexcept { return dense.cols(); }
    [[nodiscard]] auto innerStride() const noexcept { return dense.innerStride(); }
    [[nodiscard]] auto outerStride() const noexcept { return dense.outerStride(); }
};

template <class Dense>
[[nodiscard]] result<Dense> make_eigen_dense(tensor_ref const& from) {
    using storage = eigen_storage_t<typename Dense::Scalar>;
    constexpr bool column = Dense::ColsAtCompileTime == 1;
    if (error const why = want_type<storage>(from)) { return why; }
    std::uint64_t rows = from.shape.size[0], cols = from.shape.size[1];
    if (Dense::IsVectorAtCompileTime && from.shape.rank < 2) {
        rows = column ? from.count : 1;
        cols = column ? 1 : from.count;
    } else if (from.shape.rank != 2) {
        return misfit(from, Dense::IsVectorAtCompileTime ? "a vector" : "a matrix");
    }
    auto const fits = [](std::uint64_t size, Eigen::Index wanted, Eigen::Index most) {
        return (wanted == Eigen::Dynamic || static_cast<std::uint64_t>(wanted) == size) &&
               (most == Eigen::Dynamic || size <= static_cast<std::uint64_t>(most));
    };
    if (!fits(rows, Dense::RowsAtCompileTime, Dense::MaxRowsAtCompileTime) ||
        !fits(cols, Dense::ColsAtCompileTime, Dense::MaxColsAtCompileTime)) {
        return misfit(from, "the fixed sizes asked for");
    }
    Dense made;
    made.resize(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
    copy_in_order(from, Dense::IsRowMajor ? order::row_major : order::column_major,
                  reinterpret_cast<storage*>(made.data()));
    return made;
}

// Eigen::Tensor, recognised without its large header.
template <class Tensor>
concept eigen_tensor = requires(Tensor& tensor, typename Tensor::Dimensions const& sizes) {
    requires element<typename Tensor::Scalar>;
    { static_cast<int>(Tensor::Layout) };
    { Tensor::NumIndices };
    tensor.resize(sizes);
    { tensor.data() } -> std::same_as<typename Tensor::Scalar*>;
};

}  // namespace detail

// Eigen::half and Eigen::bfloat16, as scalars and in dense objects.
template <detail::eigen_small_float Scalar>
struct tensor_access<Scalar> {
    [[nodiscard]] static tensor_ref view(Scalar const& value) noexcept {
        return view_of(reinterpret_cast<detail::eigen_storage_t<Scalar> const*>(&value), extents{});
    }
};
template <detail::eigen_small_dense Dense>
struct tensor_access<Dense> {
    [[nodiscard]] static tensor_ref view(Dense const& dense) noexcept {
        return detail::view_matrix(detail::eigen_as_stored<Dense>{dense});
    }
};

// A vector is made from one axis, or from two where one has a single element; a matrix or array from two.
template <detail::eigen_scalar Scalar, int Rows, int Cols, int Options, int MaxRows, int MaxCols>
struct tensor_from<Eigen::Matrix<Scalar, Rows, Cols, Options, MaxRows, MaxCols>> {
    using matrix = Eigen::Matrix<Scalar, Rows, Cols, Options, MaxRows, MaxCols>;  // the result
    [[nodiscard]] static result<matrix> make(tensor_ref const& from) { return detail::make_eigen_dense<matrix>(from); }
};
template <detail::eigen_scalar Scalar, int Rows, int Cols, int Options, int MaxRows, int MaxCols>
struct tensor_from<Eigen::Array<Scalar, Rows, Cols, Options, MaxRows, MaxCols>> {
    using array = Eigen::Array<Scalar, Rows, Cols, Options, MaxRows, MaxCols>;  // the result
    [[nodiscard]] static result<array> make(tensor_ref const& from) { return detail::make_eigen_dense<array>(from); }
};

template <detail::eigen_tensor Tensor>
struct tensor_from<Tensor> {
    [[nodiscard]] static result<Tensor> make(tensor_ref const& from) {
        if (error const why = detail::want_type<typename Tensor::Scalar>(from)) { return why; }
        constexpr auto rank = static_cast<std::size_t>(Tensor::NumIndices);
        if (from.shape.rank != rank) { return detail::misfit(from, "the rank asked for"); }
        typename Tensor::Dimensions sizes;
        for (std::size_t axis = 0; axis < rank; ++axis) {
            sizes[axis] = static_cast<typename Tensor::Index>(from.shape.size[axis]);
        }
        Tensor made;
        made.resize(sizes);
        detail::copy_in_order(from, static_cast<int>(Tensor::Layout) == 1 ? order::row_major : order::column_major,
                              made.data());
        return made;
    }
};

}  // namespace spotter::inline SPOTTER_ABI
