// SPDX-License-Identifier: Apache-2.0
// The worked example of docs/format.md, read from the page itself: what the page says is what the code reads.
#include <spotter/format/record.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/stat/summary.hpp>

#include <tests/catch.hpp>

#include <fstream>
#include <string>
#include <vector>

using namespace spotter;

namespace {

// The hex dumps of the page: a dump begins at offset 0.
std::vector<std::vector<std::byte>> dumps_in(std::string const& path) {
    std::vector<std::vector<std::byte>> dumps;
    std::ifstream page{path};
    for (std::string line; std::getline(page, line);) {
        if (line.size() < 12 || line[8] != ':' || line.find_first_not_of("0123456789abcdef") != 8) { continue; }
        if (line.starts_with("00000000:")) { dumps.emplace_back(); }
        for (std::size_t at = 10; at + 1 < line.size() && line[at] != ' ' && at < 58; at += 3) {
            dumps.back().push_back(static_cast<std::byte>(std::stoi(line.substr(at, 2), nullptr, 16)));
        }
    }
    return dumps;
}

}  // namespace

TEST_CASE("the example on the format page reads as the page explains it") {
    auto const dumps = dumps_in(SPOTTER_SOURCE_DIR "/docs/format.md");
    REQUIRE(dumps.size() == 2);
    byte_view const segment{dumps[0].data(), dumps[0].size()};
    REQUIRE(segment.size() == 0x189);
    frame_walker walk{segment};
    REQUIRE(walk.next() == walked::head);
    std::vector<row_view> rows;
    row_view row{};
    REQUIRE(walk.next() == walked::rows);
    for (row_reader in{walk.frame().body}; in.next(row);) { rows.push_back(row); }
    REQUIRE(walk.next() == walked::rows);
    CHECK((walk.frame().offset == 0xD8 && walk.frame().previous_end == 0xB3 && walk.frame().flags == 0x0D));
    for (row_reader in{walk.frame().body}; in.next(row);) { rows.push_back(row); }
    REQUIRE(walk.next() == walked::end);
    CHECK(walk.torn() == 0);
    REQUIRE(rows.size() == 7);

    rows::declare weight{};
    REQUIRE_FALSE(decode(rows[1], weight));
    CHECK((weight.tensor.name == "w" && weight.tensor.role == role::weight && weight.tensor.shape == extents{2, 3}));
    rows::observe seen{};
    summary stats{};
    REQUIRE_FALSE(decode(rows[3], seen, stats));
    CHECK((seen.step == train(7) && seen.place.offset == 0xB3 && seen.place.bytes == 0x25 && stats.sum == 21 &&
           stats.count == 6));
    float values[6]{};
    REQUIRE_FALSE(decode_payload(segment, seen.place, std::as_writable_bytes(std::span{values})));
    for (int i = 0; i < 6; ++i) { CHECK(values[i] == static_cast<float>(i + 1)); }
    rows::scalar loss{};
    REQUIRE_FALSE(decode(rows[4], loss));
    CHECK(load<double>(loss.value.data()) == 0.25);
    rows::run_end end{};
    REQUIRE_FALSE(decode(rows[6], end));
    CHECK((end.how == 1 && end.stored == 2 && end.closes == 1));

    auto const place = decode_side_place({dumps[1].data(), dumps[1].size()}, 0, segment.size());
    REQUIRE(place);
    CHECK(
        (place->offset == 0x40 && place->end == 0x189 && place->rows == 7 && place->closes == 1 && place->values == 2));
}
