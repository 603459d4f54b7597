// SPDX-License-Identifier: Apache-2.0
// The bodies of run_segments.hpp.
#pragma once

#include <spotter/core/clock.hpp>
#include <spotter/trial/lost_end.hpp>
#include <spotter/trial/run_segments.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool run_segment::all_taken() const noexcept {
    return entered && taken == groups().size() && lost_taken == lost().size();
}

SPOTTER_BODY run_segments::~run_segments() {
    for (run_segment& each : all_) { each.release(folder_.files()); }
}

SPOTTER_BODY void run_segments::guard(std::uint32_t place) noexcept {
    run_segment& mine = all_[place];
    if (rarely_ > 0) {
        double const now = detail::steady_seconds();
        if (now - mine.looked_at < 1e-3) { return; }
        mine.looked_at = now;
    }
    mine.guard(folder_.files(), mine.name);
}

SPOTTER_BODY std::uint32_t run_segments::attempt_of(std::size_t place) const noexcept {
    std::size_t before = place, behind = place;
    while (before > 0 && all_[before].attempt == unknown_attempt) { --before; }
    while (behind + 1 < all_.size() && all_[behind].attempt == unknown_attempt) { ++behind; }
    return all_[before].attempt == all_[behind].attempt ? all_[before].attempt : unknown_attempt;
}

SPOTTER_BODY void run_segments::survey() {
    for (std::uint32_t place = 0; place < all_.size(); ++place) {
        guard(place);
        std::size_t const known = damage_.size();
        detail::listed(
            [&] {
                all_[place].survey([&](frame_place const& it) { note_damage({name_of(place), it.offset, it.bytes}); });
            },
            [&] { damage_.erase(damage_.begin() + static_cast<std::ptrdiff_t>(known), damage_.end()); });
    }
    for (run_segment& each : all_) {
        if (!each.has_rows_past_end() || each.end_noted) { continue; }
        note_damage({each.name, each.surveyed_to(), each.bytes().size() - each.surveyed_to()});
        each.end_noted = true;
    }
    note_cuts();
}

SPOTTER_BODY void run_segments::note_damage(damaged_place const& place) {
    if (!damage_.empty() && damage_.back().offset == place.offset && damage_.back().file == place.file) {
        damage_.back().bytes = place.bytes;
        return;
    }
    damage_.push_back(place);
}

SPOTTER_BODY void run_segments::note_stray(std::uint32_t number) {
    if (!strays_.insert(number).second) { return; }
    detail::listed(
        [&] {
            std::string const name = folder_.file_name(number, layout::data_suffix);
            note_damage({name, 0, folder_.files().size_of(name).value_or(0)});
        },
        [&] { strays_.erase(number); });
}

SPOTTER_BODY bool run_segments::goes_on(run_segment const& mine, run_segment const& next) noexcept {
    if (!next.head()) { return false; }
    return mine.head() ? mine.head()->run_id == next.head()->run_id && mine.head()->attempt == next.head()->attempt
                       : next.head()->first_ordinal > mine.next_ordinal();
}

SPOTTER_BODY void run_segments::note_cuts() {
    for (; sure_ + std::size_t{1} < all_.size(); ++sure_) {
        run_segment const& mine = all_[sure_];
        run_segment const& next = all_[sure_ + std::size_t{1}];
        if (next.bytes().size() < layout::head_bytes) { return; }  // its file was just created
        if (mine.closed() || mine.superseded() || mine.end_noted || next.stray() || !goes_on(mine, next) ||
            is_recovered(sure_)) {
            continue;
        }
        note_damage({name_of(sure_), mine.surveyed_to(), mine.bytes().size() - mine.surveyed_to()});
    }
}

SPOTTER_BODY void run_segments::note_lost_ends() {
    for (; ends_known_ + std::size_t{1} < all_.size(); ++ends_known_) {
        run_segment const& mine = all_[ends_known_];
        run_segment& next = all_[ends_known_ + std::size_t{1}];
        if (next.bytes().size() < layout::head_bytes) { return; }
        if (mine.whole() || mine.superseded() || next.stray() || !goes_on(mine, next) || is_recovered(ends_known_)) {
            continue;
        }
        next.behind_lost = doubtful_ = true;
    }
}

