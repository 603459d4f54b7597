// SPDX-License-Identifier: Apache-2.0
// Ext (L6): recorded values as xt::xarray and xt::xtensor. (xtensor containers are observed without this header.)
#pragma once

#include <spotter/trial/value.hpp>

#if __has_include(<xtensor/containers/xarray.hpp>)
#include <xtensor/containers/xarray.hpp>
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xarray.hpp>
#include <xtensor/xtensor.hpp>
#endif

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Tensor>
[[nodiscard]] result<Tensor> make_xtensor(tensor_ref const& from, typename Tensor::shape_type const& shape) {
    if (error const why = want_type<typename Tensor::value_type>(from)) { return why; }
    Tensor made(shape);
    constexpr order wanted =
        Tensor::static_layout == xt::layout_type::column_major ? order::column_major : order::row_major;
    copy_in_order(from, wanted, made.data());
    return made;
}

}  // namespace detail

template <element Value, xt::layout_type Layout>
struct tensor_from<xt::xarray<Value, Layout>> {
    [[nodiscard]] static result<xt::xarray<Value, Layout>> make(tensor_ref const& from) {
        auto const sizes = from.shape.view();
        return detail::make_xtensor<xt::xarray<Value, Layout>>(
            from, typename xt::xarray<Value, Layout>::shape_type(sizes.begin(), sizes.end()));
    }
};

template <element Value, std::size_t Rank, xt::layout_type Layout>
struct tensor_from<xt::xtensor<Value, Rank, Layout>> {
    [[nodiscard]] static result<xt::xtensor<Value, Rank, Layout>> make(tensor_ref const& from) {
        if (from.shape.rank != Rank) {
            error why{errc::wrong_type, "recorded with "};
            why.what << from.shape.rank << " axes, asked for with " << Rank;
            return why;
        }
        typename xt::xtensor<Value, Rank, Layout>::shape_type shape{};
        for (std::size_t axis = 0; axis < Rank; ++axis) {
            shape[axis] = static_cast<std::size_t>(from.shape.size[axis]);
        }
        return detail::make_xtensor<xt::xtensor<Value, Rank, Layout>>(from, shape);
    }
};

}  // namespace spotter::inline SPOTTER_ABI
