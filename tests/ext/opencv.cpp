// SPDX-License-Identifier: Apache-2.0
// cv::Mat in all its forms, observed and read back.
#include <spotter/ext/opencv.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>

#include <cstring>
#include <vector>

using namespace spotter;

namespace {

bool has_shape(tensor_ref const& view, dtype type, extents const& shape) {
    return view.refused == refusal::none && view.type == type && view.shape == shape &&
           view.layout == order::row_major && view.count == shape.elements();
}
bool same(cv::Mat const& a, cv::Mat const& b) {
    return a.type() == b.type() && a.total() == b.total() && std::memcmp(a.data, b.data, a.total() * a.elemSize()) == 0;
}

}  // namespace

TEST_CASE("a Mat has rows and columns, and its channels as a last axis") {
    CHECK(has_shape(as_tensor(cv::Mat(2, 3, CV_32FC1)), dtype::f32, {2, 3}));
    CHECK(has_shape(as_tensor(cv::Mat(2, 3, CV_8UC3)), dtype::u8, {2, 3, 3}));
    CHECK(has_shape(as_tensor(cv::Mat(2, 3, CV_8SC1)), dtype::i8, {2, 3}));
    CHECK(has_shape(as_tensor(cv::Mat(2, 3, CV_16UC2)), dtype::u16, {2, 3, 2}));
    CHECK(has_shape(as_tensor(cv::Mat(2, 3, CV_16SC1)), dtype::i16, {2, 3}));
    CHECK(has_shape(as_tensor(cv::Mat(2, 3, CV_32SC4)), dtype::i32, {2, 3, 4}));
    CHECK(has_shape(as_tensor(cv::Mat(2, 3, CV_64FC1)), dtype::f64, {2, 3}));
    CHECK(has_shape(as_tensor(cv::Mat(2, 3, CV_16FC1)), dtype::f16, {2, 3}));
    CHECK(has_shape(as_tensor(cv::Mat()), dtype::u8, {0, 0}));
    CHECK(has_shape(as_tensor(cv::Mat_<cv::Vec2d>(4, 5)), dtype::f64, {4, 5, 2}));
    int const sizes[] = {2, 3, 4, 5, 2, 1, 2, 2, 2};
    CHECK(has_shape(as_tensor(cv::Mat(4, sizes, CV_32FC2)), dtype::f32, {2, 3, 4, 5, 2}));
    CHECK(has_shape(as_tensor(cv::Mat(8, sizes, CV_8UC1)), dtype::u8, {2, 3, 4, 5, 2, 1, 2, 2}));
    CHECK(as_tensor(cv::Mat(8, sizes, CV_8UC2)).refused == refusal::rank_too_deep);
    CHECK(as_tensor(cv::Mat(9, sizes, CV_8UC1)).refused == refusal::rank_too_deep);

    CHECK(has_shape(as_tensor(cv::Matx23f()), dtype::f32, {2, 3}));
    CHECK(has_shape(as_tensor(cv::Vec3b()), dtype::u8, {3}));
    CHECK(has_shape(as_tensor(cv::Scalar(1, 2, 3)), dtype::f64, {4}));
    STATIC_REQUIRE(!tensor<cv::MatExpr>);
    STATIC_REQUIRE(!tensor<cv::UMat>);
}

TEST_CASE("a region with gaps between its rows is refused, one of whole rows is taken") {
    cv::Mat const whole(6, 8, CV_32F, cv::Scalar(1));
    CHECK(as_tensor(whole(cv::Rect(1, 1, 3, 3))).refused == refusal::not_contiguous);
    CHECK(as_tensor(whole.col(2)).refused == refusal::not_contiguous);
    CHECK(has_shape(as_tensor(whole.rowRange(2, 4)), dtype::f32, {2, 8}));
    CHECK(has_shape(as_tensor(whole(cv::Rect(1, 1, 3, 3)).clone()), dtype::f32, {3, 3}));
    hook watch{plan{}, non_finite{}};
    (void)watch.step(train(0), "part"_t = whole.col(2));
    CHECK(watch.health().refused == 1);
}

TEST_CASE("half precision is judged by its own format") {
    cv::Mat wide(1, 4, CV_32F, cv::Scalar(3)), half;
    wide.at<float>(0, 2) = 1e9F;  // becomes infinity in 16 bits
    wide.convertTo(half, CV_16F);
    CHECK(to_float(as_tensor(half).values.f16[0]) == 3);
    hook watch{plan{}, non_finite{}};
    auto const found = watch.step(train(0), "half"_t = half);
    CHECK(found.decision() == decision::skip_update);
}

TEST_CASE("a record is read back as matrices and images") {
    cv::Mat image(4, 5, CV_8UC3);
    for (int r = 0; r < 4; ++r) {
        for (int c = 0; c < 5; ++c) {
            for (int k = 0; k < 3; ++k) {
                image.at<cv::Vec3b>(r, c)[k] = static_cast<std::uint8_t>(20 * r + 3 * c + k);
            }
        }
    }
    cv::Mat const w = (cv::Mat_<double>(2, 2) << 1, 2, 3, 4);
    cv::Mat half;
    w.convertTo(half, CV_16F);
    int const sizes[] = {2, 2, 2, 2};
    cv::Mat const deep(4, sizes, CV_32F, cv::Scalar(7));
    std::vector<std::int64_t> const longs{1, 2};
    std::vector<float> const column{1, 2, 3};
    {
        constexpr plan keep{collection{"all", "*", always{}, payload}};
        hook watch{"opencv", keep, options{.existing = existing::replace}};
        (void)watch.step(train(0), "image"_t = image, "w"_t = w, "half"_t = half, "deep"_t = deep, "longs"_t = longs,
                         "column"_t = column);
    }
    trial const run = open_trial("opencv").value();
    auto const read = [&](char const* name) { return run[name].at(train(0)); };
    CHECK(same(read("image").to<cv::Mat>().value(), image));
    cv::Mat_<cv::Vec3b> const typed = read("image").to<cv::Mat>().value();
    CHECK(typed(3, 4)[2] == 74);
    CHECK(same(read("w").to<cv::Mat>().value(), w));
    CHECK(same(read("w").to<cv::Mat_<double>>().value(), w));
    CHECK(same(read("half").to<cv::Mat>().value(), half));
    cv::Mat const back = read("deep").to<cv::Mat>().value();
    CHECK(back.dims == 4);
    CHECK(same(back, deep));
    CHECK(read("column").to<cv::Mat>().value().rows == 3);
    CHECK(read("column").to<cv::Mat_<float>>().value()(2) == 3);
    CHECK(read("image").to<cv::Mat_<std::uint8_t>>().value().dims == 3);
    CHECK(read("w").to<cv::Mat_<float>>().error().code == errc::wrong_type);
    CHECK(read("longs").to<cv::Mat>().error().code == errc::wrong_type);
    float const columns[] = {1, 2, 3, 4, 5, 6};
    cv::Mat const turned = tensor_from<cv::Mat>::make(view_of(columns, {2, 3}, order::column_major)).value();
    CHECK(turned.at<float>(0, 2) == 5);
}
