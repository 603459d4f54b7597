// SPDX-License-Identifier: Apache-2.0
// The byte ring: entries are read as they were written, in order and contiguous, between two threads.
#include <spotter/ring/byte_ring.hpp>

#include <tests/catch.hpp>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

using namespace spotter;

namespace {

std::uint64_t next_random(std::uint64_t& state) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}
bool put(byte_ring& ring, std::vector<unsigned char> const& bytes, std::uint32_t tag) {
    std::byte* const at = ring.prepare(bytes.size());
    if (at == nullptr) { return false; }
    if (!bytes.empty()) { std::memcpy(at, bytes.data(), bytes.size()); }
    ring.commit(bytes.size(), tag);
    return true;
}
std::vector<unsigned char> copy_of(ring_entry const& entry) {
    std::vector<unsigned char> bytes(entry.bytes.size());
    if (!bytes.empty()) { std::memcpy(bytes.data(), entry.bytes.data(), bytes.size()); }
    return bytes;
}
std::vector<unsigned char> filled(std::size_t size, std::uint64_t seed) {
    std::vector<unsigned char> bytes(size);
    for (std::size_t i = 0; i < size; ++i) { bytes[i] = static_cast<unsigned char>(seed + i * 7); }
    return bytes;
}

}  // namespace

TEST_CASE("an empty ring has no entry, and takes a power of two of bytes") {
    byte_ring ring;
    REQUIRE(ring.start(5000));
    CHECK(ring.size() == 8192);
    CHECK_FALSE(ring.peek().some);
    CHECK_FALSE(ring.start(5000));
}

TEST_CASE("entries of every size come out as they went in, across many wraps") {
    byte_ring ring;
    REQUIRE(ring.start(1024));
    for (std::size_t round = 0; round < 5000; ++round) {
        std::size_t const size = round * 37 % (ring.largest() + 1);
        auto const bytes = filled(size, round);
        REQUIRE(put(ring, bytes, static_cast<std::uint32_t>(round)));
        ring_entry const entry = ring.take();
        REQUIRE(entry.some);
        REQUIRE(entry.tag == round);
        REQUIRE(copy_of(entry) == bytes);
        ring.release();
        REQUIRE_FALSE(ring.peek().some);
    }
}

TEST_CASE("a full ring refuses, keeps what it has, and takes more once something was released") {
    byte_ring ring;
    REQUIRE(ring.start(1024));
    std::uint32_t count = 0;
    while (put(ring, filled(100, count), count)) { ++count; }
    CHECK(count == 9);  // 112 bytes each of 1024
    CHECK(ring.room() < 112);
    for (std::uint32_t i = 0; i < count; ++i) {
        REQUIRE(copy_of(ring.take()) == filled(100, i));
        ring.release();
        CHECK(put(ring, filled(100, 100 + i), 100 + i));
        if (i == 0) { CHECK_FALSE(put(ring, filled(100, 0), 0)); }
    }
}

TEST_CASE("the largest entry fits an empty ring wherever it begins, a larger one never") {
    for (std::size_t before = 0; before < 1000; before += 8) {
        byte_ring ring;
        REQUIRE(ring.start(1024));
        std::size_t moved = 0;
        while (moved < before) {
            REQUIRE(put(ring, {}, 1));
            (void)ring.take();
            ring.release();
            moved += 8;
        }
        CHECK(ring.prepare(ring.largest() + 1) == nullptr);
        REQUIRE(put(ring, filled(ring.largest(), before), 2));
        CHECK(copy_of(ring.peek()) == filled(ring.largest(), before));
    }
}

TEST_CASE("what is prepared and not committed was never there, and less may be committed than prepared") {
    byte_ring ring;
    REQUIRE(ring.start(1024));
    REQUIRE(ring.prepare(300) != nullptr);
    REQUIRE(ring.prepare(400) != nullptr);
    ring.commit(3, 9);
    CHECK(ring.take().bytes.size() == 3);
    ring.release();
    CHECK_FALSE(ring.peek().some);
}

