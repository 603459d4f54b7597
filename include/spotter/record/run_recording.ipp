// SPDX-License-Identifier: Apache-2.0
// The bodies of run_recording.hpp.
#pragma once

#include <spotter/record/run_recording.hpp>
#include <spotter/ring/copy.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY run_recording::run_recording(file_system& its_files, open_run const& its_run,
                                          options const& chosen) noexcept
    : files{its_files}, run{its_run}, choices{chosen}, input{files, choices, writer},
      writer{files, run, choices, input.ring(), input.pages(), input.shared()} {
    if (choices.clock != nullptr) { run.place.now = choices.clock; }
    input.note(run.left);
}

SPOTTER_BODY run_recording::~run_recording() {
    writer.end();
    input.remove_shared();
    files.unlock(run.lock);
}

SPOTTER_COLD_BODY bool run_recording::take_memory() noexcept {
    if (!input.take_memory(run.place)) { return false; }
    if (ring_header* const shared = input.shared().header()) {
        writer.outlives_process();
        writer.errands().place.stand_in(shared->marks);
    }
    return true;
}

SPOTTER_BODY void run_recording::start(byte_view run_begin) noexcept { input.note(writer.start(run.place, run_begin)); }

SPOTTER_COLD_BODY void run_recording::end_request() noexcept {
    if (!outcome.run_begin.empty()) {
        byte_view const body = outcome.run_begin.view();
        std::byte* const at = body.size() <= input.largest() ? input.claim(body.size(), 0) : nullptr;
        if (at != nullptr) {
            detail::copy_cached(at, body.data(), body.size());
            input.commit(body.size(), static_cast<std::uint32_t>(row_kind::run_begin));
        } else {
            input.note({errc::dropped,
                        "the ring has no room for the collections of the new plan: readers do not know them by name"});
        }
        outcome.run_begin.clear();
    }
    writer.errands().control.done(outcome.why);
}

SPOTTER_BODY void run_recording::finish(byte_view run_end) noexcept {
    writer.finish(run_end);
    writer.errands().place.stand_here();
    input.remove_shared();
    files.unlock(run.lock);
    run.lock = {};
}

SPOTTER_COLD_BODY void run_recording::leave_to_parent() noexcept {
    path_text const lock{run.place.folder, layout::lock_name};
    if (files.is_at(run.lock, lock).value_or(false)) { files.leave_lock(run.lock); }
    writer.errands().place.stand_here();
    input.leave_to_parent();
}

SPOTTER_BODY void run_recording::report(sink_health& into) const noexcept {
    writer.report(into);
    if (!into.first_error) { into.first_error = input.trouble(); }
}

}  // namespace spotter::inline SPOTTER_ABI
