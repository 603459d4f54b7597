// SPDX-License-Identifier: Apache-2.0
// Values that are not a contiguous tensor: strided, generated, or copied by a function of their owner.
#include <tests/catch.hpp>

#include <spotter/core/source.hpp>

#include <numeric>
#include <vector>

using namespace spotter;

namespace {

template <class Value, tensor_source Source>
std::vector<Value> values_of(Source const& source) {
    std::vector<Value> out(static_cast<std::size_t>(source.shape().elements()));
    source.copy_to(reinterpret_cast<std::byte*>(out.data()));
    return out;
}
std::vector<float> counted(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 0.0F);
    return values;
}

}  // namespace

TEST_CASE("a padded pitch is packed, on either axis, and so is a transposed or reversed view") {
    auto const memory = counted(24);  // 4 x 6
    std::int64_t const f = sizeof(float);
    CHECK(values_of<float>(packed(memory.data(), {4, 3}, {6 * f, f})) ==
          std::vector<float>{0, 1, 2, 6, 7, 8, 12, 13, 14, 18, 19, 20});
    CHECK(values_of<float>(packed(memory.data(), {2, 3}, {f, 6 * f})) == std::vector<float>{0, 6, 12, 1, 7, 13});
    CHECK(values_of<float>(packed(memory.data() + 5, {3}, {-f})) == std::vector<float>{5, 4, 3});
    CHECK(values_of<float>(packed(memory.data(), {2, 2, 2}, {12 * f, 6 * f, 3 * f})) ==
          std::vector<float>{0, 3, 6, 9, 12, 15, 18, 21});
    CHECK(values_of<float>(packed(memory.data(), {0, 4}, {6 * f, f})).empty());
}

TEST_CASE("sizes and strides of different numbers of axes are refused, and so is no memory, and nothing is read") {
    auto const memory = counted(12);
    auto const why = [](auto const& source) { return offer(source).view.refused; };
    CHECK(why(packed(memory.data(), {3, 4}, {16})) == refusal::axes_mismatch);
    CHECK(why(packed(memory.data(), {3}, {16, 4})) == refusal::axes_mismatch);
    CHECK(why(packed(memory.data(), {3, 4}, {16, 4})) == refusal::none);
    CHECK(why(packed(static_cast<float const*>(nullptr), {3}, {4})) == refusal::null);
    CHECK(why(packed(memory.data(), {3, -1}, {16, 4})) == refusal::negative_size);
    CHECK(why(valid_region(memory.data(), {3, 4}, {2})) == refusal::axes_mismatch);
    CHECK(why(valid_region(memory.data(), {3, 4}, {2, 3})) == refusal::none);
    std::int64_t const strides[]{4, 1};
    CHECK(view_of(memory.data(), {3}, std::span{strides}).refused == refusal::axes_mismatch);
    CHECK(view_of(memory.data(), {3, 4}, std::span{strides}.first(1)).refused == refusal::axes_mismatch);
}

TEST_CASE("the valid region of a padded tensor is its beginning along each axis; more than there is is cut") {
    auto const memory = counted(12);  // 3 x 4
    CHECK(values_of<float>(valid_region(memory.data(), {3, 4}, {2, 3})) == std::vector<float>{0, 1, 2, 4, 5, 6});
    CHECK(valid_region(memory.data(), {3, 4}, {9, 2}).shape() == extents{3, 2});
}

TEST_CASE("a callable is a tensor of what it returns") {
    auto const squares = values_from({2, 3}, [](std::size_t i) { return static_cast<double>(i * i); });
    CHECK(squares.type() == dtype::f64);
    CHECK(values_of<double>(squares) == std::vector<double>{0, 1, 4, 9, 16, 25});
    CHECK(values_from({1}, [](std::size_t) { return std::int16_t{7}; }).type() == dtype::i16);
}

TEST_CASE("foreign memory is read by its owner's function") {
    auto const memory = counted(4);
    std::size_t asked = 0;
    auto const far = copied<float>({2, 2}, [&](void* into, std::size_t bytes) {
        asked = bytes;
        std::memcpy(into, memory.data(), bytes);
    });
    CHECK(values_of<float>(far) == memory);
    CHECK(asked == 16);
}

TEST_CASE("sizes given with the fastest axis first become slowest first") {
    auto const memory = counted(6);
    tensor_ref const view = fastest_first(memory.data(), {3, 2});
    CHECK(view.shape == extents{2, 3});
    CHECK(view.layout == order::row_major);
}

TEST_CASE("an offer of a source has type and shape, and no memory until it is copied") {
    auto const source = values_from({5}, [](std::size_t i) { return static_cast<float>(i); });
    offered const it = offer(source);
    CHECK(it.view.type == dtype::f32);
    CHECK(it.view.count == 5);
    CHECK(it.view.values.raw == nullptr);
    REQUIRE(it.copy != nullptr);
    float out[5];
    it.copy(it.source, reinterpret_cast<std::byte*>(out));
    CHECK(out[4] == 4);
    CHECK(offer(1.0F).copy == nullptr);
}
