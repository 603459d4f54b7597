// SPDX-License-Identifier: Apache-2.0
// Record (L4): what an attempt has declared, kept to be said again: no row frame is to be the only one that has a
// declaration.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/record.hpp>

namespace spotter::inline SPOTTER_ABI {

// Offsets are those of the segment that is being written; `sealed` counts its row frames. What is said again costs at
// most 1 / `share` of the segment, and once more what was declared in it for the first time.
class declarations {
public:
    // Those that only one frame of the record has; all of them.
    enum class which : std::uint8_t { single, known };

    [[nodiscard]] bool begin(byte_view run_begin) noexcept {
        run_begin_.clear();
        return run_begin_.append(run_begin);
    }

    // The last declaration of a tensor counts. A body begins with the id. One that is `said` is in the frame that is
    // being collected, which is to stand at `offset`; any other is known from an earlier segment. False where memory is
    // exhausted.
    [[nodiscard]] bool remember(byte_view body, bool said, std::uint64_t offset = 0) noexcept;

    void sealed() noexcept { ++frame_; }  // the frame that was being collected is over
    // Other segments, and the head of this one, have what was declared before.
    void head_ends(std::uint64_t offset) noexcept;

    // What is due at this offset, where no row of an open step is half in.
    [[nodiscard]] bool once_is_due(std::uint64_t offset) const noexcept;
    // `matters`: findings were written, so that what leads to them is worth more.
    [[nodiscard]] bool every_is_due(std::uint64_t offset, bool matters) const noexcept;

    // Calls put(kind, body) for the wanted declarations, but for those that are in the frame that is being collected.
    // It may seal that frame, and returns false to end the row of calls. False where it did. Not for run_begin: a
    // reader may take it for a beginning.
    template <class Put>
    [[nodiscard]] bool say(which wanted, std::uint64_t offset, Put&& put) noexcept {
        if (wanted == which::single && once_ == 0) { return true; }
        for (piece& each : list_) {
            bool const due = each.size > 0 && each.frame != frame_ && (wanted == which::known || each.once);
            if (!due) { continue; }
            if (!put(row_kind::declare, byte_view{bytes_.data() + each.at, each.size})) { return false; }
            each.frame = frame_;
            if (std::exchange(each.once, false)) {
                --once_;
                once_bytes_ -= each.size;
            }
        }
        once_from_ = offset;
        if (wanted == which::known) { said_at_ = offset; }
        return true;
    }
    // All of it, for the head of a segment.
    template <class Put>
    [[nodiscard]] bool say_at_head(Put&& put) noexcept {
        if (!put(row_kind::run_begin, run_begin_.view())) { return false; }
        for (piece& each : list_) {
            if (each.size > 0 && !put(row_kind::declare, byte_view{bytes_.data() + each.at, each.size})) {
                return false;
            }
        }
        return true;
    }
    // The same for the sidecar of a segment that is closed.
    [[nodiscard]] bool say_beside(byte_buffer& out) noexcept;

private:
    static constexpr std::uint64_t first_distance =
        4096;                                        // behind a declaration, before it is said for the second time,
    static constexpr std::uint64_t first_share = 8;  // or so many times the bytes of all those that wait for it
    static constexpr std::uint64_t least_distance = 1U << 20;  // between two times that all are said,
    static constexpr std::uint64_t share = 256;                // or so many times their bytes

    struct piece {  // of bytes_
        std::size_t at = 0;
        std::size_t size = 0;
        std::uint64_t frame = ~std::uint64_t{0};  // the last that has it
        bool once = false;                        // and the only one
    };

    [[nodiscard]] static std::uint64_t larger(std::uint64_t a, std::uint64_t b) noexcept { return a > b ? a : b; }

    byte_buffer run_begin_;
    byte_buffer bytes_;
    slot_array<piece> list_;
    std::uint64_t frame_ = 0;
    std::uint64_t once_ = 0, once_bytes_ = 0, once_from_ = 0;
    std::uint64_t every_bytes_ = 0, said_at_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/declarations.ipp>
#endif
