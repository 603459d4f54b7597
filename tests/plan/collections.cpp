// SPDX-License-Identifier: Apache-2.0
// Collections and plans: membership, what is kept at a step, and their descriptions.
#include <spotter/plan/dynamic_plan.hpp>

#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <utility>

using namespace spotter;
using namespace spotter_test;

namespace {

tensor_info named_tensor_info(std::string_view name) {
    tensor_info it;
    it.name = name;
    it.role = guess_role(name);
    return it;
}
template <class Plan>
std::string text_of_first(Plan const& keep) {
    std::string text;
    keep.list([&](collection_info const& each) {
        text = text.empty() ? std::string{each.name} + ": " + std::string{each.what.view()} : text;
    });
    return text;
}
template <std::size_t... Index>
constexpr auto many(std::index_sequence<Index...>) {
    return plan{collection{"c", "*", at{Index}, Index == sizeof...(Index) - 1 ? payload : stats(l2)}...};
}

}  // namespace

TEST_CASE(
    "a pattern is a glob, a role, a list of names, any question about a name, or a compound of these [A15][A16][A17]") {
    constexpr plan keep{collection{"glob", "grad/*"},
                        collection{"role", role::weight},
                        collection{"names", names{"a", "zz"}},
                        collection{"asked", [](std::string_view name) { return name.size() == 1; }},
                        collection{"compound", glob{"*/w"} && !glob{"grad/*"}},
                        collection{"either", glob{"a"} || of_role{role::loss}}};
    auto const members = [&](std::string_view name) { return keep.members(named_tensor_info(name)); };
    CHECK(members("grad/fc/w") == 0b000001);
    CHECK(members("fc/w") == 0b010010);
    CHECK(members("a") == 0b101100);
    CHECK(members("zz") == 0b000100);
    CHECK(members("loss") == 0b100000);
    CHECK(members("") == 0);
}

TEST_CASE("what a collection keeps is reported whole, however long its pattern and its policy are") {
    constexpr plan keep{collection{"losses",
                                   glob{"the/first/part/of/the/model/*"} || glob{"the/second/part/of/the/model/*"} ||
                                       glob{"the/third/part/of/the/model/*"} || of_role{role::loss},
                                   every{1000} || at{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}, stats(l2)}};
    std::string const whole = "losses: (((\"the/first/part/of/the/model/*\" || \"the/second/part/of/the/model/*\") || "
                              "\"the/third/part/of/the/model/*\") || role::loss), "
                              "(every{1000} || at{1, 2, 4, 8, 16, 32, 64, 128, 256, 512}): sum of squares, counts";
    CHECK(text_of_first(keep) == whole);
    CHECK(text_of_first(dynamic_plan{keep}) == whole);
}

TEST_CASE("at a step a tensor keeps the union of what its collections that are due ask for, once [A15][A28]") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"norm", "*", every{2}, stats(l2)}, collection{"values", "x", every{3}, payload},
                          collection{"ranges", names{"x", "y"}, at{0, 1}, stats(minimum, of_abs(maximum))}}};
    std::vector<stats_mask> asked;
    for (std::uint64_t i = 0; i < 6; ++i) {
        sink.asked["x"] = stats_mask::none;
        (void)watch.step(train(i), "x"_t = 1.0, "y"_t = 2.0);
        asked.push_back(sink.asked["x"]);
    }
    constexpr stats_mask norm = stats(l2), ranges = stats(minimum, of_abs(maximum));
    CHECK(asked == std::vector<stats_mask>{norm | payload | ranges, ranges, norm, payload, norm, stats_mask::none});
    CHECK(sink.count("observe x") == 5);
    CHECK(sink.count("observe y") == 4);
    CHECK(watch.health().observed == 9);
}

TEST_CASE("every schedule of the map keeps its steps through a hook, modes in turn [S07]") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"c", "x", (every{2} && during{mode::train}) || (every{3} && during{mode::eval}),
                                     payload}}};
    for (step_id each : {train(0), train(1), eval(0), eval(1), eval(2), train(2), train(3)}) {
        (void)watch.step(each, "x"_t = 1.0);
    }
    CHECK(sink.kept["x"] == std::vector{train(0), eval(0), train(2)});
}

