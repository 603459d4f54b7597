// SPDX-License-Identifier: Apache-2.0
// Trial (L4): what is where in a run folder: segments mapped, their rows walked once, nothing of the payload touched.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/rule/coverage.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/trial/entry_list.hpp>
#include <spotter/trial/fwd.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

struct recorded_tensor {
    std::string name{};
    tensor_info info{};  // ids are the trial's own
    entry_list entries{};
    std::uint32_t declared_in = 0;  // the segment of its last declare row, whose id of the partner this is
    tensor_id declared_partner = no_tensor;
};

struct closed_step {
    step_id step{};
    std::uint64_t ordinal = 0;
    double time = 0;     // seconds since 1970, stamped by the writer
    bool holds = false;  // anything was kept
};

struct recorded_collection {
    std::string name{};
    std::string what{};
};

struct recorded_coverage {
    std::string rule{};
    std::string reason{};
    std::uint64_t matched = 0, judged = 0, undecided = 0, fired = 0;
    std::uint32_t worker = 0;   // the lowest of those that it is of
    std::uint32_t workers = 1;  // of how many, which say the same: their counts add up
};

// How far a walk over the rows of a run has come.
struct walk_place {
    std::uint32_t segment = 0;
    std::uint64_t offset = 0;  // of a row frame, or before it
    std::uint64_t rows = 0;    // of that frame, which were taken
};

// Bytes that could not be read; everything else was.
struct damaged_place {
    std::string file{};
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
};

struct run_totals {
    std::uint64_t stored = 0, dropped = 0, thinned = 0, closes_lost = 0, refused = 0;  // over all attempts
    std::uint64_t bytes = 0;                                                           // of all segments
};

class run_index {
public:
    run_index(std::string_view path, file_system& files) : files_{files}, path_{path} {}
    run_index(run_index const&) = delete;
    run_index& operator=(run_index const&) = delete;
    ~run_index() {
        for (segment& each : segments_) { files_.unmap(each.mapping); }
    }

    // Takes in what has been written since the last call. A failed call changes nothing that was known.
    [[nodiscard]] error refresh() {
        result<path_kind> const kind = files_.kind_of(path_);
        if (!kind || *kind != path_kind::folder) { return not_a_run("is no folder"); }
        error const unreadable = first_segment();
        if (unreadable && (unreadable.code != errc::not_a_run || !later_segment_is_sound())) { return unreadable; }
        totals_.bytes = 0;
        for (std::uint32_t number = 0;; ++number) {
            std::string const name = file_name(number, layout::data_suffix);
            if (!is_file(name)) {
                // The writer made the files in order, so one that is missing still, though the next is there, was removed.
                bool const removed = is_file(file_name(number + 1, layout::data_suffix)) && !is_file(name);
                if (!removed && !is_file(name)) { break; }
                if (removed && number == segments_.size()) { note_damage({name, 0, 0}); }
            }
            // A segment is whole before the next one is begun, but may have been read before that: then its end comes first.
            if (number > 0 && number == segments_.size()) {
                std::string const before = file_name(number - 1, layout::data_suffix);
                std::uint64_t const known = segments_[number - 1].mapping.bytes.size();
                if (files_.size_of(before).value_or(known) != known) {
                    totals_.bytes -= known;
                    if (error const why = extend(number - 1, before)) { return why; }
                }
            }
            if (error const why = extend(number, name)) { return why; }
        }
        return {};
    }

