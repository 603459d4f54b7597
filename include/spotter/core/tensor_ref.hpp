// SPDX-License-Identifier: Apache-2.0
// Core (L0): a non-owning view of a tensor: type, shape, order and address of the values.
#pragma once

#include <spotter/core/dtype.hpp>

#include <array>
#include <concepts>
#include <span>

namespace spotter::inline SPOTTER_ABI {

// The most axes of a tensor.
inline constexpr std::size_t max_rank = 8;

// Which axis runs fastest in memory: the last, or the first.
enum class order : std::uint8_t { row_major = 0, column_major = 1 };

// Rank and sizes. A scalar has rank 0 and one element.
struct extents {
    std::uint8_t rank = 0;                       // number of axes; above max_rank if too many were given
    std::array<std::uint64_t, max_rank> size{};  // of each axis, the first `rank` are used

    constexpr extents() noexcept = default;
    // From any integers; view_of refuses a negative one.
    template <std::integral... Sizes>
        requires(sizeof...(Sizes) > 0)
    constexpr extents(Sizes... sizes) noexcept {
        (add(static_cast<std::uint64_t>(sizes)), ...);
    }
    // From a range of integers, such as the std::vector<int> in which a tensor class keeps its shape. Not of
    // characters: a text has no sizes.
    template <class Sizes>
        requires requires(Sizes const& sizes) {
            { *sizes.begin() } -> std::convertible_to<std::uint64_t>;
            requires std::integral<std::remove_cvref_t<decltype(*sizes.begin())>> && sizeof(*sizes.begin()) > 1;
            sizes.end();
        }
    constexpr extents(Sizes const& sizes) noexcept {
        for (auto const each : sizes) { add(static_cast<std::uint64_t>(each)); }
    }
    // The product of the sizes; `refusal_of` reports an overflow.
    [[nodiscard]] constexpr std::uint64_t elements() const noexcept {
        std::uint64_t count = 1;
        for (std::size_t axis = 0; axis < rank && axis < max_rank; ++axis) { count *= size[axis]; }
        return count;
    }
    // The sizes; valid as long as this object.
    [[nodiscard]] constexpr std::span<std::uint64_t const> view() const noexcept {
        return {size.data(), rank < max_rank ? rank : max_rank};
    }
    friend constexpr bool operator==(extents const&, extents const&) noexcept = default;

private:
    constexpr void add(std::uint64_t each) noexcept {
        if (rank < max_rank) { size[rank] = each; }
        rank = rank <= max_rank ? static_cast<std::uint8_t>(rank + 1) : rank;
    }
};

// Why a view is refused. A refused view is counted and reported, never read.
enum class refusal : std::uint8_t {
    none = 0,
    not_contiguous = 1,
    rank_too_deep = 2,
    null = 3,
    other_device = 4,     // memory that the host cannot read
    unknown_element = 5,  // quantized, vectorized or another type without a dtype
    ragged = 6,           // rows of different lengths
    negative_size = 7,
    size_mismatch = 8,   // the sizes do not multiply to the number of elements
    too_large = 9,       // the product of the sizes is too large
    axes_mismatch = 10,  // the number of sizes is not that of the strides, or of the whole
    permuted = 11,       // packed memory with permuted axes
};
// Why these sizes are not valid for a tensor; refusal::none if they are.
[[nodiscard]] constexpr refusal refusal_of(extents const& shape) noexcept {
    if (shape.rank > max_rank) { return refusal::rank_too_deep; }
    constexpr std::uint64_t most = std::uint64_t{1} << 59U;  // elements; their bytes then fit into 64 bits, too
    std::uint64_t count = 1;
    bool fits = true, empty = false;
    for (std::uint64_t const each : shape.view()) {
        if (each >> 63U) { return refusal::negative_size; }
        empty = empty || each == 0;
        fits = detail::product_fits(count, each, count) && count <= most && fits;
    }
    return fits || empty ? refusal::none : refusal::too_large;
}

// A typed address, which allows reading values in a static_assert; `raw` for any other use.
union values_pointer {
    void const* raw = nullptr;  // of any type
    bool const* boolean;
    std::int8_t const* i8;
    std::int16_t const* i16;
    std::int32_t const* i32;
    std::int64_t const* i64;
    std::uint8_t const* u8;
    std::uint16_t const* u16;
    std::uint32_t const* u32;
    std::uint64_t const* u64;
    spotter::f16 const* f16;
    spotter::bf16 const* bf16;
    float const* f32;
    double const* f64;
    spotter::c64 const* c64;
    spotter::c128 const* c128;
    spotter::f8_e4m3 const* f8_e4m3;
    spotter::f8_e5m2 const* f8_e5m2;
};

// A view of a contiguous tensor, valid as long as its memory. Trivially copyable.
struct tensor_ref {
    values_pointer values{};          // address of the first element
    std::uint64_t count = 0;          // number of elements
    extents shape{};                  // sizes of the axes
    dtype type = dtype::none;         // of the elements
    order layout = order::row_major;  // of the axes in memory
    refusal refused = refusal::none;  // the reason if it must not be read

