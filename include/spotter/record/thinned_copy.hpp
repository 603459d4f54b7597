// SPDX-License-Identifier: Apache-2.0
// Record (L4): copies a closed segment without the values of its observations.
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

// Copies a segment without the values of its observations. Keeps the values that a finding is about (its tensor at its
// step), and those that these are differences to. A thinned segment has the same row frames, in order, with the same
// rows.
class thinned_copy {
public:
    thinned_copy(file_system& files, segment_image& segment) noexcept
        : files_{files}, image_{segment}, segment_{segment.bytes()} {}

    // Whether the segment is a thinned copy already: every row frame has a flag for it.
    [[nodiscard]] bool is_thinned() const noexcept;
    // Collects what its findings cite. False where memory is exhausted.
    [[nodiscard]] bool cite() noexcept;
    // Findings about the last step of a segment come before the close of that step, which may be some segments later.
    enum class follower : std::uint8_t { closes, goes_on, damaged, no_memory };
    // Collects citations from a later segment, up to its first close.
    [[nodiscard]] follower cite_next(segment_image& segment) noexcept;
    // Bytes of values that would be removed, once all citations are known. 0 for a damaged segment: the rest of its
    // values may be all that is left.
    [[nodiscard]] std::uint64_t survey() noexcept;
    // Writes the copy, after `survey`.
    [[nodiscard]] error write(opened_file into) noexcept;

private:
    struct citation {
        mode in = mode::train;
        std::uint64_t index = 0;
        kept_text tensor{};  // a finding in another segment may cite it

        [[nodiscard]] std::strong_ordering order(mode mode, std::uint64_t step, std::string_view name) const noexcept {
            if (in != mode) { return in <=> mode; }
            return index != step ? index <=> step : tensor.view() <=> name;
        }
    };
    struct extent {  // of kept values
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
    // Complete frames of values before the frame with their row.
    [[nodiscard]] bool are_values(payload_place const& place, std::uint64_t before) const noexcept;

    // The row without its values, or with their new place; valid until the next call.
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
