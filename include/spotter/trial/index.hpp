// SPDX-License-Identifier: Apache-2.0
// Trial (L4): what is where in a run folder. Opening reads the sidecars and the few rows that are about the run as a whole; the
// rows of steps are read when they are asked for, values never.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/rule/coverage.hpp>
#include <spotter/trial/fwd.hpp>
#include <spotter/trial/lost_names.hpp>
#include <spotter/trial/mapped_segment.hpp>
#include <spotter/trial/no_memory.hpp>
#include <spotter/trial/recorded.hpp>
#include <spotter/trial/recorded_lists.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

class run_index {
public:
    run_index(std::string_view path, file_system& files) : files_{files}, path_{path} {}
    run_index(run_index const&) = delete;
    run_index& operator=(run_index const&) = delete;
    ~run_index() {
        for (segment& each : segments_) { each.release(files_); }
    }

    // Takes in what has been written since the last call. A failed call changes nothing that was known.
    [[nodiscard]] error refresh() {
        error const why = take_in();
        totals_.bytes = 0;
        for (segment const& each : segments_) {
            if (!each.superseded() || each.whole()) { totals_.bytes += each.bytes().size(); }
        }
        return why;
    }

    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] std::vector<std::unique_ptr<recorded_tensor>> const& tensors() const {
        complete();
        return tensors_;
    }
    // Its entries are only known once the index is complete.
    [[nodiscard]] recorded_tensor const* find(std::string_view name) const noexcept {
        auto const it = by_name_.find(name);
        return it == by_name_.end() ? nullptr : tensors_[it->second].get();
    }
    [[nodiscard]] step_list const& steps() const {
        complete();
        return steps_;
    }
    // None for a step that was never closed.
    [[nodiscard]] std::optional<closed_step> step_of(std::uint64_t ordinal) const {
        complete();
        return steps_.find(ordinal);
    }
    // Of each attempt the one that it left open, if it holds anything.
    [[nodiscard]] std::vector<open_step> const& open_steps() const { return complete(), open_.all(); }
    [[nodiscard]] std::vector<recorded_collection> const& collections() const noexcept { return collections_; }
    [[nodiscard]] std::vector<finding> const& findings() const noexcept { return findings_; }
    [[nodiscard]] std::vector<recorded_coverage> const& coverages() const noexcept { return coverages_; }
    // Looks at every frame that has not been looked at, values but for their checksums too.
    [[nodiscard]] std::vector<damaged_place> const& damage() const {
        complete();
        const_cast<run_index*>(this)->survey();  // the trial is one thread's, and an index never a constant
        return nameless_.beside(damage_, [this](std::uint32_t place) { return name_of(place); });
    }
    [[nodiscard]] run_totals const& totals() const noexcept { return totals_; }
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempt_ + 1; }
    // In which attempt a segment was written.
    [[nodiscard]] std::uint32_t attempt_of(std::uint32_t number) const noexcept { return segments_[number].attempt; }
    // Whose record it is, and how many workers the run was told to have (0: it was not told).
    [[nodiscard]] std::uint32_t worker() const noexcept { return worker_; }
    [[nodiscard]] std::uint32_t expected_workers() const noexcept { return expected_workers_; }
    // Seconds since 1970; 0 where it is not known. Of the latest attempt.
    [[nodiscard]] double begun_at() const noexcept { return begun_at_; }
    [[nodiscard]] double ended_at() const noexcept { return ended_ ? ended_at_ : 0; }
    [[nodiscard]] bool has_first_segment() const { return is_file(file_name(0, layout::data_suffix)).value_or(true); }
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] std::uint8_t ended_how() const noexcept { return ended_how_; }
    [[nodiscard]] std::string const& ended_why() const noexcept { return ended_why_; }
    [[nodiscard]] result<bool> is_locked() const noexcept { return files_.is_locked(path_ + '/' + layout::lock_name); }

    [[nodiscard]] byte_view segment_bytes(std::uint32_t number) const noexcept { return segments_[number].bytes(); }
    // The row, valid until `finder` is asked for the next.
    [[nodiscard]] row_view row_at(row_place const& at, row_kind kind, row_finder& finder) const noexcept {
        return finder.find(kind, row_of(at), at.part);
    }

    // Reads the rows of all steps, if they have not been.
    void complete() const {
        if (is_complete_) { return; }
        auto& mine = const_cast<run_index&>(*this);
        detail::listed([&] { mine.take_groups(); }, [&] { mine.forget_groups(); });
    }
    [[nodiscard]] bool is_complete() const noexcept { return is_complete_; }
    // The last observation of a tensor at a step, from the few frames that may hold it: what an index that is not complete can say.
    [[nodiscard]] bool latest_at(tensor_id id, step_id step, track_entry& found) const {
        bool seen = false;
        for (std::size_t number = segments_.size(); number > 0 && !seen; --number) {
            segment const& mine = segments_[number - 1];
            for (std::size_t i = mine.groups().size(); i > 0 && !seen; --i) {
                if (!mine.groups()[i - 1].may_hold(step)) { continue; }
                auto const place = static_cast<std::uint32_t>(number - 1);
                mine.each_entry(
                    place, mine.groups()[i - 1], [&](tensor_id local) { return id_of(place, local) == id; },
                    [&](track_entry const& entry) {
                        if (!entry.loose && entry.step == step) { found = entry, seen = true; }
                    });
            }
        }
        return seen;
    }

    // Calls take(segment number, row) for every whole row behind `from`, in the order in which it was written, and moves `from` on.
    // `take` returns false to end the walk; that row is met again when it goes on.
    template <class Take>
    void walk(walk_place& from, Take&& take) const {
        for (; from.segment < segments_.size(); from = {from.segment + 1, 0, 0, 0}) {
            segment const& mine = segments_[from.segment];
            for (; from.group < mine.groups().size(); ++from.group) {
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
    // The trial's id of a tensor that a segment calls `local`; no_tensor where its declare row was lost, with those in other segments.
    [[nodiscard]] tensor_id id_of(std::uint32_t number, tensor_id local) const noexcept {
        std::vector<tensor_id> const& ids = segments_[number].ids;
        bool const known = local < ids.size() && ids[local] != no_tensor;
        return known ? ids[local] : names_.find(segment_bytes(number), local);
    }

private:
    struct segment : mapped_segment {
        std::size_t noticed = 0,
                    taken = 0;     // groups of which the rows about the run, and those of steps, were taken in
        std::uint32_t number = 0;  // of its file
        std::uint32_t attempt = 0;
        std::vector<tensor_id> ids{};  // the writer's ids in this segment to the trial's
    };

    [[nodiscard]] std::string file_name(std::uint32_t number, char const* suffix) const {
        char name[32];
        std::size_t const size = name_segment(number, suffix, name);
        return path_ + '/' + std::string{name, size};
    }
    [[nodiscard]] std::string name_of(std::uint32_t place) const {
        return file_name(segments_[place].number, layout::data_suffix);
    }
    [[nodiscard]] error not_a_run(std::string_view why) const noexcept {
        error found{errc::not_a_run, "\""};
        found.what << path_ << "\" " << why << ": give the folder that a hook recorded into (hook.path() says which)";
        return found;
    }
    [[nodiscard]] result<bool> is_file(std::string const& name) const noexcept {
        result<path_kind> const there = files_.kind_of(name);
        if (!there && detail::is_trouble(there.error())) { return there.error(); }
        return there && *there == path_kind::file;
    }
    [[nodiscard]] error take_in() {
        result<path_kind> const kind = files_.kind_of(path_);
        if (!kind && detail::is_trouble(kind.error())) { return kind.error(); }
        if (!kind || *kind != path_kind::folder) { return not_a_run("is no folder"); }
        if (error const unreadable = first_segment()) {
            if (unreadable.code != errc::not_a_run) { return unreadable; }
            result<bool> const later = later_segment_is_sound();
            if (!later) { return later.error(); }
            if (!*later) { return unreadable; }
        }
        for (std::uint32_t number = 0;; ++number) {
            std::string const name = file_name(number, layout::data_suffix);
            result<bool> there = is_file(name);
            if (there && !*there) {
                // The writer made the files in order, so one that is missing still, though the next is there, was removed.
                result<bool> const next = is_file(file_name(number + 1, layout::data_suffix));
                if (!next) { return next.error(); }
                there = is_file(name);
                if (there && !*there && !*next) { return {}; }
                if (there && !*there && number == next_number()) { note_damage({name, 0, 0}); }
            }
            if (!there) { return there.error(); }
            // A segment is whole before the next one is begun, but may have been read before that: then its end comes first.
            if (number > 0 && number == next_number()) {
                if (error const why = extend(number - 1, file_name(number - 1, layout::data_suffix))) { return why; }
            }
            if (error const why = extend(number, name)) { return why; }
        }
    }
    [[nodiscard]] error first_segment() const {
        result<file_mapping> const first = files_.map(file_name(0, layout::data_suffix));
        if (!first) { return detail::is_trouble(first.error()) ? first.error() : not_a_run("holds no 000000.spot"); }
        error const why = first_segment_is_readable(first->bytes);
        files_.unmap(*first);
        return why;
    }
    // A run whose first segment is lost is still a run where it was resumed, or had come to the next.
    [[nodiscard]] result<bool> later_segment_is_sound() const {
        for (std::uint32_t number = 1;; ++number) {
            result<file_mapping> const later = files_.map(file_name(number, layout::data_suffix));
            if (!later && detail::is_trouble(later.error())) { return later.error(); }
            if (!later) { return false; }
            bool const sound = later->bytes.size() >= layout::head_bytes && decode_head(later->bytes);
            files_.unmap(*later);
            if (sound) { return true; }
        }
    }
    [[nodiscard]] error first_segment_is_readable(byte_view bytes) const noexcept {
        if (bytes.size() < layout::head_bytes) { return {}; }  // a run that is just beginning
        result<segment_head> const head = decode_head(bytes);
        // Nor is it, where only the head is damaged, no segment: its first row frame is there.
        bool const damaged = !head && head.error().code != errc::unknown_version &&
                             (head.error().code == errc::corrupt || decode_row_frame(bytes, layout::head_bytes));
        if (head || damaged) { return {}; }
        return head.error().code == errc::not_a_run ? not_a_run("has a 000000.spot that is no spotter segment")
                                                    : head.error();
    }

    [[nodiscard]] std::uint32_t next_number() const noexcept {
        return segments_.empty() ? 0 : segments_.back().number + 1;
    }
    // A segment that was thinned while it was only known in part is there twice: as it was, and from there on as it is.
    [[nodiscard]] error extend(std::uint32_t number, std::string const& name) {
        if (number == next_number()) { segments_.emplace_back().number = number; }
        auto const behind = std::upper_bound(segments_.begin(), segments_.end(), number,
                                             [](std::uint32_t it, segment const& each) { return it < each.number; });
        auto const place = static_cast<std::uint32_t>(behind - segments_.begin() - 1);
        if (error const why = extend_at(place, name)) { return why; }
        segment const& mine = segments_[place];
        if (!mine.superseded() || mine.whole() || place + std::size_t{1} < segments_.size()) { return {}; }
        segment rest{};
        rest.number = number, rest.attempt = mine.attempt, rest.ids = mine.ids;
        rest.go_on_from(mine);
        segments_.push_back(std::move(rest));
        return extend_at(place + 1, name);
    }
    [[nodiscard]] error extend_at(std::uint32_t place, std::string const& name) {
        segment& mine = segments_[place];
        bool const known = mine.foreign();
        if (error const why = mine.extend(files_, name, file_name(mine.number, layout::side_suffix))) { return why; }
        if (mine.foreign() && !known) { note_damage({name, 0, mine.bytes().size()}); }  // its rows may mean anything
        for (; mine.noticed < mine.groups().size(); ++mine.noticed) { notice(place, mine.groups()[mine.noticed]); }
        each_side_declaration(mine.take_beside(), mine.bytes(), [&](row_view row) {
            byte_reader in{row.body};
            bool const begins = row.kind == row_kind::run_begin;
            bool const lost = begins ? begun_at_ == 0 : id_of(place, detail::take_id(in)) == no_tensor;
            if (lost) { (void)take_notice(place, row); }
        });
        for (auto const& tensor : tensors_) {
            if (tensor->declared_in == place) { tensor->info.partner = id_of(place, tensor->declared_partner); }
        }
        is_complete_ = is_complete_ && mine.taken == mine.groups().size();
        return {};
    }
    // What a group says about the run as a whole.
    void notice(std::uint32_t number, side_place const& group) {
        constexpr std::uint32_t wanted =
            layout::has_declares | layout::has_findings | layout::has_run_end | layout::has_drops;
        if ((group.flags & wanted) == 0) { return; }
        frame_walker walker = segments_[number].frames_of(group);
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what != walked::rows || (walker.frame().flags & wanted) == 0) { continue; }
            for (byte_reader in{walker.frame().body}; in.left() > 0;) {
                auto const kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
                byte_view const body = in.raw(in.varint());
                if (!in.bad() && !take_notice(number, {kind, body})) { note_malformed(number, body); }
            }
        }
    }
    void take_groups() {
        adopt_nameless();
        for (std::uint32_t number = 0; number < segments_.size(); ++number) {
            segment& mine = segments_[number];
            for (; mine.taken < mine.groups().size(); ++mine.taken) {
                mine.each_value(
                    number, mine.groups()[mine.taken],
                    [&](tensor_id local, track_entry const& entry) {
                        tensor_id const id = id_of(number, local);
                        holds_ = holds_ || (!entry.loose && entry.place.part == whole_row);
                        if (id == no_tensor) { return nameless_.add(local, entry); }
                        tensors_[id]->entries.push_back(entry);
                        if (entry.place.part == whole_row) { open_.meet(mine.attempt, worker_, entry); }
                    },
                    [&](steps_outline const& row, row_place const& at) {
                        steps_.append(row);
                        open_.close(mine.attempt);
                        bool const taken = detail::each_of_dense(row, [&](tensor_id local, std::uint64_t count) {
                            tensor_id const id = id_of(number, local);
                            if (id == no_tensor) { return nameless_.add_row(at, local, count); }
                            tensors_[id]->entries.push_row(at, local, count);
                        });
                        holds_ = false;
                        return taken;
                    },
                    [&](step_id step, std::uint64_t ordinal, double time) {
                        open_.close(mine.attempt);
                        steps_.push_back({step, ordinal, time, std::exchange(holds_, false)});
                    },
                    [&](std::uint64_t ordinal) {  // a step that was never closed, or damage, keeps the ordinals between
                        if (std::exchange(ordinal_, ordinal) != ordinal) { holds_ = false; }
                    },
                    [&](byte_view body) { note_malformed(number, body); });
            }
        }
        is_complete_ = true;
    }
    // To begin anew, after half of it.
    void forget_groups() noexcept {
        for (auto const& tensor : tensors_) { tensor->entries.clear(); }
        for (segment& each : segments_) { each.taken = 0; }
        steps_ = {}, nameless_ = {}, ordinal_ = 0, holds_ = false;
    }
    void adopt_nameless() {
        nameless_.adopt([this](std::uint32_t number, tensor_id local) { return id_of(number, local); },
                        [this](tensor_id id, entry_list const& found) { return tensors_[id]->entries.append(found); });
    }
    void survey() {
        for (std::uint32_t number = 0; number < segments_.size(); ++number) {
            segments_[number].survey([&](frame_place const& it) {
                note_damage({name_of(number), it.offset, it.bytes});
            });
        }
        note_cuts();
    }
    // A segment that the same attempt went on from was closed before: one whose end is missing was cut. Where it has no head, the
    // closes before the next one tell.
    void note_cuts() {
        for (; sure_ + std::size_t{1} < segments_.size(); ++sure_) {
            segment const& mine = segments_[sure_];
            byte_view const following = segments_[sure_ + std::size_t{1}].bytes();
            if (following.size() < layout::head_bytes) { return; }  // it is just beginning
            auto const head = decode_head(mine.bytes()), next = decode_head(following);
            bool const goes_on = next && (head ? head->run_id == next->run_id && head->attempt == next->attempt
                                               : next->first_ordinal > mine.next_ordinal());
            if (mine.closed() || mine.superseded() || !goes_on || is_recovered(sure_, next->attempt)) { continue; }
            note_damage({name_of(sure_), mine.surveyed_to(), mine.bytes().size() - mine.surveyed_to()});
        }
    }
    // The ring of its attempt was in shared memory: then segments without an end are gone on from by recoveries, which may be killed
    // in their turn.
    [[nodiscard]] bool is_recovered(std::size_t number, std::uint32_t attempt) const noexcept {
        for (; number < segments_.size(); ++number) {
            auto const head = decode_head(segments_[number].bytes());
            if (head && head->attempt != attempt) { return false; }
            if (segments_[number].has_marks()) { return true; }
        }
        return false;
    }
    void note_malformed(std::uint32_t number, byte_view body) {
        auto const offset = static_cast<std::uint64_t>(body.data() - segments_[number].bytes().data());
        damage_.push_back({name_of(number), offset, body.size()});
    }
    [[nodiscard]] byte_view row_of(row_place const& at) const noexcept {
        return segment_bytes(at.segment).subspan(static_cast<std::size_t>(at.offset), at.bytes);
    }
    [[nodiscard]] static byte_view bytes_at(void const* index, row_place const& at) noexcept {
        return static_cast<run_index const*>(index)->row_of(at);
    }
    // Damage at the end of a run that still grows is met again at every refresh.
    void note_damage(damaged_place const& place) {
        if (!damage_.empty() && damage_.back().offset == place.offset && damage_.back().file == place.file) {
            damage_.pop_back();
        }
        damage_.push_back(place);
    }

    [[nodiscard]] bool take_notice(std::uint32_t number, row_view row) {
        switch (row.kind) {
            case row_kind::run_begin:
                return take_begin(number, row);
            case row_kind::declare:
                return take_declare(number, row);
            case row_kind::finding:
                return take_finding(row);
            case row_kind::drops: {
                rows::drops lost;
                if (decode(row, lost)) { return false; }
                totals_.dropped = earlier_.dropped + lost.dropped;
                totals_.thinned = earlier_.thinned + lost.thinned;
                totals_.closes_lost = earlier_.closes_lost + lost.closes;
                return true;
            }
            case row_kind::run_end:
                return take_end(row);
            default:
                return true;  // rows of steps, heartbeats, and kinds of a newer writer
        }
    }
    [[nodiscard]] bool take_begin(std::uint32_t number, row_view row) {
        rows::run_begin begin;
        if (decode(row, begin)) { return false; }
        if (begin.attempt > attempt_) {
            ended_ = false;
            coverages_.clear();
            earlier_ = totals_;
        }
        attempt_ = segments_[number].attempt = begin.attempt;
        worker_ = begin.worker;
        expected_workers_ = begin.workers;
        begun_at_ = begin.time;
        return detail::take_collections(begin, collections_);
    }
    [[nodiscard]] bool take_declare(std::uint32_t number, row_view row) {
        rows::declare told;
        // A segment declares every id below its largest, so one beyond its bytes is no id.
        if (decode(row, told) || told.tensor.id >= segment_bytes(number).size()) { return false; }
        auto it = by_name_.find(told.tensor.name);
        if (it == by_name_.end()) {
            tensors_.push_back(std::make_unique<recorded_tensor>());
            tensors_.back()->name = told.tensor.name;
            tensors_.back()->entries.read_from({this, &run_index::bytes_at});
            it = by_name_.emplace(tensors_.back()->name, tensors_.size() - 1).first;
        }
        auto const id = static_cast<tensor_id>(it->second);
        recorded_tensor& mine = *tensors_[id];
        std::vector<tensor_id>& ids = segments_[number].ids;
        if (told.tensor.id >= ids.size()) { ids.resize(told.tensor.id + std::size_t{1}, no_tensor); }
        ids[told.tensor.id] = id;
        names_.learn(segment_bytes(number), told.tensor.id, id);
        mine.info = told.tensor;
        mine.info.id = id;
        mine.info.name = mine.name;
        mine.info.partner = no_tensor;  // known once all names of the segment are
        mine.declared_in = number;
        mine.declared_partner = told.tensor.partner;
        return true;
    }
    [[nodiscard]] bool take_finding(row_view row) {
        rows::finding told;
        if (decode(row, told)) { return false; }
        findings_.push_back(detail::finding_of(told, worker_, [this](std::string_view text) { return keep(text); }));
        return true;
    }
    [[nodiscard]] bool take_end(row_view row) {
        rows::run_end end;
        if (decode(row, end)) { return false; }
        ended_ = true;
        ended_how_ = end.how;
        ended_at_ = end.time;
        ended_why_ = end.why;
        totals_.stored = earlier_.stored + end.stored;
        totals_.dropped = earlier_.dropped + end.dropped;
        totals_.thinned = earlier_.thinned + end.thinned;
        totals_.refused = earlier_.refused + end.refused;
        return detail::take_coverages(end, worker_, coverages_);
    }
    // A text that lives as long as the index.
    [[nodiscard]] std::string_view keep(std::string_view it) { return *texts_.emplace(it).first; }

    file_system& files_;
    std::string path_;
    std::vector<segment> segments_{};
    std::uint32_t sure_ = 0;  // how many of them are whole or noted as cut
    std::vector<std::unique_ptr<recorded_tensor>> tensors_{};
    std::map<std::string, std::size_t, std::less<>> by_name_{};
    std::set<std::string> texts_{};
    step_list steps_{};
    open_step_list open_{};
    std::vector<recorded_collection> collections_{};
    std::vector<finding> findings_{};
    std::vector<recorded_coverage> coverages_{};
    std::vector<damaged_place> damage_{};
    attempt_names names_{};
    nameless_rows nameless_{};
    run_totals totals_{};
    run_totals earlier_{};  // of the attempts before the last
    std::uint64_t ordinal_ = 0;
    std::uint32_t attempt_ = 0;
    std::uint32_t worker_ = 0;
    std::uint32_t expected_workers_ = 0;
    double begun_at_ = 0;
    double ended_at_ = 0;
    bool holds_ = false;
    bool is_complete_ = true;
    bool ended_ = false;
    std::uint8_t ended_how_ = 0;
    std::string ended_why_{};
};

}  // namespace spotter::inline SPOTTER_ABI
