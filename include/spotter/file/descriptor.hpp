// SPDX-License-Identifier: Apache-2.0
// File (L1): descriptors of POSIX that are never those of standard input, output and error, whatever the program did
// with these.
#pragma once

#include <spotter/config.hpp>

#include <dirent.h>
#include <sys/types.h>

namespace spotter::inline SPOTTER_ABI::detail {

// A program may have closed its standard streams, as daemons do. The next file that is opened then has the number of
// one of them, and whatever the program or a library of it prints goes into that file. While one of these lives, the
// numbers that are free are taken by a descriptor that nobody can read or write, so that what is opened meanwhile is 3
// or above from its first moment on; when no thread opens anything any more they are free as they were. Costs three
// looks at the table of descriptors.
class standard_streams_kept {
public:
    standard_streams_kept() noexcept;
    standard_streams_kept(standard_streams_kept const&) = delete;
    standard_streams_kept& operator=(standard_streams_kept const&) = delete;
    ~standard_streams_kept();

    // The same open file at 3 or above, for what was opened meanwhile: another thread may have closed a stream just
    // then. -1 and errno where there is none; then the one that was given is closed. Negative numbers stay.
    [[nodiscard]] int above(int descriptor) const noexcept;
};

// As `open`, with O_CLOEXEC, and again where a signal came.
[[nodiscard]] int open_above_streams(char const* path, int flags, mode_t rights = 0) noexcept;
// As `opendir`.
[[nodiscard]] DIR* open_folder_above_streams(char const* path) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/file/descriptor.ipp>
#endif
