// SPDX-License-Identifier: Apache-2.0
// Format (L1): walks the row frames of a segment in memory, across damage, to the end or a torn tail.
#pragma once

#include <spotter/format/frame.hpp>

namespace spotter::inline SPOTTER_ABI {

// Bytes of a segment that are not frames.
struct frame_place {
    std::uint64_t offset = 0;  // in the segment
    std::uint64_t bytes = 0;   // up to the next intact frame, or the end
};

enum class walked : std::uint8_t {  // the result of a step
    head,                           // head() is set
    rows,                           // frame() is set
    corrupt,                        // damage() is set; the walk continues behind it
    end,                            // only torn() bytes follow
};

// Holds a view; the bytes must outlive it. All reads are bounds-checked. The bytes between two row frames are payload.
// The walk reads only its block headers; damage in it is detected when it is decoded.
//
// Why damage is always detected: every row frame has, under its checksum, its own offset and the end of the row frame
// before it. So a walk that is misled by a damaged length stops at a frame that does not belong there, or whose
// predecessor was missed. It then searches byte by byte from the end of the last intact frame. If bytes were removed or
// inserted, no later frame has its own offset; but an intact frame proves that the rest is not just an incomplete
// write.
class frame_walker {
public:
    // From the beginning, or from the start of any row frame (a sidecar has some). `supply`: reads bytes that are not
    // in memory yet.
    explicit frame_walker(byte_view segment, std::uint64_t start = 0, byte_supply const* supply = nullptr) noexcept
        : segment_{segment}, supply_{supply}, at_{start}, end_{start}, chained_{start == 0} {}

    [[nodiscard]] walked next() noexcept;  // returns `end` only after all bytes were read

    [[nodiscard]] segment_head const& head() const noexcept { return head_; }       // the last one
    [[nodiscard]] error const& head_error() const noexcept { return head_error_; }  // unknown_version
    // The last one; its body is a view of the segment.
    [[nodiscard]] row_frame const& frame() const noexcept { return frame_; }
    [[nodiscard]] frame_place const& damage() const noexcept { return damage_; }  // the last one
    // The end of the last intact frame.
    [[nodiscard]] std::uint64_t good_end() const noexcept { return end_; }
    // After `end`: the bytes behind the last intact frame. A closed segment has none; in a segment that is being
    // written they are payload whose row is still to come, or a frame that is only partly in the file.
    [[nodiscard]] std::uint64_t torn() const noexcept { return torn_; }
    // They contain the head of the row frame that closed the segment and held data of steps. So the writer had come to
    // the segment's end, and more is lost than after a kill.
    [[nodiscard]] bool torn_end() const noexcept { return torn_end_; }

private:
    [[nodiscard]] bool take_head() noexcept;
    [[nodiscard]] walked accept(row_frame const& frame) noexcept;
    void bring(std::uint64_t from, std::uint64_t bytes) const noexcept;
    // Reads its bytes first.
    [[nodiscard]] result<row_frame> decode_at(std::uint64_t offset) const noexcept;
    // Finds the next intact row frame; everything before it is damage. If there is none, the rest is a torn tail if it
    // looks like a cut frame and holds no frame of another offset; otherwise it is damage.
    [[nodiscard]] walked search(bool cut) noexcept;
    // Whether the incomplete frame at the end is the beginning of a frame that belongs there; sets `torn_end_`.
    [[nodiscard]] bool is_begun() noexcept;
    // Whether there is an intact row frame of another offset; deducts the checked bytes from `looks`.
    [[nodiscard]] bool is_displaced(std::uint64_t offset, std::uint64_t& looks) const noexcept;

