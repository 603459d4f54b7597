// SPDX-License-Identifier: Apache-2.0
// Core (L0): values that are no contiguous tensor but can be copied into one. They are copied only where they are due.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/tensor_access.hpp>

#include <concepts>
#include <cstring>
#include <type_traits>

namespace spotter::inline SPOTTER_ABI {

// A source knows its type and shape, and writes its values, packed and row-major, into memory that is large enough. A
// hook calls copy_to only at steps where a rule or a collection wants the values, with a buffer that it reuses. If
// copy_to returns false, the observation is refused and counted. If the source has `refusal refused() const` and that
// is not none, it is not copied.
template <class Source>
concept tensor_source = requires(Source const& source, std::byte* into) {
    { source.type() } -> std::same_as<dtype>;
    { source.shape() } -> std::same_as<extents>;
    source.copy_to(into);
};

// Elements with gaps: neighbours along axis i are `byte_strides[i]` bytes apart.
template <element Value>
class strided_source {
public:
    constexpr strided_source(Value const* first, extents const& shape,
                             std::span<std::int64_t const> byte_strides) noexcept
        : first_{reinterpret_cast<std::byte const*>(first)}, shape_{shape} {
        for (std::size_t axis = 0; axis < byte_strides.size() && axis < max_rank; ++axis) {
            strides_[axis] = byte_strides[axis];
        }
        refused_ = refusal_of(shape);
        if (refused_ == refusal::none && byte_strides.size() != shape.rank) { refused_ = refusal::axes_mismatch; }
        if (!std::is_constant_evaluated() && refused_ == refusal::none && first == nullptr && shape.elements() > 0) {
            refused_ = refusal::null;
        }
    }
    // The reason why it is not copied; none if it is.
    [[nodiscard]] constexpr refusal refused() const noexcept { return refused_; }
    // The element type.
    [[nodiscard]] dtype type() const noexcept { return dtype_of<Value>; }
    // The given shape.
    [[nodiscard]] extents shape() const noexcept { return shape_; }
    // Writes shape().elements() elements, packed and row-major.
    void copy_to(std::byte* into) const noexcept {
        std::uint64_t const count = shape_.elements();
        std::array<std::uint64_t, max_rank> index{};
        std::int64_t offset = 0;
        for (std::uint64_t i = 0; i < count; ++i, into += sizeof(Value)) {
            std::memcpy(into, first_ + offset, sizeof(Value));
            for (std::size_t axis = shape_.rank; axis-- > 0;) {
                offset += strides_[axis];
                if (++index[axis] < shape_.size[axis]) { break; }
                offset -= strides_[axis] * static_cast<std::int64_t>(shape_.size[axis]);
                index[axis] = 0;
            }
        }
    }

private:
    std::byte const* first_;
    extents shape_;
    std::array<std::int64_t, max_rank> strides_{};
    refusal refused_ = refusal::none;
};

// A strided view that is packed when copied: padded pitch, permuted axes, or any other byte strides, negative ones too,
// one for each axis: `watch.observe("w", packed(pointer, {rows, cols}, {pitch_bytes, sizeof(float)}))`.
template <element Value>
[[nodiscard]] constexpr strided_source<Value> packed(Value const* first, extents const& shape,
                                                     std::span<std::int64_t const> byte_strides) noexcept {
    return {first, shape, byte_strides};
}
// Byte strides from any integers: `packed(pointer, {rows, columns}, {pitch_bytes, sizeof(float)})`.
struct byte_strides {
    std::array<std::int64_t, max_rank> step{};  // bytes between neighbours along each axis; may be negative
    std::size_t rank = 0;                       // number of axes

    template <std::integral... Steps>
        requires(sizeof...(Steps) > 0 && sizeof...(Steps) <= max_rank)
    constexpr byte_strides(Steps... steps) noexcept
        : step{static_cast<std::int64_t>(steps)...}, rank{sizeof...(Steps)} {}
};
template <element Value>
[[nodiscard]] constexpr strided_source<Value> packed(Value const* first, extents const& shape,
                                                     byte_strides const& steps) noexcept {
    return {first, shape, std::span<std::int64_t const>{steps.step.data(), steps.rank}};
}

// The valid part of a larger row-major tensor: `sizes` elements along each axis, from the first. Padding (rows of a
// vocabulary, masked positions) is neither judged nor kept. The whole is contiguous and has as many axes; larger
// `sizes` are cut to it.
template <element Value>
[[nodiscard]] constexpr strided_source<Value> valid_region(Value const* whole, extents const& whole_shape,
                                                           extents sizes) noexcept {
    std::array<std::int64_t, max_rank> strides{};
    std::int64_t step = sizeof(Value);
    for (std::size_t axis = whole_shape.rank < max_rank ? whole_shape.rank : max_rank; axis-- > 0;) {
        strides[axis] = step;
        step *= static_cast<std::int64_t>(whole_shape.size[axis]);
        if (sizes.size[axis] > whole_shape.size[axis]) { sizes.size[axis] = whole_shape.size[axis]; }
    }
    std::size_t const rank = whole_shape.rank < max_rank ? whole_shape.rank : max_rank;
    return {whole, sizes, std::span<std::int64_t const>{strides.data(), rank}};
}

// Values without memory: `values_from({count}, [&](std::size_t i) { return particles[i].mass; })`. The index is
// row-major; the element type is the function's result type.
template <class Read>
class generated_source {
public:
    using value_type = std::remove_cvref_t<std::invoke_result_t<Read const&, std::size_t>>;
    static_assert(element<value_type>, "spotter: the function must return a number");

