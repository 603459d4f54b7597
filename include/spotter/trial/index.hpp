// SPDX-License-Identifier: Apache-2.0
// Trial (L4): what is where in a run folder. Opening reads the sidecars and the few rows that are about the run as a
// whole; the rows of steps are read when they are asked for, values never.
#pragma once

#include <spotter/core/work_count.hpp>
#include <spotter/format/fwd.hpp>
#include <spotter/format/row_reader.hpp>
#include <spotter/rule/coverage.hpp>
#include <spotter/trial/lost_names.hpp>
#include <spotter/trial/lost_rows.hpp>
#include <spotter/trial/no_memory.hpp>
#include <spotter/trial/recorded.hpp>
#include <spotter/trial/recorded_lists.hpp>
#include <spotter/trial/recorded_times.hpp>
#include <spotter/trial/run_segments.hpp>
#include <spotter/trial/step_list.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// In which section the loop was at some time, and for how many seconds it had been in it at least; empty: nothing is
// known.
struct stayed_in {
    std::string section{};         // its path, `outer/inner`
    double time = 0, seconds = 0;  // when, in seconds since 1970; for how long at least
};

// What the record of one worker says, found in its rows: names, steps, where the values are. Grows with the record at
// each `refresh`; what needs the rows of all steps reads them once, when it is asked for first (`complete`). One
// thread.
class worker_index {
public:
    // `unpacker` is shared with the other workers of the run, and must outlive it.
    worker_index(std::string_view path, file_system& files, payload_unpacker& unpacker);
    worker_index(worker_index const&) = delete;
    worker_index& operator=(worker_index const&) = delete;

    // Takes in what has been written since the last call. A failed call changes nothing that was known; errc::replaced:
    // the folder holds another run now, for another index.
    [[nodiscard]] error refresh();
    // Behind it: whether somebody still writes. What is lost at the end is only known when nobody does.
    [[nodiscard]] error settle_ends(bool over);

