// SPDX-License-Identifier: Apache-2.0
// Every copy function does what memcpy does, for every size and alignment of both sides.
#include <spotter/ring/copy.hpp>

#include <tests/catch.hpp>

#include <algorithm>
#include <vector>

using namespace spotter;

TEST_CASE("a copy is exact, and touches nothing beside it, at every alignment and size") {
    std::vector<std::byte> from(700), into(800);
    for (std::size_t i = 0; i < from.size(); ++i) { from[i] = static_cast<std::byte>(i * 31 + 7); }
    bool exact = true;
    std::vector<void (*)(std::byte*, std::byte const*, std::size_t) noexcept> ways{detail::copy_cached,
                                                                                   detail::copy_streaming};
#if defined(__GNUC__) && SPOTTER_GNU_VECTORS
    // The function for processors without wide stores.
    ways.push_back([](std::byte* to, std::byte const* source, std::size_t size) noexcept {
        detail::copy_lines<16, false>(to, source, size);
    });
#if SPOTTER_CAN_STREAM
    ways.push_back([](std::byte* to, std::byte const* source, std::size_t size) noexcept {
        detail::copy_lines<16, true>(to, source, size);
    });
#endif
#endif
    for (auto const copy : ways) {
        for (std::size_t const source : {0U, 1U, 8U, 15U, 16U, 33U}) {
            for (std::size_t target = 0; target < 64; target += 3) {
                for (std::size_t size = 0; size < 600; size += size < 160 ? 1 : 37) {
                    std::fill(into.begin(), into.end(), std::byte{0xEE});
                    copy(into.data() + target, from.data() + source, size);
                    exact = exact && std::memcmp(into.data() + target, from.data() + source, size) == 0;
                    for (std::size_t i = 0; i < target; ++i) { exact = exact && into[i] == std::byte{0xEE}; }
                    for (std::size_t i = target + size; i < into.size(); ++i) {
                        exact = exact && into[i] == std::byte{0xEE};
                    }
                }
            }
        }
    }
    CHECK(exact);
}
