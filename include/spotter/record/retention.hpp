// SPDX-License-Identifier: Apache-2.0
// Record (L4): keeps a run below a size limit: the oldest segments are copied without values, but with all statistics.
#pragma once

#include <spotter/core/kept_text.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/frame.hpp>
#include <spotter/format/record.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/segment_files.hpp>
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

// A segment is closed beyond this size; in a run with a limit, a quarter of the limit at most.
[[nodiscard]] std::uint64_t segment_bytes_of(options const& choices) noexcept;

// For one worker. The limit (options::run_bytes) covers the closed segments and the one being written.
class retention {
public:
    retention(file_system& files, std::uint64_t run_bytes, std::uint64_t segment_bytes, bool to_disk) noexcept;

    // `folder` may hold earlier attempts' segments; `number` is the first of this attempt.
    [[nodiscard]] error begin(path_text const& folder, std::uint32_t number) noexcept;
    // A segment was closed; `last`: the run ends with it. Thins only a few of the oldest segments, so that the writer
    // is not delayed for long; later calls thin more. After an error nothing is lost and the next call tries again; but
    // an error of writing ends thinning.
    [[nodiscard]] error closed(std::uint32_t number, bool last) noexcept;

private:
    static constexpr int most_at_once = 64;  // units of work in one call; a segment that needs nothing costs one
    static constexpr int to_read = 32;       // units for a segment that is read

    enum class outcome : std::uint8_t { needs_nothing, read, copied, must_wait };

    [[nodiscard]] static error no_memory() noexcept;
    [[nodiscard]] std::uint64_t size_of(std::uint32_t number) noexcept;
    // Thins the segment at a place of the list. Does not replace it if its file changed meanwhile.
    [[nodiscard]] result<outcome> thin(std::size_t place, bool last) noexcept;
    [[nodiscard]] result<outcome> copy_thinned(std::size_t place, detail::segment_image& whole, bool last,
                                               byte_buffer& side) noexcept;
    [[nodiscard]] error write(std::uint32_t number, detail::thinned_copy& copy, byte_buffer& side) noexcept;
    [[nodiscard]] error put_in_place(std::uint32_t number, byte_view side) noexcept;
    [[nodiscard]] error read_back(path_text const& part, byte_buffer& side) noexcept;

    file_system& files_;
    path_text folder_{};
    std::uint64_t limit_;
    std::uint64_t total_ = 0;  // size of the closed segments and their sidecars
    detail::number_list numbers_{};
    std::size_t oldest_ = 0;  // place of the next one to thin
    bool works_;
    bool to_disk_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/stat/summary.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY bool thinned_copy::is_thinned() const noexcept {
    frame_walker walk{segment_, 0, &image_.supply()};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what == walked::rows) { return (walk.frame().flags & layout::thinned_segment) != 0; }
    }
    return false;
}

SPOTTER_COLD_BODY bool thinned_copy::cite() noexcept {
    frame_walker walk{segment_, 0, &image_.supply()};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what == walked::rows && !cite_frame(walk.frame())) { return false; }
    }
    return true;
}

SPOTTER_COLD_BODY thinned_copy::follower thinned_copy::cite_next(segment_image& segment) noexcept {
    frame_walker walk{segment.bytes(), 0, &segment.supply()};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what == walked::corrupt || (what == walked::head && walk.head_error())) { return follower::damaged; }
        if (what != walked::rows) { continue; }
        if (!cite_frame(walk.frame())) { return follower::no_memory; }
        if (walk.frame().closes > 0) { return follower::closes; }
    }
    return follower::goes_on;
}

SPOTTER_COLD_BODY std::uint64_t thinned_copy::survey() noexcept {
    std::sort(cited_.data(), cited_.data() + cited_count_,
              [](citation const& a, citation const& b) { return a.order(b.in, b.index, b.tensor.view()) < 0; });
    std::uint64_t gone = 0;
    frame_walker walk{segment_, 0, &image_.supply()};
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
    kept_count_ =
        static_cast<std::size_t>(std::unique(kept_.data(), kept_.data() + kept_count_,
                                             [](extent const& a, extent const& b) { return a.offset == b.offset; }) -
                                 kept_.data());
    return gone;
}

