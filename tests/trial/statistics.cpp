// SPDX-License-Identifier: Apache-2.0
// The eighteen statistics kept without values and read back: which are there, which are not, and their values.
#include <tests/trial/runs.hpp>

#include <cmath>
#include <limits>
#include <utility>

using namespace spotter;
using namespace spotter_test;

namespace {

std::vector<statistic> const eighteen{minimum,
                                      maximum,
                                      mean,
                                      stddev,
                                      variance,
                                      sum,
                                      product,
                                      l1,
                                      l2,
                                      of_abs(minimum),
                                      of_abs(maximum),
                                      of_abs(mean),
                                      of_abs(stddev),
                                      of_abs(variance),
                                      of_abs(sum),
                                      of_abs(product),
                                      of_abs(l1),
                                      of_abs(l2)};
constexpr stats_mask all_eighteen = stats(minimum, maximum, mean, stddev, variance, sum, product, l1, l2) |
                                    stats(of_abs(minimum), of_abs(maximum), of_abs(mean), of_abs(stddev),
                                          of_abs(variance), of_abs(sum), of_abs(product), of_abs(l1), of_abs(l2));

// The textbook formulas in two passes, in the order of `eighteen`.
std::vector<double> by_hand(std::vector<double> const& values) {
    std::vector<double> found;
    for (bool const absolute : {false, true}) {
        double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
        double total = 0, times = 1, sizes = 0, squares = 0;
        for (double each : values) {
            double const x = absolute ? std::fabs(each) : each;
            low = (std::min)(low, x), high = (std::max)(high, x);
            total += x, times *= x, sizes += std::fabs(x), squares += x * x;
        }
        double const centre = total / static_cast<double>(values.size());
        double spread = 0;
        for (double each : values) {
            double const away = (absolute ? std::fabs(each) : each) - centre;
            spread += away * away / static_cast<double>(values.size());
        }
        for (double each : {low, high, centre, std::sqrt(spread), spread, total, times, sizes, std::sqrt(squares)}) {
            found.push_back(each);
        }
    }
    return found;
}

// Checks a run that kept all eighteen statistics of `values`, but not the values.
void check_eighteen(char const* type, tensor_ref const& view, std::vector<double> const& values) {
    INFO(type);
    temporary_folder const folder;
    hook watch{folder / "run", plan{collection{"c", "x", always{}, all_eighteen}}};
    (void)watch.step(train(0), "x"_t = view);
    watch.finish();
    CHECK(watch.health().good());
    trial const run = open(watch.path());
    std::vector<double> const expected = by_hand(values);
    REQUIRE(expected.size() == eighteen.size());
    for (std::size_t i = 0; i < eighteen.size(); ++i) {
        INFO(eighteen[i].name());
        auto const found = run["x"].stat(train(0), eighteen[i]);
        REQUIRE(found);
        CHECK(*found == Approx(expected[i]).epsilon(1e-12));
    }
    error const why = run["x"].at(train(0)).error();
    CHECK(why.code == errc::no_payload);
    INFO(why.what.view());
    CHECK(why.what.view().ends_with("Kept: minimum, maximum, mean, stddev, variance, sum, product, l1, l2, nonfinite, "
                                    "minimum_abs, maximum_abs, mean_abs"));
    CHECK(run["x"].payload_steps().empty());
}

}  // namespace

TEST_CASE("all 18 reductions and no payload: each can be read, of every rank and type, and no_payload names what "
          "there is [S28][S29][S34][S38]") {
    std::vector<double> const five{-3, -1, 0, 2, 4};
    check_eighteen("f64", view_of(five.data(), {5}), five);
    std::vector<std::int64_t> const labels{3, 0, 9, 9, 1};
    check_eighteen("i64", view_of(labels.data(), {5}), {3, 0, 9, 9, 1});
    std::vector<std::int8_t> const bytes{-1, -128, 127};
    check_eighteen("i8", view_of(bytes.data(), {3}), {-1, -128, 127});
    std::vector<float> cube(48);
    std::vector<double> wide(48);
    for (std::size_t i = 0; i < 48; ++i) { wide[i] = cube[i] = 0.25F * static_cast<float>(i) - 5.125F; }
    check_eighteen("f32 in 3-D", view_of(cube.data(), {2, 4, 6}), wide);
    check_eighteen("f32 in 4-D", view_of(cube.data(), {2, 2, 3, 4}), wide);
    check_eighteen("f32 in 4-D by columns", view_of(cube.data(), {2, 2, 3, 4}, order::column_major), wide);
}

