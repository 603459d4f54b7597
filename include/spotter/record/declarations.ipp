// SPDX-License-Identifier: Apache-2.0
// The bodies of declarations.hpp.
#pragma once

#include <spotter/format/sidecar.hpp>
#include <spotter/record/declarations.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool declarations::remember(byte_view body, bool said, std::uint64_t offset) noexcept {
    byte_reader in{body};
    std::uint64_t const id = in.varint();
    if (in.bad() || !list_.grow(static_cast<std::size_t>(id) + 1)) { return false; }
    piece& it = list_[static_cast<std::size_t>(id)];
    if (it.size == body.size()) {
        std::memcpy(bytes_.data() + it.at, body.data(), body.size());
    } else {
        if (it.once) { once_bytes_ -= it.size; }
        every_bytes_ -= it.size;
        if (it.once) { once_bytes_ += body.size(); }
        every_bytes_ += body.size();
        it.at = bytes_.size();
        it.size = body.size();
        if (!bytes_.append(body)) { return false; }
    }
    if (!said) { return true; }
    if (once_ == 0) { once_from_ = offset; }
    if (!it.once) {
        ++once_;
        once_bytes_ += it.size;
    }
    it.once = true;
    it.frame = frame_;
    return true;
}

SPOTTER_BODY void declarations::head_ends(std::uint64_t offset) noexcept {
    for (piece& each : list_) { each.once = false; }
    once_ = once_bytes_ = 0;
    said_at_ = offset;
}

SPOTTER_BODY bool declarations::once_is_due(std::uint64_t offset) const noexcept {
    return once_ > 0 && offset - once_from_ >= larger(first_distance, first_share * once_bytes_);
}

SPOTTER_BODY bool declarations::every_is_due(std::uint64_t offset, bool matters) const noexcept {
    std::uint64_t const distance = larger(least_distance, share * every_bytes_);
    return every_bytes_ > 0 && offset - said_at_ >= (matters ? distance / 4 : distance);
}

SPOTTER_BODY bool declarations::say_beside(byte_buffer& out) noexcept {
    if (every_bytes_ == 0) { return true; }
    side_declarations side{out};
    return say_at_head([&side](row_kind kind, byte_view body) { return side.put(kind, body); }) && side.seal();
}

}  // namespace spotter::inline SPOTTER_ABI
