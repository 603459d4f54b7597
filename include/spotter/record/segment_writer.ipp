// SPDX-License-Identifier: Apache-2.0
// The bodies of segment_writer.hpp.
#pragma once

#include <spotter/format/record.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/record/segment_writer.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY segment_writer::segment_writer(file_system& files, options const& choices) noexcept
    : files_{files, choices.disk_sync}, segment_bytes_{segment_bytes_of(choices)}, packer_{choices.compression_level},
      retention_{files, choices.run_bytes, segment_bytes_, choices.disk_sync != disk_sync::never} {}

SPOTTER_BODY void segment_writer::mark_from(std::uint64_t position) noexcept {
    marks_ = true;
    coming_ = position_ = sealed_ = kept_ = position;
}

SPOTTER_COLD_BODY void segment_writer::recall(byte_view declare) noexcept {
    if (!declared_.remember(declare, false)) { fail(no_memory()); }
}

SPOTTER_COLD_BODY void segment_writer::begin(run_place const& place, byte_view run_begin) noexcept {
    place_ = place;
    latest_ = place.time;
    if (failed_) { return; }
    if (!declared_.begin(run_begin)) { return fail(no_memory()); }
    note(retention_.begin(place.folder, place.number));
    open_segment();
    write();
}

SPOTTER_COLD_BODY void segment_writer::begin_anew(byte_view run_begin) noexcept {
    take_blocks();
    rotate(run_begin);
}

SPOTTER_BODY void segment_writer::add(row_kind kind, byte_view body, byte_view rest) noexcept {
    take_blocks();
    bool const value = kind == row_kind::observe || kind == row_kind::scalar;
    if (failed_) {
        if (value) { ++lost_; }
        return;
    }
    if (value) { ++pending_; }
    take_row(kind, body, rest, value);
    if (failed_) { return; }
    settled_ = kind == row_kind::close || kind == row_kind::declare;
    if (buffered() >= write_bytes) { write(); }
    if (kind == row_kind::drained) { return; }  // values follow it in this segment
    found_ = found_ || kind == row_kind::finding;
    if (settled_) { restate_due(); }
    if (offset_ >= segment_bytes_ + head_end_ && (settled_ || offset_ >= 2 * segment_bytes_ + head_end_)) { rotate(); }
}

SPOTTER_BODY void segment_writer::take_row(row_kind kind, byte_view body, byte_view rest, bool value) noexcept {
    if (packs() && is_packable(kind, body) && step_.size() < layout::packed_step_limit) {
        ++step_values_;
        if (!append_row(step_, kind, body, rest)) { fail(no_memory()); }
    } else if (!(kind == row_kind::close && packs() && pack_step(body, rest))) {
        part_step();
        add_apart(kind, body, rest);
        apart_ = kind != row_kind::close && (apart_ || value || kind == row_kind::feature);
    }
}

SPOTTER_BODY void segment_writer::restate_due() noexcept {
    if (declared_.once_is_due(offset_)) { say_again(declarations::which::single); }
    if (declared_.every_is_due(offset_, false)) { say_again(declarations::which::known); }
}

SPOTTER_BODY void segment_writer::stay(rows::stay const& it) noexcept {
    std::byte bytes[stay_limit];
    byte_writer out{bytes, sizeof bytes};
    encode(out, it);
    add(row_kind::stay, out.view());
}

SPOTTER_BODY void segment_writer::time(step_time it) noexcept {
    take_blocks();
    if (failed_) { return; }
    it.begun = (std::max)(it.begun, timed_);
    it.closed = timed_ = (std::max)(it.closed, it.begun);
    if (!times_.takes(it) || times_.size() > layout::row_frame_target / 2 || rows_.size() > frame_target()) { seal(0); }
    if (!failed_ && times_.takes(it) && !times_.add(it)) { fail(no_memory()); }
}

SPOTTER_BODY std::uint64_t segment_writer::offset() noexcept {
    take_blocks();
    return offset_;
}

SPOTTER_BODY void segment_writer::add_block(byte_view block, payload_form& form, bool alone) noexcept {
    if (failed_) { return; }
    if (helpers_.works() && !alone) {
        if (helpers_.full()) { take_block(); }
        if (helpers_.give(block, form)) { return; }
    }
    take_blocks();
    std::size_t const before = out_.size();
    error const why = alone ? packer_.pack_alone(block, form, out_) : packer_.pack(block, form, out_);
    added(before, why);
}

