// SPDX-License-Identifier: Apache-2.0
// Format (L1): goes through a segment in memory from row frame to row frame, over damage and up to a torn tail.
#pragma once

#include <spotter/format/frame.hpp>

namespace spotter::inline SPOTTER_ABI {

// Bytes of a segment that could not be taken for frames.
struct frame_place {
    std::uint64_t offset = 0;  // in the segment
    std::uint64_t bytes = 0;   // up to the next good frame, or the end
};

enum class walked : std::uint8_t {  // what a step of the walk has met
    head,                           // head() is set
    rows,                           // frame() is set
    corrupt,                        // damage() is set; the walk goes on behind it
    end,                            // nothing follows but torn() bytes
};

// Holds a view; the bytes must outlive it. Never reads outside them, whatever they are. What lies between two row
// frames is payload, of which only the block headers are read; whether it is sound is seen when it is decoded.
//
// Why damage cannot go unseen: every row frame says where it is and where the row frame before it ended, both under its
// checksum. So a walk led astray by a damaged length stops at a frame that does not belong there, or at one whose
// predecessor was missed; it then searches on, byte by byte, from the end of the last good frame. Where bytes are gone,
// or too many, no frame behind them says where it is; but that there is one, whole, says that the rest is no write that
// was not finished.
class frame_walker {
public:
    // From the beginning, or from the start of any row frame (a sidecar knows some). `supply`: of bytes that are not
    // all there yet.
    explicit frame_walker(byte_view segment, std::uint64_t start = 0, byte_supply const* supply = nullptr) noexcept
        : segment_{segment}, supply_{supply}, at_{start}, end_{start}, chained_{start == 0} {}

    [[nodiscard]] walked next() noexcept;  // never `end` before all bytes were looked at

    [[nodiscard]] segment_head const& head() const noexcept { return head_; }       // the last that was met
    [[nodiscard]] error const& head_error() const noexcept { return head_error_; }  // unknown_version
    // The last that was met; its body is in the segment.
    [[nodiscard]] row_frame const& frame() const noexcept { return frame_; }
    [[nodiscard]] frame_place const& damage() const noexcept { return damage_; }  // the last that was met
    // One past the last good frame: what a writer could append to, were it to.
    [[nodiscard]] std::uint64_t good_end() const noexcept { return end_; }
    // After `end`: bytes behind the last good frame. Of a closed segment there are none; of a live one they are payload
    // whose row is still to come, or a frame of which only a part has reached the file.
    [[nodiscard]] std::uint64_t torn() const noexcept { return torn_; }
    // Among them is the head of the row frame that closed the segment, which says that it held something of steps: so
    // the writer had come to its end, and there is more than what a killed one leaves.
    [[nodiscard]] bool torn_end() const noexcept { return torn_end_; }

private:
    [[nodiscard]] walked accept(row_frame const& frame) noexcept;
    void bring(std::uint64_t from, std::uint64_t bytes) const noexcept;
    // With its bytes there.
    [[nodiscard]] result<row_frame> decode_at(std::uint64_t offset) const noexcept;
    // The next good row frame after the last one; everything between is damage. With none, the rest is a torn tail if
    // it reads like a frame that was cut and holds no frame of another place, else damage.
    [[nodiscard]] walked search(bool cut) noexcept;
    // What is there of a frame that goes on beyond the end is the beginning of one that belongs there; sets
    // `torn_end_`.
    [[nodiscard]] bool is_begun() noexcept;
    // A whole row frame that stood elsewhere; takes what it looks at from `looks`.
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
#include <spotter/format/walker.ipp>
#endif
