// SPDX-License-Identifier: Apache-2.0
// Nested vectors, packed on request.
#include <spotter/ext/nested.hpp>
#include <spotter/spotter.hpp>

#include <tests/catch.hpp>

#include <array>
#include <list>
#include <vector>

using namespace spotter;

TEST_CASE("rows of equal length become a matrix, deeper nests more axes") {
    std::vector<std::vector<float>> const rows{{1, 2, 3}, {4, 5, 6}};
    STATIC_REQUIRE(!tensor<std::vector<std::vector<float>>>);
    auto const copy = packed(rows);
    tensor_ref const view = as_tensor(copy);
    CHECK(view.refused == refusal::none);
    CHECK(view.shape == extents{2, 3});
    CHECK(view.values.f32[3] == 4);

    std::vector<std::vector<std::array<double, 2>>> const deep{{{1, 2}, {3, 4}, {5, 6}}};
    auto const three = packed(deep);
    CHECK(as_tensor(three).shape == extents{1, 3, 2});
    CHECK(as_tensor(three).values.f64[5] == 6);
    std::list<std::vector<bool>> const bits{{true, false}, {false, true}};
    auto const packed_bits = packed(bits);
    CHECK(as_tensor(packed_bits).type == dtype::boolean);
    CHECK(as_tensor(packed_bits).values.boolean[3]);
    auto const line = packed(std::list<int>{1, 2, 3});
    CHECK(as_tensor(line).shape == extents{3});
}

TEST_CASE("rows of different length are refused") {
    CHECK(packed(std::vector<std::vector<float>>{{1, 2}, {3}}).view().refused == refusal::ragged);
    CHECK(packed(std::vector<std::vector<float>>{{}, {3}}).view().refused == refusal::ragged);
    CHECK(packed(std::vector<std::vector<std::vector<int>>>{{{1}, {2}}, {{1}, {2, 3}}}).view().refused ==
          refusal::ragged);
    CHECK(packed(std::vector<std::vector<std::vector<int>>>{{}, {{1}}}).view().refused == refusal::ragged);
    auto const none = packed(std::vector<std::vector<float>>{});
    CHECK(none.view().refused == refusal::none);
    CHECK(none.view().count == 0);
    CHECK(name_of(refusal::ragged) == "ragged");
}

TEST_CASE("a packed copy is observed, refused and refilled like any tensor") {
    std::vector<std::vector<float>> rows{{1, 2}, {3, 4}};
    packed_rows<float, 2> copy;
    hook watch{plan{}, any("w", maximum > 8.0)};
    copy.assign(rows);
    void const* const memory = copy.view().values.raw;
    CHECK_FALSE(watch.step(train(0), "w"_t = copy));
    rows[1][0] = 9;
    copy.assign(rows);
    CHECK(copy.view().values.raw == memory);
    CHECK(watch.step(train(1), "w"_t = copy));
    rows.push_back({1});
    (void)watch.step(train(2), "w"_t = packed(rows));
    CHECK(watch.health().refused == 1);
}
