// SPDX-License-Identifier: Apache-2.0
// Core: any contiguous tensor is recognised by its members, and a non-contiguous one is refused.
#include <spotter/core/tensor_access.hpp>

#include <tests/catch.hpp>

#include <complex>
#include <string>
#include <vector>

using namespace spotter;

namespace {

// The matrix type of a matrix library: rows, cols, a storage order, and strides that may leave gaps.
template <bool RowMajor>
struct matrix {
    static constexpr bool IsRowMajor = RowMajor;
    std::vector<float> values;
    long row_count, col_count, outer, inner = 1;
    [[nodiscard]] float const* data() const { return values.data(); }
    [[nodiscard]] long size() const { return row_count * col_count; }
    [[nodiscard]] long rows() const { return row_count; }
    [[nodiscard]] long cols() const { return col_count; }
    [[nodiscard]] long outerStride() const { return outer; }
    [[nodiscard]] long innerStride() const { return inner; }
};
// The array type of an array library: a shape, and strides in elements, 0 along an axis of size 1.
struct array {
    std::vector<double> values;
    std::vector<std::size_t> sizes;
    std::vector<std::ptrdiff_t> steps;
    [[nodiscard]] double const* data() const { return values.data(); }
    [[nodiscard]] std::size_t size() const { return values.size(); }
    [[nodiscard]] auto const& shape() const { return sizes; }
    [[nodiscard]] auto const& strides() const { return steps; }
};
struct shaped {  // without strides
    std::vector<int> values;
    std::vector<int> sizes;
    [[nodiscard]] int const* data() const { return values.data(); }
    [[nodiscard]] std::size_t size() const { return values.size(); }
    [[nodiscard]] auto const& shape() const { return sizes; }
};
struct foreign {
    float const* where;
    unsigned long long wide;
};

template <class Tensor>
tensor_ref accepted(Tensor const& it) {
    tensor_ref const view = as_tensor(it);
    CHECK(view.refused == refusal::none);
    return view;
}
double total(tensor_ref const& view) {
    double sum = 0;
    visit_values(view, [&](auto values) {
        for (auto const& each : values) {
            if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(each)>>) {
                sum += static_cast<double>(each);
            }
        }
    });
    return sum;
}

}  // namespace

template <>
struct spotter::tensor_access<foreign> {
    static tensor_ref view(foreign const& it) noexcept { return view_of(it.where, {it.wide, 2}); }
};

TEST_CASE("a scalar has rank 0 and one element") {
    tensor_ref const view = accepted(2.5F);
    CHECK((view.shape.rank == 0 && view.count == 1 && view.type == dtype::f32 && view.bytes() == 4));
    CHECK(accepted(true).type == dtype::boolean);
    CHECK(accepted(std::complex<double>{1, 2}).type == dtype::c128);
    CHECK(total(as_tensor(std::int64_t{-7})) == -7);
}

TEST_CASE("contiguous ranges are vectors") {
    std::vector<float> const values{1, 2, 3};
    tensor_ref const view = accepted(values);
    CHECK((view.values.raw == values.data() && view.shape == extents{3} && view.type == dtype::f32));
    CHECK(accepted(std::array<std::int16_t, 4>{1, 2, 3, 4}).bytes() == 8);
    CHECK(accepted(std::span<float const>{values}.first(2)).count == 2);
    CHECK(accepted(std::vector<bf16>(7)).type == dtype::bf16);
    CHECK(accepted(std::vector<char>{1, 2, 3}).count == 3);
    static_assert(!tensor<std::string> && !tensor<std::string_view> && !tensor<char const*> && !tensor<char[4]>);
    static_assert(!tensor<std::vector<bool>> && !tensor<std::vector<std::string>> && !tensor<int*>);
    static_assert(tensor<std::vector<int>&> || tensor<std::vector<int>>);
}

