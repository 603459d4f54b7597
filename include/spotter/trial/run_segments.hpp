// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the segments of one worker's record, in order, with their missing and damaged parts.
#pragma once

#include <spotter/trial/lost_rows.hpp>
#include <spotter/trial/mapped_segment.hpp>
#include <spotter/trial/recorded.hpp>

#include <algorithm>
#include <set>

namespace spotter::inline SPOTTER_ABI {

// A segment of a run, and how much of it the index has taken.
struct run_segment : mapped_segment {
    std::size_t noticed = 0,
                taken = 0;       // groups whose rows about the run, and whose rows of steps, were taken
    std::size_t lost_taken = 0;  // number of lost places taken
    std::uint32_t number = 0;    // of its file
    std::string name{};
    std::uint32_t attempt = unknown_attempt;                     // that wrote it
    spotter::instant instant = spotter::instant::before_update;  // of that attempt, once its run_begin was read
    bool behind_lost = false;    // the end of the segment before it, or whole segments, are lost
    bool entered = false;        // what is lost before it was taken
    bool settled = true;         // everything known was taken; false after a lack of memory
    bool foreign_noted = false;  // reported as foreign
    bool end_noted = false;      // what the sidecar shows behind the end was added to the damage
    // The writer left an incomplete write, or it was cut off since, and no segment continues it.
    bool left_torn = false;
    // Closes are gone from its end, as the next attempt shows, which counts on behind them.
    bool left_short = false;
    bool tail_taken = false;  // `left_torn` or `left_short` was taken
    [[nodiscard]] bool ends_early() const noexcept { return left_torn || left_short; }
    double looked_at = 0;          // time of the last check, by the steady clock
    std::vector<tensor_id> ids{};  // from the writer's ids in this segment to the trial's

    // Nothing is left to take.
    [[nodiscard]] bool all_taken() const noexcept;
};

// A segment whose sidecar, at most, is left.
struct gone_segment {
    std::uint32_t number = 0;                 // of its file
    std::uint32_t attempt = unknown_attempt;  // that wrote it
    lost_place rows{};                        // its lost rows
};

// The sidecar of a segment, from a set of sidecars (worker_set).
struct merged_side {
    std::uint32_t number = 0;  // of the segment
    byte_view bytes{};         // of the sidecar
};

// By place, which is not the file number: a segment that was thinned while it was partly known has two places, the old
// mapping, and the thinned file from there on.
class run_segments {
public:
    run_segments(std::string_view path, file_system& files) : folder_{path, files} {}
    run_segments(run_segments const&) = delete;
    run_segments& operator=(run_segments const&) = delete;
    ~run_segments();

    // The folder of the files.
    [[nodiscard]] segment_folder const& folder() const noexcept { return folder_; }
    // Sidecars of some segments, from elsewhere; the bytes must outlive this.
    void take_sides(std::vector<merged_side> sides) noexcept { merged_ = std::move(sides); }
    // The number of places.
    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(all_.size()); }
    [[nodiscard]] run_segment& operator[](std::size_t place) noexcept { return all_[place]; }
    [[nodiscard]] run_segment const& operator[](std::size_t place) const noexcept { return all_[place]; }
    // The name of a place's file.
    [[nodiscard]] std::string const& name_of(std::uint32_t place) const noexcept { return all_[place].name; }
    // Something may be lost, as far as is known without reading the rows.
    [[nodiscard]] bool doubtful() const noexcept { return doubtful_; }
    // The damage found so far; complete after `survey`.
    [[nodiscard]] std::vector<damaged_place> const& damage() const noexcept { return damage_; }
    // The attempt that wrote it; unknown_attempt if neither it nor its neighbours show it.
    [[nodiscard]] std::uint32_t attempt_of(std::size_t place) const noexcept;
    // Call it before reading: mapped_segment::guard.
    void guard(std::uint32_t place) noexcept;
    // A check then holds for a millisecond, until the matching call with false.
    void look_rarely(bool wanted) noexcept { rarely_ += wanted ? 1 : -1; }

