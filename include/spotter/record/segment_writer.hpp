// SPDX-License-Identifier: Apache-2.0
// Record (L4): rows and values to numbered segments and their sidecars. Used by one thread at a time.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/format/step_times.hpp>
#include <spotter/format/steps_packer.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/clock.hpp>
#include <spotter/record/declarations.hpp>
#include <spotter/record/packer_pool.hpp>
#include <spotter/record/retention.hpp>
#include <spotter/record/segment_pair.hpp>

namespace spotter::inline SPOTTER_ABI {

// Where a run's next segment goes, and from where it counts.
struct run_place {
    path_text folder{};                               // of the worker
    std::uint32_t number = 0;                         // of the next segment
    std::uint32_t attempt = 0;                        // of the run, from 0
    std::uint64_t ordinal = 0;                        // of the next close
    std::uint64_t run_id = 0;                         // the same in all attempts and workers
    std::uint32_t worker = 0;                         // its number
    double (*now)() noexcept = &seconds_since_epoch;  // null: it stays `time`, as when a killed run's rest is written
    double time = 0;                                  // times given out are not before it
    opened_file lock{};                               // of the folder; whoever took it gives it back
};

// The first failure is kept and ends the writing; whatever comes later is only counted. Bytes reach the file in the
// order in which they were added: values before the row that describes them, a row frame before the place in the
// sidecar. The sidecar is a cache: where it cannot be written, the error is kept and the segment goes on without it.
class segment_writer {
public:
    segment_writer(file_system& files, options const& choices) noexcept;
    segment_writer(segment_writer const&) = delete;
    segment_writer& operator=(segment_writer const&) = delete;

    // For a ring that outlives the process: every frame of rows says how far the ring is in the segments
    // (row_kind::drained), from `position` on. Before `begin`.
    void mark_from(std::uint64_t position) noexcept;
    [[nodiscard]] bool marks() const noexcept { return marks_; }  // frames say how far the ring is
    // The row that is added next stands, with the rows before it, for the ring up to that position.
    void covers(std::uint64_t position) noexcept { coming_ = position; }
    // Everything of the ring before that position was added or given up.
    void reach(std::uint64_t position) noexcept { coming_ = position_ = position; }
    // How far the ring is in the file. Only frames count that were written: rows wait in a frame, frames in a buffer.
    [[nodiscard]] std::uint64_t kept() const noexcept { return kept_; }

    // A declaration of an earlier segment, to be restated. Before `begin`.
    void recall(byte_view declare) noexcept;

    // The first segment. `run_begin` is the body of that row; it is restated in every segment.
    void begin(run_place const& place, byte_view run_begin) noexcept;
    // The next one, between two steps, with another `run_begin` of the same attempt: readers look for one at a head
    // only.
    void begin_anew(byte_view run_begin) noexcept;

    // A row in two parts. What was lost of it is counted, if anything.
    void add(row_kind kind, byte_view body, byte_view rest = {}) noexcept;
    // Where the loop is, or was when its process ended.
    void stay(rows::stay const& it) noexcept;
    // When the step whose close is added next was begun and closed. Kept back, and written with the frame that it fits
    // into.
    void time(step_time it) noexcept;
    // A block of values; the place of the first one is where the values are. One that is `alone` is all the values of a
    // tensor; its form is then the one that it has.
    [[nodiscard]] std::uint64_t offset() noexcept;
    [[nodiscard]] std::uint32_t segment() const noexcept { return place_.number; }  // number of the one that is written
    void add_block(byte_view block, payload_form& form, bool alone) noexcept;       // 256 KiB at most
    // From now on that many threads compress, this one included.
    void start_helpers(unsigned compressors, int level) noexcept { helpers_.start(compressors, level); }

    // The frames of a block as they stand in another segment.
    void add_packed(byte_view frames) noexcept;

    // Into the file: the steps that were closed, and on request what there is of the open one, which is then no longer
    // packed.
    void flush(bool open_step = true) noexcept;
    // Whether the segment still has its name. Where another file has it, what this one holds is lost but for what that
    // one knows, and a new segment is begun. Not amid values.
    void look() noexcept;
    // Values added so far into the file. The row frame that is begun stays: sealed amid values it would tear them
    // apart.
    void write_values() noexcept;
    // Everything into the file, and no more after it.
    void finish() noexcept;

