// SPDX-License-Identifier: Apache-2.0
// A plan made while the program runs does what the constant one does.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>
#include <tests/hook/count_allocations.hpp>

#include <spotter/plan/dynamic_plan.hpp>
#include <spotter/plan/smdebug.hpp>
#if SPOTTER_EXCEPTIONS
#include <spotter/plan/regex.hpp>
#endif

#include <string>

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
    CHECK(!first.whole());  // what was moved from keeps nothing, and may be asked
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
        hook watch{sink, dynamic_plan{constant}};  // the hook's copy is its own
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
    CHECK(watch.health().first.code == errc::bad_pattern);
    CHECK(sink.kept.empty());

    dynamic_plan crowded;
    for (int i = 0; i < 64; ++i) { crowded.add(collection{"c", "*"}); }
    CHECK((crowded.whole() && crowded.size() == 64 && crowded.due(train(0)) == ~std::uint64_t{0}));
    crowded.add(collection{"c", "*"});
    CHECK(!crowded.whole());
    CHECK(!crowded.malformed().empty());
    CHECK(crowded.due(train(0)) == 0);
}

#if SPOTTER_EXCEPTIONS
TEST_CASE("a regular expression in a run-time plan searches unanchored [A16]") {
    dynamic_plan it{plan{collection{"relu", regex{".*relu_output"}}}};
    tensor_info tensor;
    tensor.name = "net/relu_output:0";
    CHECK(it.members(tensor) == 1);
    tensor.name = "net/relu";
    CHECK(it.members(tensor) == 0);
    it.add(collection{"broken", regex{"grad/("}});
    CHECK(it.malformed() == "grad/(");
}
#endif

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
