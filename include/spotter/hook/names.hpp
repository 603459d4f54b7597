// SPDX-License-Identifier: Apache-2.0
// Hook (L3): generated names, for the members of a list or for the slices of a tensor whose first axis counts layers.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/kept_text.hpp>
#include <spotter/core/source.hpp>

namespace spotter::inline SPOTTER_ABI {

// `name_list{"block/{}/w", 12}` is block/0/w to block/11/w; without braces the number follows the text. Only the
// constructor and copies allocate. Never throws: where memory is exhausted the list is empty, and tensors without a
// name are not observed.
class name_list {
public:
    name_list(std::string_view pattern, std::size_t count) noexcept;
    name_list(name_list const& other) noexcept;
    name_list(name_list&& other) noexcept = default;
    name_list& operator=(name_list other) noexcept {
        names_ = std::move(other.names_);
        return *this;
    }
    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
    [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept { return names_[index]; }

private:
    slot_array<kept_text> names_;  // one for each name
};

// Observes each tensor of a range under the name with its number: `observe_each(watch, parameters, net.parameters())`.
template <class Hook, class Range>
void observe_each(Hook& watch, name_list const& names, Range const& range) noexcept {
    std::size_t i = 0;
    for (auto const& values : range) {
        if (i == names.size()) { break; }
        watch.observe(names[i++], values);
    }
}
template <class Hook, class Range>
void observe_each(Hook& watch, name_list const& names, Range const& range, role what) noexcept {
    std::size_t i = 0;
    for (auto const& values : range) {
        if (i == names.size()) { break; }
        watch.observe(names[i++], values, what);
    }
}

// Observes each slice along the first axis of a row-major tensor as its own tensor, for one buffer that holds the same
// parameter of every layer. A view that is refused, column-major or a scalar is observed whole, under the first name.
template <class Hook, class Tensor>
void observe_layers(Hook& watch, name_list const& names, Tensor const& tensor) noexcept {
    tensor_ref const whole = as_tensor(tensor);
    if (names.size() == 0) { return; }
    if (whole.refused != refusal::none || whole.shape.rank == 0 ||
        (whole.layout != order::row_major && whole.shape.rank > 1)) {
        return watch.observe(names[0], whole);
    }
    tensor_ref slice = whole;
    slice.shape.rank = static_cast<std::uint8_t>(whole.shape.rank - 1);
    for (std::size_t axis = 0; axis < max_rank; ++axis) {
        slice.shape.size[axis] = axis + 1 < max_rank ? whole.shape.size[axis + 1] : 0;
    }
    slice.count = slice.shape.elements();
    auto const* const bytes = static_cast<std::byte const*>(whole.values.raw);
    for (std::size_t i = 0; i < names.size() && i < whole.shape.size[0]; ++i) {
        slice.values.raw = bytes + i * as_size(slice.bytes());
        watch.observe(names[i], slice);
    }
}

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/text.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY name_list::name_list(std::string_view pattern, std::size_t count) noexcept {
    std::size_t const hole = pattern.find("{}");
    std::string_view const behind = hole == pattern.npos ? std::string_view{} : pattern.substr(hole + 2);
    bool whole = names_.grow(count);
    for (std::size_t i = 0; whole && i < count; ++i) {
        text<20> number;
        number << i;
        whole = names_[i].assign(pattern.substr(0, hole), number, behind);
    }
    if (!whole) { names_ = {}; }
}

SPOTTER_BODY name_list::name_list(name_list const& other) noexcept {
    bool whole = names_.grow(other.size());
    for (std::size_t i = 0; whole && i < other.size(); ++i) { whole = names_[i].assign(other[i]); }
    if (!whole) { names_ = {}; }
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
