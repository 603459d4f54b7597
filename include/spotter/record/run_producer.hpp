// SPDX-License-Identifier: Apache-2.0
// Record (L4): the producer of a run, on the training thread: turns events into rows in a ring.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/result.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/hook/control.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/hook/sink_calls.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// Only declared here: files that include a hook do not include files, threads and codecs.
class byte_buffer;
class file_system;
class run_recording;
enum class row_kind : std::uint8_t;
struct room_maker;
namespace rows {
struct observe;
struct run_end;
}  // namespace rows

// The state of a recording, for the training thread.
enum class producer_state : std::uint8_t {
    off,     // recording is switched off: nothing is counted either
    unable,  // no folder, or no memory: everything is dropped
    ready,   // has its folder and its ring
    recording,
    over,
    forked,  // this process is a fork of the recording one: everything is dropped
};

// Takes the events of one thread (event_sink, hook/sink.hpp) and copies each into a ring. run_writer compresses and
// writes, in its own thread or by poll(). While the ring has room an event costs only the copy: no lock, no allocation,
// no system call.
//
// A failure never reaches the caller: health() keeps the first one, and events are then only counted. The sum
// health().stored + health().dropped is always the number of observations and scalars received, plus dropped features.
// After finish() the `stored` ones are in the file. In a forked child it only counts.
class run_producer {
public:
    // Takes and locks the folder `path` (options::existing applies if it holds a run). `files` must outlive the
    // producer. The record names `worker` as its worker; the folder is that of `options::worker`.
    run_producer(std::string_view path, options const& choices, file_system& files, std::uint32_t worker) noexcept;
    run_producer(run_producer&& other) noexcept { swap(other); }
    run_producer& operator=(run_producer&& other) noexcept;
    // An unfinished run ends as failed: most likely an exception left the loop.
    ~run_producer();

    void start(run_info const& run) noexcept;

    void declare(tensor_info const& tensor) noexcept;

    void observe(observation const& seen, stats_mask keep) noexcept;

    // Without room, a feature counts as dropped, separately from its observation, which follows.
    void feature(tensor_info const& tensor, step_id step, std::uint64_t key, std::span<double const> numbers) noexcept;

    void scalar(tensor_info const& tensor, step_id const* step, tensor_ref const& value, double const* time) noexcept;

    // Fast forms of `scalar` and `observe` (hook/sink_calls.hpp).
    void number(tensor_info const& tensor, step_id const& step, plain_number value) noexcept;
    // The fast form of `observe` for values.
    void values(tensor_info const& tensor, step_id const& step, tensor_ref const& view, stats_mask keep) noexcept;

    // For the step that is closed next.
    void stamp(step_moments const& times) noexcept { times_ = times, stamped_ = true; }
    void close(step_id step, step_alarm const& found) noexcept { end_step(step, found, true); }
    void tell(finding const& it) noexcept;  // a finding without a close
    // The run failed amid the step: without a close, readers know it as open.
    void leave(step_id step, step_alarm const& found) noexcept { end_step(step, found, false); }

    void finish(run_end const& end) noexcept;

    void flush() noexcept;
    // Like flush, but waits at most two seconds, and not at all if options::overflow never waits.
    void show() noexcept;
    // With drain::poll, does the writer's work: call it regularly, in the thread of the other calls.
    void poll() noexcept;

    // A stop was requested by the file `stop` in the run's folder (record/errands.hpp).
    [[nodiscard]] bool stop_asked() const noexcept;
    [[nodiscard]] std::string_view stop_reason() const noexcept;  // its first line; may be empty
    // Adds the news of options::beside.
    void tell_news(step_id step, step_alarm& into) noexcept;
    // Requests from outside (hook/control.hpp).
    void set_readers(detail::control_readers const& readers) noexcept;
    [[nodiscard]] detail::control_request const* poll_request() const noexcept;  // the waiting request, or null
    void acknowledge(error const& why) noexcept;                                 // takes effect when the step is closed
    void reset_collections(run_info const& run) noexcept;  // the collections from the next step on
    // Publishes the loop's section (hook/sections.hpp); null if nothing is recorded.
    [[nodiscard]] section_watcher const* watcher() const noexcept;

    [[nodiscard]] sink_health health() const noexcept;
    // How often the run was resumed before.
    [[nodiscard]] std::uint32_t attempt() const noexcept;
    [[nodiscard]] std::uint64_t run_id() const noexcept;  // the same in all attempts of the run; 0: no folder
    [[nodiscard]] std::string_view path() const noexcept;
    void note(error const& why) noexcept;  // adds an error to health() if it is the first

    // For a flight recorder, which keeps the latest steps in the ring: `make` is called for room; null: the ring is
    // drained.
    void when_full(room_maker const& make) noexcept;
    // Discards the oldest step of the ring, as if it never was. False if that is the open one, or there is none.
    bool discard_step() noexcept;
    void write_out() noexcept;  // writes the content of the ring to the segment
    // Writes a declaration directly to the segment: it stays when its step has been discarded.
    void declare_apart(tensor_info const& tensor) noexcept;
    // Counts an observation or scalar that is not recorded.
    void drop() noexcept { dropped_ += state_ == producer_state::off ? 0 : 1; }
    // False: everything is only counted.
    [[nodiscard]] bool has_folder() const noexcept { return at_ != nullptr; }
    // Whether this process has begun a run that is not finished.
    [[nodiscard]] bool is_open() const noexcept;

private:
    void end_step(step_id step, step_alarm const& found, bool whole) noexcept;
    void put_close(step_id step, step_alarm const& found, bool whole) noexcept;
    // Encodes the body of run_begin; empty where memory is exhausted.
    void put_begin(run_info const& run, byte_buffer& into) const noexcept;
    [[nodiscard]] bool recording() noexcept;  // also sends what waits
    [[nodiscard]] bool goes_on() noexcept;    // begun, not over, and not in a forked child
    [[nodiscard]] bool child() noexcept;
    void be_child() noexcept;
    void leave_to_parent() noexcept;

