// SPDX-License-Identifier: Apache-2.0
// Record (L4): a closed segment again, without the values of its observations.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/stat/summary.hpp>

#include <algorithm>
#include <compare>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Copies a segment without the values of its observations, but those that a finding is about (its tensor at its step) and what
// these build on. Frame by frame: a thinned segment has the row frames of the whole one, in order, with the same rows.
class thinned_copy {
public:
    thinned_copy(file_system& files, byte_view segment) noexcept : files_{files}, segment_{segment} {}

    // Whether it is such a copy already: every frame of rows says so.
    [[nodiscard]] bool is_thinned() const noexcept {
        frame_walker walk{segment_};
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            if (what == walked::rows) { return (walk.frame().flags & layout::thinned_segment) != 0; }
        }
        return false;
    }
    // What its findings are about. False where there is no memory.
    [[nodiscard]] bool cite() noexcept {
        frame_walker walk{segment_};
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            if (what == walked::rows && !cite_frame(walk.frame())) { return false; }
        }
        return true;
    }
    // Findings about the last step of a segment stand before the close of that step, which may be some segments further.
    enum class follower : std::uint8_t { closes, goes_on, damaged, no_memory };
    // The same for a segment that comes after it, up to the first close. It must stay mapped.
    [[nodiscard]] follower cite_next(byte_view segment) noexcept {
        frame_walker walk{segment};
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            if (what == walked::corrupt || (what == walked::head && walk.head_error())) { return follower::damaged; }
            if (what != walked::rows) { continue; }
            if (!cite_frame(walk.frame())) { return follower::no_memory; }
            if (walk.frame().closes > 0) { return follower::closes; }
        }
        return follower::goes_on;
    }
    // Bytes of values that would go, all citations known. None of a segment that is damaged: what is left of its values may be all
    // that is known.
    [[nodiscard]] std::uint64_t survey() noexcept {
        std::sort(cited_.data(), cited_.data() + cited_count_);
        std::uint64_t gone = 0;
        frame_walker walk{segment_};
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            if (what == walked::corrupt || (what == walked::head && walk.head_error())) { return 0; }
            if (what != walked::rows) { continue; }
            row_reader rows{walk.frame().body};
            for (row_view row{}; rows.next(row);) {
                rows::observe seen{};
                summary stats{};
                if (row.kind == row_kind::declare && !learn(row)) { return 0; }
                if (row.kind != row_kind::observe || decode(row, seen, stats) || !seen.has_values) { continue; }
                if (!is_cited(seen)) {
                    gone += seen.place.bytes;
                } else if (!keep_values(seen, walk.frame().offset)) {
                    return 0;
                }
            }
        }
        std::sort(kept_.data(), kept_.data() + kept_count_);
        kept_count_ = static_cast<std::size_t>(
            std::unique(kept_.data(), kept_.data() + kept_count_,
                        [](extent const& a, extent const& b) { return a.offset == b.offset; }) -
            kept_.data());
        return gone;
    }
    // The copy, after `survey`.
    [[nodiscard]] error write(opened_file into) noexcept {
        into_ = into;
        put(segment_.first(layout::head_bytes));
        std::uint64_t previous_end = layout::head_bytes;
        row_frame_builder frame;
        frame_walker walk{segment_};
        for (walked what = walk.next(); what != walked::end && !why_; what = walk.next()) {
            if (what != walked::rows) { continue; }
            row_frame const& old = walk.frame();
            for (; copied_ < kept_count_ && kept_[copied_].offset < old.offset; ++copied_) {
                extent& each = kept_[copied_];
                each.moved_to = offset_;
                put(segment_.subspan(static_cast<std::size_t>(each.offset), static_cast<std::size_t>(each.bytes)));
            }
            frame.reset();
            row_reader rows{old.body};
            for (row_view row{}; rows.next(row) && !why_;) {
                if (!frame.add(row.kind, row.kind == row_kind::observe ? thinned(row) : row.body)) { no_memory(); }
            }
            frame.count_packed(old.closes - frame.closes(), old.values - frame.values());
            byte_view const bytes =
                frame.seal(offset_, previous_end, old.first_ordinal, old.flags | layout::thinned_segment);
            if (bytes.empty()) { no_memory(); }
            put(bytes);
            previous_end = offset_;
        }
        flush();
        return why_;
    }

