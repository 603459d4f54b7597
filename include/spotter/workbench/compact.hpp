// SPDX-License-Identifier: Apache-2.0
// Workbench: the sidecars of a run's workers merged into one file, so that ten thousand of them open as one. Link
// spotter::workbench.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/work_count.hpp>
#include <spotter/file/system.hpp>

#include <cstdint>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// What came of compact_run.
struct compacted_run {
    std::uint32_t workers = 0;   // that are in it
    std::uint32_t left_out = 0;  // that are being written, or cannot be read: they open as before
    std::uint64_t bytes = 0;     // of the file
};

// Writes `workers.spotx` into the run's folder: of each worker that nobody writes, how it ended and its sidecars.
// Values and segments are not touched, and nothing depends on the file: what it says is held against the sizes of the
// segments by whoever opens the run, and a worker that was resumed since opens as if there were none. It is written
// beside and renamed, so a kill at any instant leaves the old one or the new one; again is the same. errc::busy:
// somebody else is at it; not_a_run: also for the folder of a single worker of several. `workers`: counts those that
// were looked into, then those that are in the file.
[[nodiscard]] result<compacted_run> compact_run(std::string_view path, file_system& files = system_files(),
                                                work_count* workers = nullptr) noexcept;

}  // namespace spotter::inline SPOTTER_ABI
