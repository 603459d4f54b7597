// SPDX-License-Identifier: Apache-2.0
// Eigen's dense objects and tensors, observed as they are and read back from a record.
#include <spotter/ext/eigen.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>

#include <Eigen/Dense>
#include <unsupported/Eigen/CXX11/Tensor>

#include <vector>

using namespace spotter;

namespace {

using row_major_matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Dense>
Dense counted(Eigen::Index rows, Eigen::Index cols) {
    Dense made;
    made.resize(rows, cols);
    for (Eigen::Index r = 0; r < rows; ++r) {
        for (Eigen::Index c = 0; c < cols; ++c) {
            made(r, c) = static_cast<typename Dense::Scalar>(static_cast<float>(10 * r + c));
        }
    }
    return made;
}

// The values as a reader gets them: row by row, in either memory order.
template <class Value, class Tensor>
std::vector<Value> read_rows(Tensor const& tensor) {
    return tensor_from<std::vector<Value>>::make(as_tensor(tensor)).value();
}

bool has_shape(tensor_ref const& view, extents const& shape, order layout) {
    return view.refused == refusal::none && view.shape == shape && view.layout == layout;
}

template <class Function>
concept observable = requires(Function make) { requires tensor<std::remove_cvref_t<decltype(make())>>; };

}  // namespace

TEST_CASE("matrices and arrays keep their shape in either storage order") {
    auto const columns = counted<Eigen::MatrixXf>(2, 3);
    auto const rows = counted<row_major_matrix>(2, 3);
    CHECK(has_shape(as_tensor(columns), {2, 3}, order::column_major));
    CHECK(has_shape(as_tensor(rows), {2, 3}, order::row_major));
    CHECK(read_rows<float>(columns) == std::vector<float>{0, 1, 2, 10, 11, 12});
    CHECK(read_rows<float>(rows) == read_rows<float>(columns));

    auto const array = counted<Eigen::ArrayXXd>(3, 2);
    CHECK(has_shape(as_tensor(array), {3, 2}, order::column_major));
    Eigen::Matrix3d const fixed = Eigen::Matrix3d::Identity();
    CHECK(has_shape(as_tensor(fixed), {3, 3}, order::column_major));
    CHECK(has_shape(as_tensor(Eigen::MatrixXf(0, 4)), {0, 4}, order::column_major));
    Eigen::MatrixXcf const complex = Eigen::MatrixXcf::Zero(2, 2);
    CHECK(as_tensor(complex).type == dtype::c64);
    CHECK(read_rows<float>(columns.transpose()) == std::vector<float>{0, 10, 1, 11, 2, 12});
    Eigen::Affine3f const pose{Eigen::Translation3f{1, 2, 3}};
    STATIC_REQUIRE(!tensor<Eigen::Affine3f>);
    CHECK(read_rows<float>(pose.matrix()) == std::vector<float>{1, 0, 0, 1, 0, 1, 0, 2, 0, 0, 1, 3, 0, 0, 0, 1});
}

TEST_CASE("vectors have one axis") {
    Eigen::VectorXd const column = Eigen::VectorXd::LinSpaced(4, 1, 4);
    Eigen::RowVector3i const row{1, 2, 3};
    CHECK(has_shape(as_tensor(column), {4}, order::row_major));
    CHECK(has_shape(as_tensor(row), {3}, order::row_major));
    CHECK(has_shape(as_tensor(counted<Eigen::MatrixXf>(3, 2).col(1)), {3}, order::row_major));
    CHECK(has_shape(as_tensor(column.segment(1, 2)), {2}, order::row_major));
    CHECK(read_rows<double>(column.tail(2)) == std::vector<double>{3, 4});
}

TEST_CASE("a map, a reference and a block are taken where they are contiguous and refused where not") {
    std::vector<float> memory(24);
    for (std::size_t i = 0; i < memory.size(); ++i) { memory[i] = static_cast<float>(i); }
    Eigen::Map<row_major_matrix const> const map{memory.data(), 4, 6};
    CHECK(has_shape(as_tensor(map), {4, 6}, order::row_major));
    Eigen::Map<row_major_matrix, 0, Eigen::OuterStride<>> const padded{memory.data(), 4, 5, Eigen::OuterStride<>{6}};
    CHECK(as_tensor(padded).refused == refusal::not_contiguous);
    Eigen::Map<Eigen::VectorXf, 0, Eigen::InnerStride<>> const every_second{memory.data(), 6, Eigen::InnerStride<>{2}};
    CHECK(as_tensor(every_second).refused == refusal::not_contiguous);

    auto whole = counted<Eigen::MatrixXf>(4, 6);
    Eigen::Ref<Eigen::MatrixXf> const reference{whole};
    CHECK(has_shape(as_tensor(reference), {4, 6}, order::column_major));
    CHECK(as_tensor(reference).values.raw == whole.data());
    CHECK(read_rows<float>(whole.middleCols(2, 2)) == std::vector<float>{2, 3, 12, 13, 22, 23, 32, 33});
    CHECK(as_tensor(whole.topRows(2)).refused == refusal::not_contiguous);
    CHECK(as_tensor(whole.block(1, 1, 2, 2)).refused == refusal::not_contiguous);
    CHECK(as_tensor(whole.row(1)).refused == refusal::not_contiguous);
    CHECK(as_tensor(whole.diagonal()).refused == refusal::not_contiguous);
    CHECK(as_tensor(Eigen::Map<Eigen::MatrixXf>(nullptr, 2, 2)).refused == refusal::null);

    hook watch{plan{}, non_finite{}};
    (void)watch.step(train(0), "w"_t = whole.topRows(2), "v"_t = whole);
    CHECK(watch.health().refused == 1);
    CHECK(watch.health().first_error.code == errc::not_contiguous);
}

