// SPDX-License-Identifier: Apache-2.0
// The worked example of docs/format.md, taken from the page itself: the code reads it as the page explains it.
#include <spotter/format/record.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/stat/summary.hpp>

#include <tests/catch.hpp>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

using namespace spotter;

namespace {

// The hex dumps on the page; each begins at offset 0.
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
    REQUIRE(segment.size() == 0x1DD);
    frame_walker walk{segment};
    REQUIRE(walk.next() == walked::head);
    REQUIRE(walk.next() == walked::rows);
    CHECK((walk.frame().offset == 0x40 && walk.frame().flags == 1));
    REQUIRE(walk.next() == walked::rows);
    CHECK((walk.frame().offset == 0x105 && walk.frame().previous_end == 0xE0 && walk.frame().flags == 0x0D));
    CHECK((walk.frame().rows == 7 && walk.frame().closes == 4 && walk.frame().values == 5));

    row_reader rows{walk.frame().body};
    row_view row{};
    REQUIRE(rows.next(row));
    rows::declare weight{};
    REQUIRE_FALSE(decode(row, weight));
    CHECK((weight.tensor.name == "w" && weight.tensor.role == role::weight && weight.tensor.shape == extents{2, 3}));
    REQUIRE(rows.next(row));
    rows::observe seen{};
    summary stats{};
    REQUIRE_FALSE(decode(row, seen, stats));
    CHECK((seen.step == train(0) && seen.place.offset == 0xE0 && seen.place.bytes == 0x25 && stats.sum == 21 &&
           stats.count == 6));
    float values[6]{};
    REQUIRE_FALSE(decode_payload(segment, seen.place, std::as_writable_bytes(std::span{values})));
    for (int i = 0; i < 6; ++i) { CHECK(values[i] == static_cast<float>(i + 1)); }
    REQUIRE(rows.next(row));
    CHECK(row.kind == row_kind::declare);
    for (std::uint64_t step = 0; step < 4; ++step) {
        REQUIRE(rows.next(row));
        CHECK((row.part == whole_row) == (step == 0));  // the other steps are packed
        rows::scalar loss{};
        REQUIRE_FALSE(decode(row, loss));
        CHECK((loss.step == train(step) && load<float>(loss.value.data()) == 0.25F / static_cast<float>(1U << step)));
        REQUIRE(rows.next(row));
        rows::close closed{};
        REQUIRE_FALSE(decode(row, closed));
        CHECK((closed.step == train(step) && closed.ordinal == step));
        CHECK(closed.time == 1800000000.0 + (3 + static_cast<double>(step)) / 4096);
    }
    REQUIRE(rows.next(row));
    rows::run_end end{};
    REQUIRE_FALSE(decode(row, end));
    CHECK((end.how == 1 && end.stored == 5 && end.closes == 4));
    CHECK_FALSE(rows.next(row));
    REQUIRE(walk.next() == walked::end);
    CHECK(walk.torn() == 0);

    byte_view const side{dumps[1].data(), dumps[1].size()};
    auto const place = decode_side_place(side, 1, segment.size());
    REQUIRE(place);
    CHECK((place->offset == 0x105 && place->end == 0x1DD && place->previous_end == 0xE0 && place->rows == 7 &&
           place->closes == 4 && place->values == 5));
    CHECK((place->may_hold(train(3)) && !place->may_hold(train(4)) && !place->may_hold(eval(0))));
    byte_buffer rebuilt;
    REQUIRE_FALSE(rebuild_sidecar(segment, rebuilt));
    CHECK(std::equal(side.begin(), side.end(), rebuilt.view().begin(), rebuilt.view().end()));
    std::vector<std::string> declared;
    each_side_declaration(side.subspan(0xE0), segment, [&](row_view found) {
        if (found.kind == row_kind::run_begin) { return; }
        rows::declare reported{};
        REQUIRE_FALSE(decode(found, reported));
        declared.emplace_back(reported.tensor.name);
    });
    CHECK(declared == std::vector<std::string>{"w", "loss"});
}
