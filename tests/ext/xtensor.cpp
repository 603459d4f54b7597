// SPDX-License-Identifier: Apache-2.0
// xtensor containers recorded and read back: types, shapes, both orders, and refusals.
#include <tests/trial/runs.hpp>

#include <spotter/ext/xtensor.hpp>

#if __has_include(<xtensor/views/xview.hpp>)
#include <xtensor/generators/xbuilder.hpp>
#include <xtensor/views/xstrided_view.hpp>
#include <xtensor/views/xview.hpp>
#else
#include <xtensor/xbuilder.hpp>
#include <xtensor/xstrided_view.hpp>
#include <xtensor/xview.hpp>
#endif

using namespace spotter;
using namespace spotter_test;

namespace {

// A tensor whose element (i, j, k) is 100 i + 10 j + k.
template <class Tensor>
Tensor counted(typename Tensor::shape_type const& shape) {
    Tensor made(shape);
    for (std::size_t i = 0; i < shape[0]; ++i) {
        for (std::size_t j = 0; j < shape[1]; ++j) {
            for (std::size_t k = 0; k < shape[2]; ++k) {
                made(i, j, k) = static_cast<typename Tensor::value_type>(100 * i + 10 * j + k);
            }
        }
    }
    return made;
}

// Inside CHECK, Catch's operators would be resolved to xtensor's.
template <class Left, class Right>
bool same(Left const& left, Right const& right) {
    return left == right;
}

}  // namespace

TEST_CASE("containers of either order come back as containers of either order, element by element") {
    using rows = xt::xtensor<float, 3>;
    using columns = xt::xtensor<float, 3, xt::layout_type::column_major>;
    temporary_folder const folder;
    auto const in_rows = counted<rows>({2, 3, 4});
    auto const in_columns = counted<columns>({2, 3, 4});
    xt::xarray<double> const any_rank = counted<xt::xarray<double>>({4, 1, 3});
    xt::xarray<std::int32_t, xt::layout_type::column_major> const by_columns =
        counted<xt::xarray<std::int32_t, xt::layout_type::column_major>>({3, 2, 2});
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "rows"_t = in_rows, "columns"_t = in_columns, "array"_t = any_rank,
                     "by columns"_t = by_columns);
    watch.finish();
    trial const run = open(watch.path());
    for (char const* name : {"rows", "columns"}) {
        recorded_value const value = run[name].at(train(0));
        CHECK((value.view().layout == order::column_major) == (*name == 'c'));
        CHECK(value.shape() == extents{2, 3, 4});
        CHECK(same(value.to<rows>().value(), in_rows));
        CHECK(same(value.to<columns>().value(), in_rows));
        CHECK(same(value.to<xt::xarray<float>>().value(), in_rows));
        CHECK(same(value.to<xt::xarray<float, xt::layout_type::column_major>>().value(), in_rows));
    }
    CHECK(same(run["array"].at(train(0)).to<xt::xarray<double>>().value(), any_rank));
    CHECK(same(run["by columns"].at(train(0)).to<xt::xtensor<std::int32_t, 3>>().value(), by_columns));
    CHECK(run["by columns"].at(train(0)).to<xt::xarray<std::int32_t>>().value()(2, 1, 0) == 210);
}

TEST_CASE("rank zero, empty containers and single elements are containers like any other") {
    temporary_folder const folder;
    xt::xarray<double> const scalar = 2.5;
    xt::xtensor<float, 2> const empty = xt::zeros<float>({0, 4});
    xt::xtensor<float, 2> const row = xt::ones<float>({1, 5});
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "scalar"_t = scalar, "empty"_t = empty, "row"_t = row);
    watch.finish();
    CHECK(watch.health().refused == 0);
    trial const run = open(watch.path());
    CHECK(run["scalar"].at(train(0)).to<double>().value() == 2.5);
    CHECK(run["scalar"].at(train(0)).to<xt::xarray<double>>().value()() == 2.5);
    auto const back = run["empty"].at(train(0)).to<xt::xtensor<float, 2>>().value();
    CHECK(back.shape(0) == 0);
    CHECK(back.shape(1) == 4);
    CHECK(same(run["row"].at(train(0)).to<xt::xtensor<float, 2>>().value(), row));
}

TEST_CASE("another element type or rank is wrong_type, and the text says what was recorded") {
    temporary_folder const folder;
    xt::xtensor<float, 2> const values = xt::ones<float>({2, 3});
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "x"_t = values);
    watch.finish();
    recorded_value const value = open(watch.path())["x"].at(train(0));  // outlives its trial
    CHECK(value.to<xt::xtensor<double, 2>>().error().code == errc::wrong_type);
    CHECK(value.to<xt::xarray<std::int32_t>>().error().what.view().find("f32") != std::string_view::npos);
    CHECK(value.to<xt::xtensor<float, 3>>().error().code == errc::wrong_type);
    CHECK(value.to<xt::xtensor<float, 3>>().error().what.view().find("2 axes") != std::string_view::npos);
    CHECK(same(value.to<xt::xtensor<float, 2>>().value(), values));
}

TEST_CASE("a view of whole rows is taken from where it begins; views with gaps do not compile") {
    temporary_folder const folder;
    xt::xtensor<float, 2> const values = xt::arange<float>(24.0F).reshape({4, 6});
    static_assert(detail::says_not_contiguous<decltype(xt::view(values, xt::all(), xt::range(1, 3)))>);
    static_assert(detail::says_not_contiguous<decltype(xt::strided_view(values, {xt::all(), xt::range(1, 3)}))>);
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "rows"_t = xt::view(values, xt::range(1, 3), xt::all()),
                     "row"_t = xt::view(values, 2, xt::all()));
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run.names() == names_list{"row", "rows"});
    CHECK(run["rows"].at(train(0)).to<xt::xtensor<float, 2>>().value()(0, 0) == 6);
    CHECK(run["rows"].at(train(0)).to<xt::xtensor<float, 2>>().value()(1, 5) == 17);
    CHECK(run["row"].at(train(0)).to<xt::xtensor<float, 1>>().value()(5) == 17);
}
