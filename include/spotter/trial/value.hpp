// SPDX-License-Identifier: Apache-2.0
// Trial (L4): one recorded value with its type and shape, and its conversion to the reader's tensor type.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/tensor_ref.hpp>
#include <spotter/format/fwd.hpp>
#include <spotter/format/rows.hpp>
#include <spotter/trial/no_memory.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Makes a `Tensor` from recorded values: `static result<Tensor> make(tensor_ref const&)`. Specialized here for scalars
// and std::vector, in ext/ for other libraries, and by users for their own types.
template <class Tensor>
struct tensor_from;

namespace detail {

template <element Value>
[[nodiscard]] inline error want_type(tensor_ref const& from) noexcept {
    if (from.type == dtype_of<Value>) { return {}; }
    error why{errc::wrong_type, "recorded as "};
    why.what << name_of(from.type) << ", asked for as " << name_of(dtype_of<Value>)
             << ": read it with the recorded type";
    return why;
}

// For values that a library's type cannot hold.
[[nodiscard]] inline error misfit(tensor_ref const& from, std::string_view wanted) noexcept {
    error why{errc::wrong_type, "recorded with the sizes {"};
    char const* comma = "";
    for (std::uint64_t size : from.shape.view()) {
        why.what << comma << size;
        comma = ", ";
    }
    why.what << "}, which do not fit " << wanted;
    return why;
}

// Calls `use` with an integer of an element's size, or with the one wider element type: enough for moving values.
template <class Use>
void with_word(dtype type, Use&& use) {
    switch (size_of(type)) {
        case 1:
            return use(std::uint8_t{});
        case 2:
            return use(std::uint16_t{});
        case 4:
            return use(std::uint32_t{});
        case 8:
            return use(std::uint64_t{});
        default:
            return use(c128{});
    }
}

// Whether the place can hold so many bytes of values. Checked before memory is allocated, so that a damaged row costs
// none: a zstd frame has at least 13 bytes and holds at most one block.
[[nodiscard]] bool can_hold(byte_view segment, payload_place const& place, std::uint64_t bytes) noexcept;
// An observation's type, layout and shape.
[[nodiscard]] inline tensor_ref view_without_values(rows::observe const& row) noexcept {
    return {{}, row.shape.elements(), row.shape, row.type, row.layout, refusal::none};
}

// Replaces bytes that are neither 0 nor 1, which must not be read as bool, by true.
void make_sound(std::span<std::byte> values, dtype type) noexcept;

// Copies values into `out` in the given order of axes; a plain copy if the orders agree.
template <element Value>
void copy_in_order(tensor_ref const& from, order wanted, Value* out) noexcept {
    auto const* values = static_cast<Value const*>(from.values.raw);
    auto const count = static_cast<std::size_t>(from.count);
    if (from.layout == wanted || from.shape.rank < 2) {
        for (std::size_t i = 0; i < count; ++i) { out[i] = values[i]; }
        return;
    }
    // Walks the source in storage order, its fastest axis first, and puts each element at its place in the other order.
    std::size_t const rank = from.shape.rank;
    std::array<std::uint64_t, max_rank> index{};
    std::array<std::uint64_t, max_rank> stride{};
    std::uint64_t step = 1;
    for (std::size_t i = 0; i < rank; ++i) {
        std::size_t const axis = wanted == order::row_major ? rank - 1 - i : i;
        stride[axis] = step;
        step *= from.shape.size[axis];
    }
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t place = 0;
        for (std::size_t axis = 0; axis < rank; ++axis) { place += index[axis] * stride[axis]; }
        out[place] = values[i];
        for (std::size_t k = 0; k < rank; ++k) {
            std::size_t const axis = from.layout == order::row_major ? rank - 1 - k : k;
            if (++index[axis] < from.shape.size[axis]) { break; }
            index[axis] = 0;
        }
    }
}

}  // namespace detail

