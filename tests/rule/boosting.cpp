// SPDX-License-Identifier: Apache-2.0
// Rules on boosted trees: each example of the catalogue, exactly.
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <numeric>

using namespace spotter;
using namespace stage;

namespace {

constexpr truth depth_says(float largest) {
    run it{tree_depth{}};
    float const ids[] = {0, 1, largest};
    it.see(train(0), "trees/0", view_of(ids, {3}));
    return it.close(train(0));
}
static_assert(depth_says(30) == truth::no);
static_assert(depth_says(31) == truth::yes);

template <rule Rule>
constexpr truth second_answer(Rule const& rule, std::span<float const> values) {
    run it{rule};
    truth answer = truth::undecided;
    for (std::uint64_t i = 0; i < 2; ++i) {
        it.see(train(i), "feature_importance/gain", view_of(values.data(), {values.size()}));
        answer = it.close(train(i));
    }
    return answer;
}
constexpr float heavy[] = {50, 20, 15, 10, 5}, even[] = {40, 20, 15, 15, 10}, few[] = {1, 1, 1};
static_assert(second_answer(feature_importance_overweight{}, heavy) == truth::yes);
static_assert(second_answer(feature_importance_overweight{}, even) == truth::no);
static_assert(second_answer(feature_importance_overweight{}, few) == truth::undecided);
constexpr float lonely[] = {97, 1, 1, 1}, spread_out[] = {40, 30, 20, 10};
static_assert(second_answer(low_feature_importance{}, lonely) == truth::yes);
static_assert(second_answer(low_feature_importance{}, spread_out) == truth::no);

// Not inlined: g++ 12 at -O3 warns of a state's growth where it knows the id but not that the state is fresh.
SPOTTER_NOINLINE tensor_info info_of(std::string_view name, role what) {
    tensor_info info;
    info.id = 0;
    info.name = name;
    info.role = what;
    return info;
}

}  // namespace

TEST_CASE("tree_depth: a largest id of 30 is depth 4, 31 is 5, 0 is 0", "[tree_depth]") {
    run it{tree_depth{}};
    CHECK(it.step(train(0), "trees/0", {0, 1, 2, 30, 29}) == truth::no);
    CHECK(it.step(train(1), "trees/0", {0, 1, 31}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.rule == "tree_depth" && found.tensor == "trees/0" && found.step == train(1)));
    CHECK((found.measured == 5 && found.threshold == 4 && found.how == relation::greater));
    CHECK((found.severity == severity::warning && found.decision == decision::proceed && !found.remedy.empty()));
    CHECK(it.step(train(2), "trees/0", {30}) == truth::no);  // level

    auto const depth = [](double largest) {
        summary ids;
        ids.has = stats_mask::range;
        ids.count = 1;
        ids.maximum = largest;
        return tree_depth::depth_of(ids).value;
    };
    CHECK((depth(0) == 0 && depth(1) == 1 && depth(2) == 1 && depth(3) == 2 && depth(6) == 2 && depth(7) == 3));
    CHECK((depth(0x1p52 - 2) == 51 && depth(0x1p52 - 1) == 52 && depth(0x1p63) == 63));
    CHECK(fired(tree_depth::sagemaker_defaults(), 2, "trees/1", {31}) == indices{0, 1});
    CHECK(fired(tree_depth{.depth = 5}, 2, "trees/1", {62}).empty());
    CHECK(fired(tree_depth{.depth = 0}, 1, "trees/1", {0}).empty());
}

TEST_CASE("tree_depth counts the trees of a round, and is undecided without ids", "[tree_depth]") {
    run it{tree_depth{}};
    it.see(train(0), "trees/0", {14});
    it.see(train(0), "trees/1", {63});
    it.see(train(0), "trees/2", {200});
    CHECK(it.close(train(0)) == truth::yes);
    CHECK((it.found[0].tensor == "trees/1" && it.found[0].measured == 6 && it.found[0].others == 1));
    CHECK(it.close(train(1)) == truth::undecided);                         // no tree grew
    CHECK(it.step(eval(2), "trees/0", {63}) == truth::undecided);          // train steps only
    CHECK(it.step(train(3), "trees/0", {nan_f, -1}) == truth::undecided);  // no such id
    CHECK(it.step(train(4), "trees/0", {nan_f, 31}) == truth::yes);        // a NaN blinds nobody
    it.see(train(5), "trees/0", std::vector<float>{}, {0});
    CHECK(it.close(train(5)) == truth::undecided);
    CHECK(it.covered().matched == 3);
}

TEST_CASE("tree_depth takes the ids of a tree that is several tensors, and whatever is given the role",
          "[tree_depth]") {
    CHECK(select::tree_ids(info_of("trees/0", role::tree)));
    CHECK(select::tree_ids(info_of("trees/0/id", role::tree)));
    CHECK(select::tree_ids(info_of("tree/main/id", role::tree)));
    CHECK(select::tree_ids(info_of("forest", role::tree)));
    CHECK(select::tree_ids(info_of("my/forest", role::tree)));
    CHECK_FALSE(select::tree_ids(info_of("trees/0/gain", role::tree)));
    CHECK_FALSE(select::tree_ids(info_of("trees/0/id", role::other)));
    CHECK(fired(tree_depth{}, 2, "trees/0/cover", {1611}).empty());
    CHECK(fired(tree_depth{.select = "trees/*/cover"}, 1, "trees/0/cover", {1611}) == indices{0});
    run it{tree_depth{}};
    it.see(train(0), "depth", {9});
    CHECK(it.covered().matched == 0);
}

