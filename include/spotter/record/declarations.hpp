// SPDX-License-Identifier: Apache-2.0
// Record (L4): the declarations of an attempt, kept for repetition: no row frame should be the only one that has a
// declaration.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/record.hpp>

namespace spotter::inline SPOTTER_ABI {

// Offsets are those of the current segment; `sealed` counts its row frames. Repetition costs at most 1 / `share` of the
// segment, plus one repetition of each declaration that is new in it.
class declarations {
public:
    // single: declarations that are in only one frame; known: all of them.
    enum class which : std::uint8_t { single, known };

    [[nodiscard]] bool begin(byte_view run_begin) noexcept {
        run_begin_.clear();
        return run_begin_.append(run_begin);
    }

    // Stores a declaration; the last one of a tensor counts. `body` begins with the id. `said`: it is in the frame that
    // is being collected, which will be at `offset`; otherwise it is known from an earlier segment. False where memory
    // is exhausted.
    [[nodiscard]] bool remember(byte_view body, bool said, std::uint64_t offset = 0) noexcept;

    void sealed() noexcept { ++frame_; }  // the frame that was being collected is complete
    // The head of a segment is complete: it repeats all earlier declarations.
    void head_ends(std::uint64_t offset) noexcept;

    // Whether single ones are due at this offset. Call it only if no row of an open step is partly written.
    [[nodiscard]] bool once_is_due(std::uint64_t offset) const noexcept;
    // Whether all are due. `matters`: findings were written, so that the declarations come four times as often.
    [[nodiscard]] bool every_is_due(std::uint64_t offset, bool matters) const noexcept;

    // Calls put(kind, body) for the wanted declarations that are not in the frame that is being collected. put() may
    // seal that frame; if it returns false, `say` stops and returns false. Does not repeat run_begin, which a reader
    // may take for the start of an attempt.
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
    // Calls put() for run_begin and all declarations, for the head of a segment.
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
    // The same for the sidecar of a closed segment.
    [[nodiscard]] bool say_beside(byte_buffer& out) noexcept;

private:
    static constexpr std::uint64_t first_distance = 4096;      // bytes from a declaration to its first repetition, or
    static constexpr std::uint64_t first_share = 8;            // so many times the bytes of all that wait for it
    static constexpr std::uint64_t least_distance = 1U << 20;  // bytes between two repetitions of all, or
    static constexpr std::uint64_t share = 256;                // so many times the bytes of all

    struct piece {  // a range of bytes_
        std::size_t at = 0;
        std::size_t size = 0;
        std::uint64_t frame = ~std::uint64_t{0};  // the last frame that has it
        bool once = false;                        // that frame is the only one
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
#include <spotter/format/sidecar.hpp>

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

#endif
