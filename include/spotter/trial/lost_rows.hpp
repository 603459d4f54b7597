// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the places of lost rows, and the steps that they may belong to: such rows may supersede those before
// them.
#pragma once

#include <spotter/format/frame.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/trial/entry_list.hpp>
#include <spotter/trial/recorded.hpp>

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Maps the writer's ids to the trial's ids, by attempt: all segments of an attempt use the same ids. Only an intact
// head shows a segment's attempt; segments without one are not used.
class attempt_names {
public:
    // Adds a declaration of a segment.
    void learn(byte_view segment, tensor_id local, tensor_id id) {
        auto const head = head_of(segment);
        if (!head) { return; }
        std::vector<tensor_id>& ids = ids_[{head->run_id, head->attempt}];
        if (local >= ids.size()) { ids.resize(local + std::size_t{1}, no_tensor); }
        ids[local] = id;
    }
    // no_tensor if no segment of the attempt declares it.
    [[nodiscard]] tensor_id find(byte_view segment, tensor_id local) const noexcept {
        auto const head = head_of(segment);
        if (!head) { return no_tensor; }
        auto const it = ids_.find({head->run_id, head->attempt});
        return it != ids_.end() && local < it->second.size() ? it->second[local] : no_tensor;
    }

private:
    [[nodiscard]] static result<segment_head> head_of(byte_view segment) noexcept {
        if (segment.size() < layout::head_bytes) { return {errc::not_yet, "the segment has no head yet"}; }
        return decode_head(segment);
    }

    std::map<std::pair<std::uint64_t, std::uint32_t>, std::vector<tensor_id>> ids_{};
};

// Entries of tensors that are not declared yet.
class nameless_rows {
public:
    [[nodiscard]] bool empty() const noexcept { return lists_.empty(); }
    // Sets the source of the rows.
    void read_from(row_source source) noexcept { source_ = source; }
    void clear() noexcept { lists_.clear(); }
    // Adds an entry under the writer's id.
    void add(tensor_id local, track_entry const& entry) { list_of(entry.place, local).push_back(entry); }
    // Adds all entries of an id in a steps row.
    void add_row(row_place const& place, tensor_id local, std::uint64_t count) {
        list_of(place, local).push_row(place, local, count);
    }
    // Whether test(entry) holds for any of the entries at a step, without scalars between steps.
    template <class Test>
    [[nodiscard]] bool any_at(step_id step, Test const& test) const {
        bool found = false;
        for (auto it = lists_.begin(); it != lists_.end() && !found; ++it) {
            it->second.each_at(step, [&](track_entry const& entry) { found = found || test(entry); });
        }
        return found;
    }

    // Passes entries that have a name now to take(id, entries); id_of(segment, writer's id). Keeps them if it returns
    // false.
    template <class IdOf, class Take>
    void adopt(IdOf const& id_of, Take const& take) {
        for (auto it = lists_.begin(); it != lists_.end();) {
            tensor_id const id = id_of(it->first.first, it->first.second);
            it = id != no_tensor && take(id, it->second) ? lists_.erase(it) : std::next(it);
        }
    }
    // `damage`, and the rows without a declaration, each once. Valid until the next call.
    template <class NameOf>
    [[nodiscard]] std::vector<damaged_place> const& beside(std::vector<damaged_place> const& damage,
                                                           NameOf const& name_of) const {
        if (lists_.empty()) { return damage; }
        std::set<std::pair<std::uint32_t, std::uint64_t>> met;
        all_ = damage;
        for (auto const& [key, entries] : lists_) {
            entries.each_row([&](row_place const& place) {
                if (!met.emplace(place.segment, place.offset).second) { return; }
                all_.push_back({name_of(place.segment), place.offset, place.bytes});
            });
        }
        return all_;
    }

private:
    [[nodiscard]] entry_list& list_of(row_place const& place, tensor_id local) {
        entry_list& mine = lists_[{place.segment, local}];
        mine.read_from(source_);
        return mine;
    }

