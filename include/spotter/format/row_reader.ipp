// SPDX-License-Identifier: Apache-2.0
// The bodies of row_reader.hpp.
#pragma once

#include <spotter/format/frame.hpp>
#include <spotter/format/row_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool row_reader::next(row_view& out) noexcept {
    for (;;) {
        if (packed_) {
            if (steps_.next()) {
                out = {steps_.row().kind, {unpacked_, unpack(steps_.row(), unpacked_)}, stored_, part_++};
                return true;
            }
            packed_ = false;
            bad_ = bad_ || steps_.bad();
        }
        if (in_.left() == 0) { return false; }
        auto const kind = static_cast<row_kind>(in_.fixed<std::uint8_t>());
        stored_ = in_.raw(in_.varint());
        if (in_.bad()) { return false; }
        if (kind != row_kind::steps) {
            out = {kind, stored_, stored_, whole_row};
            return true;
        }
        steps_ = steps_reader{stored_};
        packed_ = true;
        part_ = 0;
    }
}

SPOTTER_BODY row_view row_finder::find(row_kind kind, byte_view stored, std::uint32_t part) noexcept {
    if (part == whole_row) { return {kind, stored, stored, part}; }
    if (stored.data() != stored_.data() || stored.size() != stored_.size() || part + 1 < met_) {
        steps_ = steps_reader{stored};
        stored_ = stored;
        met_ = 0;
    }
    for (; met_ <= part; ++met_) {
        met_ += static_cast<std::uint32_t>(steps_.skip_alike(part - met_));
        if (!steps_.next()) { return {kind, {}, stored, part}; }
    }
    return {kind, {unpacked_, unpack(steps_.row(), unpacked_)}, stored, part};
}

}  // namespace spotter::inline SPOTTER_ABI
