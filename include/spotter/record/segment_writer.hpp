// SPDX-License-Identifier: Apache-2.0
// Record (L4): writes rows and values to numbered segments and their sidecars. Used by one thread at a time.
#pragma once

#include <spotter/core/slots.hpp>
#include <spotter/file/file_system.hpp>
#include <spotter/format/buffer.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/format/step_times.hpp>
#include <spotter/format/steps_packer.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/clock.hpp>
#include <spotter/record/packer_pool.hpp>
#include <spotter/record/retention.hpp>
#include <spotter/record/segment_pair.hpp>

namespace spotter::inline SPOTTER_ABI {

// The declarations of an attempt, kept for repetition: no row frame should be the only one that has a declaration.
// Offsets are those of the current segment; `sealed` counts its row frames. Repetition costs at most 1 / `share` of the
// segment, plus one repetition of each declaration that is new in it.
class declarations {
public:
    // single: declarations that are in only one frame; known: all of them.
    enum class which : std::uint8_t { single, known };

    [[nodiscard]] bool begin(byte_view run_begin) noexcept {
        run_begin_.clear();
        return run_begin_.append(run_begin);
    }

    // Stores a declaration; the last one of a tensor counts. `body` begins with the id. `said`: it is in the frame that
    // is being collected, which will be at `offset`; otherwise it is known from an earlier segment. False where memory
    // is exhausted.
    [[nodiscard]] bool remember(byte_view body, bool said, std::uint64_t offset = 0) noexcept;

    void sealed() noexcept { ++frame_; }  // the frame that was being collected is complete
    // The head of a segment is complete: it repeats all earlier declarations.
    void head_ends(std::uint64_t offset) noexcept;

    // Whether single ones are due at this offset. Call it only if no row of an open step is partly written.
    [[nodiscard]] bool once_is_due(std::uint64_t offset) const noexcept;
    // Whether all are due. `matters`: findings were written, so that the declarations come four times as often.
    [[nodiscard]] bool every_is_due(std::uint64_t offset, bool matters) const noexcept;

    // Calls put(kind, body) for the wanted declarations that are not in the frame that is being collected. put() may
    // seal that frame; if it returns false, `say` stops and returns false. Does not repeat run_begin, which a reader
    // may take for the start of an attempt.
    template <class Put>
    [[nodiscard]] bool say(which wanted, std::uint64_t offset, Put&& put) noexcept {
        if (wanted == which::single && once_ == 0) { return true; }
        for (piece& each : list_) {
            bool const due = each.size > 0 && each.frame != frame_ && (wanted == which::known || each.once);
            if (!due) { continue; }
            if (!put(row_kind::declare, byte_view{bytes_.data() + each.at, each.size})) { return false; }
            each.frame = frame_;
            if (std::exchange(each.once, false)) {
                --once_;
                once_bytes_ -= each.size;
            }
        }
        once_from_ = offset;
        if (wanted == which::known) { said_at_ = offset; }
        return true;
    }
    // Calls put() for run_begin and all declarations, for the head of a segment.
    template <class Put>
    [[nodiscard]] bool say_at_head(Put&& put) noexcept {
        if (!put(row_kind::run_begin, run_begin_.view())) { return false; }
        for (piece& each : list_) {
            if (each.size > 0 && !put(row_kind::declare, byte_view{bytes_.data() + each.at, each.size})) {
                return false;
            }
        }
        return true;
    }
    // The same for the sidecar of a closed segment.
    [[nodiscard]] bool say_beside(byte_buffer& out) noexcept;

private:
    static constexpr std::uint64_t first_distance = 4096;      // bytes from a declaration to its first repetition, or
    static constexpr std::uint64_t first_share = 8;            // so many times the bytes of all that wait for it
    static constexpr std::uint64_t least_distance = 1U << 20;  // bytes between two repetitions of all, or
    static constexpr std::uint64_t share = 256;                // so many times the bytes of all

