// SPDX-License-Identifier: Apache-2.0
// Record (L4): a run that has its folder, with both sides of its ring.
#pragma once

#include <spotter/file/system.hpp>
#include <spotter/record/plain_rows.hpp>
#include <spotter/record/ring_input.hpp>
#include <spotter/record/run_writer.hpp>
#include <spotter/ring/copy.hpp>

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
    run_recording(file_system& its_files, open_run const& its_run, options const& chosen) noexcept
        : files{its_files}, run{its_run}, choices{chosen}, input{files, choices, writer},
          writer{files, run, choices, input.ring(), input.pages(), input.shared()} {
        if (choices.clock != nullptr) { run.place.now = choices.clock; }
        input.note(run.left);
    }

    run_recording(run_recording const&) = delete;
    run_recording& operator=(run_recording const&) = delete;

    ~run_recording() {
        writer.end();
        input.remove_shared();
        files.unlock(run.lock);
    }

    // Of the ring; once. False if there is none.
    [[nodiscard]] SPOTTER_COLD bool take_memory() noexcept {
        if (!input.take_memory(run.place)) { return false; }
        if (ring_header* const shared = input.shared().header()) {
            writer.outlives_process();
            writer.errands().place.stand_in(shared->marks);
        }
        return true;
    }

    // Creates the first segment, and starts the writer's thread if wanted.
    void start(byte_view run_begin) noexcept { input.note(writer.start(run.place, run_begin)); }

    // The step that executed a request is closed: records new collections and answers the request.
    SPOTTER_COLD void end_request() noexcept {
        if (!outcome.run_begin.empty()) {
            byte_view const body = outcome.run_begin.view();
            std::byte* const at = body.size() <= input.largest() ? input.claim(body.size(), 0) : nullptr;
            if (at != nullptr) {
                detail::copy_cached(at, body.data(), body.size());
                input.commit(body.size(), static_cast<std::uint32_t>(row_kind::run_begin));
            } else {
                input.note(
                    {errc::dropped,
                     "the ring has no room for the collections of the new plan: readers do not know them by name"});
            }
            outcome.run_begin.clear();
        }
        writer.errands().control.done(outcome.why);
    }

    // Afterwards everything is in the files, and the folder is unlocked.
    void finish(byte_view run_end) noexcept {
        writer.finish(run_end);
        writer.errands().place.stand_here();
        input.remove_shared();
        files.unlock(run.lock);
        run.lock = {};
    }

    // In a forked child: leaves the run's lock and the ring's memory to the parent, so that the run ends with the
    // parent, however long the child lives. Touches nothing else: another thread of the parent may have been using it.
    SPOTTER_COLD void leave_to_parent() noexcept {
        path_text const lock{run.place.folder, layout::lock_name};
        if (files.is_at(run.lock, lock).value_or(false)) { files.leave_lock(run.lock); }
        writer.errands().place.stand_here();
        input.leave_to_parent();
    }

    // Adds the state of both sides.
    void report(sink_health& into) const noexcept {
        writer.report(into);
        if (!into.first_error) { into.first_error = input.trouble(); }
    }

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
