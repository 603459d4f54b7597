// SPDX-License-Identifier: Apache-2.0
// Rules on boosted trees. The loop records the features that they extract, so a replay gives the loop's findings. In a
// record made without rules they use the values; without values the replay reports what is missing.
#include <tests/property/stream.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan kept{collection{"importances", role::importance, always{}, payload},
                    collection{"trees", role::tree, always{}, payload}};
constexpr plan seldom{collection{"importances", role::importance, every{3}, payload},
                      collection{"trees", role::tree, every{3}, payload}};
constexpr plan sums{collection{"all", "*", always{}, stats(sum, minimum, maximum)}};

// Plausible and implausible importances, and trees of any depth.
template <class Hook>
alarms boost(Hook& watch, std::uint64_t seed) {
    random_source random{seed};
    alarms found;
    std::uint64_t const features = 2 + random.below(12);
    for (std::uint64_t i = 0; i < 60; ++i) {
        watch.begin({random.one_in(6) ? mode::eval : mode::train, i});
        for (char const* name : {"feature_importance/gain", "feature_importance/weight"}) {
            if (random.one_in(8)) { continue; }
            std::uint64_t const count = random.one_in(20) ? features + 30 : features;
            event values;
            fill<float>(values.bytes, count, random, 1, random.one_in(4) ? 3 : 1000);
            for (std::uint64_t k = 0; k < count && !random.one_in(10); ++k) {
                float one = 0;
                std::memcpy(&one, &values.bytes[4 * k], 4);
                one = random.one_in(3) ? 0 : one * one * one * one;
                std::memcpy(&values.bytes[4 * k], &one, 4);
            }
            watch.observe(name, view_of(reinterpret_cast<float const*>(values.bytes.data()), {count}));
        }
        std::vector<std::uint64_t> ids(random.below(5));
        for (std::uint64_t& each : ids) { each = random.next() >> random.below(64); }
        if (!random.one_in(5)) { watch.observe("trees/0/id", ids); }
        keep(found, watch.end());
    }
    return found;
}

template <class Use>
void with_rules(std::uint64_t run, Use&& use) {
    random_source random{run + 1};
    double const limit = random.unit();
    use(feature_importance_overweight{.threshold = limit, .nfeatures = random.below(6)},
        low_feature_importance{.relative = limit, .max_low = random.unit(), .warmup = random.below(4)},
        tree_depth{.depth = random.below(40)});
}

}  // namespace

TEST_CASE(
    "rules on importances and trees say in a replay what they said in the loop, with no values in the record [S64]") {
    std::size_t reported = 0;
    for (std::uint64_t run = 0; run < property_runs(16); ++run) {
        with_rules(run, [&](auto const&... rules) {
            INFO("stream " << run);
            temporary_folder const folder;
            hook watch{folder / "run", nothing, rules...};
            alarms const inside = boost(watch, run);
            watch.finish();
            REQUIRE(watch.health().good());
            alarms outside;
            std::vector<plain_coverage> coverages;
            replay_report const report =
                replay(open(watch.path()), rules..., [&](spotter::step_alarm const& found) { keep(outside, found); });
            for (coverage const& each : report.coverages) { coverages.push_back(plain(each)); }
            CHECK(report.whole);
            CHECK(inside == outside);
            CHECK(coverages == coverage_of(watch));
            reported += inside.size();
        });
    }
    CHECK(reported > 100);
}

TEST_CASE("of a record that was made without them, they say what they would have said, where the values were kept") {
    for (std::uint64_t run = 0; run < property_runs(6); ++run) {
        with_rules(run, [&](auto const&... rules) {
            temporary_folder const folder;
            hook watch{folder / "run", kept};
            (void)boost(watch, run);
            watch.finish();
            hook judge{plan{}, rules...};
            alarms const inside = boost(judge, run);
            alarms outside;
            replay_report const report =
                replay(open(watch.path()), rules..., [&](spotter::step_alarm const& found) { keep(outside, found); });
            CHECK(report.whole);
            CHECK(inside == outside);
        });
    }
}

TEST_CASE("limited to the steps whose values are kept, they agree as well; otherwise the replay says what is missing") {
    for (std::uint64_t run = 0; run < property_runs(6); ++run) {
        with_rules(run, [&](auto const&... rules) {
            temporary_folder const folder;
            hook watch{folder / "run", seldom};
            (void)boost(watch, run);
            watch.finish();
            hook judge{plan{}, (rules | only{every{3}})...};
            alarms const inside = boost(judge, run);
            alarms outside;
            replay_report const report = replay(open(watch.path()), (rules | only{every{3}})...,
                                                [&](spotter::step_alarm const& found) { keep(outside, found); });
            CHECK(report.whole);
            CHECK(inside == outside);
        });
        with_rules(run, [&](auto const&... rules) {
            temporary_folder const folder;
            hook watch{folder / "run", sums};
            (void)boost(watch, run);
            watch.finish();
            replay_report const report = replay(open(watch.path()), rules...);
            CHECK_FALSE(report.whole);
            CHECK(report.trouble.code == errc::no_payload);
        });
    }
}
