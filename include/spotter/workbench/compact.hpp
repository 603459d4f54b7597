// SPDX-License-Identifier: Apache-2.0
// Workbench: merges the sidecars of a run's workers into one file, so that a run of ten thousand workers opens fast.
// Link spotter::workbench.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/work_count.hpp>
#include <spotter/file/system.hpp>

#include <cstdint>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The result of compact_run.
struct compacted_run {
    std::uint32_t workers = 0;   // merged ones
    std::uint32_t left_out = 0;  // not merged: being written, or unreadable; they open as before
    std::uint64_t bytes = 0;     // size of the file
};

// Writes `workers.spotx` into the run's folder: for each worker that is not being written, how it ended and its
// sidecars. It does not touch values and segments. The file is only a cache: when a run is opened, each entry is
// compared with the sizes of the segments, and the entry of a worker that was resumed since is ignored. The file is
// written under another name and renamed, so a kill at any time leaves the old one or the new one. Repeated calls give
// the same file. errc::busy: another process is compacting the run; not_a_run: also for the folder of a single worker
// of several. `workers` counts first the workers that were examined, then those that are in the file.
[[nodiscard]] result<compacted_run> compact_run(std::string_view path, file_system& files = system_files(),
                                                work_count* workers = nullptr) noexcept;

}  // namespace spotter::inline SPOTTER_ABI