TEST_CASE("a name may appear at any time and joins every collection whose pattern matches [A07]") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"first", "attn/*"}, collection{"second", "*3"}}};
    for (std::uint64_t i = 0; i < 6; ++i) {
        watch.begin(train(i));
        if (i >= 4) { watch.observe("attn/3", 1.0); }
        (void)watch.end();
    }
    CHECK(sink.kept["attn/3"] == std::vector{train(4), train(5)});
    CHECK(sink.infos["attn/3"].collections == 0b11);
}

TEST_CASE("what is left out means: always, and the values") {
    constexpr plan keep{collection{"x", "x*"}, collection{"y", "y", every{3}}};
    CHECK(text_of_first(keep) == "x: \"x*\", always: payload");
    CHECK(keep.due(train(3)) == 0b11);
    CHECK(keep.due(eval(4)) == 0b01);
    CHECK(keep.wanted(0b10) == payload);
    CHECK(keep.wanted(0) == stats_mask::none);
}

TEST_CASE("an empty plan keeps nothing, and one collection makes a plan") {
    constexpr plan nothing{};
    static_assert(nothing.size == 0);
    CHECK(nothing.due(train(0)) == 0);
    CHECK(nothing.members(named_tensor_info("x")) == 0);
    CHECK(nothing.malformed().empty());
    constexpr plan one{collection{"x", "x"}};
    static_assert(one.size == 1);
    constexpr plan same{one};
    static_assert(std::is_same_v<decltype(same), decltype(one)>);
}

TEST_CASE("64 collections are the most, and each of them works") {
    constexpr auto keep = many(std::make_index_sequence<64>{});
    static_assert(keep.size == 64);
    for (std::uint64_t i = 0; i < 64; ++i) { CHECK(keep.due(train(i)) == std::uint64_t{1} << i); }
    CHECK(keep.members(named_tensor_info("x")) == ~std::uint64_t{0});
    collecting_sink sink;
    hook watch{sink, keep};
    for (std::uint64_t i = 0; i < 65; ++i) { (void)watch.step(train(i), "x"_t = 1.0); }
    CHECK(sink.count("observe x") == 64);
    CHECK(sink.kept["x"] == std::vector{train(63)});
    CHECK(sink.collections.size() == 64);
}

TEST_CASE("the first malformed pattern of a plan is named, wherever it stands in a compound") {
    std::string const bad = "grad/[a-";
    CHECK(plan{collection{"good", "*"}, collection{"bad", glob{"a*"} && !glob{std::string_view{bad}}}}.malformed() ==
          bad);
    CHECK(plan{collection{"good", "{a,b}[!x]?\\*"}}.malformed().empty());
}

TEST_CASE("a collection describes itself as pattern, policy and contents") {
    CHECK(text_of_first(plan{collection{"c", role::weight, every{100} || at{7}, payload | stats(l2, maximum)}}) ==
          "c: role::weight, (every{100} || at{7}): payload, range, sum of squares, counts");
    CHECK(text_of_first(plan{collection{"c", names{"a", "b"}, never{}, stats(nonfinite)}}) ==
          "c: names{a, b}, never: counts");
    CHECK(text_of_first(plan{collection{"c", [](std::string_view) { return true; }}}) ==
          "c: a function of the name, always: payload");
}

TEST_CASE(
    "defaults select by role, given or guessed; gradients and optimizer state exist in training only [A24][S17][D17]") {
    constexpr plan keep{defaults::losses, defaults::metrics,   defaults::weights,
                        defaults::biases, defaults::gradients, defaults::optimizer};
    auto const members = [&](std::string_view name) { return keep.members(named_tensor_info(name)); };
    for (char const* name : {"loss", "actor/loss", "value_loss", "loss/td"}) { CHECK(members(name) == 0b000001); }
    for (char const* name :
         {"metric/acc", "train-auc", "validation_0-rmse", "eval-ndcg@5", "train-error@0.3", "my-set-auc"}) {
        CHECK(members(name) == 0b000010);
    }
    for (char const* name : {"fc/w", "conv1.weight", "dense/kernel"}) { CHECK(members(name) == 0b000100); }
    for (char const* name : {"fc/b", "conv1.bias"}) { CHECK(members(name) == 0b001000); }
    for (char const* name : {"grad/fc/w", "grads/fc/b", "gradient/x", "conv1.weight.grad"}) {
        CHECK(members(name) == 0b010000);
    }
    CHECK(members("glossy") == 0);
    CHECK(keep.due(train(500)) == 0b111111);
    CHECK(keep.due(eval(500)) == 0b001111);
    CHECK(keep.due(train(501)) == 0b000011);
}