TEST_CASE("what a collection says takes the place of the plan's fallback: only these statistics, only at its steps "
          "[S31][A28]") {
    temporary_folder const folder;
    hook watch{folder / "run",
               plan{fallback{.what = payload}, collection{"few", "few", every{2}, stats(minimum, of_abs(maximum))},
                    collection{"rest", "rest"}}};
    for (std::uint64_t i = 0; i < 5; ++i) {
        (void)watch.step(train(i), "few"_t = std::array{-3.0, 1.0}, "rest"_t = std::array{-3.0, 1.0});
    }
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run["few"].steps() == trains(0, 5, 2));
    CHECK(run["few"].payload_steps().empty());
    CHECK(run["rest"].payload_steps() == trains(0, 5));
    CHECK(run["few"].stat(train(2), minimum).value_or(0) == -3);
    CHECK(run["few"].stat(train(2), of_abs(maximum)).value_or(0) == 3);
    CHECK(run["few"].stat(train(2), nonfinite).value_or(1) == 0);  // counts come with every summary
    for (statistic each :
         std::initializer_list<statistic>{mean, stddev, variance, sum, product, l1, l2, zero_fraction, mean_abs}) {
        INFO(each.name());
        CHECK(run["few"].stat(train(2), each).error().code == errc::no_payload);
    }
    CHECK(run["few"].stat(train(1), minimum).error().code == errc::not_in_step);
    CHECK(run["few"].at(train(2)).error().code == errc::no_payload);
}

TEST_CASE("a fallback of statistics leaves the losses whole [S30]") {
    temporary_folder const folder;
    hook watch{folder / "run", plan{fallback{.what = stats(minimum)}, defaults::losses, defaults::weights}};
    for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "loss"_t = 0.5F, "fc/w"_t = 2.0F); }
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run["loss"].payload_steps() == trains(0, 3));
    CHECK(run["loss"].at(train(1)).to<float>().value_or(0) == 0.5F);
    CHECK(run["fc/w"].payload_steps().empty());
    CHECK(run["fc/w"].stat(train(1), minimum).value_or(0) == 2);
}

TEST_CASE("{NaN, 1, 2} and a tensor without an element, from stored terms and from values alike [S35][S36]") {
    temporary_folder const folder;
    float const one_bad[] = {std::bit_cast<float>(0x7FC00000U), 1, 2};
    float const* const nowhere = nullptr;
    hook watch{folder / "run", plan{collection{"terms", "terms/*", always{}, all_eighteen},
                                    collection{"values", "values/*", always{}, payload}}};
    (void)watch.step(train(0), "terms/bad"_t = one_bad, "values/bad"_t = one_bad,
                     "terms/empty"_t = view_of(nowhere, {0, 4}), "values/empty"_t = view_of(nowhere, {0, 4}));
    watch.finish();
    trial const run = open(watch.path());
    for (std::string const from : {"terms/", "values/"}) {
        INFO(from);
        track const bad = run[from + "bad"];
        CHECK(bad.stat(train(0), nan_count).value_or(0) == 1);
        CHECK(bad.stat(train(0), minimum).value_or(0) == 1);
        CHECK(bad.stat(train(0), maximum).value_or(0) == 2);
        CHECK(bad.stat(train(0), mean).value_or(0) == 1.5);
        track const empty = run[from + "empty"];
        CHECK(empty.steps() == ids{train(0)});
        CHECK(empty.shape(train(0)).value_or({}) == extents{0, 4});
        CHECK(empty.stat(train(0), sum).value_or(1) == 0);
        CHECK(empty.stat(train(0), product).value_or(0) == 1);
        CHECK(empty.stat(train(0), l1).value_or(1) == 0);
        CHECK(empty.stat(train(0), l2).value_or(1) == 0);
        for (statistic each :
             std::initializer_list<statistic>{mean, minimum, maximum, stddev, variance, of_abs(mean)}) {
            CHECK(empty.stat(train(0), each).error().code == errc::not_in_step);
        }
    }
}

TEST_CASE("statistics of all tensors at a step, one after the other, read each row a few times at most, whether or not "
          "steps() was called") {
    temporary_folder const folder;
    constexpr std::size_t tensors = 2000;
    {
        hook watch{folder / "run", plan{collection{"all", "*", always{}, stats(l2)}}, options{.ring_bytes = 4 << 20}};
        std::vector<float> const values(3, 2.0F);
        for (std::uint64_t i = 0; i < 2; ++i) {
            watch.begin(train(i));
            for (std::size_t k = 0; k < tensors; ++k) { watch.observe("layer" + std::to_string(k), values); }
            (void)watch.end();
        }
    }
    trial const all = open(folder / "run");
    auto const names = all.names();
    REQUIRE(names.size() == tensors);
    trial const run = open(folder / "run");
    CHECK(run[names[0]].stat(train(1), l2).value() == std::sqrt(12.0));
    CHECK_FALSE(run.index().is_complete());  // one statistic is found in the few rows that may hold it
    std::size_t asked = 1;
    for (; asked < tensors && !run.index().is_complete(); ++asked) { CHECK(run[names[asked]].stat(train(1), l2)); }
    CHECK(asked < 20);  // reading all rows once took no more
    for (std::string const& name : names) { REQUIRE(run[name].stat(train(1), l2).value() == std::sqrt(12.0)); }
}