TEST_CASE("a ring filled to the last byte takes not one more, and nothing unread is written over, wherever it begins") {
    // Entries of these sizes with their headers fill the ring exactly; 8 bytes more would overwrite unread ones.
    for (std::vector<std::size_t> const& sizes : {std::vector<std::size_t>{1016 / 2 - 4, 1016 / 2 - 4},
                                                  std::vector<std::size_t>(64, 8),
                                                  {504, 496, 0},
                                                  {0, 504, 496},
                                                  std::vector<std::size_t>(128, 0)}) {
        std::size_t whole = 0;
        for (std::size_t const each : sizes) { whole += byte_ring::header + (each + 7) / 8 * 8; }
        REQUIRE(whole == 1024);
        std::size_t filled_exactly = 0;
        for (std::size_t begin = 0; begin < 1024; begin += 8) {
            byte_ring ring;
            REQUIRE(ring.start(1024));
            for (std::size_t moved = 0; moved < begin; moved += 8) {
                REQUIRE(put(ring, {}, 1));
                (void)ring.take();
                ring.release();
            }
            // An entry that does not fit before the end of the memory needs padding, and then the last ones find no
            // room.
            std::uint32_t count = 0;
            while (count < sizes.size() && put(ring, filled(sizes[count], count), count)) { ++count; }
            auto const room = static_cast<std::size_t>(ring.room());
            filled_exactly += room == 0 ? 1 : 0;
            for (std::size_t more = room / 8 * 8; more <= ring.largest(); more += 8) {
                CHECK(ring.prepare(more) == nullptr);  // with its header it would overwrite unread bytes
            }
            if (room >= byte_ring::header) { CHECK(ring.prepare(0) != nullptr); }
            for (std::uint32_t i = 0; i < count; ++i) {
                ring_entry const entry = ring.take();
                REQUIRE((entry.some && entry.tag == i));
                REQUIRE(copy_of(entry) == filled(sizes[i], i));
                if (i == 0) {  // read, not released
                    CHECK(ring.room() == room);
                    CHECK_FALSE(ring.prepare(room < byte_ring::header ? 0 : room) != nullptr);
                }
            }
            CHECK_FALSE(ring.peek().some);
            ring.release();
            CHECK(ring.room() == 1024);
        }
        CHECK(filled_exactly > 0);
    }
}

TEST_CASE("one entry into the room that one gave back, round after round: the bytes beside it stay") {
    byte_ring ring;
    REQUIRE(ring.start(1024));
    std::uint32_t in = 0, out = 0;
    while (put(ring, filled(56, in), in)) { ++in; }
    REQUIRE(in == 16);
    REQUIRE(ring.room() == 0);
    for (; out < 1000; ++out) {
        CHECK(ring.prepare(0) == nullptr);
        REQUIRE(copy_of(ring.take()) == filled(56, out));
        CHECK(ring.prepare(0) == nullptr);  // taken is not released
        ring.release();
        CHECK(ring.prepare(57) == nullptr);
        REQUIRE(put(ring, filled(56, in), in));
        ++in;
        REQUIRE(ring.room() == 0);
    }
}

TEST_CASE("no entry of any size, wherever the ring begins, reaches behind the memory") {
    alignas(byte_ring::alignment) std::byte memory[1024 + 64];
    for (std::size_t begin = 0; begin < 1024; begin += 8) {
        for (std::size_t size = 0; size <= 504; size += 8) {
            std::memset(memory, 0x5A, sizeof memory);
            byte_ring ring;
            REQUIRE(ring.start(1024, memory));
            for (std::size_t moved = 0; moved < begin; moved += 8) {
                std::byte* const at = ring.prepare(0);
                if (at == nullptr) { FAIL(); }
                ring.commit(0, 1);
                (void)ring.take();
                ring.release();
            }
            std::byte* const at = ring.prepare(size);
            if (at == nullptr) { FAIL(); }
            std::memset(at, 0xA5, size);
            ring.commit(size, 2);
            bool const inside = at >= memory && at + size <= memory + 1024;
            if (!inside || memory[1024] != std::byte{0x5A}) { FAIL(begin << " and " << size); }
        }
    }
    SUCCEED();
}