    // The size of all elements.
    [[nodiscard]] constexpr std::uint64_t bytes() const noexcept { return count * size_of(type); }
    // The view has no values, as in a replay of recorded statistics. An empty tensor is not absent.
    [[nodiscard]] constexpr bool absent() const noexcept { return type == dtype::none; }
};

namespace detail {

template <element Value>
[[nodiscard]] constexpr values_pointer point_at(Value const* values) noexcept {
    values_pointer where{};
    constexpr dtype type = dtype_of<Value>;
    if constexpr (std::same_as<Value, bool>) {
        where.boolean = values;
    } else if constexpr (std::same_as<Value, std::int8_t>) {
        where.i8 = values;
    } else if constexpr (std::same_as<Value, std::int16_t>) {
        where.i16 = values;
    } else if constexpr (std::same_as<Value, std::int32_t>) {
        where.i32 = values;
    } else if constexpr (std::same_as<Value, std::int64_t>) {
        where.i64 = values;
    } else if constexpr (std::same_as<Value, std::uint8_t>) {
        where.u8 = values;
    } else if constexpr (std::same_as<Value, std::uint16_t>) {
        where.u16 = values;
    } else if constexpr (std::same_as<Value, std::uint32_t>) {
        where.u32 = values;
    } else if constexpr (std::same_as<Value, std::uint64_t>) {
        where.u64 = values;
    } else if constexpr (type == dtype::f16) {
        where.f16 = values;
    } else if constexpr (type == dtype::bf16) {
        where.bf16 = values;
    } else if constexpr (type == dtype::f32) {
        where.f32 = values;
    } else if constexpr (std::same_as<Value, double>) {
        where.f64 = values;
    } else if constexpr (std::same_as<Value, spotter::c64>) {
        where.c64 = values;
    } else if constexpr (std::same_as<Value, spotter::c128>) {
        where.c128 = values;
    } else if constexpr (type == dtype::f8_e4m3) {
        where.f8_e4m3 = values;
    } else if constexpr (type == dtype::f8_e5m2) {
        where.f8_e5m2 = values;
    } else {
        where.raw = values;
    }  // the same bits as another type
    return where;
}

// The union member of a storage type.
template <class Value>
inline constexpr auto member_for = nullptr;
template <>
inline constexpr auto member_for<bool> = &values_pointer::boolean;
template <>
inline constexpr auto member_for<std::int8_t> = &values_pointer::i8;
template <>
inline constexpr auto member_for<std::int16_t> = &values_pointer::i16;
template <>
inline constexpr auto member_for<std::int32_t> = &values_pointer::i32;
template <>
inline constexpr auto member_for<std::int64_t> = &values_pointer::i64;
template <>
inline constexpr auto member_for<std::uint8_t> = &values_pointer::u8;
template <>
inline constexpr auto member_for<std::uint16_t> = &values_pointer::u16;
template <>
inline constexpr auto member_for<std::uint32_t> = &values_pointer::u32;
template <>
inline constexpr auto member_for<std::uint64_t> = &values_pointer::u64;
template <>
inline constexpr auto member_for<spotter::f16> = &values_pointer::f16;
template <>
inline constexpr auto member_for<spotter::bf16> = &values_pointer::bf16;
template <>
inline constexpr auto member_for<float> = &values_pointer::f32;
template <>
inline constexpr auto member_for<double> = &values_pointer::f64;
template <>
inline constexpr auto member_for<spotter::c64> = &values_pointer::c64;
template <>
inline constexpr auto member_for<spotter::c128> = &values_pointer::c128;
template <>
inline constexpr auto member_for<spotter::f8_e4m3> = &values_pointer::f8_e4m3;
template <>
inline constexpr auto member_for<spotter::f8_e5m2> = &values_pointer::f8_e5m2;
// The pointer that visit_values reads, for a type known at compile time.
template <class Value>
[[nodiscard]] constexpr Value const* pointer_in(values_pointer const& where) noexcept {
    return where.*member_for<Value>;
}

}  // namespace detail

// The elements of a tensor in storage order. A small std::span: every file that includes a hook instantiates one for
// each dtype.
template <class Value>
struct element_view {
    using element_type = Value const;  // like std::span
    Value const* first;                // not owned
    std::size_t count;                 // number of elements