    constexpr generated_source(extents const& shape, Read read) noexcept : shape_{shape}, read_{read} {}
    // The element type.
    [[nodiscard]] dtype type() const noexcept { return dtype_of<value_type>; }
    // The given shape.
    [[nodiscard]] extents shape() const noexcept { return shape_; }
    // Calls the function for each element, in order.
    void copy_to(std::byte* into) const {
        auto const count = as_size(shape_.elements());
        for (std::size_t i = 0; i < count; ++i, into += sizeof(value_type)) {
            value_type const value = read_(i);
            std::memcpy(into, &value, sizeof value);
        }
    }

private:
    extents shape_;
    Read read_;
};
// Values from a function of the index: see generated_source.
template <std::invocable<std::size_t> Read>
[[nodiscard]] constexpr generated_source<Read> values_from(extents const& shape, Read read) noexcept {
    return {shape, read};
}

// Values that only a function of their owner can read (a device, a database): `copied<float>({rows, cols}, [&](void*
// into, std::size_t bytes) { device_to_host(into, address, bytes); })`. The function may return false if it failed.
template <element Value, class Copy>
class copied_source {
public:
    constexpr copied_source(extents const& shape, Copy copy) noexcept : shape_{shape}, copy_{copy} {}
    // The element type.
    [[nodiscard]] dtype type() const noexcept { return dtype_of<Value>; }
    // The given shape.
    [[nodiscard]] extents shape() const noexcept { return shape_; }
    // The function's result; true if it returns void.
    bool copy_to(std::byte* into) const {
        auto const bytes = as_size(shape_.elements()) * sizeof(Value);
        if constexpr (std::same_as<std::invoke_result_t<Copy const&, void*, std::size_t>, bool>) {
            return copy_(static_cast<void*>(into), bytes);
        } else {
            copy_(static_cast<void*>(into), bytes);
            return true;
        }
    }

private:
    extents shape_;
    Copy copy_;
};
// Values that a function writes: see copied_source.
template <element Value, std::invocable<void*, std::size_t> Copy>
[[nodiscard]] constexpr copied_source<Value, Copy> copied(extents const& shape, Copy copy) noexcept {
    return {shape, copy};
}

// Sizes with the fastest axis first, as in ggml and Fortran-style code; the view has the slowest axis first.
template <element Value>
[[nodiscard]] constexpr tensor_ref fastest_first(Value const* values, extents const& sizes) noexcept {
    extents shape;
    shape.rank = sizes.rank;
    std::size_t const rank = sizes.rank < max_rank ? sizes.rank : max_rank;
    for (std::size_t axis = 0; axis < rank; ++axis) { shape.size[axis] = sizes.size[rank - 1 - axis]; }
    return view_of(values, shape);
}

// What a hook receives: a tensor, or (if `copy` is set) a source, whose type and shape are in `view`. A tensor_access
// may have `static offered offer(Tensor const&)` for values that are copied because a view is not possible.
struct offered {
    tensor_ref view{};                                            // the tensor, or its type and shape alone
    void const* source = nullptr;                                 // first argument of `copy`
    bool (*copy)(void const* source, std::byte* into) = nullptr;  // false: it failed
    // For a view refused as refusal::other_device, `copy` writes a device_values instead: core/device_values.hpp.
};

// Accepts a tensor, a source or an offer. Holds a view of it.
template <class Values>
[[nodiscard]] constexpr offered offer(Values const& values) noexcept {
    if constexpr (std::same_as<Values, offered>) {
        return values;
    } else if constexpr (tensor_source<Values>) {
        offered it;
        it.view.shape = values.shape();
        it.view.count = it.view.shape.elements();
        it.view.type = values.type();
        it.view.refused = refusal_of(it.view.shape);
        if constexpr (requires {
                          { values.refused() } -> std::same_as<refusal>;
                      }) {
            it.view.refused = values.refused();
        }
        it.source = &values;
        it.copy = [](void const* source, std::byte* into) {
            if constexpr (std::same_as<decltype(std::declval<Values const&>().copy_to(into)), bool>) {
                return static_cast<Values const*>(source)->copy_to(into);
            } else {
                static_cast<Values const*>(source)->copy_to(into);
                return true;
            }
        };
        return it;
    } else if constexpr (requires {
                             { tensor_access<Values>::offer(values) } -> std::same_as<offered>;
                         }) {
        return tensor_access<Values>::offer(values);
    } else {
        return {as_tensor(values), nullptr, nullptr};
    }
}

}  // namespace spotter::inline SPOTTER_ABI
