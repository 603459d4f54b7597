// SPDX-License-Identifier: Apache-2.0
// Record (L4): how a thread sleeps that others may wake.
#pragma once

#include <spotter/config.hpp>

#include <condition_variable>
#include <mutex>

namespace spotter::inline SPOTTER_ABI {

// One thread sleeps. Whoever wakes it, wakes its next sleep where it is awake; what was written before is seen after
// it.
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
