// SPDX-License-Identifier: Apache-2.0
// The bodies of index.hpp.
#pragma once

#include <spotter/trial/index.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY worker_index::worker_index(std::string_view path, file_system& files, payload_unpacker& unpacker)
    : segments_{path, files}, unpacker_{unpacker} {
    nameless_.read_from({this, &worker_index::bytes_at});
    times_.read_from({this, &worker_index::bytes_at});
}

SPOTTER_BODY error worker_index::refresh() {
    finder_.forget();  // the finder's segments may be mapped elsewhere now
    error const why = segments_.take_in([this](std::uint32_t place) { take_segment(place); });
    totals_.bytes = 0;
    for (std::uint32_t i = 0; i < segments_.size(); ++i) {
        run_segment const& each = segments_[i];
        if (!each.superseded() || each.whole()) { totals_.bytes += each.bytes().size(); }
    }
    return why;
}

SPOTTER_BODY error worker_index::settle_ends(bool over) {
    error const why = segments_.settle_ends(over);
    for (std::uint32_t i = 0; i < segments_.size(); ++i) {
        is_complete_ = is_complete_ && segments_[i].ends_early() == segments_[i].tail_taken;
    }
    is_complete_ = is_complete_ && gone_taken_ == segments_.gone().size();
    return why;
}

SPOTTER_BODY std::vector<std::unique_ptr<recorded_tensor>> const& worker_index::tensors() const {
    complete();
    return tensors_;
}

SPOTTER_BODY recorded_tensor const* worker_index::find(std::string_view name) const noexcept {
    auto const it = by_name_.find(name);
    return it == by_name_.end() ? nullptr : tensors_[it->second].get();
}

SPOTTER_BODY step_list const& worker_index::steps() const {
    complete();
    return steps_;
}

SPOTTER_BODY std::optional<closed_step> worker_index::step_of(std::uint64_t ordinal) const {
    complete();
    return steps_.find(ordinal);
}

SPOTTER_BODY std::uint64_t worker_index::next_ordinal() const {
    complete();
    std::uint64_t next = ordinal_;
    for (std::uint32_t i = 0; i < segments_.size() && segments_[i].settled; ++i) {
        auto const& head = segments_[i].head();
        next = head && !segments_[i].foreign() ? (std::max)(next, head->first_ordinal) : next;
    }
    return next;
}

SPOTTER_BODY std::vector<damaged_place> const& worker_index::damage() const {
    complete();
    return detail::listed([this]() -> std::vector<damaged_place> const& {
        segments_.survey();
        return nameless_.beside(segments_.damage(), [this](std::uint32_t place) { return segments_.name_of(place); });
    });
}

SPOTTER_BODY bool worker_index::has_begun() const {
    segment_folder const& folder = segments_.folder();
    return folder.is_file(folder.file_name(0, layout::data_suffix)).value_or(true) ||
           folder.is_file(folder.file_name(0, layout::side_suffix)).value_or(true);
}

SPOTTER_BODY result<bool> worker_index::is_locked() const {
    return segments_.folder().files().is_locked(path() + '/' + layout::lock_name);
}

SPOTTER_BODY result<byte_view> worker_index::segment_with(rows::observe const& row,
                                                          std::uint32_t number) const noexcept {
    run_segment const& mine = segments_[number];
    error why = mine.fetch(row.place.offset, row.place.bytes);
    payload_place base = row.place;
    for (byte_view rest = row.bases; !why && !rest.empty() && read_base(rest, base);) {
        why = mine.fetch(base.offset, base.bytes);
    }
    if (why) { return why; }
    return mine.bytes();
}

SPOTTER_BODY row_view worker_index::row_at(row_place const& at, row_kind kind, row_finder& finder) const noexcept {
    return finder.find(kind, row_of(at), at.part);
}

SPOTTER_BODY void worker_index::complete() const {
    if (is_complete_) { return; }
    auto& mine = const_cast<worker_index&>(*this);  // a trial has one thread, and no index is a const object
    detail::listed([&] { mine.take_groups(); }, [&] { mine.forget_groups(); });
}