    // The values have no room: leaves them out, or returns false to drop the observation.
    [[nodiscard]] bool thin(rows::observe& row) noexcept;
    // Writes an observation to the ring; `bytes` of values are in its entry or behind it.
    void put_observation(observation const& seen, stats_mask keep, rows::observe const& row, std::size_t bound,
                         std::size_t bytes) noexcept;
    // The counters and the run's ending, without the coverage of the rules.
    [[nodiscard]] rows::run_end end_row(run_end const& end) const noexcept;

    // Most bytes of the ring that a row and its blocks take, with padding.
    [[nodiscard]] std::uint64_t room_for(std::size_t bound, std::uint64_t bytes) const noexcept;
    // Writes the values block by block. False if they were given up, which the next entry shows to the writer.
    [[nodiscard]] bool hand_over(std::byte const* values, std::size_t bytes) noexcept;
    template <class Encode>
    [[nodiscard]] bool put(row_kind kind, std::size_t bound, Encode const& encode_into) noexcept;
    // Records losses that are not in the record yet.
    void tell_losses() noexcept;
    // 0 if the name is too long to be recorded.
    [[nodiscard]] std::size_t bound_of(tensor_info const& tensor) noexcept;
    [[nodiscard]] bool send(tensor_info const& tensor) noexcept;
    [[nodiscard]] bool send(finding const& it) noexcept;

    // Declarations without room are kept, and sent first as soon as there is room.
    void keep_waiting(tensor_info const& tensor) noexcept;
    void send_waiting() noexcept;

    void swap(run_producer& other) noexcept;

    run_recording* at_ = nullptr;
    producer_state state_ = producer_state::unable;
    error first_{};
    slot_array<tensor_info> waiting_;
    std::size_t waiting_count_ = 0;
    std::uint64_t handed_ = 0;   // observations and scalars that entered the ring
    std::uint64_t dropped_ = 0;  // before they entered the ring
    std::uint64_t thinned_ = 0;
    std::uint64_t closes_ = 0;
    std::uint64_t closes_lost_ = 0;
    std::uint64_t losses_recorded_ = 0;  // losses that are in the record, summed
    step_moments times_{};               // of the step that is closed next,
    bool stamped_ = false;               // if it has times
    double begun_at_ = 0;
    text<64> packs_{};       // run_info::packs
    std::int64_t zero_ = 0;  // zero of the training thread's clock: nanoseconds since 1970
    instant instant_ = instant::before_update;
    std::uint32_t workers_ = 0;  // planned number of workers, for the record
    bool acknowledged_ = false;  // acknowledge a request once the step is closed
};

static_assert(event_sink<run_producer>);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/event.hpp>
#include <spotter/format/record.hpp>
#include <spotter/record/entry.hpp>
#include <spotter/stat/distribution.hpp>
#include <spotter/stat/mask.hpp>

#include <algorithm>
#include <cstddef>

namespace spotter::inline SPOTTER_ABI::detail {

// Fills `row` with the kept terms, without values. `counts` has room for all bins of a histogram; the row refers to it.
void describe(observation const& seen, stats_mask keep, std::span<std::byte> counts, rows::observe& row) noexcept;
// Most bytes of the row, with a values_head.
[[nodiscard]] std::size_t bound_of(rows::observe const& row) noexcept;

SPOTTER_BODY void take_distribution(distribution const& from, stats_mask keep, std::span<std::byte> counts,
                                    rows::observe& row) noexcept {
    if (from.has_quantiles && has(keep, stats_mask::quantiles)) {
        row.quantiles = from.quantiles.size();
        row.levels = bytes_of(from.quantiles.data(), from.quantiles.size());
    }
    if (from.has_histogram && has(keep, stats_mask::histogram)) {
        byte_writer out{counts.data(), counts.size()};
        for (std::uint64_t const each : from.bins) { out.varint(each); }
        row.bins = from.bins.size();
        row.low = from.low;
        row.high = from.high;
        row.counts = out.view();
    }
}

SPOTTER_INLINE void describe(observation const& seen, stats_mask keep, std::span<std::byte> counts,
                             rows::observe& row) noexcept {
    row.id = seen.tensor.id;
    row.step = seen.step;
    if (has(keep, stats_mask::unit_activity)) {
        row.units = (std::min)(seen.units.active.size(), seen.units.finite.size());
        row.axis = static_cast<std::uint8_t>(seen.units.axis);
        row.active = bytes_of(seen.units.active.data(), as_size(row.units));
        row.finite = bytes_of(seen.units.finite.data(), as_size(row.units));
    }
    if (seen.distribution != nullptr) { take_distribution(*seen.distribution, keep, counts, row); }
    tensor_ref const& view = seen.view;
    row.has_values = has(keep, stats_mask::payload) && !view.absent() && view.refused == refusal::none;
    row.type = view.type;
    row.layout = view.layout;
    row.shape = view.shape;
}

SPOTTER_INLINE std::size_t bound_of(rows::observe const& row) noexcept {
    return observe_limit + sizeof(ring_tag::values_head) + as_size(row.units) * 8 + row.levels.size() +
           row.counts.size();
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#include <spotter/record/run_producer.ipp>
#endif