    byte_view segment_;
    byte_supply const* supply_;
    std::uint64_t at_;
    std::uint64_t end_;
    std::uint64_t torn_ = 0;
    segment_head head_{};
    error head_error_{};
    row_frame frame_{};
    frame_place damage_{};
    bool chained_;
    bool found_ = false;
    bool torn_end_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
#include <spotter/format/bytes.hpp>
#include <spotter/format/checksum.hpp>

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
        bool const is_head = extent.kind == frame_kind::head && at_ == 0 && extent.bytes == layout::head_bytes;
        if (is_head && take_head()) { return walked::head; }
        if (extent.kind == frame_kind::rows) {
            auto const frame = decode_at(at_);
            if (frame && (!chained_ || frame->previous_end == end_)) { return accept(*frame); }
        }
        return search(extent.kind == frame_kind::cut && is_begun());
    }
    torn_ = segment_.size() > end_ ? segment_.size() - end_ : 0;
    return walked::end;
}

SPOTTER_BODY bool frame_walker::take_head() noexcept {
    bring(0, layout::head_bytes);
    auto const head = decode_head(segment_);
    if (!head && head.error().code != errc::unknown_version) { return false; }
    head_ = head ? *head : segment_head{};
    head_error_ = head.error();
    at_ = end_ = layout::head_bytes;
    return true;
}

SPOTTER_BODY walked frame_walker::accept(row_frame const& frame) noexcept {
    frame_ = frame;
    at_ = end_ = frame_.end();
    chained_ = true;
    return walked::rows;
}

SPOTTER_BODY bool frame_walker::is_begun() noexcept {
    bring(at_, layout::row_head_bytes);
    byte_view const from = segment_.subspan(as_size(at_));
    if (from.size() < 16 || load<std::uint32_t>(from.data()) != layout::row_magic) { return true; }
    if (load<std::uint64_t>(from.data() + 8) != at_) { return false; }
    if (from.size() < 24) { return true; }
    if (chained_ && load<std::uint64_t>(from.data() + 16) != end_) { return false; }
    if (from.size() < layout::row_head_bytes) { return true; }
    auto const field = [&](std::size_t at) { return load<std::uint32_t>(from.data() + at); };
    constexpr std::size_t closes = 36, values = 40, flags = 44;
    torn_end_ = (field(flags) & layout::last_of_segment) != 0 && (field(closes) > 0 || field(values) > 0);
    return true;
}

SPOTTER_BODY bool frame_walker::is_displaced(std::uint64_t offset, std::uint64_t& looks) const noexcept {
    frame_extent const extent = measure_frame(segment_, offset, supply_);
    if (extent.kind != frame_kind::rows || extent.bytes < layout::row_head_bytes + layout::row_tail_bytes ||
        extent.bytes > looks) {
        return false;
    }
    looks -= extent.bytes;
    bring(offset, extent.bytes);
    byte_view const whole = segment_.subspan(as_size(offset), as_size(extent.bytes));
    std::size_t const covered = whole.size() - layout::row_tail_bytes;
    return checksum(whole.first(covered)) == load<std::uint64_t>(whole.data() + covered);
}

SPOTTER_BODY void frame_walker::bring(std::uint64_t from, std::uint64_t bytes) const noexcept {
    if (supply_ != nullptr) { (*supply_)(from, bytes); }
}

SPOTTER_BODY result<row_frame> frame_walker::decode_at(std::uint64_t offset) const noexcept {
    bring(offset, measure_frame(segment_, offset, supply_).bytes);
    return decode_row_frame(segment_, offset);
}

SPOTTER_BODY walked frame_walker::search(bool cut) noexcept {
    constexpr auto magic = layout::row_magic;
    constexpr std::uint64_t stretch = 64U << 10;  // bytes read at once
    std::uint64_t const last = segment_.size();
    std::uint64_t looks = last - end_;  // limit of bytes to checksum for frames of another offset
    for (std::uint64_t offset = end_; offset + layout::row_head_bytes + layout::row_tail_bytes <= last; ++offset) {
        if ((offset - end_) % stretch == 0) { bring(offset, stretch + layout::row_head_bytes); }
        std::byte const* const at = segment_.data() + offset;
        if (load<std::uint32_t>(at) != magic) { continue; }
        if (load<std::uint64_t>(at + 8) != offset) {
            cut = cut && !is_displaced(offset, looks);
            continue;
        }
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
#endif