SPOTTER_BODY lost_rows::doubt worker_index::doubt_behind(track_entry const& entry, step_id step,
                                                         std::uint32_t attempt) const {
    using enum lost_rows::doubt;
    lost_rows::doubt found = lost_.behind(entry, step, attempt);
    bool const again = found != superseded && nameless_.any_at(step, [&](track_entry const& it) {
        if (!is_of(it.place.segment, attempt) || !it.place.is_behind(entry.place)) { return false; }
        found = within_step;
        return it.ordinal != entry.ordinal;
    });
    return again ? superseded : found;
}

SPOTTER_BODY bool worker_index::may_lack(step_id step, std::uint32_t attempt) const {
    complete();
    return lost_.may_hold(step, attempt) ||
           nameless_.any_at(step, [&](track_entry const& it) { return is_of(it.place.segment, attempt); });
}

SPOTTER_BODY bool worker_index::may_hide(step_id step) const {
    return may_lack(step, unknown_attempt) || lost_.may_hold(step, unknown_attempt, true);
}

SPOTTER_BODY bool worker_index::lacks_some() const {
    complete();
    return !lost_.empty() || !nameless_.empty();
}

SPOTTER_BODY bool worker_index::latest_at(tensor_id id, step_id step, track_entry& found) const {
    bool seen = false, sound = !is_complete_ && !segments_.doubtful() && looked_through_ <= row_bytes_;
    for (std::size_t place = segments_.size(); place > 0 && !seen && sound; --place) {
        auto const number = static_cast<std::uint32_t>(place - 1);
        run_segment const& mine = segments_[number];
        bool guarded = false;
        for (std::size_t i = mine.groups().size(); i > 0 && !seen && sound; --i) {
            side_place const& group = mine.groups()[i - 1];
            if (!group.may_hold(step)) { continue; }
            if (!std::exchange(guarded, true)) { guard(number); }
            looked_through_ += group.end - group.offset;
            sound = look_for(id, step, number, group, found, seen);
        }
    }
    return seen && sound;
}

SPOTTER_BODY bool worker_index::look_for(tensor_id id, step_id step, std::uint32_t number, side_place const& group,
                                         track_entry& found, bool& seen) const {
    bool sound = true;
    auto const is_wanted = [&](tensor_id local) {
        tensor_id const its = id_of(number, local);
        sound = sound && its != no_tensor;
        return its == id;
    };
    segments_[number].each_value(
        number, group,
        [&](tensor_id local, track_entry const& entry) {
            if (is_wanted(local) && !entry.loose && entry.step == step) { found = entry, seen = true; }
        },
        [&](steps_outline const& row, row_place const& at) {
            return detail::each_of_dense(row, [&](tensor_id local, std::uint64_t) {
                if (!is_wanted(local)) { return; }
                steps_outline::rows_of rows{row, local};
                for (steps_outline::found_row it; rows.next(it);) {
                    if (it.step == step) { found = entry_of(row, at, it), seen = true; }
                }
            });
        },
        [](step_id, std::uint64_t, double) {}, [](std::uint64_t, std::uint64_t, row_place const&) {},
        [](std::uint64_t) {}, [&](byte_view) { sound = false; }, [&](std::uint64_t, bool) { sound = false; });
    return sound;
}

SPOTTER_BODY tensor_id worker_index::id_of(std::uint32_t number, tensor_id local) const noexcept {
    std::vector<tensor_id> const& ids = segments_[number].ids;
    bool const known = local < ids.size() && ids[local] != no_tensor;
    return known ? ids[local] : names_.find(segment_bytes(number), local);
}

SPOTTER_BODY bool worker_index::is_of(std::uint32_t place, std::uint32_t attempt) const noexcept {
    std::uint32_t const its = attempt_of(place);
    return attempt == unknown_attempt || its == unknown_attempt || its == attempt;
}

