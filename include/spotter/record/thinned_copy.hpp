// SPDX-License-Identifier: Apache-2.0
// Record (L4): a closed segment again, without the values of its observations.
#pragma once

#include <spotter/core/kept_text.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/frame.hpp>
#include <spotter/format/record.hpp>
#include <spotter/record/segment_image.hpp>

#include <compare>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Copies a segment without the values of its observations, but those that a finding is about (its tensor at its step)
// and what these build on. Frame by frame: a thinned segment has the row frames of the whole one, in order, with the
// same rows.
class thinned_copy {
public:
    thinned_copy(file_system& files, segment_image& segment) noexcept
        : files_{files}, image_{segment}, segment_{segment.bytes()} {}

    // Whether it is such a copy already: every frame of rows says so.
    [[nodiscard]] bool is_thinned() const noexcept;
    // What its findings are about. False where there is no memory.
    [[nodiscard]] bool cite() noexcept;
    // Findings about the last step of a segment stand before the close of that step, which may be some segments
    // further.
    enum class follower : std::uint8_t { closes, goes_on, damaged, no_memory };
    // The same for a segment that comes after it, up to the first close.
    [[nodiscard]] follower cite_next(segment_image& segment) noexcept;
    // Bytes of values that would go, all citations known. None of a segment that is damaged: what is left of its values
    // may be all that is known.
    [[nodiscard]] std::uint64_t survey() noexcept;
    // The copy, after `survey`.
    [[nodiscard]] error write(opened_file into) noexcept;

private:
    struct citation {
        mode in = mode::train;
        std::uint64_t index = 0;
        kept_text tensor{};  // a finding of another segment may cite it

        [[nodiscard]] std::strong_ordering order(mode mode, std::uint64_t step, std::string_view name) const noexcept {
            if (in != mode) { return in <=> mode; }
            return index != step ? index <=> step : tensor.view() <=> name;
        }
    };
    struct extent {  // of values that are kept
        std::uint64_t offset = 0;
        std::uint64_t bytes = 0;
        std::uint64_t moved_to = 0;
        friend std::strong_ordering operator<=>(extent const& a, extent const& b) noexcept {
            return a.offset <=> b.offset;
        }
    };
    struct declared {
        std::string_view name{};
        extents shape{};
    };

    [[nodiscard]] bool cite_frame(row_frame const& frame) noexcept;
    [[nodiscard]] bool learn(row_view row) noexcept;
    [[nodiscard]] bool is_cited(rows::observe const& seen) const noexcept;
    [[nodiscard]] bool keep_values(rows::observe const& seen, std::uint64_t before) noexcept;
    // Whole frames of values, before the frame with their row.
    [[nodiscard]] bool are_values(payload_place const& place, std::uint64_t before) const noexcept;

    // The row without its values, or with them where they are now; valid until the next call.
    [[nodiscard]] byte_view thinned(row_view row) noexcept;
    [[nodiscard]] payload_place moved(payload_place const& old) const noexcept;

    void put(byte_view bytes) noexcept;
    void flush() noexcept;
    void no_memory() noexcept;

    file_system& files_;
    segment_image& image_;
    byte_view segment_;
    slot_array<citation> cited_{};
    std::size_t cited_count_ = 0;
    slot_array<declared> declared_{};  // by the segment's ids
    slot_array<extent> kept_{};
    std::size_t kept_count_ = 0, copied_ = 0;
    opened_file into_{};
    std::uint64_t offset_ = 0;
    byte_buffer out_{}, body_{};
    error why_{};
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/thinned_copy.ipp>
#endif
