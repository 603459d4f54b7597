// SPDX-License-Identifier: Apache-2.0
// Operator new of this executable. It fails where a test plans it.
#include <tests/fault/failing_memory.hpp>

#include <new>

namespace {

[[noreturn]] void say_no_memory() {
#if defined(__cpp_exceptions)
    throw std::bad_alloc{};
#else
    std::abort();
#endif
}

}  // namespace

// Out of line, so that no compiler sees malloc behind new and free behind delete and warns of the pair.
#if defined(__clang__)
#define SPOTTER_TEST_REPLACED __attribute__((noinline))
#else
#define SPOTTER_TEST_REPLACED __attribute__((noipa))
#endif

SPOTTER_TEST_REPLACED void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
    return spotter_test::take_or_fail(bytes);
}
SPOTTER_TEST_REPLACED void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept {
    return spotter_test::take_or_fail(bytes);
}
SPOTTER_TEST_REPLACED void* operator new(std::size_t bytes) {
    void* const memory = spotter_test::take_or_fail(bytes);
    if (memory == nullptr) { say_no_memory(); }
    return memory;
}
SPOTTER_TEST_REPLACED void* operator new[](std::size_t bytes) { return ::operator new(bytes); }
SPOTTER_TEST_REPLACED void operator delete(void* memory) noexcept { std::free(memory); }
SPOTTER_TEST_REPLACED void operator delete[](void* memory) noexcept { std::free(memory); }
SPOTTER_TEST_REPLACED void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
SPOTTER_TEST_REPLACED void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
SPOTTER_TEST_REPLACED void operator delete(void* memory, std::nothrow_t const&) noexcept { std::free(memory); }
SPOTTER_TEST_REPLACED void operator delete[](void* memory, std::nothrow_t const&) noexcept { std::free(memory); }