SPOTTER_BODY void worker_index::take_segment(std::uint32_t place) {
    run_segment& mine = segments_[place];
    is_complete_ = is_complete_ && mine.all_taken();
    if (mine.head() && !mine.foreign() && mine.attempt == unknown_attempt) {
        take_attempt(place, mine.head()->attempt, mine.head()->time);
    }
    std::uint32_t wanted =
        layout::has_declares | layout::has_findings | layout::has_run_end | layout::has_drops | layout::has_stays;
    for (; mine.noticed < mine.groups().size(); ++mine.noticed) {
        // Frames that only repeat declarations are skipped if the sidecar has all declarations.
        bool const behind_head = mine.noticed > 0 && !mine.beside().empty();
        if (behind_head && take_side_declarations(place)) { wanted &= ~layout::has_declares; }
        side_place const& group = mine.groups()[mine.noticed];
        row_bytes_ += group.end - group.offset;
        std::size_t const known = findings_.size();
        detail::listed(
            [&] { notice(place, group, wanted); },
            [&] { findings_.erase(findings_.begin() + static_cast<std::ptrdiff_t>(known), findings_.end()); });
    }
    if (!mine.beside().empty()) { (void)take_side_declarations(place); }
    for (auto const& tensor : tensors_) {
        if (tensor->declared_in == place) { tensor->info.partner = id_of(place, tensor->declared_partner); }
    }
}

SPOTTER_BODY bool worker_index::take_side_declarations(std::uint32_t place) {
    run_segment& mine = segments_[place];
    bool any = false;
    each_side_declaration(mine.beside(), mine.bytes(), [&](row_view row) {
        bool const begun = mine.head() && begun_in_ == mine.head()->attempt;
        if (row.kind == row_kind::run_begin && begun) { return; }
        any = take_notice(place, row) || any;
    });
    mine.forget_beside();
    return any;
}

