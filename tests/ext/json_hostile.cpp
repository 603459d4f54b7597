// SPDX-License-Identifier: Apache-2.0
// Settings built to exhaust their host: nested, long, repeated without limit. Each is refused with its place, or costs
// no more than its length suggests.
#include <tests/catch.hpp>

#include <spotter/ext/json.hpp>
#include <spotter/ext/json/rules.hpp>
#include <spotter/hook.hpp>

#include <pthread.h>
#include <string>

using namespace spotter;

namespace {

std::string times(std::string_view what, std::size_t count, std::string_view between = {}) {
    std::string all;
    for (std::size_t i = 0; i < count; ++i) { (all += i == 0 ? std::string_view{} : between) += what; }
    return all;
}
template <class Value>
std::string reported(result<Value> const& found) {
    return found ? "fine" : std::string{name_of(found.error().code)} + ": " + std::string{found.error().what.view()};
}
std::string plan_of(std::string const& rest) {
    return reported(parse_plan(R"({"collections": [{"name": "mine", )" + rest + "}]}"));
}
std::string rules_of(std::string const& rules) { return reported(parse_rules(R"({"rules": [)" + rules + "]}")); }

// Runs `what` on a small stack (a sanitizer's frames are larger than others): unlimited recursion would crash.
template <class Do>
void on_a_small_stack(std::size_t kibibytes, Do& what) {
    pthread_attr_t attributes;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, kibibytes * 1024) == 0);
    pthread_t thread;
    auto const run = [](void* context) -> void* {
        (*static_cast<Do*>(context))();
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, run, &what) == 0);
    REQUIRE(pthread_join(thread, nullptr) == 0);
    pthread_attr_destroy(&attributes);
}

}  // namespace

TEST_CASE("expressions in settings cannot backtrack, nor overflow the stack [S27]", "[S27]") {
    CHECK(plan_of(R"("pattern": {"regex": ")" + times("(", 30000) + times(")", 30000) + "\"}")
              .starts_with("bad_pattern: pattern of collection \"mine\": \"((("));
    CHECK(
        plan_of(R"("pattern": {"regex": ")" + times("(", 100) + times(")", 100) + "\"}").find("; at 64: groups are") !=
        std::string::npos);
    CHECK(plan_of(R"("pattern": ")" + times("{", 10000) + times("}", 10000) + "\"")
              .find("is a malformed glob; at 16384: it is longer") != std::string::npos);
    CHECK(plan_of(R"("pattern": ")" + times("{", 100) + times("}", 100) + "\"").find("; at 32: braces are") !=
          std::string::npos);
    CHECK(
        plan_of(R"x("pattern": {"regex": "(?=a)"})x") ==
        "bad_pattern: pattern of collection \"mine\": \"(?=a)\" is a malformed regular expression (ECMAScript); at 0: "
        "looking ahead is not supported");
    CHECK(rules_of(R"({"any": {"regex": "(a)\\1"}, "where": "l2 > 1"})").find("; at 3: back-references") !=
          std::string::npos);

    std::string const long_name = std::string(100'000, 'a') + "!";
    for (char const* slow : {"^(a+)+$", "(.|x)*relu", "(a|aa)+$"}) {
        result<dynamic_plan> const found =
            parse_plan(std::string{R"({"collections": [{"name": "x", "pattern": {"regex": ")"} + slow + "\"}}]}");
        REQUIRE(found);
        tensor_info tensor;
        tensor.name = long_name;
        CHECK(found->members(tensor) == 0);
    }
}

