// SPDX-License-Identifier: Apache-2.0
// A ring in memory that outlives its process: another process continues at the same position, and garbage gives a named
// error.
#include <spotter/ring/byte_ring.hpp>

#include <tests/catch.hpp>

#include <string>
#include <vector>

using namespace spotter;

namespace {

constexpr ring_owner somebody{0x123456789ABCDEF0ULL, 3, 2};

// Zeroed memory, aligned as mapped memory is.
class memory_block {
public:
    explicit memory_block(std::size_t ring_bytes) : pages_((ring_header::own_bytes + ring_bytes) / sizeof(page)) {}
    std::span<std::byte> bytes() { return {pages_[0].bytes, pages_.size() * sizeof(page)}; }

private:
    struct alignas(64) page {
        std::byte bytes[1024]{};
    };
    std::vector<page> pages_;
};

bool put(byte_ring& ring, std::string const& letters, std::uint32_t tag) {
    std::byte* const at = ring.prepare(letters.size());
    if (at == nullptr) { return false; }
    std::memcpy(at, letters.data(), letters.size());
    ring.commit(letters.size(), tag);
    return true;
}
std::string text_of(ring_entry const& entry) {
    return {reinterpret_cast<char const*>(entry.bytes.data()), entry.bytes.size()};
}
std::string numbered(std::size_t i) { return std::string(i * 7 % 90, 'x') + std::to_string(i); }

}  // namespace

TEST_CASE("a ring in given memory: another object finds what was committed and not released, from any position") {
    for (std::size_t before = 0; before < 60; ++before) {
        memory_block block{1024};
        ring_header* const header = ring_header::make(block.bytes(), somebody);
        std::vector<std::uint64_t> positions;
        std::size_t first = 0, end = 0;
        {
            byte_ring ring;
            REQUIRE(ring.start(*header));
            REQUIRE_FALSE(ring.start(*header));
            CHECK(ring.size() == 1024);
            for (; first < before; ++first, ++end) {
                REQUIRE(put(ring, numbered(end), static_cast<std::uint32_t>(end)));
                REQUIRE(text_of(ring.take()) == numbered(first));
                ring.release();
            }
            while (put(ring, numbered(end), static_cast<std::uint32_t>(end))) { ++end; }
            (void)ring.take();
            CHECK(ring.held() > 0);  // taken, not released: still held
        }
        for (std::size_t skipped = 0; skipped < end - first; ++skipped) {
            auto const found = ring_header::open(block.bytes());
            REQUIRE(found);
            REQUIRE((*found)->owner() == somebody);
            std::uint64_t const from = skipped == 0 ? (*found)->counters.tail.load() : positions[skipped - 1];
            byte_ring again;
            REQUIRE(again.reopen(**found, from) == (*found)->counters.head.load());
            for (std::size_t i = first + skipped; i < end; ++i) {
                ring_entry const entry = again.take();
                REQUIRE((entry.some && entry.tag == i));
                REQUIRE(text_of(entry) == numbered(i));
                if (skipped == 0) { positions.push_back(again.taken()); }
            }
            CHECK_FALSE(again.take().some);
        }
    }
}

TEST_CASE("what is taken stays until it is released, and the producer finds no room before that") {
    byte_ring ring;
    REQUIRE(ring.start(1024));
    std::uint32_t count = 0;
    while (put(ring, std::string(100, 'x'), count)) { ++count; }
    std::vector<std::uint64_t> positions;
    for (std::uint32_t i = 0; i < count; ++i) {
        CHECK(ring.take().tag == i);
        positions.push_back(ring.taken());
    }
    CHECK_FALSE(ring.take().some);
    CHECK_FALSE(put(ring, std::string(100, 'x'), 0));
    CHECK(ring.held() == 112 * count);
    ring.release(positions[1]);
    CHECK(ring.released() == 224);
    ring.release(positions[0]);  // releasing backwards does nothing
    CHECK(ring.released() == 224);
    CHECK(put(ring, std::string(100, 'x'), 1));
    ring.release();
    CHECK(ring.held() == 0);
}

TEST_CASE("where an entry ends is known without the ring") {
    byte_ring ring;
    REQUIRE(ring.start(1024));
    std::uint64_t position = 0;
    for (std::size_t i = 0; i < 300; ++i) {
        std::size_t const size = i * 37 % (ring.largest() + 1);
        REQUIRE(put(ring, std::string(size, 'x'), 0));
        position = byte_ring::behind(position, size, ring.size());
        (void)ring.take();
        REQUIRE(ring.taken() == position);
        ring.release();
    }
}

TEST_CASE("a damaged header is an error with a name; memory that was never begun, and another version's, have others") {
    memory_block block{1024};
    CHECK(ring_header::open(block.bytes()).error().code == errc::no_more_data);
    CHECK(ring_header::open({}).error().code == errc::no_more_data);  // killed before it mapped its memory
    CHECK(ring_header::open(block.bytes().first(1024)).error().code == errc::corrupt);
    ring_header* const header = ring_header::make(block.bytes(), somebody);
    CHECK(ring_header::open(block.bytes()));
    CHECK(ring_header::open(block.bytes().first(ring_header::own_bytes)).error().code == errc::corrupt);
    header->counters.head = 16;
    CHECK(ring_header::open(block.bytes()));
    for (std::uint64_t wrong : {std::uint64_t{17}, std::uint64_t{1032}, ~std::uint64_t{0}}) {
        header->counters.head = wrong;
        CHECK(ring_header::open(block.bytes()).error().code == errc::corrupt);
    }
    header->counters.head = 0;
    header->counters.tail = 8;
    CHECK(ring_header::open(block.bytes()).error().code == errc::corrupt);

    // With any byte changed the ring is opened with the same size, or the error is named.
    for (std::size_t at = 0; at < 512; ++at) {
        memory_block other{1024};
        (void)ring_header::make(other.bytes(), somebody);
        other.bytes()[at] ^= std::byte{0x55};
        auto const opened = ring_header::open(other.bytes());
        if (opened) {
            CHECK((*opened)->size() == 1024);
        } else {
            CHECK((opened.error().code == errc::corrupt || opened.error().code == errc::unknown_version));
        }
    }
}

TEST_CASE("entries of impossible sizes end the ring before them, wherever they are; nothing outside is read") {
    for (std::size_t at = 0; at < 1024; at += 4) {
        for (std::uint32_t wrong : {0U, 3U, 1000U, 0x7FFFFFFFU, 0xFFFFFFFFU}) {
            memory_block block{1024};
            ring_header* const header = ring_header::make(block.bytes(), somebody);
            std::vector<std::uint64_t> ends{0};
            {
                byte_ring ring;
                REQUIRE(ring.start(*header));
                for (std::size_t i = 0; put(ring, numbered(i), 7); ++i) {
                    ends.push_back(header->counters.head.load());
                }
            }
            std::memcpy(header->memory() + at, &wrong, sizeof wrong);
            byte_ring again;
            std::uint64_t const whole = again.reopen(*header, 0);
            CHECK(whole <= ends.back());
            while (again.take().some) {}
            CHECK(again.taken() <= whole);
        }
    }
}