TEST_CASE("a ring leaves its memory as it is until it is asked to touch it, and then touches what has no entry yet") {
    constexpr std::size_t size = 64 << 10, page = 4096;
    struct alignas(page) memory_of_ring {
        std::byte bytes[size];
    };
    auto const memory = std::make_unique<memory_of_ring>();
    std::memset(memory->bytes, 0x5A, size);
    auto const changed = [&](std::uint64_t from, std::uint64_t to) {
        return std::count_if(memory->bytes + from, memory->bytes + to,
                             [](std::byte each) { return each != std::byte{0x5A}; });
    };
    byte_ring ring;
    CHECK(ring.unused().empty());
    REQUIRE(ring.start(size, memory->bytes));
    CHECK(changed(0, size) == 0);
    CHECK(ring.unused().data() == memory->bytes);
    CHECK(ring.unused().size() == size);

    REQUIRE(put(ring, filled(5000, 0x5A), 1));
    CHECK(ring.committed() == byte_ring::header + 5000);
    CHECK(ring.unused().data() == memory->bytes + ring.committed());
    ring.touch(3 * page);
    for (std::uint64_t at = ring.committed(); at < ring.committed() + 3 * page; at += page) {
        CHECK(changed(at, at + page) > 0);
    }
    CHECK(changed(ring.committed() + 3 * page, size) == 0);
    CHECK(copy_of(ring.take()) == filled(5000, 0x5A));
    ring.release();

    ring.touch(2 * size);  // to the end of the memory
    for (std::uint64_t at = ring.committed(); at + page < size; at += page) { CHECK(changed(at, at + page) > 0); }
    while (ring.committed() < size) {
        REQUIRE(put(ring, filled(5000, 0x5A), 1));
        (void)ring.take();
        ring.release();
    }
    CHECK(ring.unused().empty());
    std::memset(memory->bytes, 0x5A, size);
    ring.touch(size);  // every byte has held an entry
    CHECK(changed(0, size) == 0);
}

TEST_CASE("spare room is left for entries that ask for none") {
    byte_ring ring;
    REQUIRE(ring.start(1024));
    while (ring.prepare(16, 128) != nullptr) { ring.commit(16, 1); }
    CHECK(ring.room() >= 128);
    CHECK(ring.prepare(64) != nullptr);
}

TEST_CASE("two threads: every byte of random entries arrives, larger ones in pieces") {
    byte_ring ring;
    REQUIRE(ring.start(4096));
    constexpr std::uint64_t records = 30000;
    std::thread producer{[&ring] {
        std::uint64_t seed = 88172645463325252ULL;
        for (std::uint64_t i = 0; i < records; ++i) {
            std::uint64_t const kind = next_random(seed) % 100;
            // Up to five times the ring's size.
            std::size_t left = static_cast<std::size_t>(kind < 90 ? kind : next_random(seed) % 20000);
            unsigned char value = static_cast<unsigned char>(i);
            do {
                std::size_t const size = left < 1000 ? left : 1000;
                std::byte* at = nullptr;
                while ((at = ring.prepare(size)) == nullptr) { std::this_thread::yield(); }
                for (std::size_t k = 0; k < size; ++k) { at[k] = static_cast<std::byte>(value++); }
                left -= size;
                ring.commit(size, left == 0 ? 1 : 0);
            } while (left > 0);
        }
    }};
    std::uint64_t seed = 88172645463325252ULL;
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < records; ++i) {
        std::uint64_t const kind = next_random(seed) % 100;
        std::size_t const expected = static_cast<std::size_t>(kind < 90 ? kind : next_random(seed) % 20000);
        unsigned char value = static_cast<unsigned char>(i);
        std::size_t size = 0;
        for (bool last = false; !last;) {
            ring_entry entry = ring.take();
            while (!entry.some) {
                std::this_thread::yield();
                entry = ring.take();
            }
            for (std::byte each : entry.bytes) { wrong += each != static_cast<std::byte>(value++); }
            size += entry.bytes.size();
            last = entry.tag == 1;
            ring.release();
        }
        wrong += size != expected;
    }
    producer.join();
    CHECK(wrong == 0);
    CHECK_FALSE(ring.peek().some);
}
