// SPDX-License-Identifier: Apache-2.0
// The bodies of sleeper.hpp.
#pragma once

#include <spotter/record/sleeper.hpp>

#include <chrono>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool sleeper::sleep(unsigned microseconds) noexcept {
    std::unique_lock lock{mutex_};
    (void)called_.wait_for(lock, std::chrono::microseconds{microseconds}, [this] { return woken_; });
    return std::exchange(woken_, false);
}

SPOTTER_BODY void sleeper::wake() noexcept {
    {
        std::lock_guard const lock{mutex_};
        woken_ = true;
    }
    called_.notify_one();
}

}  // namespace spotter::inline SPOTTER_ABI
