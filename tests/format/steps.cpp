// SPDX-License-Identifier: Apache-2.0
// Packed steps expand to the rows that were packed, row by row and byte for byte.
#include <spotter/format/frame.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/steps_outline.hpp>
#include <spotter/format/steps_packer.hpp>
#include <spotter/stat/summary.hpp>

#include <tests/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

using namespace spotter;

namespace {

using bytes = std::vector<std::byte>;

struct plain_row {
    row_kind kind{};
    bytes body{};

    bool operator==(plain_row const&) const = default;
};

bytes taken(quick_writer const& out, std::byte const* from) { return {from, from + out.size()}; }

plain_row scalar_row(tensor_id id, step_id const* step, double value, double const* time, dtype type = dtype::f64) {
    auto const narrow = static_cast<float>(value);
    rows::scalar row{};
    row.id = id;
    row.has_step = step != nullptr;
    if (step != nullptr) { row.step = *step; }
    row.has_time = time != nullptr;
    row.type = type;
    row.value = type == dtype::f64 ? bytes_of(reinterpret_cast<std::byte const*>(&value), sizeof value)
                                   : bytes_of(reinterpret_cast<std::byte const*>(&narrow), sizeof narrow);
    std::byte into[scalar_limit];
    quick_writer out{into};
    encode(out, row);
    if (time != nullptr) { out.fixed(*time); }
    return {row_kind::scalar, taken(out, into)};
}
plain_row summary_row(tensor_id id, step_id step, summary const& stats) {
    rows::observe row{};
    row.id = id;
    row.step = step;
    std::byte into[observe_limit];
    quick_writer out{into};
    encode(out, row, stats, stored_terms::all);
    return {row_kind::observe, taken(out, into)};
}
bytes close_body(step_id step, std::uint64_t ordinal, double time) {
    rows::close row{};
    row.step = step;
    std::byte into[2 * close_limit];
    byte_writer out{into, sizeof into};
    encode(out, row);
    encode_stamp(out, ordinal, time);
    return {into, into + out.size()};
}
bytes as_bytes(std::vector<plain_row> const& rows) {
    byte_buffer out;
    for (plain_row const& each : rows) { REQUIRE(append_row(out, each.kind, each.body)); }
    return {out.view().begin(), out.view().end()};
}
// The rows that a reader of the frame gets.
std::vector<plain_row> unpacked(byte_view body) {
    byte_buffer frame;
    REQUIRE(append_row(frame, row_kind::steps, body));
    std::vector<plain_row> found;
    row_reader reader{frame.view()};
    row_finder finder;
    std::uint32_t part = 0;
    for (row_view row; reader.next(row); ++part) {
        CHECK(row.part == part);
        row_view const again = finder.find(row.kind, row.stored, row.part);
        CHECK(std::equal(row.body.begin(), row.body.end(), again.body.begin(), again.body.end()));
        found.push_back({row.kind, {row.body.begin(), row.body.end()}});
    }
    CHECK_FALSE(reader.bad());
    std::mt19937 random{static_cast<std::uint32_t>(body.size())};  // in random order, too
    for (int i = 0; i < 40 && !found.empty(); ++i) {
        std::size_t const which = random() % found.size();
        byte_view const again = finder.find(found[which].kind, body, static_cast<std::uint32_t>(which)).body;
        CHECK(std::equal(again.begin(), again.end(), found[which].body.begin(), found[which].body.end()));
    }
    CHECK(finder.find(row_kind::close, body, static_cast<std::uint32_t>(found.size())).body.empty());
    return found;
}
std::uint32_t values_in(std::vector<plain_row> const& rows) { return static_cast<std::uint32_t>(rows.size()); }

summary random_summary(std::mt19937& random) {
    auto const chance = [&](unsigned of) { return random() % of == 0; };
    summary stats{};
    stats.has = static_cast<stats_mask>(random() & stored_terms::all);
    stats.count = random() % 100000;
    if (chance(4)) {
        stats.nan = stats.count > 3 ? 1 : 0;
        stats.first_bad = 7;
    }
    stats.zeros = random() % 1000;
    for (double* each : {&stats.minimum, &stats.maximum, &stats.abs_minimum, &stats.abs_maximum, &stats.sum,
                         &stats.sum_abs, &stats.sum_squares, &stats.moment2, &stats.product, &stats.delta_sum_squares,
                         &stats.dot, &stats.previous_sum_squares}) {
        *each = chance(5) ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(random()) * 1e-3;
    }
    stats.has_previous = chance(2);
    stats.previous_index = random();
    stats.changed = random() % 1000;
    stats.hash = random();
    return stats;
}

}  // namespace

