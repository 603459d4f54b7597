// SPDX-License-Identifier: Apache-2.0
// Record (L4): what writes a run to files: what happens on the training thread.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/result.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/hook/control.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/hook/sink.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// Named here and known where the bodies are, so that a loop's file sees neither files, threads nor codecs.
class byte_buffer;
class file_system;
class recorder_core;
enum class row_kind : std::uint8_t;
struct distribution;
struct room_maker;
namespace rows {
struct observe;
}

// Takes the events of one thread (event_sink, hook/sink.hpp) and copies each into a ring; a thread of its own, or
// poll(), compresses and writes. While the ring has room an event costs the copy: no lock, no allocation, no system
// call.
//
// Failure never shows outside: the first one is kept in health(), from then on events are only counted. Always
// health().stored + health().dropped == observations and scalars that came in, and features that were dropped; `stored`
// are in the file after finish(). In a process forked off from the run's the recorder does nothing but count.
class run_recorder {
public:
    // Takes the folder `path` (options::existing says what if a run is there) and locks it. `files` must outlive the
    // recorder. The run is told to be that of `worker`; the folder is that of `options::worker`.
    run_recorder(std::string_view path, options const& choices, file_system& files, std::uint32_t worker) noexcept;
    run_recorder(run_recorder&& other) noexcept { swap(other); }
    run_recorder& operator=(run_recorder&& other) noexcept;
    // One that was not finished ends its run as failed: most likely an exception left the loop.
    ~run_recorder();

    void start(run_info const& run) noexcept;

    void declare(tensor_info const& tensor) noexcept;

    void observe(observation const& seen, terms keep) noexcept;

    // One that finds no room counts as dropped, beside its observation, which follows.
    void feature(tensor_info const& tensor, step_id step, std::uint64_t key, std::span<double const> numbers) noexcept;

    void scalar(tensor_info const& tensor, step_id const* step, tensor_ref const& value, double const* time) noexcept;

    // What `scalar` and `observe` would do, in short (event_sink).
    void number(tensor_info const& tensor, step_id const& step, plain_number value) noexcept;
    void values(tensor_info const& tensor, step_id const& step, tensor_ref const& view, terms keep) noexcept;

    // Of the step that is closed next.
    void stamp(step_moments const& times) noexcept { times_ = times, stamped_ = true; }
    void close(step_id step, step_alarm const& found) noexcept { end_step(step, found, true); }
    void tell(finding const& it) noexcept;  // that no close comes with
    // The run failed amid the step: it has no close, so that readers know it as open.
    void leave(step_id step, step_alarm const& found) noexcept { end_step(step, found, false); }

    void finish(run_end const& end) noexcept;

    void flush() noexcept;
    // The same, but that the loop waits for it two seconds at most, and not at all where it is never to wait
    // (options::overflow).
    void show() noexcept;
    // With drain::poll, the work of the writer: to be called regularly, by the same thread as the rest.
    void poll() noexcept;

    // Somebody made the file `stop` in the run's folder (record/stop_file.hpp).
    [[nodiscard]] bool stop_asked() const noexcept;
    [[nodiscard]] std::string_view stop_reason() const noexcept;  // its first line; may be empty
    // What options::beside has to tell to the loop.
    void tell_news(step_id step, step_alarm& into) noexcept;
    // What somebody outside asks for (hook/control.hpp).
    void listen(detail::control_readers const& readers) noexcept;
    [[nodiscard]] detail::control_request const* request() const noexcept;  // null: nobody asks for anything
    void obeyed(error const& why) noexcept;                                 // told once the step is closed
    void start_anew(run_info const& run) noexcept;                          // other collections from the next step on
    // In which section the loop is (hook/sections.hpp); null where nothing is recorded.
    [[nodiscard]] section_watcher const* watcher() const noexcept;