    struct piece {  // a range of bytes_
        std::size_t at = 0;
        std::size_t size = 0;
        std::uint64_t frame = ~std::uint64_t{0};  // the last frame that has it
        bool once = false;                        // that frame is the only one
    };

    [[nodiscard]] static std::uint64_t larger(std::uint64_t a, std::uint64_t b) noexcept { return a > b ? a : b; }

    byte_buffer run_begin_;
    byte_buffer bytes_;
    slot_array<piece> list_;
    std::uint64_t frame_ = 0;
    std::uint64_t once_ = 0, once_bytes_ = 0, once_from_ = 0;
    std::uint64_t every_bytes_ = 0, said_at_ = 0;
};

// Where a run's next segment goes, and where its counters start.
struct run_place {
    path_text folder{};                               // the worker's
    std::uint32_t number = 0;                         // of the next segment
    std::uint32_t attempt = 0;                        // of the run, from 0
    std::uint64_t ordinal = 0;                        // of the next close
    std::uint64_t run_id = 0;                         // the same in all attempts and workers
    std::uint32_t worker = 0;                         // its number
    double (*now)() noexcept = &seconds_since_epoch;  // null: always `time`, as in a recovery
    double time = 0;                                  // no later time is before it
    opened_file lock{};                               // the folder's; unlocked by the caller
};

// The first failure ends writing; later rows are only counted. Bytes reach the file in the order of addition: values
// before the row that describes them, a row frame before its place in the sidecar. The sidecar is a cache: if it cannot
// be written, the error is kept and the segment goes on without it.
class segment_writer {
public:
    segment_writer(file_system& files, options const& choices) noexcept;
    segment_writer(segment_writer const&) = delete;
    segment_writer& operator=(segment_writer const&) = delete;

    // For a ring that outlives the process: every row frame records the ring's position in the segments
    // (row_kind::drained), from `position` on. Before `begin`.
    void mark_from(std::uint64_t position) noexcept;
    [[nodiscard]] bool marks() const noexcept { return marks_; }  // frames record the ring's position
    // The next row and all before it cover the ring up to that position.
    void covers(std::uint64_t position) noexcept { coming_ = position; }
    // The ring before that position was added or given up.
    void reach(std::uint64_t position) noexcept { coming_ = position_ = position; }
    // The ring's position in the file. Only written frames count: rows wait in a frame, frames in a buffer.
    [[nodiscard]] std::uint64_t kept() const noexcept { return kept_; }

    // Adds a declaration of an earlier segment, for restatement. Before `begin`.
    void recall(byte_view declare) noexcept;

    // Creates the first segment. `run_begin` is the body of that row, which every segment restates.
    void begin(run_place const& place, byte_view run_begin) noexcept;
    // Begins the next segment, between two steps, with another `run_begin` of the same attempt: readers look for it
    // only at a head.
    void begin_anew(byte_view run_begin) noexcept;

    // Adds a row in two parts. If it is lost, it is counted.
    void add(row_kind kind, byte_view body, byte_view rest = {}) noexcept;
    // Records the loop's section, now or when its process ended.
    void stay(rows::stay const& it) noexcept;
    // The times of the step whose close is added next. They are collected and written with a frame that they fit into.
    void time(step_time it) noexcept;
    // Where the next block goes; for the first block of a tensor that is the place of its values. Blocks have at most
    // 256 KiB. `alone`: the block is all values of a tensor; `form` is then set to the form used.
    [[nodiscard]] std::uint64_t offset() noexcept;
    [[nodiscard]] std::uint32_t segment() const noexcept { return place_.number; }  // the current segment's
    void add_block(byte_view block, payload_form& form, bool alone) noexcept;       // adds a block
    // From now on that many threads compress, with the calling one.
    void start_helpers(unsigned compressors, int level) noexcept { helpers_.start(compressors, level); }

    // Adds the packed frames of a block as another segment has them.
    void add_packed(byte_view frames) noexcept;