private:
    struct citation {
        mode in;
        std::uint64_t index;
        std::string_view tensor;
        friend std::strong_ordering operator<=>(citation const&, citation const&) noexcept = default;
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

    [[nodiscard]] bool cite_frame(row_frame const& frame) noexcept {
        if ((frame.flags & layout::has_findings) == 0) { return true; }
        row_reader rows{frame.body};
        for (row_view row{}; rows.next(row);) {
            rows::finding told{};
            if (row.kind != row_kind::finding || decode(row, told) || told.tensor.empty()) { continue; }
            if (!cited_.grow(cited_count_ + 1)) { return false; }
            cited_[cited_count_++] = {told.step.mode, told.step.index, told.tensor};
        }
        return true;
    }
    [[nodiscard]] bool learn(row_view row) noexcept {
        rows::declare told{};
        if (decode(row, told)) { return true; }
        // A segment declares every id below its largest, so one beyond its bytes is no id.
        if (told.tensor.id >= segment_.size() || !declared_.grow(told.tensor.id + std::size_t{1})) { return false; }
        declared_[told.tensor.id] = {told.tensor.name, told.tensor.shape};
        return true;
    }
    [[nodiscard]] bool is_cited(rows::observe const& seen) const noexcept {
        if (!declared_.holds(seen.id)) { return false; }
        citation const wanted{seen.step.mode, seen.step.index, declared_[seen.id].name};
        return std::binary_search(cited_.data(), cited_.data() + cited_count_, wanted);
    }
    [[nodiscard]] bool keep_values(rows::observe const& seen, std::uint64_t before) noexcept {
        payload_place place = seen.place;
        byte_view bases = seen.bases;
        for (std::uint64_t left = seen.links;; --left) {
            if (!are_values(place, before) || !kept_.grow(kept_count_ + 1)) { return false; }
            kept_[kept_count_++] = {place.offset, place.bytes, 0};
            if (left == 0 || !read_base(bases, place)) { return left == 0; }
        }
    }
    // Whole frames of values, before the frame with their row.
    [[nodiscard]] bool are_values(payload_place const& place, std::uint64_t before) const noexcept {
        std::uint64_t at = place.offset;
        if (place.bytes > before || at > before - place.bytes) { return false; }
        for (std::uint64_t const end = at + place.bytes; at < end;) {
            frame_extent const frame = measure_frame(segment_, at);
            if (frame.kind != frame_kind::values || frame.bytes > end - at) { return false; }
            at += frame.bytes;
        }
        return true;
    }

    // The row without its values, or with them where they are now; valid until the next call.
    [[nodiscard]] byte_view thinned(row_view row) noexcept {
        rows::observe seen{};
        summary stats{};
        if (decode(row, seen, stats) || !seen.has_values) { return row.body; }
        bool const cited = is_cited(seen);
        if (!cited) {
            seen.has_values = false;
            seen.thinned = true;
            seen.has_shape = !declared_.holds(seen.id) || seen.shape != declared_[seen.id].shape;
        }
        std::size_t const room = row.body.size() + observe_limit + place_limit + layout::longest_chain * base_limit;
        body_.clear();
        std::byte* const into = body_.prepare(room);
        if (into == nullptr) {
            no_memory();
            return row.body;
        }
        byte_writer out{into, room};
        encode(out, seen, stats, stored_terms::all);
        if (cited) {
            payload_place old = seen.place, place = moved(old);
            encode_place(out, place);
            if (seen.links > 0) {
                into[0] |= std::byte{layout::observe_delta};
                out.varint(seen.links);
            }
            for (std::uint64_t left = seen.links; left > 0 && read_base(seen.bases, old); --left) {
                encode_base(out, place, moved(old));
            }
        }
        return out.view();
    }
    [[nodiscard]] payload_place moved(payload_place const& old) const noexcept {
        extent const* const at = std::lower_bound(kept_.data(), kept_.data() + kept_count_, extent{old.offset, 0, 0});
        return {at->moved_to, old.bytes, old.planes};
    }

    void put(byte_view bytes) noexcept {
        constexpr std::size_t write_bytes = 64U << 10;
        offset_ += bytes.size();
        if (!why_ && !out_.append(bytes)) { no_memory(); }
        if (out_.size() >= write_bytes) { flush(); }
    }
    void flush() noexcept {
        if (!why_ && !out_.empty()) { why_ = files_.append(into_, out_.view()); }
        out_.clear();
    }
    void no_memory() noexcept {
        if (!why_) { why_ = {errc::out_of_memory, "no memory to thin an old segment, which stays as it was"}; }
    }

    file_system& files_;
    byte_view segment_;
    slots<citation> cited_{};
    std::size_t cited_count_ = 0;
    slots<declared> declared_{};  // by the segment's ids
    slots<extent> kept_{};
    std::size_t kept_count_ = 0, copied_ = 0;
    opened_file into_{};
    std::uint64_t offset_ = 0;
    byte_buffer out_{}, body_{};
    error why_{};
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