    // --- what is known -----------------------------------------------------------------------------------------------------
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    [[nodiscard]] std::vector<std::unique_ptr<recorded_tensor>> const& tensors() const noexcept { return tensors_; }
    [[nodiscard]] recorded_tensor const* find(std::string_view name) const noexcept {
        auto const it = by_name_.find(name);
        return it == by_name_.end() ? nullptr : tensors_[it->second].get();
    }
    [[nodiscard]] std::vector<closed_step> const& steps() const noexcept { return steps_; }
    // Null for a step that was never closed.
    [[nodiscard]] closed_step const* step_of(std::uint64_t ordinal) const noexcept {
        auto const it =
            std::lower_bound(steps_.begin(), steps_.end(), ordinal,
                             [](closed_step const& each, std::uint64_t wanted) { return each.ordinal < wanted; });
        return it != steps_.end() && it->ordinal == ordinal ? &*it : nullptr;
    }
    [[nodiscard]] std::vector<recorded_collection> const& collections() const noexcept { return collections_; }
    [[nodiscard]] std::vector<finding> const& findings() const noexcept { return findings_; }
    [[nodiscard]] std::vector<recorded_coverage> const& coverages() const noexcept { return coverages_; }
    [[nodiscard]] std::vector<damaged_place> const& damage() const noexcept { return damage_; }
    [[nodiscard]] run_totals const& totals() const noexcept { return totals_; }
    [[nodiscard]] std::uint32_t attempts() const noexcept { return attempt_ + 1; }
    // Whose record it is, and how many workers the run was told to have (0: it was not told).
    [[nodiscard]] std::uint32_t worker() const noexcept { return worker_; }
    [[nodiscard]] std::uint32_t expected_workers() const noexcept { return expected_workers_; }
    // Seconds since 1970; 0 where it is not known. Of the latest attempt.
    [[nodiscard]] double begun_at() const noexcept { return begun_at_; }
    [[nodiscard]] double ended_at() const noexcept { return ended_ ? ended_at_ : 0; }
    [[nodiscard]] bool has_first_segment() const { return is_file(file_name(0, layout::data_suffix)); }
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] std::uint8_t ended_how() const noexcept { return ended_how_; }
    [[nodiscard]] std::string const& ended_why() const noexcept { return ended_why_; }
    [[nodiscard]] bool is_locked() const noexcept {
        result<bool> const held = files_.is_locked(path_ + '/' + layout::lock_name);
        return held && *held;
    }

    [[nodiscard]] byte_view segment_bytes(std::uint32_t number) const noexcept {
        return segments_[number].mapping.bytes;
    }
    // The row, valid until `finder` is asked for the next.
    [[nodiscard]] row_view row_at(row_place const& at, row_kind kind, row_finder& finder) const noexcept {
        byte_view const stored = segment_bytes(at.segment).subspan(static_cast<std::size_t>(at.offset), at.bytes);
        return finder.find(kind, stored, at.part);
    }

    // Calls take(segment number, row) for every whole row behind `from`, in the order in which it was written, and moves `from` on.
    // `take` returns false to end the walk; that row is met again when it goes on.
    template <class Take>
    void walk(walk_place& from, Take&& take) const {
        for (; from.segment < segments_.size(); from = {from.segment + 1, 0, 0}) {
            segment const& mine = segments_[from.segment];
            frame_walker walker{mine.mapping.bytes.first(static_cast<std::size_t>(mine.walked_to)), from.offset};
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
            if (from.segment + 1 == segments_.size()) { return; }  // it may grow
        }
    }
    template <class Take>
    void walk(Take&& take) const {
        walk_place from{};
        walk(from, take);
    }
    // The trial's id of a tensor that a segment calls `local`; no_tensor where its declare row was lost.
    [[nodiscard]] tensor_id id_of(std::uint32_t number, tensor_id local) const noexcept {
        std::vector<tensor_id> const& ids = segments_[number].ids;
        return local < ids.size() ? ids[local] : no_tensor;
    }