SPOTTER_BODY void segment_writer::add_packed(byte_view frames) noexcept {
    if (failed_) { return; }
    take_blocks();
    if (!out_.append(frames)) { return fail(no_memory()); }
    offset_ += frames.size();
    if (out_.size() >= write_bytes) { write(); }
}

SPOTTER_BODY void segment_writer::flush(bool open_step) noexcept {
    take_blocks();
    put_steps();
    if (open_step) { part_step(); }
    if (found_ && settled_) { say_with_findings(); }
    if (!failed_ && (!rows_.empty() || (marks_ && position_ != sealed_))) { seal(0); }
    write();
    if (!failed_) { files_.end_of_flush(); }
    note(files_.take_trouble());
}

SPOTTER_BODY void segment_writer::look() noexcept {
    if (failed_ || !files_.open()) { return; }
    where_ = files_.look();
    if (where_ == whereabouts::gone) { note(moved()); }
    if (where_ != whereabouts::replaced) { return note(files_.take_trouble()); }
    flush();
    if (failed_) { return; }
    was_replaced();
    files_.close();
    retain(false);
    move_on();
}

SPOTTER_BODY void segment_writer::write_values() noexcept {
    take_blocks();
    write();
}

SPOTTER_COLD_BODY void segment_writer::finish() noexcept {
    take_blocks();
    bool const whole = !failed_ && files_.open();
    if (whole) { close_segment(); }
    files_.close();
    note(files_.take_trouble());
    if (whole) { retain(true); }
    files_.give_back();
}

SPOTTER_BODY double segment_writer::now() noexcept {
    double const time = place_.now != nullptr ? place_.now() : latest_;
    latest_ = time > latest_ ? time : latest_;
    return latest_;
}

SPOTTER_COLD_BODY error segment_writer::no_memory() noexcept {
    return {errc::out_of_memory,
            "no memory for the record; recording stops here, the training goes on: lower options::ring_bytes"};
}

SPOTTER_BODY std::size_t segment_writer::frame_target() const noexcept {
    std::size_t const times = times_.empty() ? 0 : 1 + varint_limit + times_.size();
    return layout::row_frame_target - (marks_ ? 1 + 1 + drained_limit : 0) - times;
}

SPOTTER_BODY void segment_writer::added(std::size_t before, error const& why) noexcept {
    if (failed_) { return out_.clear(); }
    offset_ += out_.size() - before;
    if (why) { return fail(why); }
    if (out_.size() >= write_bytes) { write(); }
}

SPOTTER_BODY void segment_writer::take_block() noexcept {
    std::size_t const before = out_.size();
    error const why = helpers_.take(packer_, out_);
    added(before, why);
}

SPOTTER_BODY void segment_writer::take_blocks() noexcept {
    while (!helpers_.empty()) { take_block(); }
}

SPOTTER_COLD_BODY void segment_writer::fail(error const& why) noexcept {
    if (!first_error_) { first_error_ = of_run(why); }
    failed_ = true;
    lost_ += pending_;
    pending_ = 0;
    out_.clear();
    rows_.reset();
    steps_.reset();
    times_.reset();
    step_.clear();
    step_values_ = 0;
}

SPOTTER_BODY bool segment_writer::pack_step(byte_view body, byte_view rest) noexcept {
    std::byte bytes[2 * close_limit];
    byte_writer whole{bytes, sizeof bytes};
    whole.raw(body);
    whole.raw(rest);
    rows::close closed;
    if (whole.full() || decode({row_kind::close, whole.view()}, closed)) { return false; }
    bool added = steps_.add(closed, step_.view(), step_values_);
    if (!added && !steps_.empty()) {
        put_steps();
        added = steps_.add(closed, step_.view(), step_values_);
    }
    if (!added) { return false; }
    ++place_.ordinal;  // first: a frame that is sealed below counts back from it
    step_.clear();
    step_values_ = 0;
    if (steps_.next_size() + layout::row_head_bytes > frame_target()) { put_steps(); }
    return true;
}

