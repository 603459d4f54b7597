// SPDX-License-Identifier: Apache-2.0
// File (L1): POSIX descriptors that never get the numbers of standard input, output and error, even if the program has
// closed these.
#pragma once

#include <spotter/config.hpp>

#include <dirent.h>
#include <sys/types.h>

namespace spotter::inline SPOTTER_ABI::detail {

// A program may have closed its standard streams, as daemons do. The next opened file then gets such a number, and what
// the program or a library prints goes into that file. While one of these objects lives, an unusable descriptor takes
// each free number of them, so that a file opened meanwhile has a number of 3 or above from the start. When no thread
// opens files any more, the numbers are free again. Costs three look-ups in the descriptor table.
class standard_streams_kept {
public:
    standard_streams_kept() noexcept;
    standard_streams_kept(standard_streams_kept const&) = delete;
    standard_streams_kept& operator=(standard_streams_kept const&) = delete;
    ~standard_streams_kept();

    // Duplicates a descriptor that was opened meanwhile to 3 or above if necessary: another thread may have closed a
    // stream just then. On failure closes it and returns -1 with errno. Negative numbers are returned unchanged.
    [[nodiscard]] int above(int descriptor) const noexcept;
};

// Like `open`, with O_CLOEXEC; retries after a signal.
[[nodiscard]] int open_above_streams(char const* path, int flags, mode_t rights = 0) noexcept;
// Like `opendir`.
[[nodiscard]] DIR* open_folder_above_streams(char const* path) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/file/descriptor.ipp>
#endif
