// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the index of a run folder. Opening reads the sidecars and the few rows about the run as a whole. Rows of
// steps are read on demand; values are not read.
#pragma once

#include <spotter/core/step.hpp>
#include <spotter/core/work_count.hpp>
#include <spotter/format/fwd.hpp>
#include <spotter/format/row_reader.hpp>
#include <spotter/format/step_times.hpp>
#include <spotter/rule/coverage.hpp>
#include <spotter/trial/entry_list.hpp>
#include <spotter/trial/lost_rows.hpp>
#include <spotter/trial/no_memory.hpp>
#include <spotter/trial/recorded.hpp>
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

// A closed step with its times, in seconds since 1970 by a clock that does not jump.
struct timed_step {
    step_id step{};                // the closed step
    std::uint64_t ordinal = 0;     // among the worker's closes
    double begun = 0, closed = 0;  // in seconds since 1970
    // From the previous close in any mode to its own; from its own begin if that is unknown.
    double seconds = 0;
    double inside = 0;         // the part since its begin
    bool first = false;        // the first of an attempt, or after a step whose time was lost
    std::uint32_t worker = 0;  // of the step
};

// The begin and close of recorded steps, by the training thread's clock. By ordinal. Rows stay in the record and are
// read on demand. The same step again, or the next one, needs no search.
class recorded_times {
public:
    // One row of times.
    struct stretch {
        std::uint64_t first = 0, count = 0;  // first ordinal, and number of steps
        std::uint32_t attempt = 0;           // that closed them
        row_place place{};                   // of the row
    };
    // The times of one step, in nanoseconds since 1970.
    struct found {
        step_time own{};           // its begin and close
        std::uint64_t before = 0;  // close of the step before
        bool has_before = false;   // `before` is known: a step of the same attempt
    };

    // Sets the source of the rows. Call it before the first `find`.
    void read_from(row_source source) noexcept { source_ = source; }
    // Adds a row. Ignored if it does not follow the rows before: no writer makes such rows.
    void add(stretch const& more);
    void clear() noexcept;

    [[nodiscard]] bool empty() const noexcept { return stretches_.empty(); }
    // None if there is no time: the writer was older than this feature, the row is lost, or no clock was read.
    [[nodiscard]] std::optional<found> find(std::uint64_t ordinal) const;
    // The same as a timed_step.
    [[nodiscard]] std::optional<timed_step> find(step_id step, std::uint64_t ordinal, std::uint32_t worker) const;

private:
    void open(std::size_t which) const;
    [[nodiscard]] bool read_to(std::size_t which, std::uint64_t ordinal, step_time& out) const;

    std::vector<stretch> stretches_{};  // sorted by first ordinal
    row_source source_{};
    // The row found last, and the reader behind its last time. mutable: a trial has one thread.
    mutable std::size_t open_ = ~std::size_t{0};
    mutable std::vector<std::byte> body_{};  // a copy of the row: its segment may be truncated or mapped elsewhere
    mutable times_reader reader_{byte_view{}};
    mutable step_time last_{};
    mutable bool has_last_ = false;
};

// The section that the loop was in at some time, and for how many seconds at least; empty: unknown.
struct stayed_in {
    std::string section{};         // path: `outer/inner`
    double time = 0, seconds = 0;  // of the check, in seconds since 1970; the least duration of the stay
};

// The content of one worker's record: names, steps, places of values. Each `refresh` adds what was written since. The
// rows of all steps are read once, when something first needs them (`complete`). Not thread-safe.
class worker_index {
public:
    // `unpacker` is shared with the run's other workers and must outlive this.
    worker_index(std::string_view path, file_system& files, payload_unpacker& unpacker);
    worker_index(worker_index const&) = delete;
    worker_index& operator=(worker_index const&) = delete;

    // Adds what was written since the last call. A failed call changes nothing. errc::replaced: the folder now holds
    // another run, which needs another index.
    [[nodiscard]] error refresh();
    // Call it after refresh(); `over`: no process writes any more. Only then a lost end is certain.
    [[nodiscard]] error settle_ends(bool over);

