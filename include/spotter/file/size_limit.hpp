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
#include <cerrno>

#if !defined(_WIN32)
#include <pthread.h>
#include <time.h>
#endif

namespace spotter::inline SPOTTER_ABI {

#if defined(_WIN32)

SPOTTER_COLD_BODY size_limit_as_error::size_limit_as_error() noexcept {}

SPOTTER_COLD_BODY size_limit_as_error::~size_limit_as_error() {}

SPOTTER_COLD_BODY void size_limit_as_error::for_this_thread() noexcept {}

#else

SPOTTER_COLD_BODY size_limit_as_error::size_limit_as_error() noexcept {
    (void)::sigemptyset(&signal_);
    (void)::sigaddset(&signal_, SIGXFSZ);
    blocked_ = ::pthread_sigmask(SIG_BLOCK, &signal_, &before_) == 0 && ::sigismember(&before_, SIGXFSZ) == 0;
    sigset_t pending;
    was_pending_ = blocked_ && ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1;
}

SPOTTER_COLD_BODY size_limit_as_error::~size_limit_as_error() {
    if (!blocked_) { return; }
    int const number = errno;
    sigset_t pending;
    if (!was_pending_ && ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1) { take_pending(); }
    (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = number;
}

SPOTTER_COLD_BODY void size_limit_as_error::take_pending() const noexcept {
#if defined(__APPLE__)
    int taken = 0;
    (void)::sigwait(&signal_, &taken);  // returns at once: the signal is pending
#else
    timespec const at_once{0, 0};
    (void)::sigtimedwait(&signal_, nullptr, &at_once);
#endif
}

SPOTTER_COLD_BODY void size_limit_as_error::for_this_thread() noexcept {
    sigset_t signal;
    (void)::sigemptyset(&signal);
    (void)::sigaddset(&signal, SIGXFSZ);
    (void)::pthread_sigmask(SIG_BLOCK, &signal, nullptr);
}

#endif

}  // namespace spotter::inline SPOTTER_ABI
#endif
