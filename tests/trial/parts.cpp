// SPDX-License-Identifier: Apache-2.0
// Parts of a tensor's values, and what an earlier attempt recorded.
#include <tests/trial/runs.hpp>

#include <numeric>

using namespace spotter;
using namespace spotter_test;

namespace {

std::vector<float> ramp(std::size_t count, float from) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), from);
    return values;
}

}  // namespace

TEST_CASE("some elements of a tensor are those of the whole, across blocks and in chains [S61]") {
    temporary_folder const folder;
    std::size_t const count = 200'000;  // four blocks
    {
        hook watch{folder / "run", plan{collection{"chained", "c", always{}, payload | delta{4}},
                                        collection{"all", "w*", always{}, payload}}};
        for (std::uint64_t i = 0; i < 3; ++i) {
            std::vector<float> const values = ramp(count, static_cast<float>(i));
            (void)watch.step(train(i), "w"_t = values, "c"_t = values, "w/small"_t = ramp(7, 1), "w/one"_t = 2.5F);
        }
        watch.finish();
    }
    trial const run = open(folder / "run");
    for (char const* const name : {"w", "c"}) {
        for (elements const part : {elements{0, 1}, elements{65'530, 20}, elements{199'999, 1},
                                    elements{60'000, 140'000}, elements{5, 0}, elements{0, count}}) {
            recorded_value const found = run[name].at(train(2), part);
            INFO(name << " " << part.first << " " << part.count << ": " << found.error().what.view());
            REQUIRE(found);
            CHECK(found.view().shape == extents{part.count});
            auto const values = found.to<std::vector<float>>().value_or({});
            CHECK(values == ramp(static_cast<std::size_t>(part.count), 2 + static_cast<float>(part.first)));
        }
        CHECK(run[name].at(train(2), elements{count, 1}).error().code == errc::bad_config);
        CHECK(run[name].at(train(2), elements{1, count}).error().code == errc::bad_config);
    }
    CHECK(run["w/small"].at(train(1), elements{2, 3}).to<std::vector<float>>().value_or({}) == ramp(3, 3));
    CHECK(run["w/one"].at(train(1), elements{0, 1}).to<float>().value_or(0) == 2.5F);
    CHECK(run["w/one"].at(train(1), elements{0, 2}).error().code == errc::bad_config);
    CHECK(run["nope"].at(train(1), elements{0, 2}).error().code == errc::no_such_name);
}

TEST_CASE("reading some elements does not look at the blocks before them") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        (void)watch.step(train(0), "w"_t = ramp(200'000, 0));
        watch.finish();
    }
    std::vector<char> bytes = read_file(folder / "run/000000.spot");
    bytes[2000] = static_cast<char>(bytes[2000] ^ 4);  // in the content of the first block
    write_file(folder / "run/000000.spot", bytes);
    trial const run = open(folder / "run");
    CHECK(run["w"].at(train(0)).error().code == errc::corrupt);
    CHECK(run["w"].at(train(0), elements{10, 1}).error().code == errc::corrupt);
    CHECK(run["w"].at(train(0), elements{150'000, 2}).to<std::vector<float>>().value_or({}) == ramp(2, 150'000));
}

TEST_CASE("a step that two attempts closed is read as the later saw it, or as the one that is asked for [A41]") {
    temporary_folder const folder;
    options again;
    again.existing = existing::resume;
    for (std::uint64_t attempt = 0; attempt < 2; ++attempt) {
        hook watch{folder / "run", everything, again};
        for (std::uint64_t i = attempt == 0 ? 0 : 5; i < (attempt == 0 ? 8U : 12U); ++i) {
            double const value = static_cast<double>(100 * attempt + i);
            (void)watch.step(train(i), "x"_t = value, "w"_t = std::vector<double>(3, value));
        }
        watch.finish();
    }
    trial const run = open(folder / "run");
    CHECK(run.attempts() == 2);
    for (char const* const name : {"x", "w"}) {
        auto const at = [&](std::uint64_t step, attempt which) {
            recorded_value const found = run[name].at(train(step), which);
            return found ? *static_cast<double const*>(found.view().values.raw) : -1.0;
        };
        CHECK(at(6, attempt{0}) == 6);
        CHECK(at(6, attempt{1}) == 106);
        CHECK(*static_cast<double const*>(run[name].at(train(6)).view().values.raw) == 106);
        CHECK(at(2, attempt{0}) == 2);
        CHECK(run[name].at(train(2), attempt{1}).error().code == errc::not_in_step);
        CHECK(run[name].at(train(9), attempt{0}).error().code == errc::not_in_step);
        CHECK(run[name].at(train(99), attempt{0}).error().code == errc::no_such_step);
    }
}
