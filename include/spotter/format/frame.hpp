// SPDX-License-Identifier: Apache-2.0
// Format (L1): the frames of a segment: the head, the row frames, and how long a zstd frame is (without zstd).
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/rows.hpp>

namespace spotter::inline SPOTTER_ABI {

// The first 64 bytes of a segment: whose it is, and which of them.
struct segment_head {
    std::uint16_t version = layout::version;  // of the format
    std::uint16_t draft = layout::draft;      // 0: frozen
    std::uint32_t number = 0;                 // of the segment
    std::uint64_t run_id = 0;                 // the same in every segment of a run
    std::uint64_t first_ordinal = 0;          // of its first close
    std::uint32_t worker = 0;                 // that wrote it
    std::uint32_t attempt = 0;                // of the run, from 0
    double time = 0;                          // when it was begun; seconds since 1970
};

// A row frame as found in a segment; `body` holds its rows.
struct row_frame {
    std::uint64_t offset = 0;         // in the segment
    std::uint64_t bytes = 0;          // the whole frame
    std::uint64_t previous_end = 0;   // of the row frame (or head) before it; what lies between is payload
    std::uint64_t first_ordinal = 0;  // closes before it
    std::uint32_t rows = 0;           // rows of any kind; a steps row is one
    std::uint32_t closes = 0;         // steps closed in it, packed ones too
    std::uint32_t values = 0;         // observations and scalars
    std::uint32_t flags = 0;          // layout::has_declares and so on
    byte_view body{};                 // in the segment's bytes; go through it with row_reader

    [[nodiscard]] std::uint64_t end() const noexcept { return offset + bytes; }
};

// The whole head frame with its checksum, at the end of `out`; errc::out_of_memory.
[[nodiscard]] error encode_head(segment_head const& head, byte_buffer& out) noexcept;

// errc::not_a_run where these are not the first bytes of a segment, errc::corrupt where its checksum differs,
// errc::unknown_version where another library wrote it.
[[nodiscard]] result<segment_head> decode_head(byte_view from) noexcept;

// A row in two parts at the end of `out`. False where memory is exhausted.
[[nodiscard]] bool append_row(byte_buffer& out, row_kind kind, byte_view body, byte_view rest = {}) noexcept;

// Collects rows and makes a frame of them. Reused: `seal` gives the frame's bytes, `reset` begins the next.
class row_frame_builder {
public:
    // A row: its kind, and its body in two parts. False where memory is exhausted.
    bool add(row_kind kind, byte_view body, byte_view rest = {}) noexcept;
    // Of the steps row that was added last.
    void count_packed(std::uint32_t closes, std::uint32_t values) noexcept { closes_ += closes, values_ += values; }
    // The whole frame, to be put at `offset` of the segment; valid until the next call. Empty where memory is
    // exhausted.
    [[nodiscard]] byte_view seal(std::uint64_t offset, std::uint64_t previous_end, std::uint64_t first_ordinal,
                                 std::uint32_t more_flags = 0) noexcept;
    void reset() noexcept;  // forgets the rows, keeps the memory

    // Bytes that the frame would have now.
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return rows_ == 0; }
    [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }  // rows added since reset
    // Of those, with the packed ones that were counted.
    [[nodiscard]] std::uint32_t closes() const noexcept { return closes_; }
    // Observations and scalars of those, likewise.
    [[nodiscard]] std::uint32_t values() const noexcept { return values_; }
    [[nodiscard]] std::uint32_t flags() const noexcept { return flags_; }  // layout::has_declares and so on, of those

private:
    bool add_nothing() noexcept;

    byte_buffer bytes_;
    std::uint32_t rows_ = 0, closes_ = 0, values_ = 0, flags_ = 0;
};

// What begins at a place of a segment.
// Cut: it goes on beyond the end of the bytes.
enum class frame_kind : std::uint8_t { head, rows, values, cut, bad };

struct frame_extent {  // what is there, and how far it goes
    frame_kind kind = frame_kind::bad;
    std::uint64_t bytes = 0;    // of the whole frame; 0 for cut and bad
    std::uint64_t content = 0;  // of a payload frame: bytes when decompressed
};

// Brings bytes of a segment into the memory where they belong before they are looked at, where they are not all there
// from the beginning. What cannot be brought is zeros, and read as damage.
struct byte_supply {
    void (*bring)(void* context, std::uint64_t from, std::uint64_t bytes) noexcept = nullptr;  // clamped to the segment
    void* context = nullptr;

    void operator()(std::uint64_t from, std::uint64_t bytes) const noexcept { bring(context, from, bytes); }
};

// A zstd frame of the shape that spotter writes (content size and checksum present, no dictionary), by its block
// headers (RFC 8878, section 3.1.1); its content is not looked at.
[[nodiscard]] frame_extent measure_zstd_frame(byte_view from) noexcept;

// The frame at `offset`. For head and rows only their extent is known yet; their checksum is not looked at.
[[nodiscard]] frame_extent measure_frame(byte_view segment, std::uint64_t offset,
                                         byte_supply const* supply = nullptr) noexcept;

// The row frame at `offset`, checked: that it is one, belongs there and is whole.
[[nodiscard]] result<row_frame> decode_row_frame(byte_view segment, std::uint64_t offset) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/frame.ipp>
#endif
