// SPDX-License-Identifier: Apache-2.0
// A segment in memory: its content is read back. Cut anywhere, or with any bit flipped, it gives the right values or a
// named error, and the damage is reported.
#include <spotter/format/checksum.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/stat/summary.hpp>

#include <tests/catch.hpp>

#include <cstdlib>
#include <string>
#include <vector>

using namespace spotter;

namespace {

// The result of one walk over a segment.
struct reading {
    std::vector<std::string> rows;      // each row as kind and body bytes
    std::vector<std::string> payloads;  // values of each observation that decoded
    std::uint64_t damaged_bytes = 0;
    std::uint64_t torn = 0;
    int refused = 0;  // payloads or rows with an error of their own
    bool head = false;
};

reading read_all(byte_view segment, std::uint64_t start = 0) {
    reading all;
    frame_walker walk{segment, start};
    payload_unpacker unpacker;
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what == walked::corrupt) {
            REQUIRE(walk.damage().bytes > 0);
            REQUIRE(walk.damage().offset + walk.damage().bytes <= segment.size());
            all.damaged_bytes += walk.damage().bytes;
        }
        if (what == walked::head) { all.head = !walk.head_error(); }
        if (what != walked::rows) { continue; }
        row_reader rows{walk.frame().body};
        for (row_view row{}; rows.next(row);) {
            all.rows.emplace_back(reinterpret_cast<char const*>(row.body.data()), row.body.size());
            all.rows.back().insert(all.rows.back().begin(), static_cast<char>(row.kind));
            rows::observe seen{};
            summary stats{};
            if (row.kind != row_kind::observe) { continue; }
            if (decode(row, seen, stats)) {
                ++all.refused;
                continue;
            }
            if (!seen.has_values) { continue; }
            std::vector<std::byte> values(static_cast<std::size_t>(seen.shape.elements()) * size_of(seen.type));
            error const why = unpacker.unpack(segment, seen.place, values);
            if (why) {
                REQUIRE(why.code == errc::corrupt);
                ++all.refused;
            } else {
                all.payloads.emplace_back(reinterpret_cast<char const*>(values.data()), values.size());
            }
        }
        REQUIRE_FALSE(rows.bad());
    }
    all.torn = walk.torn();
    return all;
}

std::vector<float> some_values(std::size_t count, std::uint32_t seed) {
    std::vector<float> values(count);
    for (float& each : values) {
        seed = seed * 1664525U + 1013904223U;
        each = static_cast<float>(seed >> 8) / 16777216.0F - 0.5F;
    }
    return values;
}

// A head, declarations, and two row frames with payloads before them; the last frame is marked.
struct sample {
    byte_buffer bytes;
    std::vector<std::string> payloads;
    std::vector<std::uint64_t> ends;  // end offsets of row frames

    explicit sample(std::size_t count = 24, std::size_t steps = 2) {
        REQUIRE_FALSE(encode_head({}, bytes));
        payload_packer packer{1};
        row_frame_builder rows;
        std::uint64_t previous = layout::head_bytes;
        std::byte memory[400];
        auto const put = [&](row_kind kind, auto&& encode_into) {
            byte_writer out{memory, sizeof memory};
            encode_into(out);
            REQUIRE(rows.add(kind, out.view()));
        };
        auto const seal = [&](std::uint64_t ordinal, std::uint32_t flags) {
            REQUIRE(bytes.append(rows.seal(bytes.size(), previous, ordinal, flags)));
            previous = bytes.size();
            ends.push_back(previous);
            rows.reset();
        };
        put(row_kind::run_begin, [](byte_writer& out) { encode(out, rows::run_begin{}); });
        put(row_kind::declare, [](byte_writer& out) { encode(out, rows::declare{{0, "w", role::weight}}); });
        seal(0, 0);
        for (std::uint64_t step = 0; step < steps; ++step) {
            auto const values = some_values(count, static_cast<std::uint32_t>(step));
            auto const raw = bytes_of(values.data(), values.size());
            payloads.emplace_back(reinterpret_cast<char const*>(raw.data()), raw.size());
            rows::observe row{};
            row.id = 0;
            row.step = train(step);
            row.has_values = true;
            row.type = dtype::f32;
            row.shape = {count};
            row.place.offset = bytes.size();
            row.place.form = payload_packer::form_for(dtype::f32, raw.size());
            for (std::size_t at = 0; at < raw.size(); at += layout::block_bytes) {
                std::size_t const size = raw.size() - at < layout::block_bytes ? raw.size() - at : layout::block_bytes;
                REQUIRE_FALSE(packer.pack(raw.subspan(at, size), row.place.form, bytes));
            }
            row.place.bytes = bytes.size() - row.place.offset;
            summary stats{};
            stats.has = stats_mask::sum | stats_mask::nonfinite;
            stats.count = count;
            stats.sum = 0.25;
            put(row_kind::observe, [&](byte_writer& out) {
                encode(out, row, stats, static_cast<std::uint32_t>(stats_mask::sum));
                encode_place(out, row.place);
            });
            put(row_kind::close, [&](byte_writer& out) {
                encode(out, rows::close{train(step), 0, 0, 0});
                encode_stamp(out, step, 1.0);
            });
            seal(step, step + 1 == steps ? layout::last_of_segment : 0);
        }
    }
};

}  // namespace