TEST_CASE("sizes are any integers, and a negative one is refused") {
    std::vector<float> const values(6, 1.0F);
    int const rows = 2;
    short const columns = 3;
    CHECK(view_of(values.data(), {rows, columns}).shape == extents{2, 3});
    CHECK(view_of(values.data(), {std::size_t{6}}).count == 6);
    CHECK(view_of(values.data(), {-rows, columns}).refused == refusal::negative_size);
    CHECK(view_of(values.data(), extents{}).count == 1);
    CHECK(view_of(values, {rows, columns}).shape == extents{2, 3});
    CHECK(view_of(values, {rows, 4}).refused == refusal::size_mismatch);
    // As a tensor class keeps them.
    std::vector<int> const shape{2, 3};
    std::array<std::int64_t, 3> const deep{1, 3, 2};
    CHECK(view_of(values, shape).shape == extents{2, 3});
    CHECK(view_of(values.data(), deep).shape == extents{1, 3, 2});
    CHECK(view_of(values, std::vector<std::size_t>{}).refused == refusal::size_mismatch);  // a scalar
    CHECK(view_of(values, std::vector<long>{-2, 3}).refused == refusal::negative_size);
    CHECK(view_of(values, std::vector<int>(300, 1)).refused == refusal::rank_too_deep);
    static_assert(!std::is_convertible_v<std::string, extents> && !std::is_convertible_v<std::vector<float>, extents>);
}

TEST_CASE("arrays keep their rank") {
    int const one[3] = {1, 2, 3};
    double const two[2][3] = {{1, 2, 3}, {4, 5, 6}};
    float const three[2][1][2] = {{{1, 2}}, {{3, 4}}};
    CHECK((accepted(one).shape == extents{3} && total(as_tensor(one)) == 6));
    CHECK((accepted(two).shape == extents{2, 3} && total(as_tensor(two)) == 21));
    CHECK((accepted(three).shape == extents{2, 1, 2} && total(as_tensor(three)) == 10));
}

TEST_CASE("a matrix is seen in its own order, and refused where it has gaps") {
    matrix<true> const rows{std::vector<float>(6), 2, 3, 3};
    matrix<false> const cols{std::vector<float>(6), 2, 3, 2};
    CHECK((accepted(rows).shape == extents{2, 3} && as_tensor(rows).layout == order::row_major));
    CHECK((accepted(cols).shape == extents{2, 3} && as_tensor(cols).layout == order::column_major));
    CHECK(as_tensor(matrix<true>{std::vector<float>(8), 2, 3, 4}).refused == refusal::not_contiguous);
    CHECK(as_tensor(matrix<false>{std::vector<float>(12), 2, 3, 4, 2}).refused == refusal::not_contiguous);
    accepted(matrix<true>{std::vector<float>(3), 1, 3, 99});  // one row: there are no gaps between rows
    // One element a column: the inner stride is never used.
    accepted(matrix<false>{std::vector<float>(3), 1, 3, 1, 7});
}

TEST_CASE("an array with a shape and strides is recognised in both orders") {
    CHECK(accepted(array{std::vector<double>(6), {2, 3}, {3, 1}}).layout == order::row_major);
    CHECK(accepted(array{std::vector<double>(6), {2, 3}, {1, 2}}).layout == order::column_major);
    CHECK(accepted(array{std::vector<double>(6), {2, 1, 3}, {3, 0, 1}}).shape == extents{2, 1, 3});
    CHECK(accepted(array{{5.0}, {}, {}}).shape.rank == 0);
    CHECK(accepted(array{{}, {0, 4}, {4, 1}}).count == 0);
    CHECK(as_tensor(array{std::vector<double>(6), {2, 2}, {3, 1}}).refused == refusal::not_contiguous);
    CHECK(as_tensor(array{std::vector<double>(6), {3}, {2}}).refused == refusal::not_contiguous);
    CHECK(as_tensor(array{std::vector<double>(6), {3}, {-1}}).refused == refusal::not_contiguous);
    CHECK(as_tensor(array{std::vector<double>(6), {2, 3}, {0, 1}}).refused == refusal::not_contiguous);  // broadcast
    CHECK(accepted(shaped{{1, 2, 3, 4}, {2, 2}}).shape == extents{2, 2});
}

TEST_CASE("what cannot be viewed is refused with the reason, and never read") {
    CHECK(view_of(static_cast<float const*>(nullptr), {3}).refused == refusal::null);
    CHECK(view_of(static_cast<float const*>(nullptr), {0, 3}).refused == refusal::none);
    std::vector<float> const one(1);
    CHECK(view_of(one.data(), {1, 1, 1, 1, 1, 1, 1, 1}).refused == refusal::none);
    CHECK(view_of(one.data(), {1, 1, 1, 1, 1, 1, 1, 1, 1}).refused == refusal::rank_too_deep);
    CHECK(as_tensor(array{{1.0}, std::vector<std::size_t>(9, 1), std::vector<std::ptrdiff_t>(9, 1)}).refused ==
          refusal::rank_too_deep);
    int calls = 0;
    visit_values(view_of(static_cast<float const*>(nullptr), {3}), [&](auto) { ++calls; });
    visit_values(tensor_ref{}, [&](auto) { ++calls; });
    CHECK(calls == 0);
    CHECK(tensor_ref{}.absent());
    CHECK_FALSE(as_tensor(std::vector<float>{}).absent());
}

