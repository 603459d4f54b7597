// SPDX-License-Identifier: Apache-2.0
// Format (L1): the frames of a segment: the head, the row frames, and the length of zstd frames (without zstd).
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/rows.hpp>

namespace spotter::inline SPOTTER_ABI {

// The first 64 bytes of a segment: they identify the run and the segment.
struct segment_head {
    std::uint16_t version = layout::version;  // of the format
    std::uint16_t draft = layout::draft;      // 0: frozen
    std::uint32_t number = 0;                 // of the segment
    std::uint64_t run_id = 0;                 // the same in every segment of a run
    std::uint64_t first_ordinal = 0;          // of its first close
    std::uint32_t worker = 0;                 // the writing worker
    std::uint32_t attempt = 0;                // of the run, from 0
    double time = 0;                          // when the segment was begun; seconds since 1970
};

// A row frame of a segment; `body` holds its rows.
struct row_frame {
    std::uint64_t offset = 0;         // in the segment
    std::uint64_t bytes = 0;          // of the whole frame
    std::uint64_t previous_end = 0;   // end of the row frame (or head) before it; payload is in between
    std::uint64_t first_ordinal = 0;  // closes before it
    std::uint32_t rows = 0;           // rows of any kind; a steps row is one
    std::uint32_t closes = 0;         // steps closed in it, with packed ones
    std::uint32_t values = 0;         // observations and scalars
    std::uint32_t flags = 0;          // layout::has_declares and so on
    byte_view body{};                 // a view of the segment; read it with row_reader

    [[nodiscard]] std::uint64_t end() const noexcept { return offset + bytes; }
};

// Appends the whole head frame, with its checksum, to `out`; errc::out_of_memory.
[[nodiscard]] error encode_head(segment_head const& head, byte_buffer& out) noexcept;

// errc::not_a_run if these are not the first bytes of a segment, corrupt if the checksum is wrong, unknown_version for
// another version's.
[[nodiscard]] result<segment_head> decode_head(byte_view from) noexcept;

// Appends a row in two parts to `out`. False where memory is exhausted.
[[nodiscard]] bool append_row(byte_buffer& out, row_kind kind, byte_view body, byte_view rest = {}) noexcept;

// Collects rows and makes a frame of them. Reusable: `seal` returns the frame, `reset` begins the next.
class row_frame_builder {
public:
    // Adds a row: its kind, and its body in two parts. False where memory is exhausted.
    bool add(row_kind kind, byte_view body, byte_view rest = {}) noexcept;
    // Counts the content of the steps row that was added last.
    void count_packed(std::uint32_t closes, std::uint32_t values) noexcept { closes_ += closes, values_ += values; }
    // The whole frame for this `offset` of the segment; valid until the next call. Empty where memory is exhausted.
    [[nodiscard]] byte_view seal(std::uint64_t offset, std::uint64_t previous_end, std::uint64_t first_ordinal,
                                 std::uint32_t more_flags = 0) noexcept;
    void reset() noexcept;  // removes the rows, keeps the memory

    // Current size of the frame.
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool empty() const noexcept { return rows_ == 0; }
    [[nodiscard]] std::uint32_t rows() const noexcept { return rows_; }  // since reset
    // Their closes, with packed ones.
    [[nodiscard]] std::uint32_t closes() const noexcept { return closes_; }
    // Their observations and scalars, with packed ones.
    [[nodiscard]] std::uint32_t values() const noexcept { return values_; }
    [[nodiscard]] std::uint32_t flags() const noexcept { return flags_; }  // of these rows: layout::has_declares ...

private:
    bool add_nothing() noexcept;

    byte_buffer bytes_;
    std::uint32_t rows_ = 0, closes_ = 0, values_ = 0, flags_ = 0;
};

// What begins at an offset of a segment. cut: it extends beyond the end of the bytes.
enum class frame_kind : std::uint8_t { head, rows, values, cut, bad };

struct frame_extent {  // its kind and size
    frame_kind kind = frame_kind::bad;
    std::uint64_t bytes = 0;    // of the whole frame; 0 for cut and bad
    std::uint64_t content = 0;  // of a zstd frame: decompressed size
};

// Reads bytes of a segment into their place in memory before they are accessed, if not all are there. Unreadable bytes
// are zeros, and treated as damage.
struct byte_supply {
    void (*bring)(void* context, std::uint64_t from, std::uint64_t bytes) noexcept = nullptr;  // clamps the range
    void* context = nullptr;

    void operator()(std::uint64_t from, std::uint64_t bytes) const noexcept { bring(context, from, bytes); }
};

// Measures a zstd frame of the kind that spotter writes (with content size and checksum, without dictionary) from its
// block headers (RFC 8878, section 3.1.1). Does not check its content.
[[nodiscard]] frame_extent measure_zstd_frame(byte_view from) noexcept;

// The frame at `offset`. Head and row frames are only measured; their checksum is not checked.
[[nodiscard]] frame_extent measure_frame(byte_view segment, std::uint64_t offset,
                                         byte_supply const* supply = nullptr) noexcept;

// The row frame at `offset`, after checking its type, offset and checksum.
[[nodiscard]] result<row_frame> decode_row_frame(byte_view segment, std::uint64_t offset) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/frame.ipp>
#endif
