// SPDX-License-Identifier: Apache-2.0
// C interface (L6): a tensor as described in C, checked before any hook gets it.
#pragma once

#include <spotter/c/spotter.h>
#include <spotter/core/result.hpp>
#include <spotter/core/source.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// A tensor as C describes it.
struct c_tensor {
    int dtype;
    void const* values;
    int rank;
    std::uint64_t const* shape;
    std::int64_t const* byte_strides;  // null: packed, row-major
};

// The size and the alignment of each dtype, as powers of two.
struct c_width {
    std::uint8_t size, alignment;
};
inline constexpr c_width c_widths[] = {{0, 0}, {0, 0}, {0, 0}, {1, 1}, {2, 2}, {3, 3}, {0, 0}, {1, 1}, {2, 2},
                                       {3, 3}, {1, 1}, {1, 1}, {2, 2}, {3, 3}, {3, 2}, {4, 3}, {0, 0}, {0, 0}};
static_assert([] {
    for (int type = SPOTTER_BOOL; type <= SPOTTER_F8_E5M2; ++type) {
        std::size_t const size = std::size_t{1} << c_widths[type].size;
        std::size_t const alignment = std::size_t{1} << c_widths[type].alignment;
        if (size != size_of(static_cast<dtype>(type))) { return false; }
        if (alignment != (is_complex(static_cast<dtype>(type)) ? size / 2 : size)) { return false; }
    }
    return true;
}());

// Elements with gaps between them, or at unaligned addresses. They are copied as bytes, whatever their type.
class c_source {
public:
    explicit c_source(c_tensor const& it, tensor_ref const& view) noexcept
        : values_{it.values}, type_{view.type}, shape_{view.shape} {
        packed_strides(order::row_major, strides_);
        for (std::size_t axis = 0; axis < shape_.rank && it.byte_strides != nullptr; ++axis) {
            strides_[axis] = it.byte_strides[axis];
        }
    }
    [[nodiscard]] dtype type() const noexcept { return type_; }
    [[nodiscard]] extents shape() const noexcept { return shape_; }
    void copy_to(std::byte* into) const noexcept {
        switch (size_of(type_)) {
            case 1:
                return copy<std::uint8_t>(into);
            case 2:
                return copy<std::uint16_t>(into);
            case 4:
                return copy<std::uint32_t>(into);
            case 8:
                return copy<std::uint64_t>(into);
            default:
                return copy<c128>(into);
        }
    }
    // Whether the values are packed in this order; an axis of one element may have any stride.
    [[nodiscard]] bool is_packed(order layout) const noexcept {
        std::array<std::int64_t, max_rank> packed{};
        packed_strides(layout, packed);
        for (std::size_t axis = 0; axis < shape_.rank; ++axis) {
            if (shape_.size[axis] > 1 && strides_[axis] != packed[axis]) { return false; }
        }
        return true;
    }

private:
    template <class Bits>
    void copy(std::byte* into) const noexcept {
        strided_source<Bits>{static_cast<Bits const*>(values_), shape_, {strides_.data(), shape_.rank}}.copy_to(into);
    }
    void packed_strides(order layout, std::array<std::int64_t, max_rank>& strides) const noexcept {
        auto step = static_cast<std::int64_t>(size_of(type_));
        for (std::size_t i = 0; i < shape_.rank; ++i) {
            std::size_t const axis = layout == order::row_major ? shape_.rank - 1U - i : i;
            strides[axis] = step;
            step *= static_cast<std::int64_t>(shape_.size[axis]);
        }
    }

    void const* values_;
    dtype type_;
    extents shape_;
    std::array<std::int64_t, max_rank> strides_{};
};

// The view of a packed tensor, refused where a hook would refuse it. If it is not a tensor at all, `code` and `why` say
// so.
struct c_view {
    tensor_ref view{};
    errc code = errc::none;
    bool aligned = true;
    std::string_view why{};

    explicit c_view(c_tensor const& it) noexcept { look_at(it); }

    // Whether a view of the memory suffices, without a copy.
    [[nodiscard]] bool plain(c_tensor const& it) const noexcept {
        return (aligned && it.byte_strides == nullptr) || view.refused != refusal::none || view.count == 0;
    }

private:
    void look_at(c_tensor const& it) noexcept {
        if (it.dtype < SPOTTER_BOOL || it.dtype > SPOTTER_F8_E5M2) {
            return complain(errc::wrong_type, "was given with an unknown dtype: take one of spotter_dtype");
        }
        if (it.rank < 0 || (it.rank > 0 && it.shape == nullptr)) {
            return complain(errc::no_shape, "was given without a shape: rank 0 or more, and as many sizes");
        }
        c_width const width = c_widths[it.dtype];
        view.type = static_cast<dtype>(it.dtype);
        view.values.raw = it.values;
        view.count = 1;
        int bits = width.size;  // upper bound of the bits of the size in bytes
        bool empty = false;
        bool const deep = it.rank > static_cast<int>(max_rank);
        view.shape.rank = static_cast<std::uint8_t>(deep ? max_rank + 1 : static_cast<std::size_t>(it.rank));
        for (std::size_t axis = 0; axis < view.shape.rank && axis < max_rank; ++axis) {
            std::uint64_t const size = it.shape[axis];
            view.shape.size[axis] = size;
            view.count *= size;
            empty = empty || size == 0;
            bits += static_cast<int>(std::bit_width(size));
        }
        // 62 bits cannot overflow. Each extent is rounded up, so 2^54 bytes are accepted in any shape.
        if (bits > 62 && !empty) {
            return complain(errc::no_shape, "was given a size that no memory can hold: was it negative?");
        }
        if (deep) {
            view.refused = refusal::rank_too_deep;
        } else if (it.values == nullptr && view.count > 0) {
            view.refused = refusal::null;
        }
        aligned = (reinterpret_cast<std::uintptr_t>(it.values) & ((std::uintptr_t{1} << width.alignment) - 1)) == 0;
    }
    void complain(errc what, std::string_view sentence) noexcept {
        code = what;
        why = sentence;
    }
};

}  // namespace spotter::inline SPOTTER_ABI::detail