SPOTTER_BODY void worker_index::notice(std::uint32_t number, side_place const& group, std::uint32_t wanted) {
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

SPOTTER_BODY void worker_index::take_groups() {
    adopt_nameless();
    for (std::uint32_t number = 0; number < segments_.size(); ++number) {
        run_segment& mine = segments_[number];
        if (!mine.settled) { return; }  // the next refresh takes the rest
        bool const tail = mine.ends_early() && !mine.tail_taken;
        if ((mine.all_taken() && !tail) || mine.bytes().size() < layout::head_bytes) { continue; }
        lost_.begin_attempt(attempt_of(number));
        if (!std::exchange(mine.entered, true)) { take_lost_before(number); }
        guard(number);
        mine.fetch_groups(mine.taken);
        for (; mine.taken < mine.groups().size(); ++mine.taken) {
            take_lost(number, mine.groups()[mine.taken].offset);
            take_group(number, mine.groups()[mine.taken]);
            come_by(mine.groups()[mine.taken].end - mine.groups()[mine.taken].previous_end);
        }
        take_lost(number, ~std::uint64_t{0});
        if (tail && mine.left_short) { lost_.add(number, ~std::uint64_t{0}, ordinal_); }
        if (tail && !mine.left_short) { lost_.add_tail(number, ordinal_); }
        mine.tail_taken = mine.ends_early();
    }
    for (; gone_taken_ < segments_.gone().size(); ++gone_taken_) {
        gone_segment const& each = segments_.gone()[gone_taken_];
        lost_.begin_attempt(each.attempt);
        lost_.add(segments_.size(), 0, ordinal_, each.rows.exact ? each.rows.steps : nullptr,
                  each.rows.exact && each.attempt != unknown_attempt ? lost_rows::known::range
                                                                     : lost_rows::known::nothing);
    }
    is_complete_ = true;
}

SPOTTER_BODY void worker_index::forget_groups() noexcept {
    for (auto const& tensor : tensors_) { tensor->entries.clear(); }
    for (std::uint32_t i = 0; i < segments_.size(); ++i) {
        segments_[i].taken = segments_[i].lost_taken = 0, segments_[i].entered = segments_[i].tail_taken = false;
    }
    gone_taken_ = 0;
    steps_ = {}, times_.clear(), open_ = {}, lost_ = {}, ordinal_ = 0, holds_ = false;
    nameless_.clear();
}

SPOTTER_BODY void worker_index::adopt_nameless() {
    nameless_.adopt([this](std::uint32_t number, tensor_id local) { return id_of(number, local); },
                    [this](tensor_id id, entry_list const& found) { return tensors_[id]->entries.append(found); });
}

SPOTTER_BODY void worker_index::take_group(std::uint32_t number, side_place const& group) {
    segments_[number].each_value(
        number, group,
        [&](tensor_id local, track_entry const& entry) {
            tensor_id const id = id_of(number, local);
            holds_ = holds_ || (!entry.loose && entry.place.part == whole_row);
            if (entry.place.part == whole_row) { open_.meet(attempt_of(number), worker_, entry); }
            if (id == no_tensor) { return nameless_.add(local, entry); }
            tensors_[id]->entries.push_back(entry);
        },
        [&](steps_outline const& row, row_place const& at) { return take_steps(row, at); },
        [&](step_id step, std::uint64_t its, double time) {
            lost_.close(step, its);
            open_.close(attempt_of(number));
            steps_.push_back({step, its, time, std::exchange(holds_, false)});
        },
        [&](std::uint64_t first, std::uint64_t count, row_place const& at) {
            times_.add({first, count, attempt_of(number), at});
        },
        [&](std::uint64_t next) {  // ordinals skip a step that was never closed, and damage
            if (std::exchange(ordinal_, next) != next) { holds_ = false; }
        },
        [&](byte_view body) {
            note_malformed(number, body);
            lost_.add(number, place_of(number, body) + body.size(), ordinal_);
        },
        [&](std::uint64_t offset, bool at_end) {
            bool const rises = !at_end || lost_.rises(group.spans, ordinal_, group.first_ordinal + group.closes);
            lost_.add(number, offset, ordinal_, group.spans,
                      rises ? lost_rows::known::attempt : lost_rows::known::range);
        });
}

SPOTTER_BODY bool worker_index::take_steps(steps_outline const& row, row_place const& at) {
    // The first and last step of a run bound lost rows as tightly as all its steps.
    row.each_run([&](step_id first, std::uint64_t distance, std::uint64_t from, std::uint64_t count, bool) {
        std::uint64_t const ordinal = row.first_ordinal() + from;
        lost_.close(first, ordinal);
        lost_.close({first.mode, first.index + (count - 1) * distance}, ordinal + (count - 1), distance);
    });
    steps_.append(row);
    open_.close(attempt_of(at.segment));
    holds_ = false;
    return detail::each_of_dense(row, [&](tensor_id local, std::uint64_t count) {
        tensor_id const id = id_of(at.segment, local);
        if (id == no_tensor) { return nameless_.add_row(at, local, count); }
        tensors_[id]->entries.push_row(at, local, count);
    });
}

SPOTTER_BODY void worker_index::take_lost(std::uint32_t number, std::uint64_t offset) {
    run_segment& mine = segments_[number];
    for (; mine.lost_taken < mine.lost().size() && mine.lost()[mine.lost_taken].offset <= offset; ++mine.lost_taken) {
        lost_place const& each = mine.lost()[mine.lost_taken];
        bool const is_counted = each.end_ordinal != 0;
        bool const rises = each.begun && (!is_counted || lost_.rises(each.steps, ordinal_, each.end_ordinal));
        lost_.add(number, each.offset, ordinal_, each.exact ? each.steps : nullptr,
                  each.exact && !rises ? lost_rows::known::range : lost_rows::known::attempt);
    }
}

SPOTTER_BODY void worker_index::take_lost_before(std::uint32_t number) {
    run_segment const& mine = segments_[number];
    bool const same = number > 0 && attempt_of(number - 1) == attempt_of(number);
    if (mine.behind_lost || (mine.foreign() && !mine.stray())) {
        lost_.add(number, 0, ordinal_, nullptr, same ? lost_rows::known::attempt : lost_rows::known::nothing);
    }
}

SPOTTER_BODY byte_view worker_index::row_of(row_place const& at) const noexcept {
    byte_view const all = segment_bytes(at.segment);  // the file may have been truncated since
    bool const there = at.offset <= all.size() && at.bytes <= all.size() - at.offset;
    return there ? all.subspan(static_cast<std::size_t>(at.offset), at.bytes) : byte_view{};
}

SPOTTER_BODY byte_view worker_index::bytes_at(void const* index, row_place const& at) noexcept {
    auto const& mine = *static_cast<worker_index const*>(index);
    mine.guard(at.segment);
    return mine.row_of(at);
}

SPOTTER_BODY void worker_index::note_malformed(std::uint32_t number, byte_view body) {
    if (!malformed_.emplace(number, place_of(number, body)).second) { return; }  // all rows may be read twice
    detail::listed([&] { segments_.note_damage({segments_.name_of(number), place_of(number, body), body.size()}); },
                   [&] { malformed_.erase({number, place_of(number, body)}); });
}

SPOTTER_BODY std::uint64_t worker_index::place_of(std::uint32_t number, byte_view body) const noexcept {
    return static_cast<std::uint64_t>(body.data() - segments_[number].bytes().data());
}

SPOTTER_BODY bool worker_index::take_notice(std::uint32_t number, row_view row) {
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
        case row_kind::stay:
            return take_stay(row);
        default:
            return true;  // rows of steps, heartbeats, and kinds of newer versions
    }
}