    // Extends all segments and adds new ones; calls `taken(place)` for each, in order. A failed call changes nothing.
    template <class Taken>
    [[nodiscard]] error take_in(Taken&& taken) {
        if (error const why = folder_.look()) { return why; }
        if (error const why = folder_.list(names_)) { return why; }
        for (std::uint32_t const number : names_.segments) {
            // One that was created during the listing may be missing in the list.
            if (error const why = take_missing(number, taken, false)) { return why; }
            if (number > next_number()) {
                result<bool> const ours = folder_.holds(number, run_id_);
                if (!ours) { return ours.error(); }
                if (!*ours) {
                    note_stray(number);
                    continue;
                }
                if (error const why = take_missing(number, taken, true)) { return why; }
            }
            if (error const why = take_file(number, taken)) { return why; }
        }
        note_lost_ends();
        return {};
    }
    // After `take_in`: finds what is lost at the ends of segments that no segment continues. `over`: no process writes
    // any more; then also what is known to have been behind the last segment.
    [[nodiscard]] error settle_ends(bool over);
    // Segments behind the last one, once no process writes any more.
    [[nodiscard]] std::vector<gone_segment> const& gone() const noexcept { return gone_; }
    // Checks every frame that was not checked before; of values not their checksums.
    void survey();
    // Damage at the end of a growing run is found again at every refresh, and updated.
    void note_damage(damaged_place const& place);

private:
    [[nodiscard]] std::uint32_t next_number() const noexcept { return all_.empty() ? 0 : all_.back().number + 1; }
    // Files are created in order, so a missing one before an existing one was removed. `over`: pass over them;
    // otherwise only to the first.
    template <class Taken>
    [[nodiscard]] error take_missing(std::uint32_t end, Taken& taken, bool over) {
        constexpr std::uint32_t most = 4096;  // missing numbers listed one by one
        std::uint32_t const from = next_number();
        for (std::uint32_t number = from; number < end && number - from < most; ++number) {
            std::string const name = folder_.file_name(number, layout::data_suffix);
            result<bool> const there = folder_.is_file(name);
            if (!there) { return there.error(); }
            if (!*there) {
                if (!over) { return {}; }
                if (number >= missing_noted_to_) { note_damage({name, 0, 0}); }
                missing_noted_to_ = (std::max)(missing_noted_to_, number + 1);
            } else if (error const why = take_file(number, taken)) {
                return why;
            }
        }
        return {};
    }
    template <class Taken>
    [[nodiscard]] error take_file(std::uint32_t number, Taken& taken) {
        std::string const name = folder_.file_name(number, layout::data_suffix);
        std::uint32_t const wanted = next_number();
        if (number >= wanted) {
            result<bool> const there = folder_.is_file(name);
            if (!there) { return there.error(); }
            if (!*there) { return {}; }
            // A segment is complete before the next is begun, but may have been read before that: extend it first.
            if (!all_.empty()) {
                std::uint32_t const last = all_.back().number;
                if (error const why = extend(last, folder_.file_name(last, layout::data_suffix), taken)) { return why; }
            }
            run_segment fresh{};
            fresh.number = number, fresh.name = name, fresh.behind_lost = number > wanted;
            all_.push_back(std::move(fresh));
            doubtful_ = doubtful_ || number > wanted;
        }
        return extend(number, name, taken);
    }
    template <class Taken>
    [[nodiscard]] error extend(std::uint32_t number, std::string const& name, Taken& taken) {
        auto const behind =
            std::upper_bound(all_.begin(), all_.end(), number,
                             [](std::uint32_t it, run_segment const& each) { return it < each.number; });
        auto const place = static_cast<std::uint32_t>(behind - all_.begin() - 1);
        if (error const why = extend_at(place, name, taken)) { return why; }
        run_segment const& mine = all_[place];
        if (!mine.superseded() || mine.whole() || place + std::size_t{1} < all_.size()) { return {}; }
        run_segment rest{};
        rest.number = number, rest.name = name, rest.attempt = mine.attempt, rest.ids = mine.ids;
        rest.go_on_from(mine);
        all_.push_back(std::move(rest));
        return extend_at(place + 1, name, taken);
    }
    template <class Taken>
    [[nodiscard]] error extend_at(std::uint32_t place, std::string const& name, Taken& taken) {
        run_segment& mine = all_[place];
        std::string const side_name = folder_.file_name(mine.number, layout::side_suffix);
        byte_view const merged = merged_side_of(mine.number);
        if (error const why = mine.extend(folder_.files(), name, side_name, merged, mine.number, run_id_)) {
            return why;
        }
        mine.settled = false;
        if (mine.head() && !mine.foreign()) { run_id_ = mine.head()->run_id; }
        doubtful_ = doubtful_ || mine.foreign() || !mine.lost().empty();
        if (mine.foreign() && !mine.foreign_noted) {  // its rows cannot be interpreted
            mine.stray() ? note_stray(mine.number) : note_damage({name, 0, mine.bytes().size()});
            mine.foreign_noted = true;
        }
        taken(place);
        mine.settled = true;
        return {};
    }
    // A file that is not part of the run.
    void note_stray(std::uint32_t number);

