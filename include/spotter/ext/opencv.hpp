// SPDX-License-Identifier: Apache-2.0
// Ext (L6): cv::Mat, cv::Mat_, cv::Matx and cv::Vec as tensors, and recorded values as cv::Mat and cv::Mat_.
#pragma once

#include <spotter/core/tensor_access.hpp>
#include <spotter/trial/value.hpp>

#include <opencv2/core.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Indexed by OpenCV's depth, from CV_8U to CV_16F: the numbers are in its files, and do not change.
inline constexpr dtype opencv_dtypes[] = {dtype::u8,  dtype::i8,  dtype::u16, dtype::i16,
                                          dtype::i32, dtype::f32, dtype::f64, dtype::f16};
[[nodiscard]] constexpr dtype opencv_dtype(int depth) noexcept {
    auto const number = static_cast<std::size_t>(depth);
    return number < std::size(opencv_dtypes) ? opencv_dtypes[number] : dtype::none;
}
[[nodiscard]] constexpr int opencv_depth(dtype type) noexcept {
    for (std::size_t depth = 0; depth < std::size(opencv_dtypes); ++depth) {
        if (opencv_dtypes[depth] == type) { return static_cast<int>(depth); }
    }
    return -1;
}

// A matrix of fixed size, or a type derived from one (cv::Vec). Recognised by deduction, not by its members: cv::Mat_
// also has `rows` and `cols`, and g++ 12 reports an error there.
template <class Value, int Rows, int Cols>
    requires element<Value>
void opencv_fixed(cv::Matx<Value, Rows, Cols> const&);
template <class Matrix>
concept opencv_small = requires(Matrix const& matrix) { opencv_fixed(matrix); };

// A single channel has no axis; with `channels`, the last of three axes holds the channels.
[[nodiscard]] inline error make_opencv(tensor_ref const& from, bool channels, cv::Mat& made) {
    int const depth = opencv_depth(from.type);
    if (depth < 0) {
        error why{errc::wrong_type, "recorded as "};
        why.what << name_of(from.type) << ", which is no element of a cv::Mat: read it as std::vector";
        return why;
    }
    int axes = from.shape.rank, count = 1;
    int sizes[max_rank] = {1, 1};
    for (std::size_t axis = 0; axis < from.shape.rank; ++axis) {
        sizes[axis] = static_cast<int>(from.shape.size[axis]);
    }
    if (channels && axes == 3 && sizes[2] >= 1 && sizes[2] <= CV_CN_MAX) {
        count = sizes[2];
        axes = 2;
    }
    made.create(axes < 2 ? 2 : axes, sizes, CV_MAKETYPE(depth, count));
    with_word(from.type, [&](auto word) { copy_in_order(from, order::row_major, made.ptr<decltype(word)>()); });
    return {};
}

}  // namespace detail

// {rows, columns}, or all sizes of a multi-dimensional Mat, with several channels as the last axis.
template <std::derived_from<cv::Mat> Matrix>
struct tensor_access<Matrix> {
    [[nodiscard]] static tensor_ref view(cv::Mat const& it) noexcept {
        if (it.dims >= static_cast<int>(max_rank) && it.dims + (it.channels() > 1) > static_cast<int>(max_rank)) {
            return refused_view(refusal::rank_too_deep);
        }
        extents shape{0, 0};  // an empty Mat has no dimensions
        if (it.dims > 0) {
            shape.rank = static_cast<std::uint8_t>(it.dims);
            for (std::size_t axis = 0; axis < shape.rank; ++axis) {
                shape.size[axis] = static_cast<std::uint64_t>(it.size[static_cast<int>(axis)]);
            }
        }
        if (it.channels() > 1) { shape.size[shape.rank++] = static_cast<std::uint64_t>(it.channels()); }
        tensor_ref view = view_of(it.data, detail::opencv_dtype(it.depth()), shape);
        if (view.count > 0 && view.refused == refusal::none && !it.isContinuous()) {
            view.refused = refusal::not_contiguous;
        }
        return view;
    }
};
// {rows, columns}; one axis for cv::Vec and cv::Scalar.
template <detail::opencv_small Matrix>
struct tensor_access<Matrix> {
    [[nodiscard]] static tensor_ref view(Matrix const& it) noexcept {
        constexpr auto rows = static_cast<std::uint64_t>(Matrix::rows), cols = static_cast<std::uint64_t>(Matrix::cols);
        return view_of(&it.val[0], cols == 1 ? extents{rows} : extents{rows, cols});
    }
};

// One axis becomes a column; three axes become rows, columns and channels (cv::Mat::reshape reverses it).
template <>
struct tensor_from<cv::Mat> {
    [[nodiscard]] static result<cv::Mat> make(tensor_ref const& from) {
        cv::Mat made;
        if (error const why = detail::make_opencv(from, true, made)) { return why; }
        return made;
    }
};
// For one channel; every axis is an axis. Read images with several channels as cv::Mat, which converts to
// cv::Mat_<cv::Vec3b> and the like.
template <element Value>
struct tensor_from<cv::Mat_<Value>> {
    [[nodiscard]] static result<cv::Mat_<Value>> make(tensor_ref const& from) {
        if (error const why = detail::want_type<Value>(from)) { return why; }
        cv::Mat made;
        if (error const why = detail::make_opencv(from, false, made)) { return why; }
        return cv::Mat_<Value>(made);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
