// SPDX-License-Identifier: Apache-2.0
// Ring: one that is filled to its last byte keeps all unread entries and accepts nothing more, not even eight bytes.
#include <spotter/ring/byte_ring.hpp>

#include <tests/catch.hpp>

#include <cstring>
#include <vector>

using namespace spotter;

namespace {

constexpr std::size_t ring_bytes = 1024, head_bytes = 8;

bool put(byte_ring& ring, std::size_t bytes, std::uint8_t fill) {
    std::byte* const at = ring.prepare(bytes);
    if (at == nullptr) { return false; }
    std::memset(at, fill, bytes);
    ring.commit(bytes, fill);
    return true;
}
bool is_whole(ring_entry const& it, std::size_t bytes, std::uint8_t fill) {
    if (!it.some || it.tag != fill || it.bytes.size() != bytes) { return false; }
    for (std::byte const each : it.bytes) {
        if (each != std::byte{fill}) { return false; }
    }
    return true;
}

}  // namespace

TEST_CASE("a ring filled to its last byte keeps what is unread, wherever that begins") {
    for (std::size_t const whole : {8U, 16U, 64U, 256U, 512U}) {  // size of an entry with its header
        for (std::size_t before = 0; before < ring_bytes; before += whole) {
            byte_ring ring;
            REQUIRE(ring.start(ring_bytes));
            for (std::size_t moved = 0; moved < before; moved += whole) {
                REQUIRE(put(ring, whole - head_bytes, 1));
                (void)ring.take();
                ring.release();
            }
            std::size_t const entries = ring_bytes / whole;
            bool all_put = true;
            for (std::size_t i = 0; i < entries; ++i) {
                all_put = put(ring, whole - head_bytes, static_cast<std::uint8_t>(i)) && all_put;
            }
            REQUIRE(all_put);
            CHECK(ring.room() == 0);
            CHECK_FALSE(put(ring, 0, 99));  // the smallest entry
            CHECK_FALSE(put(ring, whole - head_bytes, 99));
            bool all_whole = true;
            for (std::size_t i = 0; i < entries; ++i) {
                all_whole = is_whole(ring.take(), whole - head_bytes, static_cast<std::uint8_t>(i)) && all_whole;
            }
            CHECK(all_whole);
            CHECK_FALSE(ring.peek().some);
            CHECK_FALSE(put(ring, 0, 99));  // taken is not released
            ring.release();
            CHECK(ring.room() == ring_bytes);
            CHECK(put(ring, 0, 99));
        }
    }
}

TEST_CASE("a ring that is full but for eight bytes takes eight bytes") {
    byte_ring ring;
    REQUIRE(ring.start(ring_bytes));
    while (ring.room() > head_bytes) {
        REQUIRE(put(ring, ring.room() > 2 * 64 ? 56 : static_cast<std::size_t>(ring.room()) - 2 * head_bytes, 7));
    }
    REQUIRE(ring.room() == head_bytes);
    CHECK_FALSE(put(ring, 1, 8));
    CHECK(put(ring, 0, 9));
    CHECK(ring.room() == 0);
    CHECK_FALSE(put(ring, 0, 10));
}