TEST_CASE("the checksum is CRC-64/XZ") {
    CHECK(checksum(bytes_of("123456789", 9)) == 0x995DC9BBDF1939FAULL);
    CHECK(checksum({}) == 0);
}

TEST_CASE("a segment walks from head to end, and its values come back") {
    for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{127}, std::size_t{128}, std::size_t{65536},
                              std::size_t{200001}}) {
        sample const it{count, 3};
        reading const all = read_all(it.bytes.view());
        CHECK(all.head);
        CHECK(all.rows.size() == 8);
        CHECK(all.payloads == it.payloads);
        CHECK((all.damaged_bytes == 0 && all.torn == 0 && all.refused == 0));
    }
}

TEST_CASE("a segment cut at every byte gives whole frames and says how much is torn") {
    sample const it{200, 2};
    byte_view const whole = it.bytes.view();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        // Its own allocation, so that ASan sees reads behind its end.
        std::vector<std::byte> const cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        reading const all = read_all({cut.data(), cut.size()});
        std::size_t frames = 0;
        std::uint64_t good = size < layout::head_bytes ? 0 : layout::head_bytes;
        for (std::uint64_t end : it.ends) {
            if (end <= size) {
                ++frames;
                good = end;
            }
        }
        INFO("cut at " << size);
        REQUIRE(all.damaged_bytes == 0);
        REQUIRE(all.refused == 0);
        REQUIRE(all.torn == size - good);
        REQUIRE(all.rows.size() == 2 * frames);
        REQUIRE(all.payloads.size() == (frames == 0 ? 0 : frames - 1));
    }
}

