// SPDX-License-Identifier: Apache-2.0
// Record (L4): lets a thread sleep until another wakes it.
#pragma once

#include <spotter/config.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// Only one thread sleeps. A wake-up while it is awake ends its next sleep. Writes before wake() are visible after
// sleep().
class sleeper {
public:
    // True if it was woken.
    bool sleep(unsigned microseconds) noexcept {
        std::unique_lock lock{mutex_};
        (void)called_.wait_for(lock, std::chrono::microseconds{microseconds}, [this] { return woken_; });
        return std::exchange(woken_, false);
    }
    // Callable from any thread.
    void wake() noexcept {
        {
            std::lock_guard const lock{mutex_};
            woken_ = true;
        }
        called_.notify_one();
    }

private:
    std::mutex mutex_;
    std::condition_variable called_;
    bool woken_ = false;
};

}  // namespace spotter::inline SPOTTER_ABI
