// SPDX-License-Identifier: Apache-2.0
// Core (L0): how far a long work has come, for who shows it meanwhile.
#pragma once

#include <spotter/config.hpp>

#include <atomic>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

// Counted up by the work, read by another thread. What is counted is said where one is taken; it outlives the work.
struct work_count {
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> total{0};  // 0: not known

    void add(std::uint64_t amount) noexcept { done.fetch_add(amount, std::memory_order_relaxed); }
};

}  // namespace spotter::inline SPOTTER_ABI
