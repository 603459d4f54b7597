// SPDX-License-Identifier: Apache-2.0
// Counts the allocations of a thread through operator new. Only one file of an executable may include it.
#pragma once

#include <cstdlib>
#include <new>

namespace spotter_test {

inline thread_local bool counting = false;
inline thread_local std::size_t allocations = 0;

// Runs `call`; returns how often this thread allocated in it.
template <class Call>
std::size_t allocations_in(Call&& call) {
    allocations = 0;
    counting = true;
    call();
    counting = false;
    return allocations;
}
inline void* take_memory(std::size_t bytes) noexcept {
    allocations += counting ? 1 : 0;
    return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace spotter_test

// Out of line, so that no compiler sees malloc behind new and free behind delete and warns of the pair.
#if defined(__clang__)
#define SPOTTER_TEST_REPLACED __attribute__((noinline))
#else
#define SPOTTER_TEST_REPLACED __attribute__((noipa))
#endif

SPOTTER_TEST_REPLACED void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    return spotter_test::take_memory(bytes);
}
SPOTTER_TEST_REPLACED void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept {
    return spotter_test::take_memory(bytes);
}
SPOTTER_TEST_REPLACED void* operator new(std::size_t bytes) {
    void* const memory = spotter_test::take_memory(bytes);
    if (memory == nullptr) { std::abort(); }
    return memory;
}
SPOTTER_TEST_REPLACED void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
SPOTTER_TEST_REPLACED void operator delete(void* memory) noexcept { std::free(memory); }
SPOTTER_TEST_REPLACED void operator delete[](void* memory) noexcept { std::free(memory); }
SPOTTER_TEST_REPLACED void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
SPOTTER_TEST_REPLACED void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
SPOTTER_TEST_REPLACED void operator delete(void* memory, std::nothrow_t const&) noexcept { std::free(memory); }
SPOTTER_TEST_REPLACED void operator delete[](void* memory, std::nothrow_t const&) noexcept { std::free(memory); }
