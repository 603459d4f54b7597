// SPDX-License-Identifier: Apache-2.0
// The bodies of size_limit.hpp.
#pragma once

#include <spotter/config.hpp>
#include <spotter/file/size_limit.hpp>

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