TEST_CASE("JSON that nests, repeats or lists beyond reason is refused with its line or its key [S27]", "[S27]") {
    CHECK(reported(parse_plan("{\n\"a\":\n" + times("[", 100'000))) ==
          "bad_config: line 3: the settings are nested more than 64 deep");
    std::string keys;
    for (int i = 0; i < 100'000; ++i) { keys += "\n\"k" + std::to_string(i) + "\": 1,"; }
    CHECK(reported(parse_plan("{" + keys + "\"z\": 1}")) == "bad_config: line 258: an object has more than 256 keys");
    CHECK(reported(parse_plan("{\"a\": [" + times("0", 1'100'000, ",") + "]}")) ==
          "bad_config: line 1: the settings hold more than a million values");
    CHECK(reported(parse_plan("{\"dry_run\": true,\n\"dry_run\": true}")) ==
          "bad_config: \"dry_run\" is given twice in one object, in line 2");
    CHECK(plan_of(R"("pattern": "*", "when": {"at": [)" + times("1", 65'537, ",") + "]}") ==
          "bad_config: when of collection \"mine\": \"at\" takes 65536 steps at most");
    CHECK(plan_of(R"("pattern": "*", "when": {"at": [)" + times("1", 65'536, ",") + "]}") == "fine");
    CHECK(plan_of(R"("pattern": {"names": [)" + times("\"a\"", 65'537, ",") + "]}") ==
          "bad_config: pattern of collection \"mine\": \"names\" takes 65536 names at most");
    CHECK(plan_of(R"("pattern": {"or": [)" + times("\"a\"", 257, ",") + "]}").find("256 items at most") !=
          std::string::npos);
    CHECK(reported(parse_plan(R"({"collections": [)" + times(R"({"name": "losses"})", 10'000, ",") + "]}")) ==
          "bad_config: collections: a plan holds at most 64 collections");
    std::string const many = times(R"({"CollectionName": "weights"})", 10'000, ",");
    CHECK(reported(parse_plan(R"({"CollectionConfigurations": [)" + many + "]}")) ==
          "bad_config: CollectionConfigurations: a plan holds at most 64 collections");
}

TEST_CASE("lists nested in lists stop where a stack would end: patterns, policies, predicates, rules, adaptors [S27]",
          "[S27]") {
    // A list of 256 whose first element is a list of 256, and so on: few levels of JSON, many operands.
    auto const lists = [](std::string leaf, std::size_t levels) {
        std::string const more = times("," + leaf, 255);
        for (std::size_t i = 0; i < levels; ++i) { leaf = "{\"and\": [" + leaf + more + "]}"; }
        return leaf;
    };
    CHECK(plan_of("\"pattern\": " + lists("\"a\"", 1)) == "fine");
    CHECK(plan_of("\"pattern\": " + lists("\"a\"", 3)) ==
          "bad_config: pattern of collection \"mine\": \"and\", \"or\" and \"not\" stand more than 256 deep in it");
    CHECK(plan_of("\"pattern\": \"*\", \"when\": " + lists("\"always\"", 3))
              .starts_with(
                  "bad_config: when of collection \"mine\": \"and\", \"or\" and \"not\" stand more than 256 deep"));
    CHECK(rules_of(R"("non_finite", {"any": "*", "where": )" + lists("\"l2 > 1\"", 3) + "}") ==
          "bad_config: where of rules[1]: \"and\", \"or\" and \"not\" stand more than 256 deep in it");
    CHECK(rules_of("\"non_finite\", " + lists("\"non_finite\"", 3))
              .starts_with("bad_config: rule of rules[1].and[0]: rules, adaptors"));
    for (char const* adaptor :
         {"\"once\"", R"({"for_steps": 1})", R"({"cooldown": 1})", R"({"rearm": 1})", R"({"severity": "error"})",
          R"({"named": "x"})", R"({"only": "always"})", R"({"on": "stop"})"}) {
        INFO(adaptor);
        CHECK(rules_of(R"("non_finite", {"rule": "non_finite", "adapt": [)" + times(adaptor, 300, ",") + "]}") ==
              "bad_config: rule of rules[1]: rules, adaptors and responses stand more than 256 deep");
    }
    CHECK(rules_of(R"({"rule": "non_finite", "adapt": [{"on": [)" + times("\"stop\"", 100'000, ",") + "]}]}") ==
          "bad_config: rule of rules[0]: rules, adaptors and responses stand more than 256 deep");
}

TEST_CASE("the deepest settings that are taken run on a small stack", "[S27]") {
    std::string const adaptors = times(R"({"for_steps": 1})", 120, ",") + "," + times(R"({"on": "stop"})", 130, ",");
    auto const rules = parse_rules(R"({"rules": [{"any": "*", "where": {"or": [)" + times("\"l2 > 1\"", 256, ",") +
                                   R"(]}, "adapt": [)" + adaptors + "]}]}");
    INFO(reported(rules));
    REQUIRE(rules);
    auto const plan = parse_plan(R"({"collections": [{"name": "x", "pattern": {"or": [)" + times("\"b\"", 256, ",") +
                                 R"(]}, "when": {"and": [)" + times("\"always\"", 256, ",") + "]}}]}");
    REQUIRE(plan);
    bool fired = false;
    auto loop = [&] {
        hook watch{*plan, *rules};
        auto const alarm = watch.step(train(0), "a"_t = 3.0);
        fired = alarm.decision() == decision::stop && alarm.size() == 1;
    };
    on_a_small_stack(4096, loop);
    CHECK(fired);
}
