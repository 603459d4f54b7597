// SPDX-License-Identifier: Apache-2.0
// Injected allocation failures: the n-th call of operator new (failing_memory.cpp) fails, alone or with all after it.
// It counts one thread's calls, or all threads'.
#pragma once

#include <atomic>
#include <cstdlib>

namespace spotter_test {

enum class outage : unsigned char { once, for_good };

struct memory_plan {
    bool active = false;
    outage how = outage::once;
    std::size_t fails_at = 0;  // from 1 on; 0: never
    std::size_t asked = 0;
};
inline thread_local memory_plan memory;

struct shared_memory_plan {
    std::atomic<bool> active{false};
    std::atomic<outage> how{outage::once};
    std::atomic<std::size_t> fails_at{0};
    std::atomic<std::size_t> asked{0};
};
inline shared_memory_plan memory_of_all;

inline bool is_due(std::size_t asked, outage how, std::size_t fails_at) noexcept {
    return fails_at != 0 && (how == outage::once ? asked == fails_at : asked >= fails_at);
}

// Runs `call` while the n-th allocation fails; returns the number of allocations.
template <class Call>
std::size_t allocations_of(std::size_t fails_at, outage how, Call&& call) {
    memory = {true, how, fails_at, 0};
    call();
    memory.active = false;
    return memory.asked;
}
// The same, counting the allocations of all threads.
template <class Call>
std::size_t allocations_of_all(std::size_t fails_at, outage how, Call&& call) {
    memory_of_all.how = how, memory_of_all.fails_at = fails_at, memory_of_all.asked = 0;
    memory_of_all.active = true;
    call();
    memory_of_all.active = false;
    return memory_of_all.asked;
}
inline bool fails_now() noexcept {
    if (memory.active && is_due(++memory.asked, memory.how, memory.fails_at)) { return true; }
    return memory_of_all.active && is_due(++memory_of_all.asked, memory_of_all.how, memory_of_all.fails_at);
}
inline void* take_or_fail(std::size_t bytes) noexcept {
    if (fails_now()) { return nullptr; }
    return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace spotter_test