    // The worker's folder.
    [[nodiscard]] std::string const& path() const noexcept { return segments_.folder().path(); }
    // The same folder, with its files.
    [[nodiscard]] segment_folder const& folder() const noexcept { return segments_.folder(); }
    // Before the first refresh.
    void take_sides(std::vector<merged_side> sides) noexcept { segments_.take_sides(std::move(sides)); }
    // In the order of their first declaration; addresses are stable.
    [[nodiscard]] std::vector<std::unique_ptr<recorded_tensor>> const& tensors() const;
    // Its entries are complete only after complete().
    [[nodiscard]] recorded_tensor const* find(std::string_view name) const noexcept;
    // All closes, in order.
    [[nodiscard]] step_list const& steps() const;
    // The begin and close of the steps, where the loop's clock recorded them.
    [[nodiscard]] recorded_times const& times() const { return complete(), times_; }
    // None for a step that was never closed.
    [[nodiscard]] std::optional<closed_step> step_of(std::uint64_t ordinal) const;
    // Of the next close, as far as what can be read shows: its rows, frames and heads.
    [[nodiscard]] std::uint64_t next_ordinal() const;
    // For each attempt the step that it left open, if the step holds anything.
    [[nodiscard]] std::vector<open_step> const& open_steps() const { return complete(), open_.all(); }
    // The collections of the plan.
    [[nodiscard]] std::vector<recorded_collection> const& collections() const noexcept { return collections_; }
    // Lines of "key value", from the newest attempt.
    [[nodiscard]] std::string const& environment() const noexcept { return environment_; }
    // The findings of the hook's rules.
    [[nodiscard]] std::vector<finding> const& findings() const noexcept { return findings_; }
    // What each rule could judge; known once the run has ended.
    [[nodiscard]] std::vector<recorded_coverage> const& coverages() const noexcept { return coverages_; }
    // Checks every frame that was not checked before; of values not their checksums.
    [[nodiscard]] std::vector<damaged_place> const& damage() const;
    // Over all attempts.
    [[nodiscard]] run_totals const& totals() const noexcept { return totals_; }
    // Number of attempts.
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempt_ + 1; }
    // The attempt that wrote a segment; unknown_attempt if neither the segment nor its neighbours show it.
    [[nodiscard]] std::uint32_t attempt_of(std::uint32_t number) const noexcept { return segments_.attempt_of(number); }
    // When, within a step, the loop that wrote the segment observed.
    [[nodiscard]] instant instant_of(std::uint32_t number) const noexcept { return segments_[number].instant; }
    // The worker whose record this is.
    [[nodiscard]] std::uint32_t worker() const noexcept { return worker_; }
    // The planned number of workers; 0: not specified.
    [[nodiscard]] std::uint32_t expected_workers() const noexcept { return expected_workers_; }
    // Seconds since 1970, of the latest attempt; 0 if unknown.
    [[nodiscard]] double begun_at() const noexcept { return begun_at_; }
    // Likewise; 0 if it has not ended.
    [[nodiscard]] double ended_at() const noexcept { return ended_ ? ended_at_ : 0; }
    // No segment was read.
    [[nodiscard]] bool is_empty() const noexcept { return segments_.size() == 0; }
    // The file of the first segment, or its sidecar, exists.
    [[nodiscard]] bool has_begun() const;
    // The newest attempt has a run_end.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    // From the run_end row (docs/format.md).
    [[nodiscard]] std::uint8_t ended_how() const noexcept { return ended_how_; }
    // The failure, or the first error; empty: none.
    [[nodiscard]] std::string const& ended_why() const noexcept { return ended_why_; }
    // The latest recorded section of the loop: of a long stay, or where its process ended.
    [[nodiscard]] stayed_in const& stayed() const noexcept { return stayed_; }
    // A process is writing the record.
    [[nodiscard]] result<bool> is_locked() const;

    // The readable bytes of a segment, by place; valid until the next refresh.
    [[nodiscard]] byte_view segment_bytes(std::uint32_t number) const noexcept { return segments_[number].bytes(); }
    // The same, after fetching the values of a row, and their bases, from a remote file. Error: they cannot be fetched.
    [[nodiscard]] result<byte_view> segment_with(rows::observe const& row, std::uint32_t number) const noexcept;
    // The row; valid until the next call with `finder`.
    [[nodiscard]] row_view row_at(row_place const& at, row_kind kind, row_finder& finder) const noexcept;
    // A shared finder for occasional reads; it continues from its last row.
    [[nodiscard]] row_finder& finder() const noexcept { return finder_; }
    // Reads the values of its rows.
    [[nodiscard]] payload_unpacker& unpacker() const noexcept { return unpacker_; }

    // Reads the rows of all steps, unless that was done before.
    void complete() const;
    // complete() was called, and nothing was added since.
    [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
    // Whether lost rows, or rows without a declaration, may belong to a step; for a complete index. Behind an entry:
    // see lost_rows::behind.
    [[nodiscard]] lost_rows::doubt doubt_behind(track_entry const& entry, step_id step, std::uint32_t attempt) const;
    // Anywhere in the record, in that attempt (unknown_attempt: in any).
    [[nodiscard]] bool may_lack(step_id step, std::uint32_t attempt) const;
    // Anything of any step is lost, or was not written completely.
    [[nodiscard]] bool lacks_some() const;
    // The step may be in lost data, or in data that was being written when the writer ended.
    [[nodiscard]] bool may_hide(step_id step) const;
    // Call it before reading bytes of a segment: another process may have truncated the file.
    void guard(std::uint32_t number) const noexcept { segments_.guard(number); }
    // Until the matching call with false, a size check of a segment holds for a millisecond. For callers that read very
    // much.
    void look_rarely(bool wanted) const noexcept { segments_.look_rarely(wanted); }
    // From here on, walk() and the first reading of all rows add the bytes that they have passed, with skipped values,
    // to `bytes`, for a progress display. null: stop. `bytes` must outlive this.
    void count_reading(work_count* bytes) const noexcept { come_by_ = bytes; }
    // The last observation of a tensor at a step, from the few frames that may hold it. For an index that is not
    // complete. Returns false if the record may have lost something, or once such look-ups have read as much as all
    // rows have.
    [[nodiscard]] bool latest_at(tensor_id id, step_id step, track_entry& found) const;

    // Calls take(segment number, row) for every complete row behind `from`, in the order of writing, and advances
    // `from`. If `take` returns false the walk ends, and the next walk begins with that row.
    template <class Take>
    void walk(walk_place& from, Take&& take) const {
        constexpr std::size_t looks_each = 16;  // groups between checks, which cost as much as some kilobytes of rows
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
            if (from.segment + 1 == segments_.size()) { return; }  // the last segment may grow
        }
    }
    template <class Take>
    void walk(Take&& take) const {
        walk_place from{};
        walk(from, take);
    }
    // The trial's id of a tensor that has the id `local` in a segment; no_tensor if its declare row was lost
    // everywhere.
    [[nodiscard]] tensor_id id_of(std::uint32_t number, tensor_id local) const noexcept;