TEST_CASE("expressions are no tensors before they are evaluated") {
    [[maybe_unused]] Eigen::MatrixXf const a = Eigen::MatrixXf::Ones(2, 2);
    auto const added = [&] { return a + a; };
    auto const multiplied = [&] { return a * a; };
    auto const positive = [&] { return a.cwiseAbs(); };
    auto const evaluated = [&] { return (a + a).eval(); };
    STATIC_REQUIRE(!observable<decltype(added)>);
    STATIC_REQUIRE(!observable<decltype(multiplied)>);
    STATIC_REQUIRE(!observable<decltype(positive)>);
    STATIC_REQUIRE(observable<decltype(evaluated)>);
}

TEST_CASE("tensors have their rank and their order") {
    Eigen::Tensor<float, 3> columns(2, 3, 4);
    Eigen::Tensor<float, 3, Eigen::RowMajor> rows(2, 3, 4);
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 3; ++j) {
            for (int k = 0; k < 4; ++k) { columns(i, j, k) = rows(i, j, k) = static_cast<float>(100 * i + 10 * j + k); }
        }
    }
    CHECK(has_shape(as_tensor(columns), {2, 3, 4}, order::column_major));
    CHECK(has_shape(as_tensor(rows), {2, 3, 4}, order::row_major));
    CHECK(read_rows<float>(columns) == read_rows<float>(rows));
    Eigen::TensorMap<Eigen::Tensor<float, 2, Eigen::RowMajor>> const map{rows.data(), 6, 4};
    CHECK(has_shape(as_tensor(map), {6, 4}, order::row_major));
    Eigen::TensorFixedSize<double, Eigen::Sizes<2, 5>> fixed;
    fixed.setZero();
    CHECK(has_shape(as_tensor(fixed), {2, 5}, order::column_major));
    Eigen::Tensor<double, 0> scalar;
    scalar() = 7;
    CHECK(has_shape(as_tensor(scalar), {}, order::column_major));
    Eigen::Tensor<float, 9> deep(1, 1, 1, 1, 1, 1, 1, 1, 1);
    CHECK(as_tensor(deep).refused == refusal::rank_too_deep);
}

TEST_CASE("sixteen-bit floats are known by their format") {
    auto const halves = counted<Eigen::Matrix<Eigen::half, Eigen::Dynamic, Eigen::Dynamic>>(2, 2);
    tensor_ref const view = as_tensor(halves);
    CHECK(view.type == dtype::f16);
    CHECK(has_shape(view, {2, 2}, order::column_major));
    CHECK(to_float(view.values.f16[1]) == 10);
    Eigen::Matrix<Eigen::bfloat16, 3, 1> brains;
    brains.setConstant(static_cast<Eigen::bfloat16>(2.5F));
    CHECK(has_shape(as_tensor(brains), {3}, order::row_major));
    CHECK(to_float(as_tensor(brains).values.bf16[2]) == 2.5F);
    CHECK(as_tensor(halves.topRows(1)).refused == refusal::not_contiguous);
    CHECK(to_float(*as_tensor(static_cast<Eigen::half>(3.0F)).values.f16) == 3);
    auto const back = tensor_from<Eigen::Matrix<Eigen::half, 2, 2, Eigen::RowMajor>>::make(view).value();
    CHECK(static_cast<float>(back(1, 0)) == 10);
}

TEST_CASE("a record is read back as Eigen objects") {
    auto const w = counted<Eigen::MatrixXf>(3, 2);
    Eigen::VectorXd const b = Eigen::VectorXd::LinSpaced(5, 0, 1);
    Eigen::Tensor<float, 3, Eigen::RowMajor> t(2, 1, 3);
    t.setConstant(4);
    t(1, 0, 2) = 5;
    {
        constexpr plan keep{collection{"all", "*", always{}, payload}};
        hook watch{"eigen", keep, options{.existing = existing::replace}};
        (void)watch.step(train(7), "fc/w"_t = w, "fc/b"_t = b, "t"_t = t);
    }
    trial const run = open_trial("eigen").value();
    recorded_value const stored = run["fc/w"].at(train(7));
    CHECK(stored.to<Eigen::MatrixXf>().value() == w);
    CHECK(stored.to<row_major_matrix>().value() == w);
    CHECK(stored.to<Eigen::Matrix<float, 3, 2>>().value() == w);
    CHECK((stored.to<Eigen::ArrayXXf>().value() == w.array()).all());
    CHECK(stored.to<Eigen::Matrix2f>().error().code == errc::wrong_type);
    CHECK(stored.to<Eigen::MatrixXd>().error().code == errc::wrong_type);
    CHECK(stored.to<Eigen::VectorXf>().error().code == errc::wrong_type);
    recorded_value const bias = run["fc/b"].at(train(7));
    CHECK(bias.to<Eigen::VectorXd>().value() == b);
    CHECK(bias.to<Eigen::RowVectorXd>().value() == b.transpose());
    CHECK(bias.to<Eigen::MatrixXd>().error().what.view() == "recorded with the sizes {5}, which do not fit a matrix");
    CHECK(tensor_from<Eigen::Vector2f>::make(view_of(w.data(), {2, 1})).value() == Eigen::Vector2f(0, 10));
    auto const columns = run["t"].at(train(7)).to<Eigen::Tensor<float, 3>>().value();
    CHECK(columns(1, 0, 2) == 5);
    CHECK(columns(0, 0, 2) == 4);
    CHECK(columns.dimension(2) == 3);
    auto const flat = run["t"].at(train(7)).to<Eigen::Tensor<float, 2>>();
    CHECK(flat.error().code == errc::wrong_type);
}
