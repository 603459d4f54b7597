// SPDX-License-Identifier: Apache-2.0
// A collection that keeps only the shape, neither values nor statistics.
#include <tests/trial/runs.hpp>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("what = shape: steps and shape can be read, values cannot [A28][S32]") {
    temporary_folder const folder;
    float const values[12]{};
    {
        hook watch{folder / "run", plan{collection{"shapes", "*", every{2}, shape}}};
        for (std::uint64_t i = 0; i < 4; ++i) { (void)watch.step(train(i), "x"_t = view_of(values, {3, 4})); }
        (void)watch.step(train(4), "x"_t = view_of(values, {2, 3}));
    }
    trial const run = open_trial(folder / "run").value();
    CHECK(run["x"].steps() == std::vector<step_id>{train(0), train(2), train(4)});
    CHECK(run["x"].shape(train(2)).value() == extents{3, 4});
    CHECK(run["x"].at(train(0)).error().code == errc::no_payload);
    CHECK(run["x"].stat(train(0), l2).error().code == errc::no_payload);
    CHECK(run["x"].shape(train(4)).value() == extents{2, 3});  // differs from the first shape
    CHECK(run["x"].shape(train(2)).value() == extents{3, 4});
    CHECK(run.collections()[0].what == "\"*\", every{2}: shape");
}

TEST_CASE("where no values were kept the error names the statistics that can be asked for") {
    temporary_folder const folder;
    constexpr plan keep{collection{"norms", "norm", always{}, stats(l2)},
                        collection{"many", "many", always{}, stats(mean_abs, maximum) | quantiles},
                        collection{"shapes", "shape", always{}, shape}};
    {
        hook watch{folder / "run", keep};
        std::vector<float> const values{1, 2, 3};
        (void)watch.step(train(0), "norm"_t = values, "many"_t = values, "shape"_t = values);
    }
    trial const run = open(folder / "run");
    auto const said = [&](char const* name) {
        error const why = run[name].at(train(0)).error();
        CHECK(why.code == errc::no_payload);
        return std::string{why.what.view()};
    };
    CHECK(said("norm").ends_with("Kept: l2, nonfinite"));
    CHECK(said("many").ends_with("Kept: minimum, maximum, l1, nonfinite, mean_abs, quantiles"));
    CHECK(said("shape").ends_with("Kept: the shape"));
    CHECK(run["norm"].stat(train(0), mean).error().what.view().ends_with("Kept: l2, nonfinite"));
    CHECK(run["norm"].stat(train(0), mean).error().what.view().starts_with("mean was not kept at this step"));
}
