// SPDX-License-Identifier: Apache-2.0
// How XGBoost writes models, parameters and evaluations: parsed without the library.
#include <tests/catch.hpp>

#include <spotter/ext/xgboost/readings.hpp>
#include <spotter/ext/xgboost/trees.hpp>
#include <spotter/hook.hpp>
#include <spotter/rules.hpp>

using namespace spotter;

namespace {

// Hand-made UBJSON: columns of a tree as XGBoost writes them.
std::string big_endian(std::uint64_t bits, std::size_t size) {
    std::string out;
    while (size-- > 0) { out += static_cast<char>(bits >> (8 * size)); }
    return out;
}
std::string name_of_length(std::string_view name) { return "L" + big_endian(name.size(), 8) + std::string{name}; }
std::string ints(std::string_view name, std::vector<std::int32_t> const& values) {
    std::string out = name_of_length(name) + "[$l#L" + big_endian(values.size(), 8);
    for (std::int32_t const each : values) { out += big_endian(static_cast<std::uint32_t>(each), 4); }
    return out;
}
std::string floats(std::string_view name, std::vector<float> const& values) {
    std::string out = name_of_length(name) + "[$d#L" + big_endian(values.size(), 8);
    for (float const each : values) { out += big_endian(std::bit_cast<std::uint32_t>(each), 4); }
    return out;
}
std::string forest(std::string const& columns) {
    return "{" + name_of_length("model") + "{" + name_of_length("trees") + "[#i\x01{" + columns + "}}" +
           name_of_length("more") + "[S" + name_of_length("x") + "TFZ[]{}[#i\x02i\x01U\xFFH" + name_of_length("1") +
           "C.D" + big_endian(0, 8) + "]}";
}

}  // namespace

TEST_CASE("deep trees keep their depth, and numbers their bits") {
    constexpr std::int32_t levels = 100;  // a chain: each inner node has a leaf and the next inner node
    std::vector<std::int32_t> left, right, feature;
    std::vector<float> value, cover;
    float const nan = std::bit_cast<float>(0x7FC00001U);
    for (std::int32_t i = 0; i < levels; ++i) {
        left.insert(left.end(), {2 * i + 1, -1});
        right.insert(right.end(), {2 * i + 2, -1});
        feature.insert(feature.end(), {70000, 0});
        value.insert(value.end(), {0.5F, -0.25F});
        cover.insert(cover.end(), {1e-45F, 3e38F});
    }
    left.push_back(-1), right.push_back(-1), feature.push_back(0), value.push_back(nan), cover.push_back(1);
    std::string const columns = ints("left_children", left) + ints("right_children", right) +
                                ints("split_indices", feature) + floats("split_conditions", value) +
                                floats("loss_changes", value) + floats("sum_hessian", cover);
    std::vector<boosted_tree> trees;
    REQUIRE(detail::read_last_trees(forest(columns), 1, trees));
    REQUIRE(trees.size() == 1);
    CHECK(trees[0].id.size() == 2 * levels + 1);
    CHECK((trees[0].id[1] == 1 && trees[0].id[2] == 2 && trees[0].id[3] == 5 && trees[0].id[4] == 6));
    CHECK((trees[0].feature[0] == 70000 && trees[0].feature[1] == -1));
    CHECK((trees[0].value[0] == 0.5F && trees[0].value[1] == -0.25F && trees[0].gain[1] == 0));
    CHECK((trees[0].cover[0] == 1e-45F && trees[0].cover[1] == 3e38F));
    CHECK(std::bit_cast<std::uint32_t>(trees[0].value.back()) == 0x7FC00001U);
    hook watch{plan{}, tree_depth{}};
    auto const found = watch.step(train(0), "trees/0/id"_t = trees[0].id);
    REQUIRE(found.size() == 1);
    CHECK(found.front().measured == 64);  // 64 stands for 64 or deeper

    // A categorical split has no threshold.
    REQUIRE(detail::read_last_trees(forest(ints("left_children", {1, -1, -1}) + ints("right_children", {2, -1, -1}) +
                                           ints("split_indices", {4, 0, 0}) + floats("split_conditions", {nan, 1, 2}) +
                                           floats("loss_changes", {9, 0, 0}) + floats("sum_hessian", {3, 2, 1}) +
                                           ints("split_type", {1, 0, 0})),
                                    1, trees));
    CHECK(trees[0].value == std::vector<float>{0, 1, 2});
}

