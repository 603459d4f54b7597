// SPDX-License-Identifier: Apache-2.0
// File (L1): turns a file-size limit (ulimit -f) into a failed write, like a full disk, instead of the end of the
// program.
#pragma once

#include <spotter/config.hpp>

#include <csignal>

namespace spotter::inline SPOTTER_ABI {

// A write beyond RLIMIT_FSIZE sends SIGXFSZ to the writing thread, which by default ends the process. While this object
// lives the thread blocks the signal, so that only the write fails (EFBIG). A signal from the library's own write is
// discarded; one that was pending before stays. Installs no handler, and does not affect other threads. Windows has no
// such signal; nothing is done.
class size_limit_as_error {
public:
    size_limit_as_error() noexcept;
    size_limit_as_error(size_limit_as_error const&) = delete;
    size_limit_as_error& operator=(size_limit_as_error const&) = delete;
    // Keeps errno of the write.
    ~size_limit_as_error();

    // For the whole life of a thread that only writes.
    static void for_this_thread() noexcept;

#if !defined(_WIN32)
private:
    void take_pending() const noexcept;

    sigset_t signal_{}, before_{};
    bool blocked_ = false, was_pending_ = false;
#endif
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/size_limit.ipp>
#endif