    row_source source_{};
    std::map<std::pair<std::uint32_t, tensor_id>, entry_list> lists_{};
    mutable std::vector<damaged_place> all_{};  // the last result; mutable: a trial has one thread
};

// Any attempt, or an unknown one.
inline constexpr std::uint32_t unknown_attempt = 0xFFFFFFFFU;

// Filled in the order of writing. The steps of a place are known from its sidecar, or from its neighbours: indices of a
// mode increase within an attempt. So lost rows between train(4) and train(9) belong to these steps, unless more closes
// are missing than fit in between.
class lost_rows {
public:
    [[nodiscard]] bool empty() const noexcept { return places_.empty(); }

    // The following rows are of this attempt.
    void begin_attempt(std::uint32_t attempt) noexcept;
    // `ordinal`: of the next close at the time of writing. `among`: the steps that the rows can belong to, if known.
    enum class known : std::uint8_t {
        nothing,  // not even the attempt
        attempt,  // the attempt
        range,    // the attempt; and any step of `among` is possible, because the loop may have gone back
    };
    void add(std::uint32_t segment, std::uint64_t offset, std::uint64_t ordinal, step_span const* among = nullptr,
             known what = known::attempt);
    // An incomplete write of this attempt at the end of a segment. It may supersede earlier rows; it is not evidence
    // that more rows existed.
    void add_tail(std::uint32_t segment, std::uint64_t ordinal);
    // Adds a readable close. `apart`: the distance of the closes before it, if these are not added one by one.
    void close(step_id step, std::uint64_t ordinal, std::uint64_t apart = 0) noexcept;
    // Whether all closes between two ordinals fit, with increasing indices, between the known ones and within `among`.
    // Otherwise the loop went back there.
    [[nodiscard]] bool rises(step_span const* among, std::uint64_t from, std::uint64_t to) const noexcept;

    // Whether lost rows behind an entry may belong to the step, in that attempt (unknown_attempt: any). within_step:
    // they were written before the entry's step was closed, so they can only be further observations in that step.
    enum class doubt : std::uint8_t { none, within_step, superseded };
    // For an entry, a step and an attempt.
    [[nodiscard]] doubt behind(track_entry const& entry, step_id step, std::uint32_t attempt) const noexcept;
    // Anywhere in the record; places of add_tail() only with `tails`.
    [[nodiscard]] bool may_hold(step_id step, std::uint32_t attempt, bool tails = false) const noexcept;

private:
    struct place {
        std::uint32_t segment = 0;  // by place in the index
        std::uint64_t offset = 0;   // upper bound: of the rows behind it
        std::uint32_t attempt = unknown_attempt;
        bool limited = false, anything = false, range = false, tail = false;
        bool counted = false;  // `closes` closes were lost; `next` follows them
        std::uint64_t ordinal = 0, closes = 0;
        step_id next{};
        bool before[3]{}, behind[3]{};  // whether a close of that mode is known before, behind
        std::uint64_t apart[3]{};       // smallest distance of two closes
        step_span steps[3]{}, among[3]{};

        [[nodiscard]] bool is_of(std::uint32_t wanted) const noexcept;
        [[nodiscard]] bool may_hold(step_id step) const noexcept;
        void widen(step_span const* more) noexcept;
        // How many closes fit in while the indices increase.
        [[nodiscard]] std::uint64_t room() const noexcept;
    };

    [[nodiscard]] place place_at(std::uint32_t segment, std::uint64_t offset, std::uint64_t ordinal) const noexcept;
    [[nodiscard]] std::uint64_t least_apart(std::size_t m) const noexcept;

    std::vector<place> places_{};
    std::uint32_t attempt_ = unknown_attempt;
    bool met_[3]{};  // whether this attempt has a close of that mode; the last one:
    std::uint64_t last_[3]{};
    std::uint64_t apart_[3]{};    // smallest distance of two increasing closes; 0: none
    std::size_t unbounded_[3]{};  // the first place without a later close of that mode
    std::size_t uncounted_ = 0;   // the first place without any later close
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
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
#endif
