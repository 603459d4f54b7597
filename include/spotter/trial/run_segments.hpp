// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the segments of one worker's record, in order, and what of them is missing or damaged.
#pragma once

#include <spotter/trial/lost_rows.hpp>
#include <spotter/trial/mapped_segment.hpp>
#include <spotter/trial/recorded.hpp>

#include <algorithm>
#include <set>

namespace spotter::inline SPOTTER_ABI {

// A segment of a run, with what the index took of it so far.
struct run_segment : mapped_segment {
    std::size_t noticed = 0,
                taken = 0;       // groups of which the rows about the run, and those of steps, were taken in
    std::size_t lost_taken = 0;  // of what is lost in it
    std::uint32_t number = 0;    // of its file
    std::string name{};          // of its file
    std::uint32_t attempt = unknown_attempt;                     // that wrote it
    spotter::instant instant = spotter::instant::before_update;  // of that attempt, as far as its run_begin was met
    bool behind_lost = false;  // the end of the one before it is lost, or whole segments
    bool entered = false;      // what is lost before it was taken in
    bool settled = true;       // nothing of what is known of it awaits to be taken in, for want of memory
    bool told = false;         // as foreign
    bool end_noted = false;    // what its sidecar knows beyond its end, as damage
    // What its writer was about to write was left unfinished, or cut off since, and nobody goes on from it.
    bool left_torn = false;
    bool tail_taken = false;       // that was taken in
    double looked_at = 0;          // when it was guarded last, by the steady clock
    std::vector<tensor_id> ids{};  // the writer's ids in this segment to the trial's

    // Nothing of it is left to take in.
    [[nodiscard]] bool all_taken() const noexcept;
};

// A segment of which only the sidecar is left, or not even the head.
struct gone_segment {
    std::uint32_t number = 0;
    std::uint32_t attempt = unknown_attempt;  // that wrote it
    lost_place rows{};                        // what was in it
};

// The sidecar of a segment, from a set of them (worker_set).
struct merged_side {
    std::uint32_t number = 0;  // of the segment's file
    byte_view bytes{};         // of the sidecar
};

// By place, which is not the number of the file: a segment that was thinned while it was only known in part is there
// twice, as it was, and from there on as it is.
class run_segments {
public:
    run_segments(std::string_view path, file_system& files) : folder_{path, files} {}
    run_segments(run_segments const&) = delete;
    run_segments& operator=(run_segments const&) = delete;
    ~run_segments();

    // Where they are.
    [[nodiscard]] segment_folder const& folder() const noexcept { return folder_; }
    // The sidecars of some, from elsewhere; the bytes must outlive this.
    void take_sides(std::vector<merged_side> sides) noexcept { merged_ = std::move(sides); }
    // How many places there are.
    [[nodiscard]] std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(all_.size()); }
    [[nodiscard]] run_segment& operator[](std::size_t place) noexcept { return all_[place]; }
    [[nodiscard]] run_segment const& operator[](std::size_t place) const noexcept { return all_[place]; }
    // Of its file.
    [[nodiscard]] std::string const& name_of(std::uint32_t place) const noexcept { return all_[place].name; }
    // Something may be lost, as far as is known without reading the rows.
    [[nodiscard]] bool doubtful() const noexcept { return doubtful_; }
    // What was met so far; all of it after `survey`.
    [[nodiscard]] std::vector<damaged_place> const& damage() const noexcept { return damage_; }
    // In which attempt it was written; unknown_attempt where neither it nor those around it say.
    [[nodiscard]] std::uint32_t attempt_of(std::size_t place) const noexcept;
    // Before its bytes are read: mapped_segment::guard.
    void guard(std::uint32_t place) noexcept;
    // A look holds for a millisecond, until as many calls take it back.
    void look_rarely(bool wanted) noexcept { rarely_ += wanted ? 1 : -1; }

