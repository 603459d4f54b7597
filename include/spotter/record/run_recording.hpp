// SPDX-License-Identifier: Apache-2.0
// Record (L4): a run that has its folder, and both sides of its ring.
#pragma once

#include <spotter/file/system.hpp>
#include <spotter/record/plain_rows.hpp>
#include <spotter/record/ring_input.hpp>
#include <spotter/record/run_writer.hpp>

namespace spotter::inline SPOTTER_ABI {

// What came of a request from outside, until the step at which it was done is closed (hook/control.hpp).
struct request_outcome {
    error why{};              // it was refused
    byte_buffer run_begin{};  // the body of that row with other collections; empty: they are the same
};

// The parts of it, in the order in which they come to be; they go in the other. Called by the training thread; the
// writer's thread, where there is one, stays in `writer`.
class run_recording {
public:
    run_recording(file_system& files, open_run const& its_run, options const& chosen) noexcept;
    run_recording(run_recording const&) = delete;
    run_recording& operator=(run_recording const&) = delete;
    ~run_recording();

    [[nodiscard]] bool take_memory() noexcept;  // of the ring; once. False where there is none
    void start(byte_view run_begin) noexcept;   // the first segment, and the writer's thread where one is wanted
    // The step at which a request was done is closed: other collections are told behind it, and it is answered.
    void end_request() noexcept;
    void finish(byte_view run_end) noexcept;  // everything is in the files then, and the folder is free
    // In a forked child: the run's lock and the ring's memory are the parent's alone from here on, so that the run ends
    // with it, however long the child lives. Nothing of the rest is touched: a thread of the parent's may have been
    // amid it.
    void leave_to_parent() noexcept;
    void report(sink_health& into) const noexcept;  // adds what both sides know
    // As it was given; the segments go on from it.
    [[nodiscard]] run_place const& place() const noexcept { return run.place; }

    file_system& files;         // outlives it
    open_run run;               // the folder, and its lock
    options choices;            // as they were given
    fork_guard fork;            // whether this process is the one that records
    ring_input input;           // the training thread's side
    run_writer writer;          // the other one
    plain_rows rows{};          // rows in short
    request_outcome outcome{};  // of a request that was acknowledged
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/run_recording.ipp>
#endif