SPOTTER_BODY void segment_writer::put_steps() noexcept {
    if (failed_ || steps_.empty()) { return; }
    byte_view const body = steps_.seal();
    make_room(body.size());
    if (failed_) { return; }
    if (body.empty() || !rows_.add(row_kind::steps, body)) { return fail(no_memory()); }
    rows_.count_packed(steps_.steps(), steps_.values());
    steps_.reset();
}

SPOTTER_BODY void segment_writer::put_times() noexcept {
    if (failed_ || times_.empty()) { return; }
    byte_view const body = times_.seal();
    if (body.empty() || !rows_.add(row_kind::times, body)) { return fail(no_memory()); }
    times_.reset();
}

SPOTTER_BODY void segment_writer::part_step() noexcept {
    put_steps();
    if (failed_ || step_.empty()) { return; }
    for (byte_reader in{step_.view()}; in.left() > 0 && !failed_;) {
        auto const kind = static_cast<row_kind>(in.fixed<std::uint8_t>());
        add_apart(kind, in.raw(in.varint()), {});
    }
    step_.clear();
    step_values_ = 0;
    apart_ = true;
}

SPOTTER_BODY void segment_writer::add_apart(row_kind kind, byte_view body, byte_view rest) noexcept {
    make_room(body.size() + rest.size());
    if (!failed_ && kind == row_kind::declare && !declared_.remember(body, true, offset_)) { fail(no_memory()); }
    if (failed_) { return; }
    if (!rows_.add(kind, body, rest)) { return fail(no_memory()); }
    position_ = coming_;
    if (kind == row_kind::close) { ++place_.ordinal; }
}

SPOTTER_BODY void segment_writer::make_room(std::size_t size) noexcept {
    if (!failed_ && !rows_.empty() && rows_.size() + 1 + varint_limit + size > frame_target()) { seal(0); }
}

SPOTTER_BODY void segment_writer::seal(std::uint32_t flags) noexcept {
    if (!restating_) { put_times(); }
    if (failed_) { return; }
    if (marks_ && !restating_) {
        std::byte bytes[drained_limit];
        byte_writer out{bytes, sizeof bytes};
        encode(out, rows::drained{position_});
        if (!rows_.add(row_kind::drained, out.view())) { return fail(no_memory()); }
        sealed_ = position_;
    }
    std::uint64_t const ordinal = place_.ordinal - steps_.steps() - rows_.closes();
    byte_view const bytes = rows_.seal(offset_, previous_end_, ordinal, flags);
    if (bytes.empty() || !out_.append(bytes)) { return fail(no_memory()); }
    row_frame frame{};
    frame.offset = offset_;
    frame.previous_end = previous_end_;
    frame.bytes = bytes.size();
    frame.body = bytes.subspan(layout::row_head_bytes, bytes.size() - layout::row_head_bytes - layout::row_tail_bytes);
    frame.first_ordinal = ordinal;
    frame.rows = rows_.rows();
    frame.closes = rows_.closes();
    frame.values = rows_.values();
    frame.flags = rows_.flags();
    if (!group_.takes(frame.offset)) { put_group(); }
    group_.add(frame);
    offset_ += bytes.size();
    previous_end_ = offset_;
    rows_.reset();
    declared_.sealed();
}

SPOTTER_BODY void segment_writer::put_group() noexcept {
    if (group_.frames == 0) { return; }
    std::byte bytes[layout::place_bytes];
    encode_side_place(std::exchange(group_, side_place{}), bytes);
    (void)side_out_.append({bytes, sizeof bytes});
}

SPOTTER_BODY void segment_writer::write() noexcept {
    if (failed_) { return; }
    if (!out_.empty()) {
        if (error const why = files_.append(out_.view())) {
            std::uint64_t const reached = values_from(offset_ - out_.size());
            pending_ -= reached < pending_ ? reached : pending_;
            return fail(why);
        }
        written_ += out_.size();
        out_.clear();
        std::uint64_t const waiting = rows_.values() + steps_.values() + step_values_;
        in_segment_ += pending_ - waiting;
        pending_ = waiting;
        kept_ = sealed_;
    }
    if (!side_out_.empty() && files_.has_sidecar()) {
        if (side_out_.failed()) {
            files_.give_up_sidecar(no_memory());
        } else if (files_.append_sidecar(side_out_.view())) {
            written_ += side_out_.size();
        }
    }
    side_out_.clear();
}