    // Looks at all that there are, and at those that came; `taken(place)` for each in order. A failed call changes
    // nothing that was known.
    template <class Taken>
    [[nodiscard]] error take_in(Taken&& taken) {
        if (error const why = folder_.look()) { return why; }
        if (error const why = folder_.list(names_)) { return why; }
        for (std::uint32_t const number : names_.segments) {
            // One that was made while the folder was listed may be missing in the list.
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
    // Behind `take_in`: what the ends of segments that nobody goes on from have lost, and once nobody writes any more
    // (`over`) what is known to have stood behind all that is there.
    [[nodiscard]] error settle_ends(bool over);
    // Those behind the last one, once nobody writes any more.
    [[nodiscard]] std::vector<gone_segment> const& gone() const noexcept { return gone_; }
    // Looks at every frame that has not been looked at, values but for their checksums too.
    void survey();
    // Damage at the end of a run that still grows is met again at every refresh.
    void note_damage(damaged_place const& place);

private:
    [[nodiscard]] std::uint32_t next_number() const noexcept { return all_.empty() ? 0 : all_.back().number + 1; }
    // The writer made the files in order, so those that are missing still, though a later one is there, were removed:
    // `over` them, or to the first.
    template <class Taken>
    [[nodiscard]] error take_missing(std::uint32_t end, Taken& taken, bool over) {
        constexpr std::uint32_t most = 4096;  // are listed one by one
        std::uint32_t const from = next_number();
        for (std::uint32_t number = from; number < end && number - from < most; ++number) {
            std::string const name = folder_.file_name(number, layout::data_suffix);
            result<bool> const there = folder_.is_file(name);
            if (!there) { return there.error(); }
            if (!*there) {
                if (!over) { return {}; }
                if (number >= told_missing_to_) { note_damage({name, 0, 0}); }
                told_missing_to_ = (std::max)(told_missing_to_, number + 1);
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
            // A segment is whole before the next one is begun, but may have been read before that: then its end comes
            // first.
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
        if (mine.foreign() && !mine.told) {  // its rows may mean anything
            mine.stray() ? note_stray(mine.number) : note_damage({name, 0, mine.bytes().size()});
            mine.told = true;
        }
        taken(place);
        mine.settled = true;
        return {};
    }
    // No part of the run.
    void note_stray(std::uint32_t number);

    // The same attempt wrote both; where the first has no head, the closes before the second tell.
    [[nodiscard]] static bool goes_on(run_segment const& mine, run_segment const& next) noexcept;
    // A segment that the same attempt went on from was closed before: one whose end is missing was cut.
    void note_cuts();
    // The same, before every frame was looked at.
    void note_lost_ends();
    // The ring of its attempt was in shared memory: then segments without an end are gone on from by recoveries, which
    // may be killed in their turn.
    [[nodiscard]] bool is_recovered(std::size_t place) const;

    // Numbers of segments that the folder's file `lost` tells of.
    [[nodiscard]] error remembered(std::set<std::uint32_t>& numbers) const;
    // There is a file of a segment, which does not even have its head.
    [[nodiscard]] bool is_without_head(std::uint32_t number) const noexcept;
    [[nodiscard]] error note_gone(std::uint32_t number);

    [[nodiscard]] byte_view merged_side_of(std::uint32_t number) const noexcept;

    segment_folder folder_;
    std::vector<merged_side> merged_{};
    std::vector<run_segment> all_{};
    std::vector<gone_segment> gone_{};
    record_names names_{};
    std::set<std::uint32_t> strays_{};
    std::uint64_t run_id_ = 0;
    std::uint32_t sure_ = 0;  // how many of them are whole or noted as cut
    std::uint32_t ends_known_ = 0;
    std::uint32_t told_missing_to_ = 0;  // numbers below it that are missing were noted
    int rarely_ = 0;                     // who asked for it
    bool doubtful_ = false;
    std::vector<damaged_place> damage_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/run_segments.ipp>
#endif
