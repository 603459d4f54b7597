// SPDX-License-Identifier: Apache-2.0
// Quantiles and histograms: kept by a collection, computed from values, and needed by a rule in the loop and in a
// replay.
#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>

#include <limits>
#include <numeric>

using namespace spotter;
using namespace spotter_test;

namespace {

// A rule on a quantile: fires if a hundredth of the values exceeds a limit.
struct long_tail {
    using kind = rule_kind;
    static constexpr std::string_view name = "long_tail";
    double limit = 90;
    struct state {
        truth answer = truth::undecided;
        double measured = 0;
    };
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const {
        return tensor.name == "x" ? quantiles : stats_mask::none;
    }
    constexpr void observe(state& it, observation const& seen) const {
        if (seen.distribution == nullptr || !seen.distribution->has_quantiles) { return; }
        it.measured = seen.distribution->quantiles[16];
        it.answer = truth_of(it.measured > limit);
    }
    constexpr truth close(state& it, step_id, findings& out) const {
        truth const answer = std::exchange(it.answer, truth::undecided);
        if (answer == truth::yes) { out.push({.tensor = "x", .measured = it.measured}); }
        return answer;
    }
};
static_assert(quantile_levels[16] == 990);

std::vector<float> ramp(float scale) {
    std::vector<float> values(101);
    for (std::size_t i = 0; i < values.size(); ++i) { values[i] = scale * static_cast<float>(i); }
    return values;
}

}  // namespace

TEST_CASE("a collection keeps quantiles and a histogram without the values [A29][S37]") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"x", "x", always{}, quantiles | histogram}}};
        auto values = ramp(1);
        (void)watch.step(train(0), "x"_t = values);
        values[3] = std::bit_cast<float>(0x7FC00000U);
        values[100] = std::bit_cast<float>(0xFF800000U);
        (void)watch.step(train(1), "x"_t = values);
        std::fill(values.begin(), values.end(), values[3]);
        (void)watch.step(train(2), "x"_t = values);
        CHECK(watch.health().good());
    }
    trial const run = open(folder / "run");
    CHECK(run.collections()[0].what == "\"x\", always: quantiles, histogram, counts");
    CHECK(run["x"].quantile(train(0), 0.5).value() == 50);
    CHECK(run["x"].quantile(train(0), 0.99).value() == 99);
    CHECK(run["x"].quantile(train(0), 1).value() == 100);
    CHECK(run["x"].quantile(train(0), 0.42).error().code == errc::bad_config);
    CHECK(run["x"].quantile(train(0), std::numeric_limits<double>::quiet_NaN()).error().code == errc::bad_config);
    distribution const found = run["x"].distribution(train(1)).value();
    CHECK(std::accumulate(found.bins.begin(), found.bins.end(), std::uint64_t{0}) == 99);
    CHECK(run["x"].stat(train(1), nonfinite).value() == 2);
    CHECK((found.low == 0 && found.high == 99));
    CHECK(run["x"].at(train(0)).error().code == errc::no_payload);
    CHECK(run["x"].distribution(train(2)).error().code == errc::not_in_step);
    CHECK(run["x"].quantile(train(7), 0.5).error().code == errc::no_such_step);
}

TEST_CASE("what was not kept is taken from the values, with the same result") {
    temporary_folder const folder;
    {
        hook watch{folder / "run",
                   plan{collection{"x", "x", at{0}, payload | quantiles | histogram},
                        collection{"x later", "x", at{1}, payload}, collection{"x last", "x", at{2}, stats(l2)}}};
        for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "x"_t = ramp(-3)); }
        watch.scalar("s", 2.5F);
        (void)watch.step(train(3), "y"_t = 1);
    }
    trial const run = open(folder / "run");
    distribution const kept = run["x"].distribution(train(0)).value();
    distribution const asked = run["x"].distribution(train(1)).value();
    CHECK((kept.quantiles == asked.quantiles && kept.bins == asked.bins && kept.low == asked.low));
    CHECK(run["x"].quantile(train(2), 0.5).error().code == errc::no_payload);
}

TEST_CASE("a rule on a quantile says the same in the loop, over the record, and over recorded values") {
    temporary_folder const folder;
    std::vector<bool> fired;
    {
        hook watch{folder / "run", plan{}, long_tail{}};
        hook other{folder / "values", plan{collection{"x", "x", always{}, payload}}};
        for (std::uint64_t i = 0; i < 4; ++i) {
            auto const values = ramp(i % 2 == 0 ? 0.5F : 2.0F);
            fired.push_back(!watch.step(train(i), "x"_t = values).empty());
            (void)other.step(train(i), "x"_t = values);
        }
    }
    CHECK(fired == std::vector<bool>{false, true, false, true});
    for (char const* name : {"run", "values"}) {
        replay_report const report = replay(open(folder / name), long_tail{});
        CHECK(report.fired == 2);
        CHECK(report.whole);
        REQUIRE(report.findings.size() == 2);
        CHECK(report.findings[0].measured == 198);
    }
    CHECK(replay(open(folder / "run"), long_tail{.limit = 1}).fired == 4);
}
