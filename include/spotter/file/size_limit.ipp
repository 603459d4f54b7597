// SPDX-License-Identifier: Apache-2.0
// The bodies of size_limit.hpp.
#pragma once

#include <spotter/config.hpp>
#include <spotter/file/size_limit.hpp>

#include <cerrno>
#include <pthread.h>
#include <time.h>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY size_limit_as_error::size_limit_as_error() noexcept {
    (void)::sigemptyset(&signal_);
    (void)::sigaddset(&signal_, SIGXFSZ);
    blocked_ = ::pthread_sigmask(SIG_BLOCK, &signal_, &before_) == 0 && ::sigismember(&before_, SIGXFSZ) == 0;
    sigset_t pending;
    was_pending_ = blocked_ && ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1;
}

SPOTTER_BODY size_limit_as_error::~size_limit_as_error() {
    if (!blocked_) { return; }
    int const number = errno;
    sigset_t pending;
    if (!was_pending_ && ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGXFSZ) == 1) {
        timespec const at_once{0, 0};
        (void)::sigtimedwait(&signal_, nullptr, &at_once);
    }
    (void)::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = number;
}

SPOTTER_BODY void size_limit_as_error::for_this_thread() noexcept {
    sigset_t signal;
    (void)::sigemptyset(&signal);
    (void)::sigaddset(&signal, SIGXFSZ);
    (void)::pthread_sigmask(SIG_BLOCK, &signal, nullptr);
}

}  // namespace spotter::inline SPOTTER_ABI