    // The worker's folder.
    [[nodiscard]] std::string const& path() const noexcept { return segments_.folder().path(); }
    // The same, with its files.
    [[nodiscard]] segment_folder const& folder() const noexcept { return segments_.folder(); }
    // Before the first refresh.
    void take_sides(std::vector<merged_side> sides) noexcept { segments_.take_sides(std::move(sides)); }
    // In the order of their first declaration; addresses are stable.
    [[nodiscard]] std::vector<std::unique_ptr<recorded_tensor>> const& tensors() const;
    // Its entries are only known once the index is complete.
    [[nodiscard]] recorded_tensor const* find(std::string_view name) const noexcept;
    // All closings, in order.
    [[nodiscard]] step_list const& steps() const;
    // When they were begun and closed, where the loop's thread said so.
    [[nodiscard]] recorded_times const& times() const { return complete(), times_; }
    // None for a step that was never closed.
    [[nodiscard]] std::optional<closed_step> step_of(std::uint64_t ordinal) const;
    // Of each attempt the one that it left open, if it holds anything.
    [[nodiscard]] std::vector<open_step> const& open_steps() const { return complete(), open_.all(); }
    // What the plan kept.
    [[nodiscard]] std::vector<recorded_collection> const& collections() const noexcept { return collections_; }
    // Lines of "key value", of the newest attempt.
    [[nodiscard]] std::string const& environment() const noexcept { return environment_; }
    // What the hook's rules found.
    [[nodiscard]] std::vector<finding> const& findings() const noexcept { return findings_; }
    // How much they could judge, once the run has ended.
    [[nodiscard]] std::vector<recorded_coverage> const& coverages() const noexcept { return coverages_; }
    // Looks at every frame that has not been looked at, values but for their checksums too.
    [[nodiscard]] std::vector<damaged_place> const& damage() const;
    // Over all attempts.
    [[nodiscard]] run_totals const& totals() const noexcept { return totals_; }
    // How often it was begun.
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempt_ + 1; }
    // In which attempt a segment was written; unknown_attempt where neither it nor those around it say.
    [[nodiscard]] std::uint32_t attempt_of(std::uint32_t number) const noexcept { return segments_.attempt_of(number); }
    // When the loop that wrote it showed its tensors.
    [[nodiscard]] instant instant_of(std::uint32_t number) const noexcept { return segments_[number].instant; }
    // Whose record it is.
    [[nodiscard]] std::uint32_t worker() const noexcept { return worker_; }
    // How many workers the run was told to have; 0: it was not told.
    [[nodiscard]] std::uint32_t expected_workers() const noexcept { return expected_workers_; }
    // Seconds since 1970; 0 where it is not known. Of the latest attempt.
    [[nodiscard]] double begun_at() const noexcept { return begun_at_; }
    // Likewise; 0 while it has not ended.
    [[nodiscard]] double ended_at() const noexcept { return ended_ ? ended_at_ : 0; }
    // Nothing was read of any segment.
    [[nodiscard]] bool is_empty() const noexcept { return segments_.size() == 0; }
    // There is a file of its first segment, or what stood beside one.
    [[nodiscard]] bool has_begun() const;
    // The newest attempt said that it ended.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    // As its last row has it (docs/format.md).
    [[nodiscard]] std::uint8_t ended_how() const noexcept { return ended_how_; }
    // The first thing that went wrong; empty: nothing.
    [[nodiscard]] std::string const& ended_why() const noexcept { return ended_why_; }
    // The last that the record says of where the loop was: in a section for long, or when its process ended.
    [[nodiscard]] stayed_in const& stayed() const noexcept { return stayed_; }
    // Somebody writes it.
    [[nodiscard]] result<bool> is_locked() const;

    // What is readable of a segment, by its place; valid until the next refresh.
    [[nodiscard]] byte_view segment_bytes(std::uint32_t number) const noexcept { return segments_[number].bytes(); }
    // The same, with the values of a row in it, and those that they build on. An error where they lie far away and
    // cannot be reached.
    [[nodiscard]] result<byte_view> segment_with(rows::observe const& row, std::uint32_t number) const noexcept;
    // The row, valid until `finder` is asked for the next.
    [[nodiscard]] row_view row_at(row_place const& at, row_kind kind, row_finder& finder) const noexcept;
    // For who asks for a row now and then: it goes on where the last one was.
    [[nodiscard]] row_finder& finder() const noexcept { return finder_; }
    // For the values of any of its rows.
    [[nodiscard]] payload_unpacker& unpacker() const noexcept { return unpacker_; }

    // Reads the rows of all steps, if they have not been.
    void complete() const;
    // They have been.
    [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
    // Whether rows that are lost, or that no declaration tells of, may be of a step; known once the index is complete.
    // Behind an entry: lost_rows::behind.
    [[nodiscard]] lost_rows::doubt doubt_behind(track_entry const& entry, step_id step, std::uint32_t attempt) const;
    // Anywhere in the record, in that attempt (unknown_attempt: in any).
    [[nodiscard]] bool may_lack(step_id step, std::uint32_t attempt) const;
    // Anything is lost, or was not finished, of whatever step.
    [[nodiscard]] bool lacks_some() const;
    // What is lost, or was being written when the writer ended, may hold the step.
    [[nodiscard]] bool may_hide(step_id step) const;
    // To be called before bytes of a segment are read: a file that somebody has cut meanwhile has fewer.
    void guard(std::uint32_t number) const noexcept { const_cast<worker_index*>(this)->segments_.guard(number); }
    // From here on a look at a segment holds for a millisecond, until as many calls say that it does not: for who reads
    // very much.
    void look_rarely(bool wanted) const noexcept { const_cast<worker_index*>(this)->segments_.look_rarely(wanted); }
    // From here on a walk over the rows, and the first reading of all, add the bytes of the record that they have come
    // by, values that are stepped over among them: for who shows how far a long work is. Null: no more. Outlives this.
    void count_reading(work_count* bytes) const noexcept { come_by_ = bytes; }
    // The last observation of a tensor at a step, from the few frames that may hold it: what an index that is not
    // complete can say of a sound record. Of one that may have lost something it says nothing, nor once that has cost
    // as much as to read all rows.
    [[nodiscard]] bool latest_at(tensor_id id, step_id step, track_entry& found) const;

    // Calls take(segment number, row) for every whole row behind `from`, in the order in which it was written, and
    // moves `from` on. `take` returns false to end the walk; that row is met again when it goes on.
    template <class Take>
    void walk(walk_place& from, Take&& take) const {
        constexpr std::size_t looks_each = 16;  // groups of rows: a look costs as much as some kilobytes of them
        for (; from.segment < segments_.size(); from = {from.segment + 1, 0, 0, 0}) {
            run_segment const& mine = segments_[from.segment];
            if (!mine.settled) { return; }  // its declarations come with the next refresh
            for (std::size_t looks = 0; from.group < mine.groups().size(); ++from.group) {
                if (looks++ % looks_each == 0) { guard(from.segment); }
                side_place const& group = mine.groups()[from.group];
                frame_walker walker = mine.frames_of(group, from.offset);
                for (walked what = walker.next(); what != walked::end; what = walker.next()) {
                    if (what != walked::rows) { continue; }
                    row_reader rows{walker.frame().body};
                    std::uint64_t met = 0;
                    for (row_view row; rows.next(row);) {
                        if (met++ < from.rows) { continue; }
                        if (!take(from.segment, row)) { return; }
                        ++from.rows;
                    }
                    come_by(walker.good_end() - (std::min)(from.offset, walker.good_end()));
                    from.offset = walker.good_end();
                    from.rows = 0;
                }
            }
            if (from.segment + 1 == segments_.size()) { return; }  // it may grow
        }
    }
    template <class Take>
    void walk(Take&& take) const {
        walk_place from{};
        walk(from, take);
    }
    // The trial's id of a tensor that a segment calls `local`; no_tensor where its declare row was lost, with those in
    // other segments.
    [[nodiscard]] tensor_id id_of(std::uint32_t number, tensor_id local) const noexcept;

private:
    void come_by(std::uint64_t bytes) const noexcept {
        if (come_by_ != nullptr) { come_by_->add(bytes); }
    }
    // unknown_attempt: of any, or nobody knows.
    [[nodiscard]] bool is_of(std::uint32_t place, std::uint32_t attempt) const noexcept;
    // A segment has been looked at.
    void take_segment(std::uint32_t place);
    // What the frames of a group that have one of these flags say about the run as a whole.
    void notice(std::uint32_t number, side_place const& group, std::uint32_t wanted);
    // All that a closed segment declares, once more in its sidecar; false where that says nothing.
    [[nodiscard]] bool take_side_declarations(std::uint32_t place);
    void take_groups();
    // To begin anew, after half of it.
    void forget_groups() noexcept;
    void adopt_nameless();
    void take_group(std::uint32_t number, side_place const& group);
    // All closes of a packed row. False if its values are to come one by one.
    [[nodiscard]] bool take_steps(steps_outline const& row, row_place const& at);
    // What is lost in front of an offset of a segment.
    void take_lost(std::uint32_t number, std::uint64_t offset);
    // What is lost between a segment and the one before it, and what is in one that cannot be read.
    void take_lost_before(std::uint32_t number);
    [[nodiscard]] byte_view row_of(row_place const& at) const noexcept;
    [[nodiscard]] static byte_view bytes_at(void const* index, row_place const& at) noexcept;
    void note_malformed(std::uint32_t number, byte_view body);
    [[nodiscard]] std::uint64_t place_of(std::uint32_t number, byte_view body) const noexcept;

    [[nodiscard]] bool take_notice(std::uint32_t number, row_view row);
    [[nodiscard]] bool take_begin(std::uint32_t number, row_view row);
    // By the head of a segment, and by the run_begin of each.
    void take_attempt(std::uint32_t number, std::uint32_t attempt, double time);
    [[nodiscard]] bool take_declare(std::uint32_t number, row_view row);
    [[nodiscard]] bool take_finding(row_view row);
    [[nodiscard]] bool take_stay(row_view row);
    [[nodiscard]] bool take_end(row_view row);
    // A text that lives as long as the index.
    [[nodiscard]] std::string_view keep(std::string_view it) { return *texts_.emplace(it).first; }

    run_segments segments_;
    lost_rows lost_{};
    std::size_t gone_taken_ = 0;  // of the segments that are gone
    std::vector<std::unique_ptr<recorded_tensor>> tensors_{};
    std::map<std::string, std::size_t, std::less<>> by_name_{};
    std::set<std::string> texts_{};
    step_list steps_{};
    recorded_times times_{};
    open_step_list open_{};
    std::vector<recorded_collection> collections_{};
    std::string environment_{};
    std::vector<finding> findings_{};
    std::vector<recorded_coverage> coverages_{};
    attempt_names names_{};
    nameless_rows nameless_{};
    std::set<std::pair<std::uint32_t, std::uint64_t>> malformed_{};  // rows that were told as damage
    run_totals totals_{};
    run_totals earlier_{};  // of the attempts before the last
    std::uint64_t ordinal_ = 0;
    std::uint32_t attempt_ = 0;
    std::uint32_t begun_in_ = unknown_attempt;  // the attempt of the last run_begin
    instant instant_ = instant::before_update;  // of the last attempt
    std::uint32_t worker_ = 0;
    std::uint32_t expected_workers_ = 0;
    double begun_at_ = 0;
    double ended_at_ = 0;
    bool holds_ = false;
    std::uint64_t row_bytes_ = 0;               // of all row frames
    mutable std::uint64_t looked_through_ = 0;  // of these, for one step and one tensor at a time, before all were read
    bool is_complete_ = true;
    bool ended_ = false;
    std::uint8_t ended_how_ = 0;
    std::string ended_why_{};
    stayed_in stayed_{};
    mutable row_finder finder_{};
    mutable work_count* come_by_ = nullptr;
    payload_unpacker& unpacker_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/index.ipp>
#endif
