// SPDX-License-Identifier: Apache-2.0
// Record (L4): rows and values to numbered segments and their sidecars. Used by one thread at a time.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/format/steps_packer.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/clock.hpp>
#include <spotter/record/declarations.hpp>
#include <spotter/record/packer_pool.hpp>
#include <spotter/record/retention.hpp>
#include <spotter/record/segment_pair.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

// Where a run's next segment goes, and from where it counts.
struct run_place {
    path_text folder{};
    std::uint32_t number = 0;  // of the next segment
    std::uint32_t attempt = 0;
    std::uint64_t ordinal = 0;  // of the next close
    std::uint64_t run_id = 0;
    std::uint32_t worker = 0;
    double (*now)() noexcept = &seconds_since_epoch;  // null: it stays `time`, as when a killed run's rest is written
    double time = 0;                                  // times given out are not before it
    opened_file lock{};                               // of the folder; whoever took it gives it back
};

// The first failure is kept and ends the writing; whatever comes later is only counted. Bytes reach the file in the order
// in which they were added: values before the row that describes them, a row frame before the place in the sidecar. The
// sidecar is a cache: where it cannot be written, the error is kept and the segment goes on without it.
class segment_writer {
public:
    segment_writer(file_system& files, options const& choices) noexcept
        : files_{files, choices.disk_sync}, segment_bytes_{segment_bytes_of(choices)},
          packer_{choices.compression_level}, retention_{files, choices.run_bytes, segment_bytes_,
                                                         choices.disk_sync != disk_sync::never} {}
    segment_writer(segment_writer const&) = delete;
    segment_writer& operator=(segment_writer const&) = delete;

    // For a ring that outlives the process: every frame of rows says how far the ring is in the segments (row_kind::drained),
    // from `position` on. Before `begin`.
    void mark_from(std::uint64_t position) noexcept {
        marks_ = true;
        coming_ = position_ = sealed_ = kept_ = position;
    }
    // The row that is added next stands, with the rows before it, for the ring up to that position.
    void covers(std::uint64_t position) noexcept { coming_ = position; }
    // Everything of the ring before that position was added or given up.
    void reach(std::uint64_t position) noexcept { coming_ = position_ = position; }
    // How far the ring is in the file. Only frames count that were written: rows wait in a frame, frames in a buffer.
    [[nodiscard]] std::uint64_t kept() const noexcept { return kept_; }

    // A declaration of an earlier segment, to be restated. Before `begin`.
    void recall(byte_view declare) noexcept {
        if (!declared_.remember(declare, false)) { fail(no_memory()); }
    }

    // The first segment. `run_begin` is the body of that row; it is restated in every segment.
    void begin(run_place const& place, byte_view run_begin) noexcept {
        place_ = place;
        latest_ = place.time;
        if (failed_) { return; }
        if (!declared_.begin(run_begin)) { return fail(no_memory()); }
        note(retention_.begin(place.folder, place.number));
        open_segment();
        write();
    }