TEST_CASE("a model that is cut short, or is not a model, gives no trees") {
    std::string const bytes =
        forest(ints("left_children", {1, 3, -1, -1, -1}) + ints("right_children", {2, 4, -1, -1, -1}) +
               ints("split_indices", {4, 1, 0, 0, 0}) + floats("split_conditions", {1, 2, 3, 4, 5}) +
               floats("loss_changes", {9, 0, 0, 0, 0}) + floats("sum_hessian", {3, 2, 1, 1, 1}));
    std::vector<boosted_tree> trees;
    REQUIRE(detail::read_last_trees(bytes, 1, trees));
    CHECK((trees.size() == 1 && trees[0].id == std::vector<std::uint64_t>{0, 1, 2, 3, 4}));
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
        CHECK_FALSE(detail::read_last_trees(std::string_view{bytes}.substr(0, cut), 1, trees));
    }
    CHECK_FALSE(detail::read_last_trees(bytes + "Z", 1, trees));
    std::uint64_t state = 1;
    for (int round = 0; round < 3000; ++round) {  // whatever the bytes, the reader stays within them
        std::string damaged = bytes;
        for (int i = 0; i < 3; ++i) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            damaged[(state >> 20U) % damaged.size()] = static_cast<char>(state >> 50U);
        }
        (void)detail::read_last_trees(damaged, 1, trees);
    }
    std::string const others = ints("split_indices", {0, 0, 0}) + floats("split_conditions", {0, 0, 0}) +
                               floats("loss_changes", {0, 0, 0}) + floats("sum_hessian", {0, 0, 0});
    for (std::string const& broken :
         {forest(ints("left_children", {1, -1, -1}) + ints("right_children", {0, -1, -1}) + others),
          forest(ints("left_children", {7, -1, -1}) + ints("right_children", {8, -1, -1}) + others),
          forest(ints("left_children", {-1}) + ints("right_children", {-1}) + others), forest(others),
          std::string(100, '['), std::string{"{$i#i\x01"}, std::string{"[$i"}, std::string{"[#i\xFF]"}}) {
        CHECK_FALSE(detail::read_last_trees(broken, 1, trees));
    }
    // Lengths near 2^63 of elements that take no bytes, and endless nesting.
    std::string const endless = big_endian(~std::uint64_t{0} >> 1U, 8), tree = "{" + name_of_length("trees");
    for (std::string const& broken :
         {"[$Z#L" + endless, "[$T#L" + endless, "[$[#L" + endless, "{$Z#L" + endless, tree + "[$T#L" + endless,
          "S" + ("L" + endless), std::string(40, '[') + std::string(40, ']'),
          tree + "[{" + name_of_length("left_children") + "[$F#L" + endless}) {
        CHECK_FALSE(detail::read_last_trees(broken, 1, trees));
    }
}

TEST_CASE("parameters are the numbers of a configuration, evaluations what stands between tabs and colons") {
    detail::readings all;
    std::string kind;
    CHECK(detail::read_parameters(
        " {\"learner\" : {\"gradient_booster\": {\"name\":\"dart\", \"a_param\": {\"eta\":\"5E-1\",\"text\":\"x1\","
        "\"inf\":\"inf\",\"tiny\":\"1e-999\",\"huge\":\"1e999\",\"n\\\"q\":\"-3\", \"list\": [1, 2, [ ], { }] }, "
        "\"b_param\":"
        "{\"eta\":\"7\",\"plain\":12}}, \"other\":{\"x\":\"1\"}}, \"version\":[1,7,4]}\n",
        "h/", all, kind));
    CHECK(kind == "dart");
    CHECK(all.size() == 4);
    CHECK((all.value_or("h/eta", -1) == 0.5 && all.value_or("h/tiny", -1) == 0 && all.value_or("h/plain", -1) == 12));
    CHECK(all.value_or("h/n\"q", -1) == -3);
    CHECK(all.value_or("h/text", -1) == -1);
    for (char const* broken :
         {"", "[", "{}}", "{\"a\"}", "{\"a\":}", "[1,]", "[1 2]", "{\"a\":1,}", "\"open", "nul,", "[\"\\"}) {
        INFO(broken);
        CHECK_FALSE(detail::read_parameters(broken, "h/", all, kind));
    }
    CHECK_FALSE(detail::read_parameters(std::string(40, '['), "h/", all, kind));
    std::string const deep = std::string(40, '[') + std::string(40, ']'),
                      text = "[\"x\", {\"a_param\": {\"eta\": \"9\"}}]";
    CHECK_FALSE(detail::read_parameters(deep, "h/", all, kind));
    REQUIRE(detail::read_parameters(text, "h/", all, kind));
    CHECK(all.value_or("h/eta", -1) == 9);
    for (std::size_t cut = 0; cut < text.size(); ++cut) {
        CHECK_FALSE(detail::read_parameters(std::string_view{text}.substr(0, cut), "h/", all, kind));
    }

    detail::readings metrics;
    CHECK(detail::read_evaluation("[3]\ta:b-rmse:1.5\tc-auc:-nan\td-x:\te-y:inf\tf", metrics));
    CHECK(metrics.size() == 3);
    CHECK(metrics.value_or("a:b-rmse", 0) == 1.5);
    CHECK(classify(metrics[1].value) == number_class::nan);
    CHECK(detail::read_evaluation("[4]\tc-auc:0.5", metrics));
    metrics.drop_missing();
    CHECK((metrics.size() == 1 && metrics[0].name == "c-auc"));
    CHECK_FALSE(detail::read_evaluation("nothing", metrics));
}
