// SPDX-License-Identifier: Apache-2.0
// The bodies of run_segments.hpp.
#pragma once

#include <spotter/core/clock.hpp>
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
        if (next.bytes().size() < layout::head_bytes) { return; }  // it is just beginning
        if (mine.closed() || mine.superseded() || next.stray() || !goes_on(mine, next) || is_recovered(sure_)) {
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
