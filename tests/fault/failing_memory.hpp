// SPDX-License-Identifier: Apache-2.0
// Memory that gives out: the n-th allocation of this thread through operator new (failing_memory.cpp) fails, alone or with all after it.
#pragma once

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

// Runs `call` while the n-th allocation fails; how many there were.
template <class Call>
std::size_t allocations_of(std::size_t fails_at, outage how, Call&& call) {
    memory = {true, how, fails_at, 0};
    call();
    memory.active = false;
    return memory.asked;
}
inline void* take_or_fail(std::size_t bytes) noexcept {
    if (memory.active) {
        ++memory.asked;
        bool const due = memory.how == outage::once ? memory.asked == memory.fails_at : memory.asked >= memory.fails_at;
        if (memory.fails_at != 0 && due) { return nullptr; }
    }
    return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace spotter_test