    [[nodiscard]] sink_health health() const noexcept;
    // Of a run that was resumed how often before.
    [[nodiscard]] std::uint32_t attempt() const noexcept;
    [[nodiscard]] std::string_view path() const noexcept;
    void note(error const& why) noexcept;  // into its health, where nothing was before

    // For a flight recorder, whose latest steps stay in the ring. What makes room there is asked of it; null: the ring
    // is drained.
    void when_full(room_maker const& make) noexcept;
    // The oldest step in the ring makes room, and never was. False where it is the open one, or there is none.
    bool discard_step() noexcept;
    void write_out() noexcept;  // all that is in the ring, into the segment
    // Into the segment at once: a declaration stays when the step that it was made at is long gone.
    void declare_apart(tensor_info const& tensor) noexcept;
    // An observation or a scalar that goes nowhere.
    void drop() noexcept { dropped_ += dry_ ? 0 : 1; }
    // It records; else everything is only counted.
    [[nodiscard]] bool has_folder() const noexcept { return core_ != nullptr; }
    // Whether there is a run that this process has begun and nobody has finished.
    [[nodiscard]] bool is_open() const noexcept;

private:
    void end_step(step_id step, step_alarm const& found, bool whole) noexcept;
    void put_close(step_id step, step_alarm const& found, bool whole) noexcept;
    // The body of run_begin; empty where there is no memory.
    void put_begin(run_info const& run, byte_buffer& into) const noexcept;
    [[nodiscard]] bool recording() noexcept;
    [[nodiscard]] bool goes_on() noexcept;  // begun, not over, and this process's
    [[nodiscard]] bool child() noexcept;
    void be_child() noexcept;

    // Ring bytes that a row and its blocks take at most, padding included.
    [[nodiscard]] std::uint64_t room_for(std::size_t bound, std::uint64_t bytes) const noexcept;
    // The values, block by block. False where they were given up: the next entry says so to the writer.
    [[nodiscard]] bool hand_over(std::byte const* values, std::size_t bytes) noexcept;
    // `counts` has room for all bins.
    static void take_distribution(distribution const& from, terms keep, std::span<std::byte> counts,
                                  rows::observe& row) noexcept;
    template <class Encode>
    [[nodiscard]] bool put(row_kind kind, std::size_t bound, Encode const& encode_into) noexcept;
    // Losses that the record does not know of yet.
    void tell_losses() noexcept;
    // 0 where the name is too long to be recorded.
    [[nodiscard]] std::size_t bound_of(tensor_info const& tensor) noexcept;
    [[nodiscard]] bool send(tensor_info const& tensor) noexcept;
    [[nodiscard]] bool send(finding const& it) noexcept;

    // Declarations that found no room are sent before anything else as soon as there is some.
    void keep_waiting(tensor_info const& tensor) noexcept;
    void send_waiting() noexcept;

    void swap(run_recorder& other) noexcept;

    recorder_core* core_ = nullptr;
    error first_{};
    slot_array<tensor_info> waiting_;
    std::size_t waiting_count_ = 0;
    std::uint64_t handed_ = 0;   // observations and scalars in the ring or beyond
    std::uint64_t dropped_ = 0;  // before the ring
    std::uint64_t thinned_ = 0;
    std::uint64_t closes_ = 0;
    std::uint64_t closes_lost_ = 0;
    std::uint64_t told_ = 0;  // the sum of losses that the record knows of
    step_moments times_{};    // of the step that is closed next,
    bool stamped_ = false;    // if it has any
    double begun_at_ = 0;
    text<64> packs_{};       // run_info::packs
    std::int64_t zero_ = 0;  // of the training thread's clock: nanoseconds since 1970
    instant instant_ = instant::before_update;
    std::uint32_t workers_ = 0;  // that the run is told to have
    bool dry_ = false;
    bool obeyed_ = false;  // what was asked for is done, once the step is closed
};

static_assert(event_sink<run_recorder>);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/run_recorder.ipp>
#endif