SPOTTER_BODY error run_segments::settle_ends(bool over) {
    std::set<std::uint32_t> cut;
    if (error const why = remembered(cut)) { return why; }
    for (std::size_t place = 0; place < all_.size(); ++place) {
        run_segment& mine = all_[place];
        bool const last = place + 1 == all_.size();
        bool const decided = last ? over : over || all_[place + 1].bytes().size() >= layout::head_bytes;
        if (mine.left_torn || mine.superseded() || !decided) { continue; }
        bool const goes_on_from = !last && goes_on(mine, all_[place + 1]);
        mine.left_torn =
            !goes_on_from && (mine.has_torn_end() || (cut.contains(mine.number) && !mine.has_rows_past_end()));
        doubtful_ = doubtful_ || mine.left_torn;
    }
    return over && !all_.empty() ? note_gone_segments() : error{};
}

SPOTTER_BODY error run_segments::note_gone_segments() {
    for (std::uint32_t const number : names_.sidecars) {
        bool const is_begun = number <= all_.back().number && !is_without_head(number);
        if (is_begun) { continue; }
        if (error const why = note_gone(number)) { return why; }
    }
    return {};
}

SPOTTER_BODY bool run_segments::is_without_head(std::uint32_t number) const noexcept {
    return std::any_of(all_.begin(), all_.end(), [=](run_segment const& each) {
        return each.number == number && each.bytes().size() < layout::head_bytes && !each.superseded();
    });
}

SPOTTER_BODY error run_segments::remembered(std::set<std::uint32_t>& numbers) const {
    if (!names_.lost) { return {}; }
    file_system& files = folder_.files();
    auto const notes = files.map(folder_.path() + '/' + layout::lost_name);
    if (!notes) { return detail::is_trouble(notes.error()) ? notes.error() : error{}; }
    detail::listed(
        [&] {
            detail::each_lost_line({reinterpret_cast<char const*>(notes->bytes.data()), notes->bytes.size()},
                                   [&](lost_end const& it, std::uint64_t run_id) {
                                       if (run_id == run_id_ || run_id_ == 0) { numbers.insert(it.segment); }
                                   });
            files.unmap(*notes);
        },
        [&] { files.unmap(*notes); });
    return {};
}

SPOTTER_BODY error run_segments::note_gone(std::uint32_t number) {
    bool const known =
        std::any_of(gone_.begin(), gone_.end(), [=](gone_segment const& each) { return each.number == number; });
    if (known) { return {}; }
    file_system& files = folder_.files();
    auto const file = files.map(folder_.file_name(number, layout::side_suffix));
    if (!file) { return detail::is_trouble(file.error()) ? file.error() : error{}; }
    gone_segment it{number};
    byte_view const side = file->bytes;
    std::uint64_t const places = side_places(side);
    std::uint64_t end = layout::head_bytes, i = 0;
    for (; i < places; ++i) {
        auto const place = decode_side_place(side, i, ~std::uint64_t{0});
        if (!place || place->previous_end != end) { break; }
        it.rows.add(place->spans);
        end = place->end;
    }
    it.rows.exact = i == places;
    auto const owner = side_owner(side.subspan(static_cast<std::size_t>(places) * layout::place_bytes));
    if (owner) { it.attempt = owner->attempt; }
    bool const ours = places > 0 && (!owner || run_id_ == 0 || owner->run_id == run_id_);
    files.unmap(*file);
    if (!ours) { return {}; }
    detail::listed([&] { gone_.push_back(it); });
    doubtful_ = true;
    note_damage({folder_.file_name(number, layout::data_suffix), 0, 0});
    return {};
}

SPOTTER_BODY byte_view run_segments::merged_side_of(std::uint32_t number) const noexcept {
    for (merged_side const& each : merged_) {
        if (each.number == number) { return each.bytes; }
    }
    return {};
}

SPOTTER_BODY bool run_segments::is_recovered(std::size_t place) const {
    std::uint32_t const attempt = all_[place + 1].head()->attempt;
    for (; place < all_.size(); ++place) {
        if (all_[place].head() && all_[place].head()->attempt != attempt) { return false; }
        if (all_[place].has_marks()) { return true; }
    }
    return false;
}

}  // namespace spotter::inline SPOTTER_ABI