    // Writes the closed steps to the file; with `open_step` also the rows of the open step, which is then not packed
    // any more.
    void flush(bool open_step = true) noexcept;
    // Checks whether the segment still has its name. If another file has it, the values that that file lacks are lost,
    // and a new segment is begun. Not amid values.
    void look() noexcept;
    // Writes the values added so far. Does not seal the current row frame, which would split the values.
    void write_values() noexcept;
    // Writes everything to the file; no call follows.
    void finish() noexcept;

    // Rows of the open step wait for its close.
    [[nodiscard]] bool holds_open_step() const noexcept { return !step_.empty(); }
    // Of writing, which it ended, or of the sidecar.
    [[nodiscard]] error const& first_error() const noexcept { return first_error_; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }  // nothing is written any more
    // Observations and scalars that reached no file.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
    // Of segments and sidecars.
    [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
    [[nodiscard]] std::uint64_t ordinal() const noexcept { return place_.ordinal; }  // of the next close
    // The clock's time, or the last one if the clock was set back: times in a record do not decrease.
    [[nodiscard]] double now() noexcept;

private:
    // Size of a write. With a larger buffer the data leaves the cache before it is written: 1 MiB makes the writer a
    // tenth slower (bench/writer.cpp).
    static constexpr std::size_t write_bytes = 64U << 10;

    [[nodiscard]] static error no_memory() noexcept;
    [[nodiscard]] std::size_t frame_target() const noexcept;
    // Steps are packed, except those begun row by row. With marks they are not: a kept-back row is in no frame, but the
    // mark would cover it.
    [[nodiscard]] bool packs() const noexcept { return !apart_ && !marks_; }
    [[nodiscard]] std::size_t buffered() const noexcept { return out_.size() + rows_.size(); }

    // A block was added to `out_`, which had that size before.
    void added(std::size_t before, error const& why) noexcept;
    // Takes the oldest block from the helpers; all blocks.
    void take_block() noexcept;
    void take_blocks() noexcept;

    // Ends writing. Rows that are not in the file are lost.
    void fail(error const& why) noexcept;

    // Adds a row: kept back with its step, or written separately. `value`: an observation or scalar.
    void take_row(row_kind kind, byte_view body, byte_view rest, bool value) noexcept;
    void restate_due() noexcept;  // repeats declarations that are due
    // Packs a closed step, whose rows were kept back. False if it must be written row by row.
    [[nodiscard]] bool pack_step(byte_view body, byte_view rest) noexcept;
    // Adds the packed steps as one row.
    void put_steps() noexcept;
    // Adds the collected times as one row of the frame that is sealed next.
    void put_times() noexcept;
    // Adds the kept-back rows of the open step one by one; its later rows follow in the same way.
    void part_step() noexcept;
    void add_apart(row_kind kind, byte_view body, byte_view rest) noexcept;
    // Makes room for a row in the current frame, or begins a new one.
    void make_room(std::size_t size) noexcept;

    // Every added row must be in this frame; otherwise the mark would be wrong.
    void seal(std::uint32_t flags) noexcept;
    void put_group() noexcept;

    // Writes the buffer; rows that are not sealed stay.
    void write() noexcept;

    [[nodiscard]] std::uint64_t values_from(std::uint64_t offset) noexcept;

    void open_segment() noexcept;
    // Without marks: a segment that ends here does not record what precedes it.
    void restate() noexcept;
    [[nodiscard]] bool say(row_kind kind, byte_view body) noexcept;
    // One wrong bit destroys a row frame. So each declaration is in more than one frame; otherwise all rows that depend
    // on it could be lost with it.
    void say_again(declarations::which which) noexcept;
    void say_with_findings() noexcept;

    void close_segment() noexcept;
    [[nodiscard]] error moved() const noexcept { return of_run(segment_pair::moved()); }
    // Only values in the file of the segment's name count as stored.
    void was_replaced() noexcept;
    void rotate(byte_view run_begin = {}) noexcept;
    // Opens a segment with the next free number.
    void move_on() noexcept;
    // Passes the closed segment to retention.
    void retain(bool last) noexcept;
    // Keeps an error that does not end writing.
    void note(error const& why) noexcept;
    [[nodiscard]] error of_run(error why) const noexcept;

    segment_pair files_;
    std::uint64_t segment_bytes_;
    payload_packer packer_;
    packer_pool helpers_;
    retention retention_;
    run_place place_{};
    whereabouts where_ = whereabouts::there;  // at the last check
    declarations declared_;
    byte_buffer out_;
    byte_buffer side_out_;
    row_frame_builder rows_;
    steps_packer steps_;       // closed; follow rows_
    times_packer times_;       // of closed steps
    std::uint64_t timed_ = 0;  // close of the last one: times in a record do not decrease
    byte_buffer step_;         // rows of the open step; follow steps_
    std::uint32_t step_values_ = 0;
    bool apart_ = false;  // the open step is written row by row
    side_place group_{};
    std::uint64_t offset_ = 0;        // end of the segment, with the buffer
    std::uint64_t previous_end_ = 0;  // end of the last sealed frame
    std::uint64_t head_end_ = 0;      // end of the restatement
    std::uint64_t pending_ = 0;       // observations and scalars that are not in the file yet
    std::uint64_t in_segment_ = 0;    // those in the file of this segment
    std::uint64_t lost_ = 0;
    std::uint64_t written_ = 0;
    std::uint64_t coming_ = 0;    // the ring's position with the next row,
    std::uint64_t position_ = 0;  // with all added rows,
    std::uint64_t sealed_ = 0;    // with the sealed frames,
    std::uint64_t kept_ = 0;      // and with the frames in the file
    double latest_ = 0;           // largest time returned
    error first_error_{};
    bool failed_ = false;
    bool settled_ = true;  // no step is partly written
    bool marks_ = false;
    bool restating_ = false;
    bool found_ = false;  // findings since the last repetition with findings
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool declarations::remember(byte_view body, bool said, std::uint64_t offset) noexcept {
    byte_reader in{body};
    std::uint64_t const id = in.varint();
    if (in.bad() || !list_.grow(static_cast<std::size_t>(id) + 1)) { return false; }
    piece& it = list_[static_cast<std::size_t>(id)];
    if (it.size == body.size()) {
        std::memcpy(bytes_.data() + it.at, body.data(), body.size());
    } else {
        if (it.once) { once_bytes_ -= it.size; }
        every_bytes_ -= it.size;
        if (it.once) { once_bytes_ += body.size(); }
        every_bytes_ += body.size();
        it.at = bytes_.size();
        it.size = body.size();
        if (!bytes_.append(body)) { return false; }
    }
    if (!said) { return true; }
    if (once_ == 0) { once_from_ = offset; }
    if (!it.once) {
        ++once_;
        once_bytes_ += it.size;
    }
    it.once = true;
    it.frame = frame_;
    return true;
}

SPOTTER_BODY void declarations::head_ends(std::uint64_t offset) noexcept {
    for (piece& each : list_) { each.once = false; }
    once_ = once_bytes_ = 0;
    said_at_ = offset;
}

SPOTTER_BODY bool declarations::once_is_due(std::uint64_t offset) const noexcept {
    return once_ > 0 && offset - once_from_ >= larger(first_distance, first_share * once_bytes_);
}

SPOTTER_BODY bool declarations::every_is_due(std::uint64_t offset, bool matters) const noexcept {
    std::uint64_t const distance = larger(least_distance, share * every_bytes_);
    return every_bytes_ > 0 && offset - said_at_ >= (matters ? distance / 4 : distance);
}

SPOTTER_BODY bool declarations::say_beside(byte_buffer& out) noexcept {
    if (every_bytes_ == 0) { return true; }
    side_declarations side{out};
    return say_at_head([&side](row_kind kind, byte_view body) { return side.put(kind, body); }) && side.seal();
}

}  // namespace spotter::inline SPOTTER_ABI

#include <spotter/record/segment_writer.ipp>
#endif