// One number.
template <element Value>
struct tensor_from<Value> {
    // errc::wrong_type if another type, or not exactly one number, was recorded.
    [[nodiscard]] static result<Value> make(tensor_ref const& from) noexcept {
        if (error const why = detail::want_type<Value>(from)) { return why; }
        if (from.count != 1) {
            return {errc::wrong_type, "asked for one number, but more or fewer were recorded: read it as a tensor"};
        }
        return *static_cast<Value const*>(from.values.raw);
    }
};

// The elements in row-major order.
template <element Value>
struct tensor_from<std::vector<Value>> {
    // errc::wrong_type if another type was recorded.
    [[nodiscard]] static result<std::vector<Value>> make(tensor_ref const& from) {
        if (error const why = detail::want_type<Value>(from)) { return why; }
        if constexpr (std::same_as<Value, bool>) {
            auto const values = std::make_unique<bool[]>(static_cast<std::size_t>(from.count));
            detail::copy_in_order(from, order::row_major, values.get());
            return std::vector<bool>(values.get(), values.get() + from.count);
        } else {
            std::vector<Value> values(static_cast<std::size_t>(from.count));
            detail::copy_in_order(from, order::row_major, values.data());
            return values;
        }
    }
};

// A text that was given to hook.scalar.
template <>
struct tensor_from<std::string> {
    // errc::wrong_type if numbers were recorded.
    [[nodiscard]] static result<std::string> make(tensor_ref const& from) {
        if (from.type != dtype::text) {
            return {errc::wrong_type, "asked for a text, but numbers were recorded: read them with their type"};
        }
        return std::string(static_cast<char const*>(from.values.raw), static_cast<std::size_t>(from.count));
    }
};

// Values read from a record, or the error. Owns the values: it outlives the trial.
class recorded_value {
public:
    recorded_value(spotter::error const& why) noexcept : why_{why} {}
    recorded_value(std::vector<std::byte> bytes, tensor_ref const& like) noexcept;
    recorded_value(recorded_value&& other) noexcept;
    recorded_value& operator=(recorded_value&& other) noexcept;

    // Whether the values are there.
    [[nodiscard]] explicit operator bool() const noexcept { return !why_; }
    // The error; none if the values are there.
    [[nodiscard]] spotter::error const& error() const noexcept { return why_; }
    // As recorded; dtype::none if there are no values.
    [[nodiscard]] dtype type() const noexcept { return view_.type; }
    // As recorded; a range of elements has one axis.
    [[nodiscard]] extents const& shape() const noexcept { return view_.shape; }
    [[nodiscard]] tensor_ref const& view() const noexcept { return view_; }  // valid as long as this value

    // errc::wrong_type if the element type or the rank differs from the recorded one.
    template <class Tensor>
    [[nodiscard]] result<Tensor> to() const {
        if (why_) { return why_; }
        return detail::answered([&]() -> result<Tensor> { return tensor_from<Tensor>::make(view_); });
    }

private:
    std::vector<std::byte> bytes_{};
    tensor_ref view_{};
    spotter::error why_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY bool can_hold(byte_view segment, payload_place const& place, std::uint64_t bytes) noexcept {
    return place.bytes <= segment.size() && bytes <= place.bytes / 13 * layout::block_bytes;
}

SPOTTER_BODY void make_sound(std::span<std::byte> values, dtype type) noexcept {
    if (type != dtype::boolean) { return; }
    for (std::byte& each : values) { each = static_cast<std::byte>(each != std::byte{0}); }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY recorded_value::recorded_value(std::vector<std::byte> bytes, tensor_ref const& like) noexcept
    : bytes_{std::move(bytes)}, view_{like} {
    detail::make_sound(bytes_, like.type);
    view_.values.raw = bytes_.data();
}

SPOTTER_BODY recorded_value::recorded_value(recorded_value&& other) noexcept
    : bytes_{std::move(other.bytes_)}, view_{other.view_}, why_{other.why_} {
    view_.values.raw = bytes_.data();
}

SPOTTER_BODY recorded_value& recorded_value::operator=(recorded_value&& other) noexcept {
    bytes_ = std::move(other.bytes_);
    view_ = other.view_;
    view_.values.raw = bytes_.data();
    why_ = other.why_;
    return *this;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
