// SPDX-License-Identifier: Apache-2.0
// A plan made at run time behaves like the constant one that it was made from.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>
#include <tests/hook/count_allocations.hpp>

#include <spotter/plan/dynamic_plan.hpp>
#include <spotter/plan/regex.hpp>
#include <spotter/plan/smdebug.hpp>

#include <string>
#include <vector>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan constant{fallback{.when = every{3}},
                        collection{"globs", glob{"a*"} && !glob{"ab*"}},
                        collection{"names", names{"abc", "loss"}, at{1, 7, 700}, stats(l2, of_abs(maximum))},
                        collection{"roles", of_role{role::weight} || of_role{role::bias},
                                   (every{4} && during{mode::eval}) || between{10, 12}, payload | shape},
                        collection{"rest", "*", !(from{5} && before{8}), stats(nonfinite)},
                        collection{"none", "?", never{}}};

template <class Plan>
std::vector<std::string> lines_of(Plan const& it) {
    std::vector<std::string> all;
    it.list([&](collection_info const& each) {
        all.push_back(std::string{each.name} + ": " + std::string{each.what.view()});
    });
    return all;
}

}  // namespace

TEST_CASE("a run-time plan answers like the constant plan that it was made from [D31]") {
    dynamic_plan const loaded{constant};
    REQUIRE(loaded.whole());
    CHECK(loaded.size() == 5);
    for (std::uint64_t i = 0; i < 800; ++i) {
        for (mode each : {mode::train, mode::eval, mode::predict}) {
            REQUIRE(loaded.due({each, i}) == constant.due({each, i}));
        }
    }
    for (char const* name : {"a", "ab", "abc", "loss", "fc/w", "fc/b", "grad/fc/w", ""}) {
        tensor_info it;
        it.name = name;
        it.role = guess_role(name);
        CHECK(loaded.members(it) == constant.members(it));
    }
    for (std::uint64_t set = 0; set < 32; ++set) { REQUIRE(loaded.wanted(set) == constant.wanted(set)); }
    CHECK(loaded.malformed().empty());
    CHECK(lines_of(loaded) == lines_of(constant));
}

TEST_CASE("copies and moves of a run-time plan are equal to it, another plan is not") {
    dynamic_plan first{constant};
    dynamic_plan copy = first;
    CHECK(copy == first);
    dynamic_plan const moved = std::move(first);
    CHECK(moved == copy);
    CHECK(!first.whole());  // a moved-from plan keeps nothing, and can still be asked
    CHECK((first.due(train(0)) == 0 && first.size() == 0 && !first.malformed().empty()));
    copy.add(collection{"one more", "*"});
    CHECK(!(moved == copy));
    CHECK(!(dynamic_plan{plan{collection{"a", "x", at{1, 2}}}} == dynamic_plan{plan{collection{"a", "x", at{1, 3}}}}));
    CHECK(!(dynamic_plan{plan{collection{"a", names{"x"}}}} == dynamic_plan{plan{collection{"a", names{"y"}}}}));
    CHECK(!(dynamic_plan{plan{collection{"a", "x"}}} == dynamic_plan{plan{collection{"a", role::loss}}}));
    CHECK(dynamic_plan{plan{collection{"a", "x", every{0}}}} == dynamic_plan{plan{collection{"a", "x", never{}}}});
}

TEST_CASE("a hook takes a run-time plan, whose steps allocate nothing") {
    collecting_sink sink;
    {
        hook watch{sink, dynamic_plan{constant}};  // the hook keeps a copy of its own
        for (std::uint64_t i = 0; i < 20; ++i) { (void)watch.step(train(i), "a"_t = 1.0F, "fc/w"_t = 2.0F); }
        CHECK(watch.health().good());
    }
    CHECK(sink.kept["a"].size() == 7);
    CHECK(sink.kept["fc/w"] == std::vector<step_id>{train(10), train(11)});
    hook watch{dynamic_plan{constant}};
    (void)watch.step(train(0), "a"_t = 1.0F);
    CHECK(allocations_in([&] {
              for (std::uint64_t i = 1; i < 50; ++i) { (void)watch.step(train(i), "a"_t = 1.0F); }
          }) == 0);
}

TEST_CASE("of a run-time plan with a malformed pattern, or with too many collections, nothing is applied [S27]") {
    char const* const pattern = "grad/[";
    dynamic_plan broken{plan{collection{"fine", "*"}}};
    broken.add(collection{"broken", glob{pattern}});
    CHECK(broken.malformed() == "grad/[");
    collecting_sink sink;
    hook watch{sink, broken};
    (void)watch.step(train(0), "a"_t = 1.0F);
    CHECK(watch.health().first_error.code == errc::bad_pattern);
    CHECK(sink.kept.empty());

    dynamic_plan crowded;
    for (int i = 0; i < 64; ++i) { crowded.add(collection{"c", "*"}); }
    CHECK((crowded.whole() && crowded.size() == 64 && crowded.due(train(0)) == ~std::uint64_t{0}));
    crowded.add(collection{"c", "*"});
    CHECK(!crowded.whole());
    CHECK(!crowded.malformed().empty());
    CHECK(crowded.due(train(0)) == 0);
}