    // A row in two parts. What was lost of it is counted, if anything.
    void add(row_kind kind, byte_view body, byte_view rest = {}) noexcept {
        take_blocks();
        bool const value = kind == row_kind::observe || kind == row_kind::scalar;
        if (failed_) {
            if (value) { ++lost_; }
            return;
        }
        if (value) { ++pending_; }
        if (packs() && is_packable(kind, body) && step_.size() < layout::packed_step_limit) {
            ++step_values_;
            if (!append_row(step_, kind, body, rest)) { return fail(no_memory()); }
        } else if (kind == row_kind::close && packs() && pack_step(body, rest)) {
            ++place_.ordinal;
        } else {
            part_step();
            add_apart(kind, body, rest);
            apart_ = kind != row_kind::close && (apart_ || value || kind == row_kind::feature);
        }
        if (failed_) { return; }
        settled_ = kind == row_kind::close || kind == row_kind::declare;
        if (buffered() >= write_bytes) { write(); }
        if (kind == row_kind::drained) { return; }  // values follow it, in this segment
        found_ = found_ || kind == row_kind::finding;
        if (settled_ && declared_.once_is_due(offset_)) { say_again(declarations::which::single); }
        if (settled_ && declared_.every_is_due(offset_, false)) { say_again(declarations::which::known); }
        if (offset_ >= segment_bytes_ + head_end_ && (settled_ || offset_ >= 2 * segment_bytes_ + head_end_)) {
            rotate();
        }
    }
    // A block of values; the place of the first one is where the values are. One that is `alone` is all the values of a tensor;
    // its `planes` may become 1.
    [[nodiscard]] std::uint64_t offset() noexcept {
        take_blocks();
        return offset_;
    }
    [[nodiscard]] std::uint32_t segment() const noexcept { return place_.number; }
    void add_block(byte_view block, std::uint8_t& planes, bool alone) noexcept {
        if (failed_) { return; }
        if (helpers_.works() && !alone) {
            if (helpers_.full()) { take_block(); }
            if (helpers_.give(block, planes)) { return; }
        }
        take_blocks();
        std::size_t const before = out_.size();
        error const why = alone ? packer_.pack_alone(block, planes, out_) : packer_.pack(block, planes, out_);
        added(before, why);
    }
    // From now on that many threads compress, this one included.
    void start_helpers(unsigned compressors, int level) noexcept { helpers_.start(compressors, level); }

    // The frames of a block as they stand in another segment.
    void add_packed(byte_view frames) noexcept {
        if (failed_) { return; }
        take_blocks();
        if (!out_.append(frames)) { return fail(no_memory()); }
        offset_ += frames.size();
        if (out_.size() >= write_bytes) { write(); }
    }

