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
#include <spotter/format/walker.ipp>
#endif
