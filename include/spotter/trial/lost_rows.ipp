// SPDX-License-Identifier: Apache-2.0
// The bodies of lost_rows.hpp.
#pragma once

#include <spotter/trial/lost_rows.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void lost_rows::begin_attempt(std::uint32_t attempt) noexcept {
    if (attempt == attempt_ && attempt != unknown_attempt) { return; }
    attempt_ = attempt;
    for (bool& each : met_) { each = false; }
    for (std::uint64_t& each : apart_) { each = 0; }
    for (std::size_t& each : unbounded_) { each = places_.size(); }
    uncounted_ = places_.size();
}

SPOTTER_BODY void lost_rows::add(std::uint32_t segment, std::uint64_t offset, std::uint64_t ordinal,
                                 step_span const* among, known what) {
    bool const again = uncounted_ < places_.size() && places_.back().segment == segment &&
                       places_.back().ordinal == ordinal && places_.back().limited == (among != nullptr) &&
                       places_.back().range == (what == known::range);
    if (again) {  // rows of the same step make one place
        places_.back().offset = offset;
        places_.back().anything = places_.back().anything || what == known::nothing;
        return places_.back().widen(among);
    }
    place it = place_at(segment, offset, ordinal);
    if (what == known::nothing) { it.attempt = unknown_attempt; }
    it.anything = what == known::nothing;
    it.range = what == known::range;
    it.limited = among != nullptr;
    it.widen(among);
    places_.push_back(it);
}

SPOTTER_BODY void lost_rows::add_tail(std::uint32_t segment, std::uint64_t ordinal) {
    place it = place_at(segment, ~std::uint64_t{0}, ordinal);
    it.tail = true;
    places_.push_back(it);
}

SPOTTER_BODY lost_rows::place lost_rows::place_at(std::uint32_t segment, std::uint64_t offset,
                                                  std::uint64_t ordinal) const noexcept {
    place it{segment, offset, attempt_};
    it.ordinal = ordinal;
    for (std::size_t m = 0; m < 3; ++m) {
        it.before[m] = met_[m];
        it.apart[m] = least_apart(m);
        it.steps[m] = {met_[m] ? last_[m] + 1 : 0, ~std::uint64_t{0}};
    }
    return it;
}

SPOTTER_BODY void lost_rows::close(step_id step, std::uint64_t ordinal, std::uint64_t apart) noexcept {
    auto const m = static_cast<std::size_t>(step.mode);
    if (met_[m] && step.index > last_[m]) {
        std::uint64_t const distance = apart > 0 ? apart : step.index - last_[m];
        apart_[m] = apart_[m] == 0 ? distance : (std::min)(apart_[m], distance);
    }
    for (; uncounted_ < places_.size(); ++uncounted_) {
        place& it = places_[uncounted_];
        it.counted = ordinal >= it.ordinal;
        it.closes = ordinal - it.ordinal;
        it.next = step;
    }
    for (std::size_t& i = unbounded_[m]; i < places_.size(); ++i) {
        place& it = places_[i];
        it.behind[m] = true;
        it.steps[m].last = step.index;
        it.anything = it.anything || it.steps[m].first > step.index;  // the loop went back there
    }
    met_[m] = true;
    last_[m] = step.index;
}

SPOTTER_BODY bool lost_rows::rises(step_span const* among, std::uint64_t from, std::uint64_t to) const noexcept {
    std::uint64_t room = 0;
    for (std::size_t m = 0; m < 3; ++m) {
        std::uint64_t const apart = least_apart(m);
        std::uint64_t const next = met_[m] ? last_[m] + apart : 0;
        std::uint64_t const first = (std::max)(next, among[m].first);
        if (first <= among[m].last && (!met_[m] || next > last_[m])) { room += (among[m].last - first) / apart + 1; }
    }
    return from <= to && to - from <= room;
}

SPOTTER_BODY std::uint64_t lost_rows::least_apart(std::size_t m) const noexcept {
    return (std::max)(apart_[m], std::uint64_t{1});
}

SPOTTER_BODY lost_rows::doubt lost_rows::behind(track_entry const& entry, step_id step,
                                                std::uint32_t attempt) const noexcept {
    doubt found = doubt::none;
    for (std::size_t i = places_.size(); i > 0; --i) {
        place const& it = places_[i - 1];
        bool const behind =
            it.segment != entry.place.segment ? it.segment > entry.place.segment : it.offset > entry.place.offset;
        if (!behind || !it.is_of(attempt) || !it.may_hold(step)) { continue; }
        if (it.anything || it.ordinal != entry.ordinal) { return doubt::superseded; }
        found = doubt::within_step;
    }
    return found;
}

SPOTTER_BODY bool lost_rows::may_hold(step_id step, std::uint32_t attempt, bool tails) const noexcept {
    return std::any_of(places_.begin(), places_.end(),
                       [=](place const& it) { return (tails || !it.tail) && it.is_of(attempt) && it.may_hold(step); });
}

SPOTTER_BODY bool lost_rows::place::is_of(std::uint32_t wanted) const noexcept {
    return wanted == unknown_attempt || attempt == unknown_attempt || attempt == wanted;
}

SPOTTER_BODY bool lost_rows::place::may_hold(step_id step) const noexcept {
    auto const m = static_cast<std::size_t>(step.mode);
    if (limited && !among[m].holds(step.index)) { return false; }
    if (anything || range) { return true; }
    if (counted && closes == 0) { return step == next; }  // rows of the open step
    return steps[m].holds(step.index) || (counted && closes > room());
}

SPOTTER_BODY void lost_rows::place::widen(step_span const* more) noexcept {
    for (std::size_t m = 0; more != nullptr && m < 3; ++m) {
        if (more[m].first > more[m].last) { continue; }
        among[m].add(more[m].first);
        among[m].add(more[m].last);
    }
}

SPOTTER_BODY std::uint64_t lost_rows::place::room() const noexcept {
    std::uint64_t all = 0;
    for (std::size_t m = 0; m < 3; ++m) {
        if (before[m] != behind[m]) { return ~std::uint64_t{0}; }
        if (before[m] && steps[m].last > steps[m].first) { all += (steps[m].last - steps[m].first) / apart[m]; }
    }
    return all;
}

}  // namespace spotter::inline SPOTTER_ABI