SPOTTER_COLD_BODY error thinned_copy::write(opened_file into) noexcept {
    into_ = into;
    put(image_.part(0, layout::head_bytes));
    std::uint64_t previous_end = layout::head_bytes;
    row_frame_builder frame;
    frame_walker walk{segment_, 0, &image_.supply()};
    for (walked what = walk.next(); what != walked::end && !why_; what = walk.next()) {
        if (what != walked::rows) { continue; }
        row_frame const& old = walk.frame();
        for (; copied_ < kept_count_ && kept_[copied_].offset < old.offset; ++copied_) {
            extent& each = kept_[copied_];
            each.moved_to = offset_;
            put(image_.part(each.offset, each.bytes));
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

SPOTTER_COLD_BODY bool thinned_copy::cite_frame(row_frame const& frame) noexcept {
    if ((frame.flags & layout::has_findings) == 0) { return true; }
    row_reader rows{frame.body};
    for (row_view row{}; rows.next(row);) {
        rows::finding reported{};
        if (row.kind != row_kind::finding || decode(row, reported) || reported.tensor.empty()) { continue; }
        if (!cited_.grow(cited_count_ + 1)) { return false; }
        citation& fresh = cited_[cited_count_];
        fresh.in = reported.step.mode, fresh.index = reported.step.index;
        if (!fresh.tensor.assign(reported.tensor)) { return false; }
        ++cited_count_;
    }
    return true;
}

SPOTTER_COLD_BODY bool thinned_copy::learn(row_view row) noexcept {
    rows::declare declaration{};
    if (decode(row, declaration)) { return true; }
    // Not an id if it exceeds the segment's bytes: a segment declares every id below its largest.
    if (declaration.tensor.id >= segment_.size() || !declared_.grow(declaration.tensor.id + std::size_t{1})) {
        return false;
    }
    declared_[declaration.tensor.id] = {declaration.tensor.name, declaration.tensor.shape};
    return true;
}

SPOTTER_COLD_BODY bool thinned_copy::is_cited(rows::observe const& seen) const noexcept {
    if (!declared_.holds(seen.id)) { return false; }
    auto const* const end = cited_.data() + cited_count_;
    std::string_view const name = declared_[seen.id].name;
    auto const* const at = std::lower_bound(cited_.data(), end, seen.step, [&](citation const& each, step_id step) {
        return each.order(step.mode, step.index, name) < 0;
    });
    return at != end && at->order(seen.step.mode, seen.step.index, name) == 0;
}

SPOTTER_COLD_BODY bool thinned_copy::keep_values(rows::observe const& seen, std::uint64_t before) noexcept {
    payload_place place = seen.place;
    byte_view bases = seen.bases;
    for (std::uint64_t left = seen.links;; --left) {
        if (!are_values(place, before) || !kept_.grow(kept_count_ + 1)) { return false; }
        kept_[kept_count_++] = {place.offset, place.bytes, 0};
        if (left == 0 || !read_base(bases, place)) { return left == 0; }
    }
}

SPOTTER_COLD_BODY bool thinned_copy::are_values(payload_place const& place, std::uint64_t before) const noexcept {
    std::uint64_t at = place.offset;
    if (place.bytes > before || at > before - place.bytes) { return false; }
    for (std::uint64_t const end = at + place.bytes; at < end;) {
        frame_extent const frame = measure_frame(segment_, at, &image_.supply());
        if (frame.kind != frame_kind::values || frame.bytes > end - at) { return false; }
        at += frame.bytes;
    }
    return true;
}

SPOTTER_COLD_BODY byte_view thinned_copy::thinned(row_view row) noexcept {
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

SPOTTER_COLD_BODY payload_place thinned_copy::moved(payload_place const& old) const noexcept {
    extent const* const at = std::lower_bound(kept_.data(), kept_.data() + kept_count_, extent{old.offset, 0, 0});
    return {at->moved_to, old.bytes, old.form};
}

SPOTTER_COLD_BODY void thinned_copy::put(byte_view bytes) noexcept {
    constexpr std::size_t write_bytes = 64U << 10;
    offset_ += bytes.size();
    if (!why_ && !out_.append(bytes)) { no_memory(); }
    if (out_.size() >= write_bytes) { flush(); }
}

SPOTTER_COLD_BODY void thinned_copy::flush() noexcept {
    if (!why_ && !out_.empty()) { why_ = files_.append(into_, out_.view()); }
    out_.clear();
}

SPOTTER_COLD_BODY void thinned_copy::no_memory() noexcept {
    if (!why_) { why_ = {errc::out_of_memory, "no memory to thin an old segment, which stays as it was"}; }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY std::uint64_t segment_bytes_of(options const& choices) noexcept {
    constexpr std::uint64_t smallest = 4096;
    std::uint64_t const most = choices.run_bytes > 0 ? choices.run_bytes / 4 : choices.segment_bytes;
    return (std::max)((std::min)(choices.segment_bytes, most), smallest);
}

SPOTTER_COLD_BODY retention::retention(file_system& files, std::uint64_t run_bytes, std::uint64_t segment_bytes,
                                       bool to_disk) noexcept
    : files_{files}, limit_{run_bytes > segment_bytes ? run_bytes - segment_bytes : 0}, works_{run_bytes > 0},
      to_disk_{to_disk} {}

SPOTTER_COLD_BODY error retention::begin(path_text const& folder, std::uint32_t number) noexcept {
    if (!works_) { return {}; }
    folder_ = folder;
    detail::number_list there;
    if (error const why = there.read_segments(files_, folder)) { return why; }
    for (std::size_t i = 0; i < there.size() && there[i] < number; ++i) {
        if (!numbers_.add(there[i])) { return no_memory(); }
        total_ += size_of(there[i]);
    }
    return {};
}

SPOTTER_COLD_BODY error retention::closed(std::uint32_t number, bool last) noexcept {
    if (!works_) { return {}; }
    if (!numbers_.add(number)) { return no_memory(); }
    total_ += size_of(number);
    for (int cost = 0; total_ > limit_ && oldest_ < numbers_.size() && cost < most_at_once; ++oldest_) {
        std::uint64_t const before = size_of(numbers_[oldest_]);
        auto const done = thin(oldest_, last);
        if (!done) { return done.error(); }
        if (*done == outcome::must_wait) { return {}; }
        cost += *done == outcome::needs_nothing ? 1 : to_read;
        if (*done == outcome::needs_nothing) { continue; }
        total_ -= (std::min)(total_, before);  // its size may have been unknown before
        total_ += size_of(numbers_[oldest_]);
    }
    return {};
}

SPOTTER_COLD_BODY error retention::no_memory() noexcept {
    return {errc::out_of_memory, "no memory to thin an old segment, which stays as it was"};
}

SPOTTER_COLD_BODY std::uint64_t retention::size_of(std::uint32_t number) noexcept {
    return files_.size_of(detail::path_of_segment(folder_, number)).value_or(0) +
           files_.size_of(detail::path_of_segment(folder_, number, layout::side_suffix)).value_or(0);
}

SPOTTER_COLD_BODY result<retention::outcome> retention::thin(std::size_t place, bool last) noexcept {
    path_text const path = detail::path_of_segment(folder_, numbers_[place]);
    detail::segment_image whole;
    if (error const why = whole.open(files_, path)) {
        if (detail::is_no_file(files_, path)) { return outcome::needs_nothing; }
        return why;
    }
    byte_buffer side;
    auto done = copy_thinned(place, whole, last, side);
    if (!done) { return done; }
    if (*done == outcome::copied && !whole.is_same()) {
        (void)files_.remove(detail::path_of_segment(folder_, numbers_[place], detail::part_suffix));
        done = outcome::read;
    }
    if (whole.trouble()) { return whole.trouble(); }
    if (*done != outcome::copied) { return done; }
    if (error const why = put_in_place(numbers_[place], side.view())) {
        works_ = false;
        return why;
    }
    return outcome::read;
}

SPOTTER_COLD_BODY result<retention::outcome> retention::copy_thinned(std::size_t place, detail::segment_image& whole,
                                                                     bool last, byte_buffer& side) noexcept {
    detail::thinned_copy copy{files_, whole};
    if (copy.is_thinned()) { return outcome::needs_nothing; }
    if (!copy.cite()) { return no_memory(); }
    using detail::thinned_copy;
    auto found = thinned_copy::follower::goes_on;
    for (std::size_t next = place + 1; next < numbers_.size() && found == thinned_copy::follower::goes_on; ++next) {
        path_text const path = detail::path_of_segment(folder_, numbers_[next]);
        detail::segment_image follower;
        if (error const why = follower.open(files_, path)) {
            if (detail::is_no_file(files_, path)) { continue; }
            return why;
        }
        found = copy.cite_next(follower);
        if (follower.trouble()) { return follower.trouble(); }
    }
    if (found == thinned_copy::follower::no_memory) { return no_memory(); }
    if (found == thinned_copy::follower::damaged) { return outcome::read; }  // the damaged part may cite values
    if (found == thinned_copy::follower::goes_on && !last) { return outcome::must_wait; }
    if (copy.survey() == 0) { return outcome::read; }
    if (error const why = write(numbers_[place], copy, side)) {
        works_ = false;
        return why;
    }
    return outcome::copied;
}

SPOTTER_COLD_BODY error retention::write(std::uint32_t number, detail::thinned_copy& copy, byte_buffer& side) noexcept {
    path_text const part = detail::path_of_segment(folder_, number, detail::part_suffix);
    auto const file = files_.create(part);
    if (!file) { return file.error(); }
    error why = copy.write(*file);
    if (!why) { why = files_.sync(*file); }  // otherwise a power cut might lose both the old and the new file
    error const closed = files_.close(*file);
    if (!why) { why = closed; }
    if (!why) { why = read_back(part, side); }
    if (why) { (void)files_.remove(part); }
    return why;
}

SPOTTER_COLD_BODY error retention::put_in_place(std::uint32_t number, byte_view side) noexcept {
    path_text const part = detail::path_of_segment(folder_, number, detail::part_suffix);
    path_text const side_path = detail::path_of_segment(folder_, number, layout::side_suffix);
    (void)files_.remove(side_path);
    if (error const why = files_.rename(part, detail::path_of_segment(folder_, number))) {
        (void)files_.remove(part);
        return why;
    }
    auto const cache = files_.create(side_path);  // a sidecar is a cache: it may be missing
    if (cache) {
        (void)files_.append(*cache, side);
        (void)files_.close(*cache);
    }
    return to_disk_ ? files_.sync_folder(folder_) : error{};
}

SPOTTER_COLD_BODY error retention::read_back(path_text const& part, byte_buffer& side) noexcept {
    detail::segment_image copy;
    if (error const why = copy.open(files_, part)) { return why; }
    error const why = rebuild_sidecar(copy.part(0, copy.bytes().size()), side);
    return copy.trouble() ? copy.trouble() : why;
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