SPOTTER_BODY std::uint64_t segment_writer::values_from(std::uint64_t offset) noexcept {
    return files_.values_from(offset, place_.run_id, place_.attempt);
}

SPOTTER_COLD_BODY void segment_writer::open_segment() noexcept {
    if (error const why = files_.create(place_.folder, place_.number, place_.lock)) { return fail(why); }
    in_segment_ = 0;
    segment_head head{};
    head.number = place_.number++;
    head.run_id = place_.run_id;
    head.first_ordinal = place_.ordinal;
    head.attempt = place_.attempt;
    head.time = now();
    head.worker = place_.worker;
    if (error const why = encode_head(head, out_)) { return fail(why); }
    offset_ = previous_end_ = layout::head_bytes;
    restate();
    head_end_ = offset_;
}

SPOTTER_COLD_BODY void segment_writer::restate() noexcept {
    restating_ = true;
    bool const good = declared_.say_at_head([this](row_kind kind, byte_view body) { return say(kind, body); });
    if (!good && !failed_) { return fail(no_memory()); }
    if (!failed_ && !rows_.empty()) { seal(0); }
    restating_ = false;
    declared_.head_ends(offset_);
}

SPOTTER_COLD_BODY bool segment_writer::say(row_kind kind, byte_view body) noexcept {
    make_room(body.size());
    return !failed_ && rows_.add(kind, body);
}

SPOTTER_COLD_BODY void segment_writer::say_again(declarations::which which) noexcept {
    if (failed_) { return; }
    bool const good = declared_.say(which, offset_, [this](row_kind kind, byte_view body) { return say(kind, body); });
    if (!good && !failed_) { fail(no_memory()); }
}

SPOTTER_COLD_BODY void segment_writer::say_with_findings() noexcept {
    found_ = false;
    say_again(declarations::which::single);
    if (declared_.every_is_due(offset_, true)) { say_again(declarations::which::known); }
}

SPOTTER_COLD_BODY void segment_writer::close_segment() noexcept {
    part_step();
    say_again(declarations::which::single);
    if (failed_) { return; }
    seal(layout::last_of_segment);
    put_group();
    (void)declared_.say_beside(side_out_);
    write();
    if (failed_) { return; }
    files_.end_of_segment();
    where_ = files_.look();
    if (where_ == whereabouts::gone) { note(moved()); }
    if (where_ == whereabouts::replaced) { was_replaced(); }
}

SPOTTER_COLD_BODY void segment_writer::was_replaced() noexcept {
    std::uint64_t const lost = in_segment_ - (std::min)(values_from(0), in_segment_);
    lost_ += lost;
    note(files_.replaced(lost));
    in_segment_ = 0;
}

SPOTTER_COLD_BODY void segment_writer::rotate(byte_view run_begin) noexcept {
    if (failed_) { return; }
    close_segment();
    if (failed_) { return; }
    files_.close();
    note(files_.take_trouble());
    if (where_ == whereabouts::gone) { return fail(moved()); }  // another recorder may own the folder now
    retain(false);
    if (!run_begin.empty() && !declared_.begin(run_begin)) { return fail(no_memory()); }
    move_on();
}

SPOTTER_COLD_BODY void segment_writer::move_on() noexcept {
    if (where_ == whereabouts::replaced) {
        auto const free = files_.free_number(place_.number);
        if (!free) { return fail(free.error()); }
        place_.number = *free;
    }
    open_segment();
    write();
}

SPOTTER_COLD_BODY void segment_writer::retain(bool last) noexcept {
    if (failed_) { return; }
    note(retention_.closed(place_.number - 1, last));
}

SPOTTER_COLD_BODY void segment_writer::note(error const& why) noexcept {
    if (why && !first_error_) { first_error_ = why; }
}

SPOTTER_COLD_BODY error segment_writer::of_run(error why) const noexcept {
    why.what << " (the run is " << place_.folder.view() << ')';
    return why;
}

}  // namespace spotter::inline SPOTTER_ABI