private:
    struct segment {
        file_mapping mapping{};
        std::uint64_t walked_to = 0;
        std::vector<tensor_id> ids{};  // the writer's ids in this segment to the trial's
    };

    [[nodiscard]] std::string file_name(std::uint32_t number, char const* suffix) const {
        char name[32];
        std::size_t const size = name_segment(number, suffix, name);
        return path_ + '/' + std::string{name, size};
    }
    [[nodiscard]] error not_a_run(std::string_view why) const noexcept {
        error found{errc::not_a_run, "\""};
        found.what << path_ << "\" " << why << ": give the folder that a hook recorded into (hook.path() says which)";
        return found;
    }
    [[nodiscard]] bool is_file(std::string const& name) const noexcept {
        result<path_kind> const there = files_.kind_of(name);
        return there && *there == path_kind::file;
    }
    [[nodiscard]] error first_segment() const {
        result<file_mapping> const first = files_.map(file_name(0, layout::data_suffix));
        if (!first) { return not_a_run("holds no 000000.spot"); }
        error const why = first_segment_is_readable(first->bytes);
        files_.unmap(*first);
        return why;
    }
    // A run whose first segment is lost is still a run where it was resumed, or had come to the next.
    [[nodiscard]] bool later_segment_is_sound() const {
        bool sound = false;
        for (std::uint32_t number = 1; !sound; ++number) {
            result<file_mapping> const later = files_.map(file_name(number, layout::data_suffix));
            if (!later) { break; }
            sound = later->bytes.size() >= layout::head_bytes && decode_head(later->bytes);
            files_.unmap(*later);
        }
        return sound;
    }
    [[nodiscard]] error first_segment_is_readable(byte_view bytes) const noexcept {
        if (bytes.size() < layout::head_bytes) { return {}; }  // a run that is just beginning
        result<segment_head> const head = decode_head(bytes);
        if (head || head.error().code == errc::corrupt) { return {}; }
        return head.error().code == errc::not_a_run ? not_a_run("has a 000000.spot that is no spotter segment")
                                                    : head.error();
    }

    [[nodiscard]] error extend(std::uint32_t number, std::string const& name) {
        if (number == segments_.size()) { segments_.emplace_back(); }
        segment& mine = segments_[number];
        result<std::uint64_t> const size = files_.size_of(name);
        if (size && *size != mine.mapping.bytes.size()) {
            result<file_mapping> fresh = files_.map(name);
            if (!fresh) { return fresh.error(); }
            files_.unmap(mine.mapping);
            mine.mapping = *fresh;
        }
        totals_.bytes += mine.mapping.bytes.size();
        frame_walker walker{mine.mapping.bytes, mine.walked_to};
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::corrupt) { note_damage({name, walker.damage().offset, walker.damage().bytes}); }
            if (what == walked::rows) { take_frame(number, walker.frame()); }
        }
        mine.walked_to = walker.good_end();
        for (auto const& tensor : tensors_) {
            if (tensor->declared_in == number) { tensor->info.partner = id_of(number, tensor->declared_partner); }
        }
        return {};
    }
    // Damage at the end of a run that still grows is met again at every refresh.
    void note_damage(damaged_place const& place) {
        if (!damage_.empty() && damage_.back().offset == place.offset && damage_.back().file == place.file) {
            damage_.pop_back();
        }
        damage_.push_back(place);
    }

    void take_frame(std::uint32_t number, row_frame const& frame) {
        byte_view const whole = segments_[number].mapping.bytes;
        if (frame.first_ordinal != ordinal_) {  // a step that was never closed, or damage, keeps the ordinals between
            ordinal_ = frame.first_ordinal;
            holds_ = false;
        }
        for (byte_reader in{frame.body}; in.left() > 0;) {
            auto const kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
            byte_view const body = in.raw(in.varint());
            if (in.bad()) { break; }
            row_place const place{number, static_cast<std::uint32_t>(body.size()),
                                  static_cast<std::uint64_t>(body.data() - whole.data())};
            bool const good =
                kind == row_kind::steps ? take_steps(number, body, place) : take_row(number, {kind, body}, place);
            if (!good) { damage_.push_back({file_name(number, layout::data_suffix), place.offset, place.bytes}); }
        }
    }
    // Packed steps: their values stay where they are.
    [[nodiscard]] bool take_steps(std::uint32_t number, byte_view body, row_place place) {
        steps_reader steps{body};
        bool good = true;
        for (place.part = 0; steps.next(); ++place.part) {
            packed_row const& row = steps.row();
            if (row.kind == row_kind::close) {
                take_close(row.step, row.ordinal, row.time);
            } else {
                bool const scalar = row.kind == row_kind::scalar;
                good = add(number, row.id, {row.step, row.ordinal, place, scalar, false, scalar}) && good;
            }
        }
        return good && !steps.bad();
    }
    void take_close(step_id step, std::uint64_t ordinal, double time) {
        steps_.push_back({step, ordinal, time, holds_});
        ordinal_ = ordinal + 1;
        holds_ = false;
    }

    [[nodiscard]] bool take_row(std::uint32_t number, row_view row, row_place const& place) {
        switch (row.kind) {
            case row_kind::run_begin:
                return take_begin(row);
            case row_kind::declare:
                return take_declare(number, row);
            case row_kind::observe: {
                rows::observe seen;
                summary stats;
                if (decode(row, seen, stats)) { return false; }
                return add(number, seen.id, {seen.step, ordinal_, place, false, false, seen.has_values});
            }
            case row_kind::scalar: {
                rows::scalar value;
                if (decode(row, value)) { return false; }
                return add(number, value.id, {value.step, ordinal_, place, true, !value.has_step, true});
            }
            case row_kind::close: {
                rows::close closed;
                if (decode(row, closed)) { return false; }
                take_close(closed.step, closed.ordinal, closed.time);
                return true;
            }
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
            case row_kind::heartbeat:
            case row_kind::steps:  // take_steps
                break;
        }
        return true;  // heartbeats, and kinds of a newer writer
    }
    [[nodiscard]] bool add(std::uint32_t number, tensor_id local, track_entry const& entry) {
        tensor_id const id = id_of(number, local);
        if (id == no_tensor) { return false; }
        tensors_[id]->entries.push_back(entry);
        holds_ = holds_ || !entry.loose;
        return true;
    }
    [[nodiscard]] bool take_begin(row_view row) {
        rows::run_begin begin;
        if (decode(row, begin)) { return false; }
        if (begin.attempt > attempt_) {
            ended_ = false;
            coverages_.clear();
            earlier_ = totals_;
        }
        attempt_ = begin.attempt;
        worker_ = begin.worker;
        expected_workers_ = begin.workers;
        begun_at_ = begin.time;
        collections_.clear();
        byte_view list = begin.list;
        for (std::uint64_t i = 0; i < begin.collections; ++i) {
            rows::collection each;
            if (!read_collection(list, each)) { return false; }
            collections_.push_back({std::string{each.name}, std::string{each.what}});
        }
        return true;
    }
    [[nodiscard]] bool take_declare(std::uint32_t number, row_view row) {
        rows::declare told;
        if (decode(row, told)) { return false; }
        auto it = by_name_.find(told.tensor.name);
        if (it == by_name_.end()) {
            tensors_.push_back(std::make_unique<recorded_tensor>());
            tensors_.back()->name = told.tensor.name;
            it = by_name_.emplace(tensors_.back()->name, tensors_.size() - 1).first;
        }
        auto const id = static_cast<tensor_id>(it->second);
        recorded_tensor& mine = *tensors_[id];
        std::vector<tensor_id>& ids = segments_[number].ids;
        if (told.tensor.id >= ids.size()) { ids.resize(told.tensor.id + std::size_t{1}, no_tensor); }
        ids[told.tensor.id] = id;
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
        finding it;
        it.rule = keep(told.rule), it.reason = keep(told.reason), it.tensor = keep(told.tensor);
        it.measure = keep(told.measure), it.remedy = keep(told.remedy);
        it.step = told.step;
        it.measured = told.measured, it.threshold = told.threshold;
        it.how = static_cast<relation>(told.how);
        it.severity = static_cast<severity>(told.severity);
        it.decision = static_cast<decision>(told.decision);
        it.decision_is_set = told.decision_is_set;
        it.others = told.others;
        it.worker = worker_;
        it.detail << told.detail;
        findings_.push_back(it);
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
        coverages_.clear();
        byte_view list = end.list;
        for (std::uint64_t i = 0; i < end.coverages; ++i) {
            rows::coverage each;
            if (!read_coverage(list, each)) { return false; }
            coverages_.push_back({std::string{each.rule}, std::string{each.reason}, each.matched, each.judged,
                                  each.undecided, each.fired, worker_});
        }
        return true;
    }
    // A text that lives as long as the index.
    [[nodiscard]] std::string_view keep(std::string_view it) { return *texts_.emplace(it).first; }

    file_system& files_;
    std::string path_;
    std::vector<segment> segments_{};
    std::vector<std::unique_ptr<recorded_tensor>> tensors_{};
    std::map<std::string, std::size_t, std::less<>> by_name_{};
    std::set<std::string> texts_{};
    std::vector<closed_step> steps_{};
    std::vector<recorded_collection> collections_{};
    std::vector<finding> findings_{};
    std::vector<recorded_coverage> coverages_{};
    std::vector<damaged_place> damage_{};
    run_totals totals_{};
    run_totals earlier_{};  // of the attempts before the last
    std::uint64_t ordinal_ = 0;
    std::uint32_t attempt_ = 0;
    std::uint32_t worker_ = 0;
    std::uint32_t expected_workers_ = 0;
    double begun_at_ = 0;
    double ended_at_ = 0;
    bool holds_ = false;
    bool ended_ = false;
    std::uint8_t ended_how_ = 0;
    std::string ended_why_{};
};

}  // namespace spotter::inline SPOTTER_ABI
