// SPDX-License-Identifier: Apache-2.0
// C interface (L6): a tensor as C describes it, looked through before any hook sees it.
#pragma once

#include <spotter/c/spotter.h>
#include <spotter/core/result.hpp>
#include <spotter/core/source.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// A tensor in C's words.
struct c_tensor {
    int dtype;
    void const* values;
    int rank;
    std::uint64_t const* shape;
    std::int64_t const* byte_strides;  // null: packed, row-major
};

// Elements with gaps between them, or at odd addresses; what is copied are bytes, whatever they mean.
struct c_source {
    spotter::dtype dtype = spotter::dtype::none;
    void const* values = nullptr;
    extents sizes{};
    std::array<std::int64_t, max_rank> byte_strides{};

    [[nodiscard]] spotter::dtype type() const noexcept { return dtype; }
    [[nodiscard]] extents shape() const noexcept { return sizes; }
    void copy_to(std::byte* into) const noexcept {
        switch (size_of(dtype)) {
            case 1: return copy<std::uint8_t>(into);
            case 2: return copy<std::uint16_t>(into);
            case 4: return copy<std::uint32_t>(into);
            case 8: return copy<std::uint64_t>(into);
            default: return copy<c128>(into);
        }
    }
    template <class Bits>
    void copy(std::byte* into) const noexcept {
        strided_source<Bits>{static_cast<Bits const*>(values), sizes, {byte_strides.data(), sizes.rank}}.copy_to(into);
    }
};

// What C says of a tensor, once it has been looked through. `code` and `why`: what a hook could not even count as a tensor.
struct c_offer {
    errc code = errc::none;
    std::string_view why{};
    tensor_ref view{};     // packed, or refused
    c_source source{};
    bool copied = false;   // take the source

    explicit c_offer(c_tensor const& it) noexcept { look_at(it); }

    [[nodiscard]] offered given() const noexcept { return copied ? offer(source) : offered{view, nullptr, nullptr}; }

private:
    void look_at(c_tensor const& it) noexcept {
        bool const known = it.dtype >= SPOTTER_BOOL && it.dtype <= SPOTTER_F8_E5M2;
        if (!known) { return complain(errc::wrong_type, "was given with an unknown dtype: take one of spotter_dtype"); }
        if (it.rank < 0 || (it.rank > 0 && it.shape == nullptr)) {
            return complain(errc::no_shape, "was given without a shape: rank 0 or more, and as many sizes");
        }
        auto const type = static_cast<spotter::dtype>(it.dtype);
        extents shape;
        shape.rank = static_cast<std::uint8_t>(it.rank <= static_cast<int>(max_rank) ? it.rank : static_cast<int>(max_rank) + 1);
        for (std::size_t axis = 0; axis < shape.rank && axis < max_rank; ++axis) { shape.size[axis] = it.shape[axis]; }
        if (!fits(shape, size_of(type))) { return complain(errc::no_shape, "was given a size that no memory can hold: was it negative?"); }

        view = view_of(static_cast<std::uint8_t const*>(it.values), shape);
        view.type = type;
        view.values.raw = it.values;
        if (view.refused != refusal::none || view.count == 0) { return; }
        bool const aligned = reinterpret_cast<std::uintptr_t>(it.values) % (is_complex(type) ? size_of(type) / 2 : size_of(type)) == 0;
        if (aligned && it.byte_strides == nullptr) { return; }
        source = {type, it.values, shape, packed_strides(shape, size_of(type), order::row_major)};
        if (it.byte_strides != nullptr) {
            for (std::size_t axis = 0; axis < shape.rank; ++axis) { source.byte_strides[axis] = it.byte_strides[axis]; }
        }
        if (aligned && lies(order::row_major)) { return; }
        copied = !aligned || !lies(order::column_major);
        if (!copied) { view.layout = order::column_major; }
    }
    void complain(errc what, std::string_view sentence) noexcept {
        code = what;
        why = sentence;
    }
    [[nodiscard]] static bool fits(extents const& shape, std::uint64_t element_bytes) noexcept {
        std::uint64_t room = (std::uint64_t{1} << 62) / element_bytes;
        bool enough = true;
        for (std::uint64_t const size : shape.view()) {
            if (size == 0) { return true; }
            enough = enough && size <= room;
            room /= size;
        }
        return enough;
    }
    [[nodiscard]] static std::array<std::int64_t, max_rank> packed_strides(extents const& shape, std::size_t element_bytes,
                                                                           order layout) noexcept {
        std::array<std::int64_t, max_rank> strides{};
        auto step = static_cast<std::int64_t>(element_bytes);
        for (std::size_t i = 0; i < shape.rank; ++i) {
            std::size_t const axis = layout == order::row_major ? shape.rank - 1U - i : i;
            strides[axis] = step;
            step *= static_cast<std::int64_t>(shape.size[axis]);
        }
        return strides;
    }
    // Whether the values are packed in this order; an axis of one element may have any stride.
    [[nodiscard]] bool lies(order layout) const noexcept {
        std::array<std::int64_t, max_rank> const packed = packed_strides(source.sizes, size_of(source.dtype), layout);
        for (std::size_t axis = 0; axis < source.sizes.rank; ++axis) {
            if (source.sizes.size[axis] > 1 && source.byte_strides[axis] != packed[axis]) { return false; }
        }
        return true;
    }
};

}  // namespace spotter::inline SPOTTER_ABI::detail