TEST_CASE("a regular expression in a run-time plan searches unanchored [A16]") {
    dynamic_plan it{plan{collection{"relu", regex{".*relu_output"}}}};
    tensor_info tensor;
    tensor.name = "net/relu_output:0";
    CHECK(it.members(tensor) == 1);
    tensor.name = "net/relu";
    CHECK(it.members(tensor) == 0);
    it.add(collection{"broken", regex{"grad/("}});
    CHECK(it.malformed() == "grad/(");
    CHECK(it.malformed().at == 5);
}

TEST_CASE("expressions of a run-time plan that stand too deep in one another make it malformed [S27]", "[S27]") {
    for (std::uint32_t const joins : {256U, 257U, 100'000U}) {
        dynamic_plan it;
        dynamic_plan::part all = it.keep(glob{"a"});
        for (std::uint32_t i = 0; i < joins; ++i) {
            all = i % 3 == 0 ? it.negate(all) : it.join(asked::either, it.keep(glob{"b"}), all);
        }
        it.add("x", all, it.keep(always{}), stats_mask::payload);
        bool const fits = joins == 256;
        CHECK(it.whole() == fits);
        CHECK(it.too_deep() == !fits);
        CHECK(it.malformed() == (fits ? "" : "(expressions nested more than 256 deep)"));
        tensor_info tensor;
        tensor.name = "a";
        (void)it.members(tensor);
        CHECK((it == it));
        hook watch{it};
        CHECK(watch.health().first_error.code == (fits ? errc::none : errc::bad_pattern));
    }
}

TEST_CASE("smdebug's lists of expressions, steps and collections are bounded, each refused with its key [S27]",
          "[S27]") {
    auto const refusal = [](std::string_view key, std::string const& list) {
        setting const own[] = {{key, list, setting_kind::text}};
        setting_group const groups[] = {{"mine", own}};
        result<dynamic_plan> const found = read_smdebug({}, groups, &matcher_of<regex>);
        return found ? std::string{"fine"} : std::string{found.error().what.view()};
    };
    std::string expressions, steps;
    for (int i = 0; i < 100'000; ++i) { expressions += "a,"; }
    for (int i = 0; i < 65'537; ++i) { steps += std::to_string(i) + ','; }
    CHECK(refusal("include_regex", expressions) ==
          "include_regex of collection \"mine\": a list holds 256 expressions at most; join them by |");
    CHECK(refusal("save_steps", steps) == "save_steps of collection \"mine\": a list holds 65536 steps at most");
    CHECK(refusal("include_regex", std::string(8000, '(')) ==
          "include_regex of collection \"mine\": \"" + std::string(48, '(') +
              "\" is a malformed regular expression (ECMAScript); at 64: groups are nested more than 64 deep");
    std::vector<setting_group> const same(100'000);
    CHECK(read_smdebug({}, same, nullptr).error().what.view() ==
          "CollectionConfigurations: a plan holds at most 64 collections");
}

TEST_CASE("smdebug's settings need no file: keys and values make a plan [A27]") {
    setting const hook_settings[] = {{"save_interval", "100", setting_kind::number}};
    setting const own[] = {{"train.save_interval", "10", setting_kind::text}};
    setting_group const groups[] = {{"weights", own}};
    result<dynamic_plan> const found = read_smdebug({{}, hook_settings}, groups, nullptr);
    REQUIRE(found);
    CHECK(found->due(train(10)) == 0b111);
    CHECK(found->due(eval(10)) == 0b110);
    CHECK(found->due(eval(100)) == 0b111);
    setting const wrong[] = {{"include_regex", "a", setting_kind::text}};
    CHECK(read_smdebug({{}, wrong}, {}, nullptr).error().code == errc::bad_config);
}

TEST_CASE("items of a list: trimmed, empty ones left out, commas within brackets kept in expressions") {
    auto const items = [](std::string_view list, bool expressions) {
        std::string all;
        detail::each_item(list, expressions, [&](std::string_view item) {
            all += "<" + std::string{item} + ">";
            return true;
        });
        return all;
    };
    CHECK(items(" a, b ,,c ", false) == "<a><b><c>");
    CHECK(items("", true).empty());
    CHECK(items("x{1,2},y", true) == "<x{1,2}><y>");
    CHECK(items("x{1,2},y", false) == "<x{1><2}><y>");
    CHECK(items("[,(]a,b", true) == "<[,(]a><b>");
    CHECK(items("a\\,b,c", true) == "<a\\,b><c>");
    CHECK(items("(a,b", true) == "<(a,b>");
    CHECK(items("a\\", true) == "<a\\>");
}