    constexpr element_view(Value const* values, std::size_t how_many) noexcept : first{values}, count{how_many} {}
    [[nodiscard]] constexpr Value const* data() const noexcept { return first; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return count; }
    [[nodiscard]] constexpr bool empty() const noexcept { return count == 0; }
    [[nodiscard]] constexpr Value const* begin() const noexcept { return first; }
    [[nodiscard]] constexpr Value const* end() const noexcept { return first + count; }
    [[nodiscard]] constexpr Value const& operator[](std::size_t i) const noexcept { return first[i]; }
    [[nodiscard]] constexpr Value const& front() const noexcept { return first[0]; }
    [[nodiscard]] constexpr Value const& back() const noexcept { return first[count - 1]; }
    // The elements from `from` on.
    [[nodiscard]] constexpr element_view subspan(std::size_t from) const noexcept {
        return {first + from, count - from};
    }
    [[nodiscard]] constexpr element_view subspan(std::size_t from, std::size_t size) const noexcept {
        return {first + from, size};
    }
};

// A view of `shape` elements at `values`, the last axis (row-major) or the first (column-major) running fastest.
template <element Value>
[[nodiscard]] constexpr tensor_ref view_of(Value const* values, extents shape,
                                           order layout = order::row_major) noexcept {
    tensor_ref view{detail::point_at(values), shape.elements(), shape, dtype_of<Value>, layout, refusal::none};
    view.refused = refusal_of(shape);
    // A null pointer in a constant expression fails where it is read. Comparing an address there does not compile with
    // g++ and UBSan.
    if (!std::is_constant_evaluated() && view.refused == refusal::none && values == nullptr && view.count > 0) {
        view.refused = refusal::null;
    }
    return view;
}

// The same for a contiguous container: `view_of(net.w1, {units, inputs})`.
template <class Container>
    requires requires(Container const& it) { it.data(), it.size(); }
[[nodiscard]] constexpr tensor_ref view_of(Container const& values, extents shape,
                                           order layout = order::row_major) noexcept {
    tensor_ref view = view_of(values.data(), shape, layout);
    if (view.refused == refusal::none && view.count != values.size()) { view.refused = refusal::size_mismatch; }
    return view;
}

namespace detail {

// Whether the strides are those of packed memory with permuted axes.
[[nodiscard]] constexpr bool is_permuted(extents const& shape, std::span<std::int64_t const> strides) noexcept {
    std::uint64_t expected = 1;
    std::size_t left = 0;
    for (std::size_t axis = 0; axis < shape.rank; ++axis) { left += shape.size[axis] > 1 ? 1U : 0U; }
    for (std::uint32_t used = 0; left > 0; --left) {
        std::size_t next = max_rank;
        for (std::size_t axis = 0; axis < shape.rank && next == max_rank; ++axis) {
            bool const fits = shape.size[axis] > 1 && static_cast<std::uint64_t>(strides[axis]) == expected;
            next = fits && (used >> axis & 1U) == 0 ? axis : max_rank;
        }
        if (next == max_rank) { return false; }
        used |= 1U << next;
        expected *= shape.size[next];
    }
    return true;
}

}  // namespace detail

// The same with strides in elements; refused unless they describe packed memory.
template <element Value>
[[nodiscard]] constexpr tensor_ref view_of(Value const* values, extents shape,
                                           std::span<std::int64_t const> strides) noexcept {
    tensor_ref view = view_of(values, shape);
    if (view.refused != refusal::none) { return view; }
    if (strides.size() != shape.rank) {
        view.refused = refusal::axes_mismatch;
        return view;
    }
    auto const packed = [&](order layout) {
        std::int64_t expected = 1;
        for (std::size_t i = 0; i < shape.rank; ++i) {
            std::size_t const axis = layout == order::row_major ? shape.rank - 1 - i : i;
            if (shape.size[axis] > 1 && strides[axis] != expected) { return false; }
            expected *= static_cast<std::int64_t>(shape.size[axis]);
        }
        return true;
    };
    if (view.count == 0 || packed(order::row_major)) { return view; }
    if (packed(order::column_major)) {
        view.layout = order::column_major;
    } else {
        view.refused = detail::is_permuted(shape, strides) ? refusal::permuted : refusal::not_contiguous;
    }
    return view;
}

namespace detail {

// None for a refused tensor.
[[nodiscard]] constexpr dtype type_to_read(tensor_ref const& view) noexcept {
    return view.refused == refusal::none ? view.type : dtype::none;
}

}  // namespace detail

// Calls `use(element_view<Element>)` with the view's element type. Does nothing for an absent or refused tensor.
template <class Use>
constexpr void visit_values(tensor_ref const& view, Use&& use) {
    auto const count = static_cast<std::size_t>(view.count);
    switch (detail::type_to_read(view)) {
        case dtype::boolean:
            use(element_view{view.values.boolean, count});
            break;
        case dtype::i8:
            use(element_view{view.values.i8, count});
            break;
        case dtype::i16:
            use(element_view{view.values.i16, count});
            break;
        case dtype::i32:
            use(element_view{view.values.i32, count});
            break;
        case dtype::i64:
            use(element_view{view.values.i64, count});
            break;
        case dtype::u8:
        case dtype::text:
            use(element_view{view.values.u8, count});
            break;
        case dtype::u16:
            use(element_view{view.values.u16, count});
            break;
        case dtype::u32:
            use(element_view{view.values.u32, count});
            break;
        case dtype::u64:
            use(element_view{view.values.u64, count});
            break;
        case dtype::f16:
            use(element_view{view.values.f16, count});
            break;
        case dtype::bf16:
            use(element_view{view.values.bf16, count});
            break;
        case dtype::f32:
            use(element_view{view.values.f32, count});
            break;
        case dtype::f64:
            use(element_view{view.values.f64, count});
            break;
        case dtype::c64:
            use(element_view{view.values.c64, count});
            break;
        case dtype::c128:
            use(element_view{view.values.c128, count});
            break;
        case dtype::f8_e4m3:
            use(element_view{view.values.f8_e4m3, count});
            break;
        case dtype::f8_e5m2:
            use(element_view{view.values.f8_e5m2, count});
            break;
        case dtype::none:
            break;
    }
}

// A view of a text's bytes, with dtype::text.
[[nodiscard]] inline tensor_ref view_of_text(std::string_view letters) noexcept {
    tensor_ref view = view_of(letters.data(), {letters.size()});
    view.type = dtype::text;
    return view;
}

}  // namespace spotter::inline SPOTTER_ABI
