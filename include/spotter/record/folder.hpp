// SPDX-License-Identifier: Apache-2.0
// Record (L4): which folder a run goes to, depending on what is there already.
#pragma once

#include <spotter/file/file_system.hpp>
#include <spotter/format/record.hpp>
#include <spotter/hook/options.hpp>
#include <spotter/record/recover.hpp>
#include <spotter/record/segment_image.hpp>

namespace spotter::inline SPOTTER_ABI {

// How far a segment, and with it its run, had got.
struct segment_state {
    bool known = false;         // its head or a run_begin says of which run it is
    bool ended = false;         // and a run_end
    std::uint64_t run_id = 0;   // as its head says
    std::uint32_t attempt = 0;  // as its head says
    std::uint32_t workers = 0;  // how many the run was to have; 0 where nobody said
    std::uint64_t ordinal = 0;  // of the next close; values that no close followed keep one for themselves
    bool told = false;          // whether such values, or a close, were in it
};

// Of segment `number` of the run `run_id` (0: any); nothing is known of one whose head says that it is another's. Of
// which run and attempt it is an intact head says, whatever its rows say.
[[nodiscard]] segment_state read_state(detail::segment_image& segment, std::uint32_t number,
                                       std::uint64_t run_id) noexcept;

// A folder with its lock held.
struct open_run {
    run_place place{};   // where the recording begins
    opened_file lock{};  // held until somebody gives it back
    // Why something of an attempt before this one is still there (a ring, a half of a segment), or how much of it was
    // lost.
    error left{};
};

// Finds, makes and locks the folder for a new run at `path`. Worker 0 records into the folder itself, worker k into
// `worker-k` below it, each with its own lock. A worker joins the run that worker 0 has there unless that is over and
// this worker had finished its part of it, or is none of its `options::workers`: then it is another run, as it is for
// worker 0. Replacing is worker 0's business, for all that nobody writes. With a `sync` the folder itself is on the
// disk, too.
[[nodiscard]] result<open_run> open_folder(file_system& files, std::string_view path, existing what,
                                           std::uint32_t worker = 0, disk_sync sync = disk_sync::never) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/folder.ipp>
#endif