TEST_CASE("a type of the user's own brings its view") {
    std::vector<float> const values{1, 2, 3, 4};
    CHECK(accepted(foreign{values.data(), 2}).shape == extents{2, 2});
    CHECK(total(as_tensor(foreign{values.data(), 2})) == 10);
    tensor_ref const view = as_tensor(values);
    CHECK(as_tensor(view).count == 4);
}

TEST_CASE("views are made and read in constant expressions") {
    constexpr auto sum = [](auto const& values) {
        double out = 0;
        visit_values(as_tensor(values), [&](auto span) {
            for (auto each : span) {
                if constexpr (std::is_arithmetic_v<decltype(each)>) { out += static_cast<double>(each); }
            }
        });
        return out;
    };
    static_assert(sum(std::array{1.5, 2.5}) == 4 && sum(std::array<std::uint8_t, 2>{200, 100}) == 300);
    static_assert(extents{2, 3, 4}.elements() == 24 && extents{}.elements() == 1 && extents{3, 0}.elements() == 0);
    SUCCEED();
}

TEST_CASE("long long and std::complex are read as the same bits under another name") {
    std::vector<long long> const wide{1, -2, 1LL << 40};
    CHECK(total(as_tensor(wide)) == static_cast<double>((1LL << 40) - 1));
    std::vector<std::complex<float>> const pairs{{1, 2}, {3, -4}};
    double im = 0;
    visit_values(as_tensor(pairs), [&](auto values) {
        if constexpr (std::is_same_v<decltype(values), element_view<c64>>) {
            for (c64 each : values) { im += each.im; }
        }
    });
    CHECK(im == -2);
}

TEST_CASE("sizes that multiply to more than there can be are refused; they do not wrap to an empty tensor") {
    float const value = 1;
    std::uint64_t const huge = std::uint64_t{1} << 33;
    CHECK(view_of(&value, {huge, std::uint64_t{1} << 31}).refused == refusal::too_large);
    CHECK(view_of(&value, {huge, huge}).refused == refusal::too_large);
    CHECK(view_of(&value, {std::uint64_t{1} << 62}).refused == refusal::too_large);
    CHECK(view_of(&value, {huge, huge, huge, 3}).refused == refusal::too_large);
    CHECK(view_of(&value, {huge, std::uint64_t{1} << 26}).refused == refusal::none);
    CHECK(view_of(&value, {huge, huge, 0}).refused == refusal::none);  // empty, whatever the other sizes are
    CHECK(view_of(&value, {0, huge, huge}).count == 0);
    CHECK(view_of(static_cast<void const*>(&value), dtype::f32, {huge, huge}).refused == refusal::too_large);
    CHECK(name_of(refusal::too_large) == "too_large");
    CHECK(name_of(refusal::permuted) == "permuted");
}

TEST_CASE("memory that is packed with its axes in another order is called permuted, gaps and overlaps are not") {
    float const values[24]{};
    auto const why = [&](extents const& shape, std::initializer_list<std::int64_t> strides) {
        return view_of(values, shape, std::span<std::int64_t const>{strides.begin(), strides.size()}).refused;
    };
    CHECK(why({2, 3, 4}, {12, 4, 1}) == refusal::none);
    CHECK(why({4, 3, 2}, {1, 4, 12}) == refusal::none);      // column-major
    CHECK(why({3, 2, 4}, {4, 12, 1}) == refusal::permuted);  // batch-first view of time-first memory
    CHECK(why({2, 4, 3}, {12, 1, 4}) == refusal::permuted);
    CHECK(why({2, 1, 4, 3}, {12, 7, 1, 4}) == refusal::permuted);  // the stride of an axis of size 1 is ignored
    CHECK(why({3, 2, 2}, {4, 12, 1}) == refusal::not_contiguous);
    CHECK(why({3, 2, 4}, {0, 4, 1}) == refusal::not_contiguous);
    CHECK(why({3, 2, 4}, {-4, 12, 1}) == refusal::not_contiguous);
    CHECK(why({2, 2, 2}, {1, 1, 4}) == refusal::not_contiguous);
}
