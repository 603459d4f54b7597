// SPDX-License-Identifier: Apache-2.0
// Rows whose values are differences: the values that they build on are read, and malformed references are refused.
#include <spotter/format/bytes.hpp>
#include <spotter/format/decode.hpp>
#include <spotter/format/encode.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/shuffle.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/stat/summary.hpp>

#include <tests/catch.hpp>

#include <string>
#include <vector>

using namespace spotter;

namespace {

std::vector<std::byte> filled(std::size_t size, unsigned seed) {
    std::vector<std::byte> bytes(size);
    for (std::byte& each : bytes) {
        seed = seed * 1664525U + 1013904223U;
        each = static_cast<std::byte>(seed >> 24);
    }
    return bytes;
}
// The body of a row of 150 floats that builds on `bases`, nearest first.
std::vector<std::byte> row_of(payload_place const& place, std::vector<payload_place> const& bases,
                              std::uint64_t links) {
    rows::observe row{};
    row.id = 0;
    row.has_values = true;
    row.type = dtype::f32;
    row.shape = {150};
    std::vector<std::byte> memory(4096);
    byte_writer out{memory.data(), memory.size()};
    encode(out, row, summary{}, 0U);
    encode_place(out, place);
    out.varint(links);
    payload_place at = place;
    for (payload_place const& each : bases) { encode_base(out, at, each); }
    REQUIRE_FALSE(out.full());
    memory.resize(out.size());
    memory[0] |= std::byte{layout::observe_delta};
    return memory;
}
error decode_body(std::vector<std::byte> const& body, rows::observe& out) {
    summary stats{};
    return decode(row_view{row_kind::observe, body}, out, stats);
}

}  // namespace

TEST_CASE("exclusive or, whatever the length, and onto one of its operands") {
    for (std::size_t size = 0; size < 100; ++size) {
        std::vector<std::byte> a = filled(size, 1), b = filled(size, 2), made(size);
        exclusive_or(a.data(), b.data(), made.data(), size);
        for (std::size_t i = 0; i < size; ++i) { REQUIRE(made[i] == (a[i] ^ b[i])); }
        exclusive_or(made.data(), b.data(), made.data(), size);
        REQUIRE(made == a);
    }
}

TEST_CASE("values of a chain are those of all its links together") {
    std::size_t const size = 600;
    payload_packer packer{1};
    byte_buffer segment;
    std::vector<payload_place> places;  // oldest first
    std::vector<std::byte> before = filled(size, 7), difference = before;
    for (unsigned step = 0; step < 5; ++step) {
        if (step > 0) {
            std::vector<std::byte> const now = filled(size, 7 + step);
            exclusive_or(now.data(), before.data(), difference.data(), size);
            before = now;
        }
        payload_place place{segment.size(), 0, {4}};
        REQUIRE_FALSE(packer.pack(difference, place.form, segment));
        place.bytes = segment.size() - place.offset;
        places.push_back(place);
        std::vector<payload_place> const bases(places.rbegin() + 1, places.rend());
        if (step == 0) { continue; }
        rows::observe row{};
        std::vector<std::byte> const body = row_of(place, bases, step);  // the decoded row points into it
        REQUIRE_FALSE(decode_body(body, row));
        CHECK(row.links == step);
        std::vector<std::byte> values(size);
        REQUIRE_FALSE(decode_payload(segment.view(), row, values));
        CHECK(values == before);
    }
}

TEST_CASE("a malformed list of bases is refused, and a base that is no payload is damage") {
    payload_place const place{1000, 50, {4}}, base{800, 60, {4}};
    rows::observe row{};
    CHECK_FALSE(decode_body(row_of(place, {base}, 1), row));
    CHECK(decode_body(row_of(place, {base}, 0), row).code == errc::corrupt);
    CHECK(decode_body(row_of(place, {base}, 2), row).code == errc::corrupt);
    CHECK(decode_body(row_of(place, {place}, 1), row).code == errc::corrupt);            // it builds on itself
    CHECK(decode_body(row_of(place, {{2000, 60, {4}}}, 1), row).code == errc::corrupt);  // on a later place
    CHECK(decode_body(row_of(place, std::vector<payload_place>(65, base), 65), row).code == errc::corrupt);
    std::vector<std::byte> body = row_of(place, {base, {700, 9, {4}}}, 2);
    for (std::size_t size = 0; size < body.size(); ++size) {
        std::vector<std::byte> const cut(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size));
        CHECK(decode_body(cut, row).code == errc::corrupt);
    }
    body.resize(body.size() + 3);  // a newer writer's fields
    REQUIRE_FALSE(decode_body(body, row));
    std::vector<std::byte> values(600);
    std::vector<std::byte> const noise = filled(2000, 1);
    CHECK(decode_payload(noise, row, values).code == errc::corrupt);
}
