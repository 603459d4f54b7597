// SPDX-License-Identifier: Apache-2.0
// Trial (L4): data that was recorded and is lost, as far as the rest of the record shows: damage, truncated ends,
// missing steps. All counts of losses are made here.
#pragma once

#include <spotter/trial/index.hpp>
#include <spotter/trial/lost_end.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// The losses of a record.
struct run_losses {
    std::uint64_t steps = 0;       // closed steps that cannot be read, with their values
    std::uint64_t places = 0;      // of trial::damage()
    std::uint64_t bytes = 0;       // in these places
    std::vector<lost_end> ends{};  // of segments
    // Losses while recording: observations and scalars, observations without their values, closes.
    std::uint64_t dropped = 0, thinned = 0, closes = 0;  // as counted by the writers
    error trouble{};                                     // the folder could not be examined: there may be more losses

    // Written data cannot be read.
    [[nodiscard]] bool damaged() const noexcept { return steps > 0 || places > 0 || !ends.empty() || trouble; }
    // Likewise, or data was never written: findings of the run may differ from those of a replay.
    [[nodiscard]] bool any() const noexcept { return damaged() || dropped > 0 || thinned > 0 || closes > 0; }
};

namespace detail {

struct seen_segment {
    std::uint32_t number = 0;
    bool there = false;
    std::uint64_t bytes = 0;
    segment_head head{};
    bool has_head = false;
    bool thinned = false;  // rewritten without values, hence shorter
};

// The segments of a folder, and what the sidecars and the file `lost` show beyond them.
struct folder_losses {
    std::vector<seen_segment> segments{};
    std::vector<lost_end> ends{};
    std::uint64_t run_id = 0;  // 0: no head is readable
    error trouble{};
};
[[nodiscard]] folder_losses look_for_losses(file_system& files, std::string const& folder);

// The number of lost closed steps of one worker. Ordinals are consecutive, so an ordinal without a close was lost. The
// exception is a step that was open when its attempt ended, if any of its values are left: the next attempt continues
// behind its ordinal.
[[nodiscard]] std::uint64_t count_lost_steps(worker_index const& index, folder_losses const& folder);

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
#include <spotter/format/names.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Unmaps in its destructor, also after an exception.
class lent_mapping {
public:
    lent_mapping(file_system& files, file_mapping const& mapping) noexcept : files_{files}, mapping_{mapping} {}
    lent_mapping(lent_mapping const&) = delete;
    lent_mapping& operator=(lent_mapping const&) = delete;
    ~lent_mapping() { files_.unmap(mapping_); }

private:
    file_system& files_;
    file_mapping mapping_;
};

// The numbers of a folder's segments or sidecars.
[[nodiscard]] SPOTTER_BODY std::vector<std::uint32_t> numbers_in(file_system& files, std::string const& folder,
                                                                 std::int64_t (*number_of)(std::string_view) noexcept,
                                                                 error& trouble) {
    std::vector<std::uint32_t> found;
    if (error const why = list_numbers(files, folder, number_of, found)) { trouble = why; }
    return found;
}

[[nodiscard]] SPOTTER_BODY seen_segment look_at_segment(file_system& files, std::string const& folder,
                                                        std::uint32_t number, error& trouble) {
    seen_segment it{number};
    result<file_mapping> const data = files.map(segment_path(folder, number, layout::data_suffix));
    if (!data) {
        // A missing one may have been thinned meanwhile; one that is there and cannot be opened hides what it holds.
        if (data.error().code != errc::not_a_run) { trouble = data.error(); }
        return it;
    }
    it.there = true;
    it.bytes = data->bytes.size();
    result<segment_head> const head = decode_head(data->bytes);
    it.has_head = static_cast<bool>(head);
    if (head) { it.head = *head; }
    result<row_frame> const first = decode_row_frame(data->bytes, layout::head_bytes);
    it.thinned = first && (first->flags & layout::thinned_segment) != 0;
    files.unmap(*data);
    return it;
}

// Finds from the sidecar's places, which have checksums of their own, what was behind the end of a segment; nothing if
// no place shows it. Places from before the segment was thinned do not apply to the thinned file.
SPOTTER_BODY void read_sidecar_end(byte_view side, seen_segment const& segment, lost_end& into) {
    for (std::uint64_t i = side.size() / layout::place_bytes; i > 0; --i) {
        result<side_place> const place = decode_side_place(side, i - 1, ~std::uint64_t{0});
        bool const other = place && segment.there && segment.thinned != ((place->flags & layout::thinned_segment) != 0);
        if (!place || other) { continue; }
        if (place->end <= segment.bytes) { return; }
        into.bytes = (std::max)(into.bytes, place->end - segment.bytes);
        into.end_ordinal = (std::max)(into.end_ordinal, place->first_ordinal + place->closes);
    }
}

SPOTTER_BODY void add_lost_end(std::vector<lost_end>& all, lost_end const& it) {
    auto const known =
        std::find_if(all.begin(), all.end(), [&](lost_end const& each) { return each.segment == it.segment; });
    if (known == all.end()) { return all.push_back(it); }
    std::uint64_t const end = (std::max)(known->offset + known->bytes, it.offset + it.bytes);
    known->offset = (std::min)(known->offset, it.offset);
    known->bytes = end - known->offset;
    known->end_ordinal = (std::max)(known->end_ordinal, it.end_ordinal);
    known->remembered = known->remembered || it.remembered;
}

// The last places of each sidecar, with its number.
[[nodiscard]] SPOTTER_BODY std::vector<std::pair<std::uint32_t, std::vector<std::byte>>>
read_sidecar_tails(file_system& files, std::string const& folder, error& trouble) {
    std::vector<std::pair<std::uint32_t, std::vector<std::byte>>> sides;
    auto const side_number = [](std::string_view name) noexcept { return segment_number(name, layout::side_suffix); };
    for (std::uint32_t const number : numbers_in(files, folder, side_number, trouble)) {
        result<file_mapping> const side = files.map(segment_path(folder, number, layout::side_suffix));
        if (!side && is_trouble(side.error())) { trouble = side.error(); }
        if (!side) { continue; }
        lent_mapping const lent{files, *side};
        constexpr std::size_t most = 64 * layout::place_bytes;  // the last intact place is enough
        auto const whole = as_size(side_places(side->bytes)) * layout::place_bytes;
        byte_view const tail = side->bytes.first(whole).last((std::min)(most, whole));
        sides.emplace_back(number, std::vector<std::byte>{tail.begin(), tail.end()});
    }
    return sides;
}

SPOTTER_BODY folder_losses look_for_losses(file_system& files, std::string const& folder) {
    folder_losses found;
    // Sidecars are read before their segments are measured: a place is written after the rows that it points to.
    auto const sides = read_sidecar_tails(files, folder, found.trouble);
    auto const data_number = [](std::string_view name) noexcept { return segment_number(name, layout::data_suffix); };
    for (std::uint32_t const number : numbers_in(files, folder, data_number, found.trouble)) {
        found.segments.push_back(look_at_segment(files, folder, number, found.trouble));
        if (found.segments.back().has_head && found.run_id == 0) { found.run_id = found.segments.back().head.run_id; }
    }
    for (auto const& [number, side] : sides) {
        auto const mine = std::find_if(found.segments.begin(), found.segments.end(),
                                       [&](seen_segment const& each) { return each.number == number; });
        // A missing segment between others is damage of its own; only its sidecar shows a missing last one.
        bool const last = found.segments.empty() || number > found.segments.back().number;
        if (mine == found.segments.end() && !last) { continue; }
        seen_segment const there =
            mine != found.segments.end() ? *mine : look_at_segment(files, folder, number, found.trouble);
        lost_end it{segment_path(folder, number, layout::data_suffix), number, there.bytes};
        read_sidecar_end(side, there, it);
        if (it.bytes > 0) { found.ends.push_back(std::move(it)); }
    }
    result<file_mapping> const notes = files.map(folder + '/' + layout::lost_name);
    if (!notes && is_trouble(notes.error())) { found.trouble = notes.error(); }
    if (!notes) { return found; }
    lent_mapping const lent{files, *notes};
    each_lost_line({reinterpret_cast<char const*>(notes->bytes.data()), notes->bytes.size()},
                   [&](lost_end& it, std::uint64_t run_id) {
                       if (run_id != found.run_id && found.run_id != 0) { return; }
                       it.file = segment_path(folder, it.segment, layout::data_suffix);
                       it.remembered = true;
                       add_lost_end(found.ends, it);
                   });
    return found;
}

// The first ordinal of the run's next segment; `otherwise` if there is none.
[[nodiscard]] SPOTTER_BODY std::uint64_t first_ordinal_behind(folder_losses const& folder, std::uint32_t segment,
                                                              std::uint64_t otherwise) noexcept {
    for (seen_segment const& each : folder.segments) {
        if (each.number > segment && each.has_head && each.head.run_id == folder.run_id) {
            return each.head.first_ordinal;
        }
    }
    return otherwise;
}

SPOTTER_BODY std::uint64_t count_lost_steps(worker_index const& index, folder_losses const& folder) {
    std::uint64_t next = 0, lost = 0;
    for (closed_step const each : index.steps()) {
        if (each.ordinal < next) { continue; }
        lost += each.ordinal - next;
        next = each.ordinal + 1;
    }
    std::uint64_t const known = (std::max)(next, index.next_ordinal());
    lost += known - next;
    next = known;
    for (open_step const& each : index.open_steps()) {
        lost -= lost > 0 && each.ordinal < next && !index.step_of(each.ordinal) ? 1U : 0U;
    }
    for (lost_end const& each : folder.ends) {
        std::uint64_t const end = first_ordinal_behind(folder, each.segment, next);  // the end of what is known
        lost += each.end_ordinal > end ? each.end_ordinal - end : 0;
        next = (std::max)(next, end == next ? each.end_ordinal : next);  // count adjacent ends once
    }
    return lost;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