    // Both are of the same attempt; if the first has no head, ordinals decide.
    [[nodiscard]] static bool goes_on(run_segment const& mine, run_segment const& next) noexcept;
    // A segment with a successor in the same attempt was closed: if its end is missing, it was truncated.
    void note_cuts();
    // The same, before every frame was checked.
    void note_lost_ends();
    // The attempt's ring was in shared memory. Recoveries then continue segments without an end, and may be killed
    // themselves.
    [[nodiscard]] bool is_recovered(std::size_t place) const;
    // The attempt that a place is of left values behind its last close, there or before.
    [[nodiscard]] bool leaves_open(std::size_t place);
    // The head behind a place counts closes, beyond an open step, that the place does not have.
    [[nodiscard]] bool lacks_closes(std::size_t place);

    // Numbers of the segments in the folder's file `lost`.
    [[nodiscard]] error remembered(std::set<std::uint32_t>& numbers) const;
    // The file of a segment exists, but without a complete head.
    [[nodiscard]] bool is_without_head(std::uint32_t number) const noexcept;
    [[nodiscard]] error note_gone(std::uint32_t number);
    [[nodiscard]] error note_gone_segments();

    [[nodiscard]] byte_view merged_side_of(std::uint32_t number) const noexcept;

    segment_folder folder_;
    std::vector<merged_side> merged_{};
    std::vector<run_segment> all_{};
    std::vector<gone_segment> gone_{};
    record_names names_{};
    std::set<std::uint32_t> strays_{};
    std::uint64_t run_id_ = 0;
    std::uint32_t sure_ = 0;  // number of segments known to be complete or noted as truncated
    std::uint32_t ends_known_ = 0;
    std::uint32_t missing_noted_to_ = 0;  // missing numbers below this were noted
    int rarely_ = 0;                      // number of callers that want it
    bool doubtful_ = false;
    std::vector<damaged_place> damage_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/clock.hpp>
#include <spotter/trial/lost_end.hpp>

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

SPOTTER_BODY bool run_segments::leaves_open(std::size_t place) {
    std::uint32_t const attempt = attempt_of(place);
    for (std::size_t i = place + 1; i > 0 && attempt_of(i - 1) == attempt; --i) {
        run_segment const& mine = all_[i - 1];
        guard(static_cast<std::uint32_t>(i - 1));
        for (auto group = mine.groups().rbegin(); group != mine.groups().rend(); ++group) {
            if (group->values > 0 && mine.ends_open(*group)) { return true; }
            if (group->closes > 0) { return false; }
        }
    }
    return false;
}

SPOTTER_BODY bool run_segments::lacks_closes(std::size_t place) {
    auto const& behind = all_[place + 1].head();
    std::uint64_t const next = all_[place].next_ordinal();
    if (!behind || behind->first_ordinal <= next) { return false; }
    return behind->first_ordinal - next > 1 || !leaves_open(place);
}

SPOTTER_BODY void run_segments::note_cuts() {
    for (; sure_ + std::size_t{1} < all_.size(); ++sure_) {
        run_segment const& mine = all_[sure_];
        run_segment const& next = all_[sure_ + std::size_t{1}];
        if (next.bytes().size() < layout::head_bytes) { return; }  // its file was just created
        bool const cut = mine.left_short || (goes_on(mine, next) && !is_recovered(sure_));
        if (mine.closed() || mine.superseded() || mine.end_noted || next.stray() || !cut) { continue; }
        note_damage({name_of(sure_), mine.surveyed_to(), mine.bytes().size() - mine.surveyed_to()});
    }
}

SPOTTER_BODY void run_segments::note_lost_ends() {
    for (; ends_known_ + std::size_t{1} < all_.size(); ++ends_known_) {
        run_segment& mine = all_[ends_known_];
        run_segment& next = all_[ends_known_ + std::size_t{1}];
        if (next.bytes().size() < layout::head_bytes) { return; }
        if (mine.whole() || mine.superseded() || next.stray()) { continue; }
        if (goes_on(mine, next)) {
            next.behind_lost = next.behind_lost || !is_recovered(ends_known_);
        } else {
            mine.left_short = !mine.foreign() && lacks_closes(ends_known_);
        }
        doubtful_ = doubtful_ || next.behind_lost || mine.left_short;
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
#endif