TEST_CASE("steps of scalars come back as they went in, at the size of their values") {
    steps_packer packer;
    std::vector<plain_row> all;
    for (std::uint64_t i = 0; i < 8; ++i) {
        step_id const step = train(1000 + 10 * i);
        std::vector<plain_row> rows;
        for (tensor_id id = 0; id < 100; ++id) {
            rows.push_back(
                scalar_row(id, &step, static_cast<double>(id) / 3 + static_cast<double>(i), nullptr, dtype::f32));
        }
        rows::close const closed{step, 40 + i, 0, 5 + static_cast<double>(i) / 1024};
        REQUIRE(packer.add(closed, as_bytes(rows), values_in(rows)));
        all.insert(all.end(), rows.begin(), rows.end());
        // In equal parts between the first and the last time.
        double const time = 5 + 7.0 / 1024 * (static_cast<double>(i) / 7);
        all.push_back({row_kind::close, close_body(step, 40 + i, time)});
    }
    CHECK((packer.steps() == 8 && packer.values() == 800));
    byte_view const body = packer.seal();
    CHECK(body.size() < 8 * 400 + 40);
    CHECK(unpacked(body) == all);
    packer.reset();
    CHECK(packer.empty());
}

TEST_CASE("series that take turns share one table of templates") {
    steps_packer packer;
    std::vector<plain_row> all;
    for (std::uint64_t i = 0; i < 600; ++i) {
        step_id const step = i % 3 == 2 ? eval(i / 3) : train(i);
        std::vector<plain_row> const rows{scalar_row(static_cast<tensor_id>(i % 30), &step, 0.1, nullptr, dtype::f32)};
        if (!packer.add({step, i, 0, 1}, as_bytes(rows), 1)) { break; }
        all.insert(all.end(), rows.begin(), rows.end());
        all.push_back({row_kind::close, close_body(step, i, 1)});
    }
    CHECK(all.size() == 2 * packer.steps());
    CHECK(packer.steps() >= 10);  // a row holds few runs, and alternating modes make short runs
    CHECK(unpacked(packer.seal()) == all);
}

TEST_CASE("random steps of every kind that can be packed come back byte for byte") {
    std::mt19937 random{7};
    for (int round = 0; round < 60; ++round) {
        steps_packer packer;
        std::vector<plain_row> all;
        std::vector<summary> kinds;
        for (int i = 0; i < 4; ++i) { kinds.push_back(random_summary(random)); }
        std::uint64_t index = random() % 1000, refused = 0;
        for (std::uint64_t i = 0; i < 40; ++i) {
            index += random() % 3;
            step_id const step{static_cast<mode>(random() % 10 == 0), index};
            std::vector<plain_row> rows;
            for (unsigned n = static_cast<unsigned>(random() % 5); n > 0; --n) {
                auto const id = static_cast<tensor_id>(random() % 6);
                double const time = static_cast<double>(random());
                switch (random() % 3) {
                    case 0:
                        rows.push_back(
                            scalar_row(id, &step, 2.5, nullptr, random() % 2 == 0 ? dtype::f32 : dtype::f64));
                        break;
                    case 1:
                        rows.push_back(scalar_row(id, &step, 2.5, &time));
                        break;
                    default:
                        rows.push_back(summary_row(id, step, kinds[random() % kinds.size()]));
                }
            }
            std::uint64_t const ordinal = packer.steps();
            if (!packer.add({step, ordinal, 0, 3}, as_bytes(rows), values_in(rows))) {
                ++refused;
                continue;
            }
            all.insert(all.end(), rows.begin(), rows.end());
            all.push_back({row_kind::close, close_body(step, ordinal, 3)});
        }
        CHECK(packer.steps() + refused == 40);
        CHECK(packer.steps() > 10);
        CHECK(unpacked(packer.seal()) == all);
    }
}

