// SPDX-License-Identifier: Apache-2.0
// Record (L4): a run that has its folder, with both sides of its ring.
#pragma once

#include <spotter/file/system.hpp>
#include <spotter/record/plain_rows.hpp>
#include <spotter/record/ring_input.hpp>
#include <spotter/record/run_writer.hpp>

namespace spotter::inline SPOTTER_ABI {

// The outcome of a request from outside (hook/control.hpp), until the step that executed it is closed.
struct request_outcome {
    error why{};              // why it was refused
    byte_buffer run_begin{};  // the body of that row with other collections; empty: unchanged
};

// The members are in the order of construction. Called by the training thread; the writer's thread, if there is one,
// stays inside `writer`.
class run_recording {
public:
    run_recording(file_system& files, open_run const& its_run, options const& chosen) noexcept;
    run_recording(run_recording const&) = delete;
    run_recording& operator=(run_recording const&) = delete;
    ~run_recording();

    [[nodiscard]] bool take_memory() noexcept;  // of the ring; once. False if there is none
    void start(byte_view run_begin) noexcept;   // creates the first segment, and starts the writer's thread if wanted
    // The step that executed a request is closed: records new collections and answers the request.
    void end_request() noexcept;
    void finish(byte_view run_end) noexcept;  // afterwards everything is in the files, and the folder is unlocked
    // In a forked child: leaves the run's lock and the ring's memory to the parent, so that the run ends with the
    // parent, however long the child lives. Touches nothing else: another thread of the parent may have been using it.
    void leave_to_parent() noexcept;
    void report(sink_health& into) const noexcept;  // adds the state of both sides
    // As given; the segments continue from it.
    [[nodiscard]] run_place const& place() const noexcept { return run.place; }

    file_system& files;         // must outlive it
    open_run run;               // the folder, and its lock
    options choices;            // as given
    fork_guard fork;            // detects a forked child
    ring_input input;           // the training thread's side
    run_writer writer;          // the writer's side
    plain_rows rows{};          // the fast rows
    request_outcome outcome{};  // of an acknowledged request
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/run_recording.ipp>
#endif