TEST_CASE("a flipped bit of a segment is reported or changes nothing, and is never returned as data") {
    for (std::size_t count : {std::size_t{24}, std::size_t{150}}) {
        sample const it{count, 2};
        reading const right = read_all(it.bytes.view());
        std::vector<std::byte> copy(it.bytes.view().begin(), it.bytes.view().end());
        int unnoticed = 0;
        for (std::size_t bit = 0; bit < 8 * copy.size(); ++bit) {
            copy[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            reading const all = read_all({copy.data(), copy.size()});
            copy[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            INFO("bit " << bit);
            bool const noticed = all.damaged_bytes > 0 || all.torn > 0 || all.refused > 0 || !all.head;
            // Some bits of a zstd block have no effect (padding of its bit streams): flipping them changes no value.
            if (!noticed) {
                REQUIRE(all.rows == right.rows);
                REQUIRE(all.payloads == right.payloads);
                ++unnoticed;
            }
            // The rows that were read are a subsequence of those written.
            std::size_t at = 0;
            for (std::string const& row : all.rows) {
                while (at < right.rows.size() && right.rows[at] != row) { ++at; }
                REQUIRE(at++ < right.rows.size());
            }
            at = 0;
            for (std::string const& values : all.payloads) {
                while (at < right.payloads.size() && right.payloads[at] != values) { ++at; }
                REQUIRE(at++ < right.payloads.size());
            }
            // One flipped bit costs at most one frame.
            REQUIRE(all.rows.size() >= right.rows.size() - 2);
        }
        CHECK(unnoticed < 32);
    }
}

TEST_CASE("random bytes are no segment and do no harm") {
    std::vector<std::byte> noise(5000);
    std::uint32_t seed = 1;
    for (int round = 0; round < 300; ++round) {
        for (std::byte& each : noise) {
            seed = seed * 1664525U + 1013904223U;
            each = static_cast<std::byte>(seed >> 24);
        }
        std::uint32_t const starts[] = {layout::row_magic, layout::zstd_magic, layout::head_magic};
        store(noise.data(), starts[round % 3]);
        reading const all = read_all({noise.data(), noise.size()});
        CHECK(all.rows.empty());
        CHECK(all.damaged_bytes + all.torn == noise.size());
    }
}

TEST_CASE("a head of the first version is read, one of another version or a draft is refused by name") {
    sample const it{};
    std::vector<std::byte> copy(it.bytes.view().begin(), it.bytes.view().end());
    auto const reported = [&](std::uint16_t version, std::uint16_t draft) {
        store(copy.data() + 16, version);
        store(copy.data() + 18, draft);
        store(copy.data() + 56, checksum({copy.data(), 56}));
        frame_walker walk{{copy.data(), copy.size()}};
        REQUIRE(walk.next() == walked::head);
        return walk.head_error();
    };
    CHECK_FALSE(reported(1, 0));
    CHECK_FALSE(reported(layout::version, layout::draft));
    CHECK(reported(0, 0).code == errc::unknown_version);
    CHECK(reported(layout::version, layout::draft + 1).code == errc::unknown_version);
    CHECK(reported(1, 1).code == errc::unknown_version);  // frozen
    error const why = reported(layout::version + 1, 0);
    CHECK(why.code == errc::unknown_version);
    CHECK(why.what.view() == "this segment has format version 3, this library reads versions 1 to 2: read it with the "
                             "library that wrote it");
}

TEST_CASE("the sidecar is rebuilt from the segment, leads to every frame, and a flipped bit in it is seen") {
    sample const it{300, 400};
    byte_buffer side;
    REQUIRE_FALSE(rebuild_sidecar(it.bytes.view(), side));
    REQUIRE(side.size() >= 2 * layout::place_bytes);
    std::vector<std::byte> copy(side.view().begin(), side.view().end());
    byte_view const view{copy.data(), copy.size()};
    std::uint64_t closes = 0, rows = 0, frames = 0, end = layout::head_bytes;
    for (std::uint64_t index = 0; index < side_places(view); ++index) {
        auto const place = decode_side_place(view, index, it.bytes.size());
        REQUIRE(place);
        CHECK(place->offset >= end);
        CHECK(place->first_ordinal == closes);
        frame_walker walk{it.bytes.view().first(static_cast<std::size_t>(place->end)), place->offset};
        std::uint32_t found = 0;
        while (walk.next() == walked::rows) { ++found; }
        CHECK(found == place->frames);
        end = place->end;
        closes += place->closes;
        rows += place->rows;
        frames += place->frames;
    }
    CHECK((closes == 400 && rows == 802 && frames == 401 && end == it.bytes.size()));
    for (std::size_t bit = 0; bit < 8 * layout::place_bytes; ++bit) {
        copy[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        CHECK(decode_side_place(view, 0, it.bytes.size()).error().code == errc::corrupt);
        copy[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    }
    CHECK(decode_side_place(view, 99999, it.bytes.size()).error().code == errc::no_more_data);
    CHECK(decode_side_place(view, 0, 100).error().code == errc::corrupt);
}

TEST_CASE("the name of a segment has six digits and more when there are more") {
    char name[24];
    CHECK(std::string_view{name, name_segment(42, layout::data_suffix, name)} == "000042.spot");
    CHECK(std::string_view{name, name_segment(4294967295U, layout::side_suffix, name)} == "4294967295.spotx");
}