    // Into the file: the steps that were closed, and on request what there is of the open one, which is then no longer packed.
    void flush(bool open_step = true) noexcept {
        take_blocks();
        put_steps();
        if (open_step) { part_step(); }
        if (found_ && settled_) { say_with_findings(); }
        if (!failed_ && (!rows_.empty() || (marks_ && position_ != sealed_))) { seal(0); }
        write();
        if (!failed_) { files_.end_of_flush(); }
        note(files_.take_trouble());
    }
    // Whether the segment still has its name. Where another file has it, what this one holds is lost but for what that one knows, and a
    // new segment is begun. Not amid values.
    void look() noexcept {
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
    // Values added so far into the file. The row frame that is begun stays: sealed amid values it would tear them apart.
    void write_values() noexcept {
        take_blocks();
        write();
    }
    // Everything into the file, and no more after it.
    void finish() noexcept {
        take_blocks();
        bool const whole = !failed_ && files_.open();
        if (whole) { close_segment(); }
        files_.close();
        note(files_.take_trouble());
        if (whole) { retain(true); }
        files_.give_back();
    }

    // Something of the open step waits for its close.
    [[nodiscard]] bool holds_open_step() const noexcept { return !step_.empty(); }
    [[nodiscard]] error const& first_error() const noexcept { return first_error_; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
    [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
    [[nodiscard]] std::uint64_t ordinal() const noexcept { return place_.ordinal; }
    // The clock's time, or the last one where the clock was set back meanwhile: times in a record do not decrease.
    [[nodiscard]] double now() noexcept {
        double const time = place_.now != nullptr ? place_.now() : latest_;
        latest_ = time > latest_ ? time : latest_;
        return latest_;
    }

private:
    // Buffered before a write is worth it. More would leave the cache before it is written: with 1 MiB the writer takes a tenth
    // longer (bench/writer.cpp).
    static constexpr std::size_t write_bytes = 64U << 10;

    [[nodiscard]] static error no_memory() noexcept {
        return {errc::out_of_memory,
                "no memory for the record; recording stops here, the training goes on: lower options::ring_bytes"};
    }
    [[nodiscard]] std::size_t frame_target() const noexcept {
        return layout::row_frame_target - (marks_ ? 1 + 1 + drained_limit : 0);
    }
    // Steps are packed, but for those that were begun row by row. A row that is kept back would be in no frame, which the marks
    // could not tell.
    [[nodiscard]] bool packs() const noexcept { return !apart_ && !marks_; }
    [[nodiscard]] std::size_t buffered() const noexcept { return out_.size() + rows_.size(); }

    // A block was added to `out_`, which was so long before.
    void added(std::size_t before, error const& why) noexcept {
        if (failed_) { return out_.clear(); }
        offset_ += out_.size() - before;
        if (why) { return fail(why); }
        if (out_.size() >= write_bytes) { write(); }
    }
    // The oldest block that helpers have; all of them.
    void take_block() noexcept {
        std::size_t const before = out_.size();
        error const why = helpers_.take(packer_, out_);
        added(before, why);
    }
    void take_blocks() noexcept {
        while (!helpers_.empty()) { take_block(); }
    }

    // Stops all writing. Rows that had not reached the file are lost.
    SPOTTER_NOINLINE void fail(error const& why) noexcept {
        if (!first_error_) { first_error_ = of_run(why); }
        failed_ = true;
        lost_ += pending_;
        pending_ = 0;
        out_.clear();
        rows_.reset();
        steps_.reset();
        step_.clear();
        step_values_ = 0;
    }

    // The close of a step, the rows of which have been kept back. False where it has to be written row by row.
    [[nodiscard]] bool pack_step(byte_view body, byte_view rest) noexcept {
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
        step_.clear();
        step_values_ = 0;
        if (steps_.next_size() + layout::row_head_bytes > layout::row_frame_target) { put_steps(); }
        return true;
    }
    // The steps packed so far as one row.
    void put_steps() noexcept {
        if (failed_ || steps_.empty()) { return; }
        byte_view const body = steps_.seal();
        make_room(body.size());
        if (failed_) { return; }
        if (body.empty() || !rows_.add(row_kind::steps, body)) { return fail(no_memory()); }
        rows_.count_packed(steps_.steps(), steps_.values());
        steps_.reset();
    }
    // What was kept back of the open step, row by row; the rest of it follows so.
    void part_step() noexcept {
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
    void add_apart(row_kind kind, byte_view body, byte_view rest) noexcept {
        make_room(body.size() + rest.size());
        if (!failed_ && kind == row_kind::declare && !declared_.remember(body, true, offset_)) { fail(no_memory()); }
        if (failed_) { return; }
        if (!rows_.add(kind, body, rest)) { return fail(no_memory()); }
        position_ = coming_;
        if (kind == row_kind::close) { ++place_.ordinal; }
    }
    // For a row in the frame that is being collected, or else in a new one.
    void make_room(std::size_t size) noexcept {
        if (!failed_ && !rows_.empty() && rows_.size() + 1 + varint_limit + size > frame_target()) { seal(0); }
    }

    // Every row that was added is in this frame, or the mark would lie.
    void seal(std::uint32_t flags) noexcept {
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
        frame.body =
            bytes.subspan(layout::row_head_bytes, bytes.size() - layout::row_head_bytes - layout::row_tail_bytes);
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
    void put_group() noexcept {
        if (group_.frames == 0) { return; }
        std::byte bytes[layout::place_bytes];
        encode_side_place(std::exchange(group_, side_place{}), bytes);
        (void)side_out_.append({bytes, sizeof bytes});
    }

    // What is buffered; rows not yet sealed stay.
    void write() noexcept {
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

    [[nodiscard]] std::uint64_t values_from(std::uint64_t offset) noexcept {
        return files_.values_from(offset, place_.run_id, place_.attempt);
    }

    void open_segment() noexcept {
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
    // Without marks: a segment that ends here does not say what it is the next of.
    void restate() noexcept {
        restating_ = true;
        bool const good = declared_.say_at_head([this](row_kind kind, byte_view body) { return say(kind, body); });
        if (!good && !failed_) { return fail(no_memory()); }
        if (!failed_ && !rows_.empty()) { seal(0); }
        restating_ = false;
        declared_.head_ends(offset_);
    }
    [[nodiscard]] bool say(row_kind kind, byte_view body) noexcept {
        make_room(body.size());
        return !failed_ && rows_.add(kind, body);
    }
    // One wrong bit takes a row frame. So no frame is the only one that has a declaration, or all that follows would be lost with it.
    void say_again(declarations::which which) noexcept {
        if (failed_) { return; }
        bool const good =
            declared_.say(which, offset_, [this](row_kind kind, byte_view body) { return say(kind, body); });
        if (!good && !failed_) { fail(no_memory()); }
    }
    void say_with_findings() noexcept {
        found_ = false;
        say_again(declarations::which::single);
        if (declared_.every_is_due(offset_, true)) { say_again(declarations::which::known); }
    }

    void close_segment() noexcept {
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
    [[nodiscard]] error moved() const noexcept { return of_run(segment_pair::moved()); }
    // Only what a reader finds under the segment's name is stored.
    void was_replaced() noexcept {
        std::uint64_t const lost = in_segment_ - (std::min)(values_from(0), in_segment_);
        lost_ += lost;
        note(files_.replaced(lost));
        in_segment_ = 0;
    }
    void rotate() noexcept {
        if (failed_) { return; }
        close_segment();
        if (failed_) { return; }
        files_.close();
        note(files_.take_trouble());
        if (where_ == whereabouts::gone) { return fail(moved()); }  // the folder may be another recorder's now
        retain(false);
        move_on();
    }
    // To the next number that nobody has taken meanwhile.
    void move_on() noexcept {
        if (where_ == whereabouts::replaced) {
            auto const free = files_.free_number(place_.number);
            if (!free) { return fail(free.error()); }
            place_.number = *free;
        }
        open_segment();
        write();
    }
    // The segment that was closed last counts now.
    void retain(bool last) noexcept {
        if (failed_) { return; }
        note(retention_.closed(place_.number - 1, last));
    }
    // What does not end the writing.
    void note(error const& why) noexcept {
        if (why && !first_error_) { first_error_ = why; }
    }
    [[nodiscard]] error of_run(error why) const noexcept {
        why.what << " (the run is " << place_.folder.view() << ')';
        return why;
    }

    segment_pair files_;
    std::uint64_t segment_bytes_;
    payload_packer packer_;
    packer_pool helpers_;
    retention retention_;
    run_place place_{};
    whereabouts where_ = whereabouts::there;  // when it was asked last
    declarations declared_;
    byte_buffer out_;
    byte_buffer side_out_;
    row_frame_builder rows_;
    steps_packer steps_;  // closed, behind rows_
    byte_buffer step_;    // rows of the open step, behind steps_
    std::uint32_t step_values_ = 0;
    bool apart_ = false;  // the open step is written row by row
    side_place group_{};
    std::uint64_t offset_ = 0;        // of the segment's end, what is buffered included
    std::uint64_t previous_end_ = 0;  // of the last sealed frame
    std::uint64_t head_end_ = 0;      // of what restates
    std::uint64_t pending_ = 0;       // observations and scalars that have not reached the file
    std::uint64_t in_segment_ = 0;    // of them in the file of this segment
    std::uint64_t lost_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t coming_ = 0;    // the ring with the row that is added next,
    std::uint64_t position_ = 0;  // with all that was added,
    std::uint64_t sealed_ = 0;    // with the frames that are sealed,
    std::uint64_t kept_ = 0;      // and in the file
    double latest_ = 0;           // the largest time given out
    error first_error_{};
    bool failed_ = false;
    bool settled_ = true;  // no step is half in
    bool marks_ = false;
    bool restating_ = false;
    bool found_ = false;  // findings since the declarations stood with some
};

}  // namespace spotter::inline SPOTTER_ABI