TEST_CASE("feature_importance_overweight: 0.85 in three of five fires, 0.75 does not, three are undecided",
          "[feature_importance_overweight]") {
    run it{feature_importance_overweight{}};
    CHECK(it.step(train(0), "feature_importance/gain", {10, 50, 5, 20, 15}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.measured == 0.85 && found.threshold == 0.8 && found.tensor == "feature_importance/gain"));
    CHECK((found.severity == severity::warning && found.detail.view() == "element 1 alone 0.5"));
    CHECK(it.step(train(1), "feature_importance/gain", {40, 20, 15, 15, 10}) == truth::no);
    CHECK(it.step(train(2), "feature_importance/gain", {1, 1, 1}) == truth::undecided);
    // A feature without a split is one.
    CHECK(it.step(train(3), "feature_importance/gain", {2, 2, 2, 0}) == truth::yes);

    using limits = feature_importance_overweight;
    CHECK(fired(limits{.threshold = 0.75}, 1, "feature_importance/gain", {40, 20, 15, 15, 10}).empty());  // strict
    CHECK(fired(limits{.nfeatures = 1}, 1, "feature_importance/gain", {81, 19}) == indices{0});
    CHECK(fired(limits{.nfeatures = 0}, 1, "feature_importance/gain", {81, 19}).empty());
    CHECK(fired(limits::sagemaker_defaults(), 1, "feature_importance/cover", {50, 20, 15, 10, 5}) == indices{0});
}

TEST_CASE("feature_importance_overweight finds the largest of many, in any order", "[feature_importance_overweight]") {
    std::vector<float> values(500);
    std::iota(values.begin(), values.end(), 0.0F);
    for (std::size_t i = 0; i < values.size(); ++i) { std::swap(values[i], values[(i * 7919 + 13) % values.size()]); }
    run it{feature_importance_overweight{.threshold = 0, .nfeatures = 100}};
    it.see(train(0), "feature_importance/gain", values, {500});
    CHECK(it.close(train(0)) == truth::yes);
    CHECK(it.found[0].measured == (499.0 * 500 - 399 * 400) / (499.0 * 500));
    // More features than it had when it was declared.
    run grown{feature_importance_overweight{.nfeatures = 2}};
    CHECK(grown.step(train(0), "feature_importance/gain", {1}) == truth::undecided);
    CHECK(grown.step(train(1), "feature_importance/gain", {9, 9, 1}) == truth::yes);
}

TEST_CASE("low_feature_importance: three of four below 0.025 fire, after the first observation",
          "[low_feature_importance]") {
    CHECK(fired(low_feature_importance{}, 3, "feature_importance/gain", {97, 1, 1, 1}) == indices{1, 2});
    CHECK(fired(low_feature_importance{}, 3, "feature_importance/gain", {40, 30, 20, 10}).empty());
    run it{low_feature_importance{.warmup = 0}};
    CHECK(it.step(train(0), "feature_importance/gain", {97, 1, 1, 1}) == truth::yes);
    CHECK((it.found[0].measured == 0.75 && it.found[0].threshold == 0.5 && it.found[0].severity == severity::info));
    CHECK(it.step(train(1), "feature_importance/gain", {1, 0, 1, 0}) == truth::no);  // half of them: strict
    CHECK(it.step(train(2), "feature_importance/gain", {5, 1, 1, 1}) == truth::no);
    CHECK(it.step(train(3), "feature_importance/cover", {0, 1, 0}) == truth::yes);
    CHECK(fired(low_feature_importance{.warmup = 3}, 5, "feature_importance/gain", {1, 0, 0}) == indices{3, 4});
    // Each tensor has a warm-up of its own.
    run two{low_feature_importance{}};
    CHECK(two.step(train(0), "feature_importance/gain", {1, 0, 0}) == truth::undecided);
    CHECK(two.step(train(1), "feature_importance/cover", {1, 0, 0}) == truth::undecided);
    CHECK(two.step(train(2), "feature_importance/gain", {1, 0, 0}) == truth::yes);
    CHECK(two.step(eval(3), "feature_importance/gain", {1, 0, 0}) == truth::undecided);
}

TEMPLATE_TEST_CASE("importances without shares are undecided, and a NaN is left out", "[low_feature_importance]",
                   feature_importance_overweight, low_feature_importance) {
    run<TestType> it{TestType{}};
    auto const says = [&](std::initializer_list<float> values) {
        static std::uint64_t i = 0;
        return it.step(train(i++), "feature_importance/gain", values);
    };
    (void)says({1, 1, 1, 1, 1});                        // the warm-up
    CHECK(says({0, 0, 0, 0, 0}) == truth::undecided);   // no split yet
    CHECK(says({5, -1, 0, 0, 0}) == truth::undecided);  // a share of what?
    CHECK(says({nan_f, nan_f, nan_f, nan_f, nan_f}) == truth::undecided);
    CHECK(says({9, nan_f, 0, 0, 0, pos_infinity_f}) == truth::yes);  // of four
    CHECK(says({1, 1, 1, 1, nan_f}) == truth::no);
    CHECK(it.close(train(100)) == truth::undecided);  // nothing observed
    CHECK(it.covered().undecided == (std::is_same_v<TestType, low_feature_importance> ? 4 : 3));
    // Statistics without values, as in a replay of a record that did not keep them.
    machine<TestType> blind{TestType{}};
    tensor_info const info = info_of("feature_importance/gain", role::importance);
    (void)blind.declare(info);
    summary stats;
    stats.has = importances::needs;
    stats.count = 5, stats.sum = 10, stats.maximum = 10;
    findings found;
    for (std::uint64_t i = 0; i < 3; ++i) {
        blind.observe({info, train(i), stats});
        CHECK(blind.close(train(i), found) == truth::undecided);
    }
    blind.report([](coverage const& each) { CHECK(each.reason.find("values not recorded") != each.reason.npos); });
}
