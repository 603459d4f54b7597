// SPDX-License-Identifier: Apache-2.0
// Record (L4): lets a thread sleep until another wakes it.
#pragma once

#include <spotter/config.hpp>

#include <condition_variable>
#include <mutex>

namespace spotter::inline SPOTTER_ABI {

// Only one thread sleeps. A wake-up while it is awake ends its next sleep. Writes before wake() are visible after
// sleep().
class sleeper {
public:
    // True if it was woken.
    bool sleep(unsigned microseconds) noexcept;
    void wake() noexcept;  // any thread

private:
    std::mutex mutex_;
    std::condition_variable called_;
    bool woken_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/sleeper.ipp>
#endif
