// SPDX-License-Identifier: Apache-2.0
// File (L1): a limit on the size of files (ulimit -f) is a write that fails, as a full disk is, and not the end of the
// program.
#pragma once

#include <spotter/config.hpp>

#include <csignal>

namespace spotter::inline SPOTTER_ABI {

// A write beyond RLIMIT_FSIZE sends SIGXFSZ to the thread that writes, which ends the process where nobody said
// otherwise. For as long as this lives the thread does not take it, so that the write alone fails (EFBIG); one that
// came of our own writing is then thrown away, one that the program was sent before stays its own. Installs no handler,
// and changes nothing in other threads. Windows has no such signal, and nothing is done.
class size_limit_as_error {
public:
    size_limit_as_error() noexcept;
    size_limit_as_error(size_limit_as_error const&) = delete;
    size_limit_as_error& operator=(size_limit_as_error const&) = delete;
    // errno stays what the write made of it.
    ~size_limit_as_error();

    // For the whole life of a thread that does nothing but write.
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