    // Something of the open step waits for its close.
    [[nodiscard]] bool holds_open_step() const noexcept { return !step_.empty(); }
    // That ended the writing, or of the sidecar.
    [[nodiscard]] error const& first_error() const noexcept { return first_error_; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }  // nothing is written any more
    // Observations and scalars that reached no file.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }
    // Bytes in files, of segments and sidecars.
    [[nodiscard]] std::uint64_t written() const noexcept { return written_; }
    [[nodiscard]] std::uint64_t ordinal() const noexcept { return place_.ordinal; }  // of the next close
    // The clock's time, or the last one where the clock was set back meanwhile: times in a record do not decrease.
    [[nodiscard]] double now() noexcept;

private:
    // Buffered before a write is worth it. More would leave the cache before it is written: with 1 MiB the writer takes
    // a tenth longer (bench/writer.cpp).
    static constexpr std::size_t write_bytes = 64U << 10;

    [[nodiscard]] static error no_memory() noexcept;
    [[nodiscard]] std::size_t frame_target() const noexcept;
    // Steps are packed, but for those that were begun row by row. A row that is kept back would be in no frame, which
    // the marks could not tell.
    [[nodiscard]] bool packs() const noexcept { return !apart_ && !marks_; }
    [[nodiscard]] std::size_t buffered() const noexcept { return out_.size() + rows_.size(); }

    // A block was added to `out_`, which was so long before.
    void added(std::size_t before, error const& why) noexcept;
    // The oldest block that helpers have; all of them.
    void take_block() noexcept;
    void take_blocks() noexcept;

    // Stops all writing. Rows that had not reached the file are lost.
    void fail(error const& why) noexcept;

    // A row, one of a `value` or another: kept back with its step, or by itself.
    void take_row(row_kind kind, byte_view body, byte_view rest, bool value) noexcept;
    void restate_due() noexcept;  // declarations, of which too few stand behind the last ones
    // The close of a step, the rows of which have been kept back. False where it has to be written row by row.
    [[nodiscard]] bool pack_step(byte_view body, byte_view rest) noexcept;
    // The steps packed so far as one row.
    void put_steps() noexcept;
    // The times collected so far as one row of the frame that is sealed next.
    void put_times() noexcept;
    // What was kept back of the open step, row by row; the rest of it follows so.
    void part_step() noexcept;
    void add_apart(row_kind kind, byte_view body, byte_view rest) noexcept;
    // For a row in the frame that is being collected, or else in a new one.
    void make_room(std::size_t size) noexcept;

    // Every row that was added is in this frame, or the mark would lie.
    void seal(std::uint32_t flags) noexcept;
    void put_group() noexcept;

    // What is buffered; rows not yet sealed stay.
    void write() noexcept;

    [[nodiscard]] std::uint64_t values_from(std::uint64_t offset) noexcept;

    void open_segment() noexcept;
    // Without marks: a segment that ends here does not say what it is the next of.
    void restate() noexcept;
    [[nodiscard]] bool say(row_kind kind, byte_view body) noexcept;
    // One wrong bit takes a row frame. So no frame is the only one that has a declaration, or all that follows would be
    // lost with it.
    void say_again(declarations::which which) noexcept;
    void say_with_findings() noexcept;

    void close_segment() noexcept;
    [[nodiscard]] error moved() const noexcept { return of_run(segment_pair::moved()); }
    // Only what a reader finds under the segment's name is stored.
    void was_replaced() noexcept;
    void rotate(byte_view run_begin = {}) noexcept;
    // To the next number that nobody has taken meanwhile.
    void move_on() noexcept;
    // The segment that was closed last counts now.
    void retain(bool last) noexcept;
    // What does not end the writing.
    void note(error const& why) noexcept;
    [[nodiscard]] error of_run(error why) const noexcept;

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
    steps_packer steps_;       // closed, behind rows_
    times_packer times_;       // of steps that were closed
    std::uint64_t timed_ = 0;  // when the last of them was closed: times in a record do not decrease
    byte_buffer step_;         // rows of the open step, behind steps_
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

#if SPOTTER_BODIES
#include <spotter/record/segment_writer.ipp>
#endif