private:
    void come_by(std::uint64_t bytes) const noexcept {
        if (come_by_ != nullptr) { come_by_->add(bytes); }
    }
    // True if the segment's attempt matches, or either attempt is unknown.
    [[nodiscard]] bool is_of(std::uint32_t place, std::uint32_t attempt) const noexcept;
    // Looks into one group of frames for `latest_at`; false if it may lack rows.
    [[nodiscard]] bool look_for(tensor_id id, step_id step, std::uint32_t number, side_place const& group,
                                track_entry& found, bool& seen) const;
    // A segment was extended.
    void take_segment(std::uint32_t place);
    // Reads the rows about the run from the frames of a group that have one of these flags.
    void notice(std::uint32_t number, side_place const& group, std::uint32_t wanted);
    // Reads the declarations from a closed segment's sidecar; false if it has none.
    [[nodiscard]] bool take_side_declarations(std::uint32_t place);
    void take_groups();
    // Undoes an interrupted take_groups().
    void forget_groups() noexcept;
    void adopt_nameless();
    void take_group(std::uint32_t number, side_place const& group);
    // Takes all closes of a steps row. False if its values must be taken one by one.
    [[nodiscard]] bool take_steps(steps_outline const& row, row_place const& at);
    // Takes the lost places of a segment up to an offset.
    void take_lost(std::uint32_t number, std::uint64_t offset);
    // Takes what is lost between a segment and the one before it, and in a segment that cannot be read.
    void take_lost_before(std::uint32_t number);
    [[nodiscard]] byte_view row_of(row_place const& at) const noexcept;
    [[nodiscard]] static byte_view bytes_at(void const* index, row_place const& at) noexcept;
    void note_malformed(std::uint32_t number, byte_view body);
    [[nodiscard]] std::uint64_t place_of(std::uint32_t number, byte_view body) const noexcept;

    [[nodiscard]] bool take_notice(std::uint32_t number, row_view row);
    [[nodiscard]] bool take_begin(std::uint32_t number, row_view row);
    // From the head of a segment, and from its run_begin.
    void take_attempt(std::uint32_t number, std::uint32_t attempt, double time);
    [[nodiscard]] bool take_declare(std::uint32_t number, row_view row);
    [[nodiscard]] bool take_finding(row_view row);
    [[nodiscard]] bool take_stay(row_view row);
    [[nodiscard]] bool take_end(row_view row);
    // Stores a text as long as the index lives.
    [[nodiscard]] std::string_view keep(std::string_view it) { return *texts_.emplace(it).first; }

    mutable run_segments segments_;  // reading guards them against files that shrink, and surveys them
    lost_rows lost_{};
    std::size_t gone_taken_ = 0;  // number of gone segments that were taken
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
    std::set<std::pair<std::uint32_t, std::uint64_t>> malformed_{};  // rows already reported as damage
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
    mutable std::uint64_t looked_through_ = 0;  // bytes that latest_at() read of these
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
namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void recorded_times::add(stretch const& more) {
    bool const goes_on = stretches_.empty() || more.first >= stretches_.back().first + stretches_.back().count;
    if (goes_on) { stretches_.push_back(more); }
}

