// SPDX-License-Identifier: Apache-2.0
// Record (L4): chooses the folder of a run, depending on its content.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/recover.hpp>
#include <spotter/record/segment_image.hpp>

namespace spotter::inline SPOTTER_ABI {

// The state of a run at the end of one segment.
struct segment_state {
    bool known = false;         // the head or a run_begin identifies the run
    bool ended = false;         // it has a run_end
    std::uint64_t run_id = 0;   // from the head
    std::uint32_t attempt = 0;  // from the head
    std::uint32_t workers = 0;  // the planned number of workers; 0: not specified
    std::uint64_t ordinal = 0;  // number of the next close; values without a close use one, too
    bool has_steps = false;     // it holds a close, or values without one
};

// The state of segment `number` of run `run_id` (0: any). Unknown if the head belongs to another run. An intact head
// takes precedence over the rows.
[[nodiscard]] segment_state read_state(detail::segment_image& segment, std::uint32_t number,
                                       std::uint64_t run_id) noexcept;

// A folder and its lock.
struct open_run {
    run_place place{};   // where recording begins
    opened_file lock{};  // held until the caller unlocks it
    // Why something of an earlier attempt (a ring, a partial segment) could not be removed, or how much of it was lost.
    error left{};
};

// Finds or creates, and locks, the folder for a new run at `path`. Worker 0 records into the folder itself, worker k
// into `worker-k` below it; each has its own lock. A worker joins worker 0's run there. If that run has ended, and this
// worker has finished its part or exceeds the run's number of workers, the folder is treated as another run, as for
// worker 0. Only worker 0 replaces a run; it spares workers that are being written. With `sync` the new folder is on
// the disk, too.
[[nodiscard]] result<open_run> open_folder(file_system& files, std::string_view path, existing what,
                                           std::uint32_t worker = 0, disk_sync sync = disk_sync::never) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/folder.ipp>
#endif