SPOTTER_BODY bool worker_index::take_stay(row_view row) {
    rows::stay it;
    if (decode(row, it)) { return false; }
    stayed_ = {std::string{it.section}, it.time, it.seconds};
    return true;
}

SPOTTER_BODY bool worker_index::take_begin(std::uint32_t number, row_view row) {
    rows::run_begin begin;
    if (decode(row, begin)) { return false; }
    take_attempt(number, begin.attempt, begin.time);
    instant_ = segments_[number].instant = instant{begin.instant};
    begun_at_ = begin.time;
    worker_ = begin.worker;
    expected_workers_ = begin.workers;
    environment_ = begin.environment;
    bool const whole = detail::take_collections(begin, collections_);
    begun_in_ = begin.attempt;
    return whole;
}

SPOTTER_BODY void worker_index::take_attempt(std::uint32_t number, std::uint32_t attempt, double time) {
    if (attempt > attempt_) {
        ended_ = false;
        coverages_.clear();
        earlier_ = totals_;
        instant_ = instant::before_update;
    }
    if (attempt > attempt_ || begun_at_ == 0) { begun_at_ = time; }  // the run_begin row may be lost
    attempt_ = segments_[number].attempt = attempt;
    segments_[number].instant = instant_;
}

SPOTTER_BODY bool worker_index::take_declare(std::uint32_t number, row_view row) {
    rows::declare declaration;
    // Not an id if it exceeds the segment's bytes: a segment declares every id below its largest.
    if (decode(row, declaration) || declaration.tensor.id >= segment_bytes(number).size()) { return false; }
    auto it = by_name_.find(declaration.tensor.name);
    if (it == by_name_.end()) {
        auto fresh = std::make_unique<recorded_tensor>();
        fresh->name = declaration.tensor.name;
        fresh->entries.read_from({this, &worker_index::bytes_at});
        tensors_.push_back(std::move(fresh));
        it = detail::listed([&] { return by_name_.emplace(tensors_.back()->name, tensors_.size() - 1).first; },
                            [&] { tensors_.pop_back(); });
    }
    auto const id = static_cast<tensor_id>(it->second);
    recorded_tensor& mine = *tensors_[id];
    std::vector<tensor_id>& ids = segments_[number].ids;
    if (declaration.tensor.id >= ids.size()) { ids.resize(declaration.tensor.id + std::size_t{1}, no_tensor); }
    ids[declaration.tensor.id] = id;
    names_.learn(segment_bytes(number), declaration.tensor.id, id);
    mine.info = declaration.tensor;
    mine.info.id = id;
    mine.info.name = mine.name;
    mine.info.instant = segments_[number].instant;
    mine.info.partner = no_tensor;  // resolved after all names of the segment
    mine.declared_in = number;
    mine.declared_partner = declaration.tensor.partner;
    return true;
}

SPOTTER_BODY bool worker_index::take_finding(row_view row) {
    rows::finding reported;
    if (decode(row, reported)) { return false; }
    findings_.push_back(detail::finding_of(reported, worker_, [this](std::string_view text) { return keep(text); }));
    return true;
}

SPOTTER_BODY bool worker_index::take_end(row_view row) {
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

}  // namespace spotter::inline SPOTTER_ABI