SPOTTER_BODY void recorded_times::clear() noexcept {
    stretches_.clear();
    open_ = ~std::size_t{0};
}

SPOTTER_BODY void recorded_times::open(std::size_t which) const {
    open_ = which;
    byte_view const body = source_.of(stretches_[which].place);
    body_.assign(body.begin(), body.end());
    reader_ = times_reader{body_};
    has_last_ = false;
}

SPOTTER_BODY bool recorded_times::read_to(std::size_t which, std::uint64_t ordinal, step_time& out) const {
    if (open_ != which || (has_last_ && last_.ordinal > ordinal)) { open(which); }
    while (!has_last_ || last_.ordinal < ordinal) {
        has_last_ = reader_.next(last_);
        if (!has_last_) { return false; }
    }
    out = last_;
    return true;
}

SPOTTER_BODY std::optional<recorded_times::found> recorded_times::find(std::uint64_t ordinal) const {
    auto const behind = std::upper_bound(stretches_.begin(), stretches_.end(), ordinal,
                                         [](std::uint64_t it, stretch const& each) { return it < each.first; });
    if (behind == stretches_.begin()) { return std::nullopt; }
    auto const which = static_cast<std::size_t>(behind - stretches_.begin()) - 1;
    stretch const& mine = stretches_[which];
    if (ordinal - mine.first >= mine.count) { return std::nullopt; }
    found out{};
    step_time before{};
    if (ordinal > mine.first) {
        out.has_before = read_to(which, ordinal - 1, before);
    } else if (which > 0 && stretches_[which - 1].attempt == mine.attempt &&
               stretches_[which - 1].first + stretches_[which - 1].count == ordinal) {
        out.has_before = read_to(which - 1, ordinal - 1, before);
    }
    out.before = before.closed;
    if (!read_to(which, ordinal, out.own)) { return std::nullopt; }
    return out;
}

SPOTTER_BODY std::optional<timed_step> recorded_times::find(step_id step, std::uint64_t ordinal,
                                                            std::uint32_t worker) const {
    auto const it = find(ordinal);
    if (!it) { return std::nullopt; }
    auto const seconds = [](std::uint64_t from, std::uint64_t to) {
        return to > from ? 1e-9 * static_cast<double>(to - from) : 0.0;
    };
    timed_step out{step, ordinal};
    out.begun = seconds(0, it->own.begun);
    out.closed = seconds(0, it->own.closed);
    out.inside = seconds(it->own.begun, it->own.closed);
    out.seconds = seconds(it->has_before ? it->before : it->own.begun, it->own.closed);
    out.first = !it->has_before;
    out.worker = worker;
    return out;
}

}  // namespace spotter::inline SPOTTER_ABI

#include <spotter/trial/index.ipp>
#endif
