// SPDX-License-Identifier: Apache-2.0
// The bodies of walker.hpp.
#pragma once

#include <spotter/format/walker.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY walked frame_walker::next() noexcept {
    if (found_) {
        found_ = false;
        return accept(*decode_at(at_));
    }
    while (at_ < segment_.size()) {
        frame_extent const extent = measure_frame(segment_, at_, supply_);
        if (extent.kind == frame_kind::values) {
            at_ += extent.bytes;
            continue;
        }
        if (extent.kind == frame_kind::head && at_ == 0 && extent.bytes == layout::head_bytes) {
            if (supply_ != nullptr) { (*supply_)(0, layout::head_bytes); }
            auto const head = decode_head(segment_);
            if (head || head.error().code == errc::unknown_version) {
                head_ = head ? *head : segment_head{};
                head_error_ = head.error();
                at_ = end_ = layout::head_bytes;
                return walked::head;
            }
        }
        if (extent.kind == frame_kind::rows) {
            auto const frame = decode_at(at_);
            if (frame && (!chained_ || frame->previous_end == end_)) { return accept(*frame); }
        }
        return search(extent.kind == frame_kind::cut);
    }
    torn_ = segment_.size() > end_ ? segment_.size() - end_ : 0;
    return walked::end;
}

SPOTTER_BODY walked frame_walker::accept(row_frame const& frame) noexcept {
    frame_ = frame;
    at_ = end_ = frame_.end();
    chained_ = true;
    return walked::rows;
}

SPOTTER_BODY result<row_frame> frame_walker::decode_at(std::uint64_t offset) const noexcept {
    if (supply_ != nullptr) { (*supply_)(offset, measure_frame(segment_, offset, supply_).bytes); }
    return decode_row_frame(segment_, offset);
}

SPOTTER_BODY walked frame_walker::search(bool cut) noexcept {
    constexpr auto magic = layout::row_magic;
    constexpr std::uint64_t stretch = 64U << 10;  // is brought at once
    std::uint64_t const last = segment_.size();
    for (std::uint64_t offset = end_; offset + layout::row_head_bytes + layout::row_tail_bytes <= last; ++offset) {
        if (supply_ != nullptr && (offset - end_) % stretch == 0) { (*supply_)(offset, stretch + layout::row_head_bytes); }
        std::byte const* const at = segment_.data() + offset;
        if (load<std::uint32_t>(at) != magic || load<std::uint64_t>(at + 8) != offset) { continue; }
        if (!decode_at(offset)) { continue; }
        damage_ = {end_, offset - end_};
        at_ = offset;
        found_ = true;
        return walked::corrupt;
    }
    at_ = last;
    if (cut) {
        torn_ = last - end_;
        return walked::end;
    }
    damage_ = {end_, last - end_};
    end_ = last;
    return walked::corrupt;
}

}  // namespace spotter::inline SPOTTER_ABI
