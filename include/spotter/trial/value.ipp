// SPDX-License-Identifier: Apache-2.0
// The bodies of value.hpp.
#pragma once

#include <spotter/trial/value.hpp>

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
