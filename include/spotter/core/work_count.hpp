// SPDX-License-Identifier: Apache-2.0
// Core (L0): the progress of a long operation, for display by another thread.
#pragma once

#include <spotter/config.hpp>

#include <atomic>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

// Increased by the working thread, read by another. The function that takes one defines the unit. It must outlive the
// work.
struct work_count {
    std::atomic<std::uint64_t> done{0};
    std::atomic<std::uint64_t> total{0};  // 0: unknown

    void add(std::uint64_t amount) noexcept { done.fetch_add(amount, std::memory_order_relaxed); }
};

}  // namespace spotter::inline SPOTTER_ABI