TEST_CASE("what cannot be packed is refused, and changes nothing") {
    steps_packer packer;
    step_id const step = train(1), other = train(2);
    bytes const good = as_bytes({scalar_row(0, &step, 1, nullptr)});
    REQUIRE(packer.add({step, 0, 0, 1}, good, 1));
    bytes const before{packer.seal().begin(), packer.seal().end()};
    CHECK_FALSE(packer.add({step, 2, 0, 1}, good, 1));    // an ordinal is missing
    CHECK_FALSE(packer.add({step, 1, 3, 1}, good, 1));    // findings were left out
    CHECK_FALSE(packer.add({step, 1, 0, 1.2}, good, 1));  // much later
    CHECK_FALSE(packer.add({step, 1, 0, 1}, as_bytes({scalar_row(0, &other, 1, nullptr)}), 1));  // another step
    double const time = 1;
    CHECK_FALSE(is_packable(row_kind::scalar, scalar_row(0, nullptr, 1, &time).body));  // not in a step
    CHECK_FALSE(packer.add({step, 1, 0, 1}, as_bytes({scalar_row(0, nullptr, 1, &time)}), 1));
    plain_row text = scalar_row(0, &step, 1, nullptr);
    text.body[4] = static_cast<std::byte>(dtype::text);
    CHECK_FALSE(packer.add({step, 1, 0, 1}, as_bytes({text}), 1));
    plain_row longer = summary_row(0, step, {});
    longer.body.push_back({});
    CHECK_FALSE(packer.add({step, 1, 0, 1}, as_bytes({longer}), 1));
    bytes const after{packer.seal().begin(), packer.seal().end()};
    CHECK(before == after);
}

