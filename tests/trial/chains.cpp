// SPDX-License-Identifier: Apache-2.0
// Values stored as differences to earlier ones: they are read back bit for bit, and damage reaches no further than to
// the next whole values.
#include <tests/trial/runs.hpp>

#include <bit>
#include <cstring>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan chained{collection{"w", "w", always{}, payload | delta{4}}};

// A weight that changes a little at each step.
std::vector<float> weights_at(std::uint64_t step, std::size_t count) {
    std::vector<float> values(count);
    std::uint64_t state = 1;
    for (float& each : values) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        float const start = static_cast<float>(state >> 40) * 0x1p-24F - 0.5F;
        each = start * (1 + 1e-4F * static_cast<float>(step));
    }
    if (step % 3 == 1) { values[count / 2] = std::bit_cast<float>(0x7FC01234U); }  // a NaN with its own payload
    if (step % 3 == 2) { values[count / 2] = -0.0F; }
    return values;
}
bool same_bits(std::vector<float> const& a, std::vector<float> const& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}
// The number of steps of `w` that can be read; every value that is read must be right.
std::size_t right_values(trial const& run, std::uint64_t steps, std::size_t count) {
    std::size_t right = 0;
    for (std::uint64_t i = 0; i < steps; ++i) {
        auto const found = run["w"].at(train(i)).to<std::vector<float>>();
        if (!found) {
            REQUIRE(found.error().code == errc::corrupt);
            continue;
        }
        REQUIRE(same_bits(*found, weights_at(i, count)));
        ++right;
    }
    return right;
}

}  // namespace

TEST_CASE("a wish for differences is a wish for values, and the shorter of two chains serves both") {
    STATIC_REQUIRE(has(delta{8}, stats_mask::payload));
    constexpr plan two{collection{"a", "w", always{}, delta{8}}, collection{"b", "w", every{10}, payload},
                       collection{"c", "w", always{}, delta{3}}, collection{"d", "w", always{}, stats(l2)}};
    STATIC_REQUIRE(detail::chain_of(two.wanted(1)) == 8);
    STATIC_REQUIRE(detail::chain_of(two.wanted(1 | 4)) == 3);
    STATIC_REQUIRE(detail::chain_of(two.wanted(1 | 2)) == 0);  // b asks for whole values
    STATIC_REQUIRE(detail::chain_of(two.wanted(1 | 8)) == 8);
    STATIC_REQUIRE(detail::chain_of(delta{1000}) == delta::longest);
    sentence reported;
    describe(two.wanted(4 | 8), reported);
    CHECK(reported.view() == "payload, sum of squares, counts, as delta{3}");
}

TEST_CASE("values in chains come back bit by bit, small ones and those of many blocks, and after a resume") {
    for (std::size_t const count : {std::size_t{100}, std::size_t{128}, std::size_t{3000}, std::size_t{200'001}}) {
        temporary_folder const folder;
        std::uint64_t step = 0;
        for (int attempt = 0; attempt < 2; ++attempt) {
            hook watch{folder / "run", chained, options{.existing = existing::resume}};
            for (int i = 0; i < 7; ++i, ++step) { (void)watch.step(train(step), "w"_t = weights_at(step, count)); }
            watch.finish();
            REQUIRE(watch.health().good());
        }
        trial const run = open(folder / "run");
        CHECK(right_values(run, step, count) == step);
    }
}

TEST_CASE("a segment can be read without those before it") {
    temporary_folder const folder;
    constexpr std::size_t count = 20'000;
    {
        hook watch{folder / "run", chained, options{.segment_bytes = 150'000}};
        for (std::uint64_t i = 0; i < 12; ++i) { (void)watch.step(train(i), "w"_t = weights_at(i, count)); }
        watch.finish();
    }
    REQUIRE(std::filesystem::exists(folder / "run/000002.spot"));
    trial const run = open(folder / "run");
    CHECK(right_values(run, 12, count) == 12);
    std::filesystem::remove(folder / "run/000000.spot");
    trial const rest = open(folder / "run");
    CHECK(same_bits(*rest["w"].at(train(11)).to<std::vector<float>>(), weights_at(11, count)));
}

TEST_CASE("differences take less, and a damaged one costs those behind it up to the next whole one") {
    temporary_folder const folder;
    constexpr std::size_t count = 65'536;
    auto const record = [&](std::string_view name, auto const& keep) {
        hook watch{folder / name, keep};
        for (std::uint64_t i = 0; i < 12; ++i) { (void)watch.step(train(i), "w"_t = weights_at(i, count)); }
        watch.finish();
        return folder / name + "/000000.spot";
    };
    std::string const path = record("run", chained);
    std::string const whole = record("whole", plan{collection{"w", "w", always{}, payload}});
    CHECK(std::filesystem::file_size(path) * 10 < std::filesystem::file_size(whole) * 8);

    // Steps 0, 5 and 10 are stored whole. Damages the middle of each step's values, found by their rows.
    std::vector<char> const bytes = read_file(path);
    std::vector<rows::observe> places;
    byte_view const segment{reinterpret_cast<std::byte const*>(bytes.data()), bytes.size()};
    frame_walker walk{segment};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what != walked::rows) { continue; }
        row_reader rows{walk.frame().body};
        for (row_view row{}; rows.next(row);) {
            rows::observe seen{};
            summary stats{};
            if (row.kind == row_kind::observe && !decode(row, seen, stats)) { places.push_back(seen); }
        }
    }
    REQUIRE(places.size() == 12);
    std::size_t const lost[] = {5, 4, 3, 2, 1, 5, 4, 3, 2, 1, 2, 1};
    for (std::size_t step = 0; step < places.size(); ++step) {
        CHECK(places[step].links == step % 5);
        std::vector<char> damaged = bytes;
        damaged[static_cast<std::size_t>(places[step].place.offset + places[step].place.bytes / 2)] ^= 0x10;
        write_file(path, damaged);
        trial const run = open(folder / "run");
        CHECK(right_values(run, 12, count) == 12 - lost[step]);
        if (step == 6) {
            auto const found = run["w"].at(train(8));
            CHECK(found.error().what.view().find("are differences to those at byte") != std::string_view::npos);
        }
    }
}

TEST_CASE("another shape, and values that were given up, begin a new chain") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", chained};
        for (std::uint64_t i = 0; i < 9; ++i) {
            std::vector<float> const values = weights_at(i, 600);
            std::size_t const rows = i < 3 ? 2 : i < 6 ? 3 : 600;
            (void)watch.begin(train(i));
            watch.observe("w", view_of(values.data(), {rows, 600 / rows}));
            (void)watch.end();
        }
        watch.finish();
    }
    trial const run = open(folder / "run");
    CHECK(right_values(run, 9, 600) == 9);
    CHECK(run["w"].shape(train(4)).value() == extents{3, 200});

    // A full ring drops values half-way.
    constexpr std::size_t count = 40'000;
    {
        hook watch{folder / "thin", chained,
                   options{.overflow = overflow::thin, .drain = drain::poll, .ring_bytes = 256U << 10}};
        for (std::uint64_t i = 0; i < 20; ++i) {
            (void)watch.step(train(i), "w"_t = weights_at(i, count));
            if (i % 3 != 1) { watch.poll(); }
        }
        watch.finish();
    }
    trial const thin = open(folder / "thin");
    std::size_t right = 0;
    for (std::uint64_t i = 0; i < 20; ++i) {
        auto const found = thin["w"].at(train(i)).to<std::vector<float>>();
        if (found) {
            CHECK(same_bits(*found, weights_at(i, count)));
            ++right;
        }
    }
    CHECK((right >= 10 && right < 20));
}
