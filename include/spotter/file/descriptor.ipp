// SPDX-License-Identifier: Apache-2.0
// The bodies of descriptor.hpp.
#pragma once

#include <spotter/file/descriptor.hpp>

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

namespace spotter::inline SPOTTER_ABI::detail {

inline constexpr int first_of_ours = STDERR_FILENO + 1;

SPOTTER_COLD_BODY standard_streams_kept::standard_streams_kept() noexcept {
    for (int each = 0; each < first_of_ours; ++each) {
        if (::fcntl(each, F_GETFD) >= 0) { continue; }
        int const number = ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (number >= first_of_ours) { ::close(number); }
        if (number < 0 || number >= first_of_ours) { return; }
        taken_[count_++] = number;
    }
}

SPOTTER_COLD_BODY standard_streams_kept::~standard_streams_kept() {
    int const why = errno;
    while (count_ > 0) { ::close(taken_[--count_]); }
    errno = why;
}

SPOTTER_COLD_BODY int standard_streams_kept::above(int descriptor) const noexcept {
    if (descriptor < 0 || descriptor >= first_of_ours) { return descriptor; }
    int const higher = ::fcntl(descriptor, F_DUPFD_CLOEXEC, first_of_ours);
    int const why = errno;
    ::close(descriptor);
    errno = why;
    return higher;
}

SPOTTER_COLD_BODY int open_above_streams(char const* path, int flags, mode_t rights) noexcept {
    standard_streams_kept const kept;
    for (;;) {
        int const number = ::open(path, flags | O_CLOEXEC, rights);
        if (number >= 0 || errno != EINTR) { return kept.above(number); }
    }
}

SPOTTER_COLD_BODY DIR* open_folder_above_streams(char const* path) noexcept {
    int const number = open_above_streams(path, O_RDONLY | O_DIRECTORY);
    DIR* const folder = number >= 0 ? ::fdopendir(number) : nullptr;
    if (folder == nullptr && number >= 0) { ::close(number); }
    return folder;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