TEST_CASE("a damaged steps row ends early and never reads outside") {
    steps_packer packer;
    std::mt19937 random{3};
    for (std::uint64_t i = 0; i < 20; ++i) {
        step_id const step = train(i);
        std::vector<plain_row> const rows{scalar_row(1, &step, 1, nullptr),
                                          summary_row(2, step, random_summary(random))};
        REQUIRE(packer.add({step, i, 0, 1}, as_bytes(rows), 2));
    }
    bytes const whole{packer.seal().begin(), packer.seal().end()};
    auto const read_all = [](bytes const& body) {
        bytes const exact = body;  // its own heap block, so that a sanitizer sees its end
        steps_reader reader{exact};
        std::byte into[observe_limit];
        std::size_t rows = 0;
        while (rows < 1'000'000 && reader.next()) {
            CHECK(unpack(reader.row(), into) <= observe_limit);
            ++rows;
        }
        return std::pair{rows, reader.bad()};
    };
    CHECK(read_all(whole) == std::pair{std::size_t{60}, false});
    for (std::size_t size = 0; size < whole.size(); ++size) {
        auto const [rows, bad] = read_all({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
        CHECK((bad && rows < 60));
    }
    for (std::size_t i = 0; i < 8 * whole.size(); ++i) {
        bytes flipped = whole;
        flipped[i / 8] ^= static_cast<std::byte>(1U << (i % 8));
        (void)read_all(flipped);
    }
}

namespace {

using closing = std::tuple<step_id, std::uint64_t, std::uint64_t, bool>;    // step, ordinal, bits of the time, holds
using found_row = std::tuple<step_id, std::uint64_t, std::uint32_t, bool>;  // step, ordinal, part, scalar

struct listed {
    std::vector<closing> closings{};
    std::map<tensor_id, std::vector<found_row>> rows{};
    std::uint64_t count = 0;
    bool bad = false;

    bool operator==(listed const&) const = default;
};

// Lists whole steps by unpacking them.
listed list_by_reader(bytes const& body) {
    listed all;
    std::vector<std::pair<tensor_id, found_row>> open;
    steps_reader reader{body};
    for (std::uint32_t part = 0; reader.next(); ++part) {
        packed_row const& row = reader.row();
        if (row.kind != row_kind::close) {
            open.push_back({row.id, {row.step, row.ordinal, part, row.kind == row_kind::scalar}});
            continue;
        }
        all.closings.push_back({row.step, row.ordinal, std::bit_cast<std::uint64_t>(row.time), !open.empty()});
        all.count += open.size();
        for (auto const& [id, each] : open) { all.rows[id].push_back(each); }
        open.clear();
    }
    all.bad = reader.bad();
    return all;
}
listed list_by_outline(bytes const& body) {
    listed all;
    steps_outline const outline{body};
    outline.each_run([&](step_id first, std::uint64_t distance, std::uint64_t at, std::uint64_t count, bool holds) {
        for (std::uint64_t i = 0; i < count; ++i) {
            step_id const step{first.mode, first.index + i * distance};
            auto const time = std::bit_cast<std::uint64_t>(outline.time(at + i));
            all.closings.push_back({step, outline.first_ordinal() + at + i, time, holds});
        }
    });
    CHECK(all.closings.size() == outline.steps());
    std::map<tensor_id, std::uint64_t> counts;
    outline.each_id([&](tensor_id id, bool, std::uint64_t steps) { counts[id] += steps; });
    for (auto const& [id, count] : counts) {
        steps_outline::rows_of rows{outline, id};
        for (steps_outline::found_row row; rows.next(row);) {
            all.rows[id].push_back({row.step, outline.first_ordinal() + row.at, row.part, row.scalar});
        }
        CHECK(all.rows[id].size() == count);
    }
    all.count = outline.rows();
    all.bad = outline.bad();
    return all;
}

}  // namespace

TEST_CASE("the outline of a steps row lists what unpacking it finds, of whole rows and of damaged ones") {
    std::mt19937 random{11};
    std::size_t damaged = 0, sound = 0;
    for (int round = 0; round < 12; ++round) {
        steps_packer packer;
        std::vector<summary> kinds;
        for (int i = 0; i < 3; ++i) {
            kinds.push_back(random_summary(random));
            if (random() % 2 == 0) { kinds.back().has = stats_mask::nonfinite; }
        }
        std::uint64_t index = 0;
        for (std::uint64_t i = 0; i < 20; ++i) {
            index += random() % 3;
            step_id const step{static_cast<mode>(random() % 8 == 0), index};
            std::vector<plain_row> rows;
            for (unsigned n = static_cast<unsigned>(random() % 4); n > 0; --n) {
                auto const id = static_cast<tensor_id>(random() % 5);
                rows.push_back(random() % 2 == 0 ? scalar_row(id, &step, 2.5, nullptr)
                                                 : summary_row(id, step, kinds[random() % kinds.size()]));
            }
            (void)packer.add({step, packer.steps(), 0, 3 + 1e-3 * static_cast<double>(i)}, as_bytes(rows),
                             values_in(rows));
        }
        bytes const whole{packer.seal().begin(), packer.seal().end()};
        listed const expected = list_by_reader(whole);
        REQUIRE_FALSE(expected.bad);
        CHECK(list_by_outline(whole) == expected);
        for (std::size_t size = 0; size < whole.size(); size += 3) {
            bytes const cut{whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)};
            CHECK(list_by_outline(cut) == list_by_reader(cut));
        }
        for (int i = 0; i < 200; ++i) {
            bytes flipped = whole;
            flipped[random() % flipped.size()] ^= static_cast<std::byte>(1U << (random() % 8));
            if (steps_outline{flipped}.rows() > 1'000'000) { continue; }
            listed const found = list_by_reader(flipped);
            REQUIRE(list_by_outline(flipped) == found);
            ++(found.bad ? damaged : sound);
        }
    }
    CHECK((damaged > 200 && sound > 200));
}

TEST_CASE("a steps row of a few bytes that stands for a hundred million rows is outlined at once") {
    byte_buffer body;
    byte_writer out{body.prepare(8192), 8192};
    out.varint(layout::packed_steps_limit);
    out.varint(0);
    out.fixed(1.0);
    out.fixed(2.0);
    out.varint(1);
    out.fixed(mode::train);
    for (std::uint64_t const each : {std::uint64_t{0}, std::uint64_t{1}, layout::packed_steps_limit}) {
        out.varint(each);
    }
    out.varint(1);
    out.varint(4 * 1900);
    for (int i = 0; i < 1900; ++i) {  // observations that keep only their counts
        out.fixed(layout::packed::summary);
        out.varint(static_cast<std::uint64_t>(i % 100));
        out.varint(0);
        out.varint(9);
    }
    REQUIRE_FALSE(out.full());
    steps_outline const outline{out.view()};
    CHECK_FALSE(outline.bad());
    CHECK(outline.steps() == layout::packed_steps_limit);
    CHECK(outline.rows() == 1900 * layout::packed_steps_limit);
    CHECK(outline.is_dense());
}
