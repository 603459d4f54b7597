// SPDX-License-Identifier: Apache-2.0
// Plans from settings files: spotter's own form and back, SageMaker Debugger's form, and every kind of error in one.
#include <tests/catch.hpp>
#include <tests/trial/runs.hpp>

#include <spotter/ext/json.hpp>
#include <spotter/plan/regex.hpp>

#include <fstream>

using namespace spotter;
using namespace spotter_test;

namespace {

bool speaks_of(error const& why, std::string_view word) { return why.what.view().find(word) != std::string_view::npos; }

// The refusal of a text, as `code: sentence`.
std::string refusal_of(std::string const& text) {
    result<dynamic_plan> const found = parse_plan(text);
    return found ? "none" : std::string{name_of(found.error().code)} + ": " + std::string{found.error().what.view()};
}
void is_refused(std::string const& text, std::string_view code, std::initializer_list<std::string_view> words) {
    std::string const why = refusal_of(text);
    INFO(text << "\n" << why);
    CHECK(std::string_view{why}.starts_with(code));
    for (std::string_view each : words) { CHECK(why.find(each) != why.npos); }
}

void comes_back(dynamic_plan const& it) {
    std::string const text = to_json(it);
    result<dynamic_plan> const again = parse_plan(text);
    INFO(text << "\n" << refusal_of(text));
    REQUIRE(again);
    CHECK(*again == it);
    CHECK(to_json(*again) == text);
}

std::string hook_with(std::string const& parameters) { return R"({"HookParameters": {)" + parameters + "}}"; }
std::string weights_with(std::string const& parameters, std::string const& of_hook = "") {
    return R"({"HookParameters": {)" + of_hook +
           R"(}, "CollectionConfigurations": [{"CollectionName": "weights", "CollectionParameters": {)" + parameters +
           "}}]}";
}
std::string own_with(std::string const& rest) { return R"({"collections": [{"name": "mine", )" + rest + "}]}"; }

// The first `count` steps of a mode at which a collection is due.
std::vector<std::uint64_t> steps_of(dynamic_plan const& it, std::size_t collection, mode which, std::size_t count = 3,
                                    std::uint64_t end = 5000) {
    std::vector<std::uint64_t> found;
    for (std::uint64_t i = 0; i < end && found.size() < count; ++i) {
        if ((it.due({which, i}) >> collection & 1) != 0) { found.push_back(i); }
    }
    return found;
}
using list = std::vector<std::uint64_t>;

bool takes_in(dynamic_plan const& it, std::size_t collection, std::string_view name) {
    tensor_info tensor;
    tensor.name = name;
    tensor.role = guess_role(name);
    return (it.members(tensor) >> collection & 1) != 0;
}

}  // namespace

TEST_CASE("plan to text to plan is the identity [S10]", "[S10]") {
    comes_back(dynamic_plan{});
    comes_back(dynamic_plan{plan{collection{"x", "*"}}});
    comes_back(dynamic_plan{plan{collection{"x", "*", during{mode::train}}}});
    comes_back(dynamic_plan{plan{collection{"x", "*",
                                            (every{10} && during{mode::train}) || (every{2} && during{mode::eval}) ||
                                                (at{3, 5} && during{mode::predict})}}});
    comes_back(dynamic_plan{plan{collection{"x", "*", from{3} && !before{7}},
                                 collection{"y", "*", between{0, ~std::uint64_t{0}}}, collection{"z", "*", never{}}}});
    comes_back(dynamic_plan{plan{collection{"x", "*", always{} && (always{} && !(never{} || !never{}))}}});
    comes_back(dynamic_plan{plan{
        collection{"x", (glob{"a{b,c}"} && !glob{"[!d]"}) ||
                            (names{"\"q\"", "back\\slash", "line\nend\x01", "\xC3\xA9"} && of_role{role::loss})}}});
    comes_back(dynamic_plan{plan{collection{"the name \"x\"", "*", at{0, 1, 700}}}});
    comes_back(
        dynamic_plan{plan{collection{"x", "*", always{}, quantiles}, collection{"y", "*", always{}, histogram | shape},
                          collection{"z", "*", always{}, payload | quantiles | histogram | stats(l2)}}});
    comes_back(dynamic_plan{plan{collection{"w", "*", always{}, payload | delta{8}},
                                 collection{"v", "*", always{}, delta{64} | stats(l2)}}});
    comes_back(dynamic_plan{defaults::boosting});
    dynamic_plan dry{plan{defaults::losses}};
    dry.dry_run = true;
    comes_back(dry);
    for (std::size_t i = 0; i < role_count; ++i) {
        comes_back(dynamic_plan{plan{collection{"x", static_cast<role>(i)}}});
    }
    comes_back(dynamic_plan{plan{collection{"x", regex{"^a\\d+(b|c)$"}}}});
}

TEST_CASE("every statistic, and every set of contents, comes back [S10]", "[S10]") {
    detail::each_statistic([](statistic each) {
        dynamic_plan const it{plan{collection{"x", "*", always{}, stats(each)}}};
        comes_back(it);
        bool const written = to_json(it).find("\"" + std::string{each.name()} + "\"") != std::string::npos;
        CHECK(written == (each.id < statistic_id::nan_count));  // the finer counts are written as their sum
        CHECK(parse_plan(own_with("\"pattern\": \"*\", \"what\": \"" + std::string{each.name()} + "\""))->wanted(1) ==
              stats(each));
    });
    stats_mask const all[] = {stats_mask::nonfinite,   stats_mask::zeros,    stats_mask::range,
                              stats_mask::abs_range,   stats_mask::sum,      stats_mask::sum_abs,
                              stats_mask::sum_squares, stats_mask::variance, stats_mask::product,
                              stats_mask::change,      stats_mask::hash,     stats_mask::unit_activity,
                              stats_mask::shape,       stats_mask::payload};
    for (std::uint32_t set = 0; set < (1U << std::size(all)); set += 7) {
        stats_mask what = stats_mask::none;
        for (std::size_t i = 0; i < std::size(all); ++i) {
            if ((set >> i & 1) != 0) { what |= all[i]; }
        }
        dynamic_plan const it{plan{collection{"x", "*", always{}, what}}};
        result<dynamic_plan> const again = parse_plan(to_json(it));
        REQUIRE(again);
        REQUIRE(*again == it);
    }
}

TEST_CASE("random plans come back [S10]", "[S10]") {
    std::uint64_t state = 7;
    auto const draw = [&](std::uint64_t below) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33) % below;
    };
    for (int round = 0; round < 300; ++round) {
        dynamic_plan it;
        for (std::uint64_t i = draw(6); i > 0; --i) {
            std::vector<dynamic_plan::part> patterns{it.keep(glob{"a*"}), it.keep(of_role{role::bias}),
                                                     it.keep(names{"x", "y"})};
            std::vector<dynamic_plan::part> policies{it.keep(every{1 + draw(9)}), it.keep(at{draw(9)}),
                                                     it.keep(during{mode::eval}), it.keep(from{draw(99)})};
            for (auto* parts : {&patterns, &policies}) {
                for (std::uint64_t k = draw(6); k > 0; --k) {
                    auto const left = (*parts)[draw(parts->size())], right = (*parts)[draw(parts->size())];
                    parts->push_back(draw(3) == 0 ? it.negate(left)
                                                  : it.join(draw(2) == 0 ? asked::both : asked::either, left, right));
                }
            }
            it.add("collection", patterns.back(), policies.back(), payload | stats(mean));
        }
        comes_back(it);
    }
}

TEST_CASE("spotter's own form, with a fallback, default collections and comments [A27][D31]") {
    result<dynamic_plan> const found = parse_plan(R"({
        // what is not said
        "fallback": {"when": {"every": 7}, "what": ["l2", "shape"]},
        "collections": [
            {"name": "losses"}, {"name": "gradients"}, {"name": "weights", "when": "always"},
            {"name": "mine", "pattern": {"and": ["a*", {"not": {"names": ["ab"]}}, {"not": "ac"}]}, "what": "payload"}
        ]})");
    REQUIRE(found);
    CHECK(found->due(train(1)) == 0b0101);
    CHECK(found->due(train(7)) == 0b1111);
    CHECK(found->due(eval(7)) == 0b1101);
    CHECK(found->wanted(1) == payload);
    CHECK(found->wanted(2) == (stats(l2) | shape));
    CHECK(found->wanted(8) == payload);
    CHECK(takes_in(*found, 3, "a"));
    CHECK(!takes_in(*found, 3, "ab"));
    CHECK(!takes_in(*found, 3, "ac"));
    CHECK(takes_in(*found, 2, "fc/w"));
    result<dynamic_plan> const plain =
        parse_plan(R"({"collections": [{"name": "weights"}, {"name": "x", "pattern": "*"}]})");
    CHECK((plain->due(train(1)) == 0b10 && plain->due(train(500)) == 0b11 && plain->wanted(3) == payload));
}

TEST_CASE("what is wrong in spotter's own form is named, with its collection and what is allowed [A27][D12]", "[D12]") {
    is_refused("", "bad_config", {"empty: there is no JSON in it"});
    is_refused("{\n\"collections\": [\n{\"name\": }]}", "bad_config", {"line 3"});
    is_refused("[]", "bad_config", {"one object"});
    is_refused("{}", "bad_config", {"collections", "HookParameters"});
    is_refused(R"({"collections": {}})", "bad_config", {"collections", "list"});
    is_refused(R"({"collections": [], "colections": []})", "bad_config",
               {"colections", "unknown key: did you mean collections?", "fallback"});
    is_refused(R"({"collections": [], "collections": []})", "bad_config", {"collections", "twice"});
    is_refused(R"({"collections": [3]})", "bad_config", {"object"});
    is_refused(R"({"collections": [{"pattern": "*"}]})", "bad_config", {"name"});
    is_refused(R"({"collections": [], "dry_run": 1})", "bad_config", {"dry_run"});
    is_refused(R"({"collections": [], "fallback": {"wen": "always"}})", "bad_config",
               {"wen of fallback", "did you mean when?", "when what"});
    is_refused(R"({"collections": [{"name": "losse"}]})", "bad_config", {"pattern", "did you mean losses?"});
    is_refused(own_with(R"("pattern": "*", "what": ["men"])"), "bad_config",
               {"\"men\" is nothing", "did you mean mean?"});
    is_refused(own_with(R"("pattern": "*", "when": {"evry": 3})"), "bad_config", {"did you mean every?"});
    is_refused(R"({"collections": [{"name": "x"}]})", "bad_config", {"\"x\"", "pattern", "which tensors"});  // [S20]
    is_refused(own_with(R"("pattern": "*", "wen": 3)"), "bad_config", {"wen", "\"mine\"", "unknown key"});
    is_refused(R"({"collections": [{"name": "x", "patern": "*"}]})", "bad_config",
               {"patern of collection \"x\": unknown key: did you mean pattern?"});
    is_refused(own_with(R"("pattern": 3)"), "bad_config", {"pattern", "\"mine\"", "glob"});
    is_refused(own_with(R"("pattern": {"glob": "*", "role": "loss"})"), "bad_config", {"pattern", "one key"});
    is_refused(own_with(R"("pattern": {"role": "wait"})"), "bad_config", {"role", "weight"});
    is_refused(own_with(R"("pattern": {"names": "a"})"), "bad_config", {"names", "list"});
    is_refused(own_with(R"("pattern": {"and": []})"), "bad_config", {"and", "empty"});
    is_refused(own_with(R"("pattern": {"": "x"})"), "bad_config", {"pattern"});
    is_refused(own_with(R"("pattern": {"nand": ["x"]})"), "bad_config", {"nand"});
    is_refused(own_with(R"("pattern": "grad/[")"), "bad_pattern", {"grad/[", "\"mine\""});  // [S27]
    is_refused(own_with(R"("pattern": "*", "when": 10)"), "bad_config", {"when", "\"mine\"", "every"});
    is_refused(own_with(R"("pattern": "*", "when": {"every": 0})"), "bad_config", {"every", "from 1 on"});
    is_refused(own_with(R"("pattern": "*", "when": {"every": -1})"), "bad_config", {"every", "from 1 on"});
    is_refused(own_with(R"("pattern": "*", "when": {"every": "abc"})"), "bad_config", {"every", "from 1 on"});
    is_refused(own_with(R"("pattern": "*", "when": {"every": [10]})"), "bad_config", {"every", "from 1 on"});
    is_refused(own_with(R"("pattern": "*", "when": {"between": [1]})"), "bad_config", {"between", "two"});
    is_refused(own_with(R"("pattern": "*", "when": {"at": [1, "x"]})"), "bad_config", {"at", "list"});
    is_refused(own_with(R"("pattern": "*", "when": {"during": "training"})"), "bad_config",
               {"when of", "during", "predict", "not \"training\""});
    is_refused(own_with(R"("pattern": "*", "what": ["median"])"), "bad_config", {"median", "what", "payload"});
    is_refused(own_with(R"("pattern": "*", "what": null)"), "bad_config", {"what"});
    std::string crowded = R"({"collections": [)", deep;
    for (int i = 0; i < 65; ++i) {
        crowded += std::string{i > 0 ? "," : ""} + R"({"name": "x", "pattern": "*"})";
        deep += R"({"not": )";
    }
    is_refused(crowded + "]}", "bad_config", {"64"});
    is_refused(own_with("\"pattern\": " + deep + "\"x\"" + std::string(65, '}')), "bad_config", {"deep"});
    is_refused(std::string(1'000'000, '['), "bad_config", {"deep"});
}

TEST_CASE("inheritance: the collection's mode key, its key, the hook's mode key, the hook's key, the default [S09]",
          "[S09]") {
    auto const read = [](std::string const& own, std::string const& of_hook) {
        return parse_plan(weights_with(own, of_hook)).value();
    };
    dynamic_plan it = read(R"("train.save_interval": "10", "save_interval": "20")",
                           R"("train.save_interval": "30", "save_interval": "40")");
    CHECK(steps_of(it, 0, mode::train) == list{0, 10, 20});
    CHECK(steps_of(it, 0, mode::eval) == list{0, 20, 40});
    it = read(R"("save_interval": 20)", R"("train.save_interval": 30, "save_interval": 40)");
    CHECK(steps_of(it, 0, mode::train) == list{0, 20, 40});
    it = read("", R"("train.save_interval": 30, "save_interval": 40)");
    CHECK(steps_of(it, 0, mode::train) == list{0, 30, 60});
    CHECK(steps_of(it, 0, mode::predict) == list{0, 40, 80});
    it = read("", "");
    CHECK(steps_of(it, 0, mode::eval) == list{0, 500, 1000});
    it = read(R"("eval.end_step": 3)", R"("save_interval": 1, "start_step": "2")");  // each key is inherited on its own
    CHECK(steps_of(it, 0, mode::eval) == list{2});
    CHECK(steps_of(it, 0, mode::train) == list{2, 3, 4});
    it = read(R"("save_steps": "3, 7")", R"("save_interval": "100", "end_step": "200")");
    CHECK(steps_of(it, 0, mode::train, 9) == list{0, 3, 7, 100});
    it = read(R"("save_steps": [700], "save_interval": 100, "end_step": 201)", "");
    CHECK(steps_of(it, 0, mode::train, 9) == list{0, 100, 200, 700});
    it = read(R"("reductions": "min,abs_max,l2")", R"("save_raw_tensor": true)");
    CHECK(it.wanted(1) == (payload | stats(minimum, of_abs(maximum), l2)));
    it = read(R"("save_raw_tensor": "False")", R"("reductions": ["mean"], "save_raw_tensor": "true")");
    CHECK(it.wanted(1) == stats(mean));
    it = read(R"("save_shape": true)", "");
    CHECK(it.wanted(1) == shape);
}

TEST_CASE("smdebug's default collections are roles; losses and metrics are always there, whole [A23][A25][A26][A27]") {
    dynamic_plan const it = parse_plan(R"({"LocalPath": "/somewhere", "S3OutputPath": "s3://bucket",
        "HookParameters": {"save_interval": 100, "reductions": "min", "include_workers": "all", "dry_run": false},
        "CollectionConfigurations": [{"CollectionName": "gradients"},
         {"CollectionName": "biases", "CollectionParameters": null},
            {"CollectionName": "trees", "CollectionParameters": {"save_histogram": "True"}}]})")
                                .value();
    REQUIRE(it.size() == 5);
    CHECK(it.name(3) == "losses");
    CHECK(takes_in(it, 0, "grad/fc/w"));
    CHECK(steps_of(it, 0, mode::train) == list{0, 100, 200});
    CHECK(steps_of(it, 0, mode::eval).empty());
    CHECK(steps_of(it, 1, mode::eval) == list{0, 100, 200});
    CHECK(steps_of(it, 3, mode::eval) == list{0, 1, 2});
    CHECK((it.wanted(1) == stats(minimum) && it.wanted(8) == payload));
    CHECK((takes_in(it, 3, "loss") && takes_in(it, 3, "train-rmse") && !takes_in(it, 3, "train-auc") &&
           takes_in(it, 4, "train-auc")));

    dynamic_plan const trees = parse_plan(
                                   R"({"CollectionConfigurations": [{"CollectionName": "trees"},
             {"CollectionName": "losses", "CollectionParameters": {"end_step": 0}},
        {"CollectionName": "gradients", "CollectionParameters": {"eval.save_interval": 5}}]})")
                                   .value();
    CHECK(steps_of(trees, 0, mode::train) == list{0, 10, 20});
    CHECK(steps_of(trees, 1, mode::train).empty());  // the documented way to drop a default collection works [D17]
    CHECK(steps_of(trees, 2, mode::eval) == list{0, 5, 10});
    CHECK(steps_of(trees, 2, mode::predict).empty());
    CHECK(trees.size() == 4);

    dynamic_plan const all =
        parse_plan(hook_with(R"("save_all": "true", "include_collections": "weights, biases", "dry_run": true)"))
            .value();
    REQUIRE(all.size() == 5);
    CHECK((all.name(2) == "all" && takes_in(all, 2, "anything") && all.dry_run));
    CHECK(parse_plan(R"({"LocalPath": "/x"})")->size() == 2);
}

TEST_CASE("smdebug's regular expressions search unanchored, in the hook and in a collection [A16][A27]") {
    dynamic_plan const it = parse_plan(
                                R"({"HookParameters": {"include_regex": "relu,conv[0-9]{1,2}", "save_interval": 2},
             "CollectionConfigurations": [
        {"CollectionName": "mine", "CollectionParameters": {"include_regex": ["^a", "b$"]}},
        {"CollectionName": "weights", "CollectionParameters": {"include_regex": "theta"}}]})")
                                .value();
    REQUIRE(it.size() == 5);
    CHECK((takes_in(it, 0, "ax") && takes_in(it, 0, "xb") && !takes_in(it, 0, "xa")));
    CHECK((takes_in(it, 1, "theta_1") && takes_in(it, 1, "fc/w") && !takes_in(it, 1, "fc/b")));
    CHECK(it.name(2) == "default");
    CHECK((takes_in(it, 2, "net/relu:0") && takes_in(it, 2, "conv12/out") && !takes_in(it, 2, "convx")));
    CHECK(steps_of(it, 2, mode::train) == list{0, 2, 4});
    comes_back(it);
    is_refused(hook_with(R"("include_regex": "fine,grad/(")"), "bad_pattern", {"grad/(", "include_regex"});  // [S27]
    is_refused(own_with(R"("pattern": {"regex": "grad/("})"), "bad_pattern", {"grad/(", "\"mine\""});
}

TEST_CASE("an invalid interval is bad_config, which names key and collection [S11]", "[S11]") {
    for (char const* value : {"\"abc\"", "0", "-1", "\"0\"", "\"-1\"", "[10]", "[]", "{}", "null", "true", "1.5",
                              "\"\"", "\"99999999999999999999\""}) {
        is_refused(weights_with("\"save_interval\": " + std::string{value}), "bad_config",
                   {"save_interval", "\"weights\"", "allowed", "from 1 on"});
        is_refused(weights_with("\"eval.save_interval\": " + std::string{value}), "bad_config",
                   {"eval.save_interval", "\"weights\""});
        is_refused(hook_with("\"save_interval\": " + std::string{value}), "bad_config",
                   {"save_interval", "HookParameters"});
    }
}

TEST_CASE("smdebug's own spellings: norms, the path in a store, steps without a mode [A27]") {
    dynamic_plan const it = parse_plan(R"({"S3Path": "s3://bucket/prefix", "LocalPath": "/tmp/x", "HookParameters": {
        "reductions": "min, max, mean, std, variance, sum, prod, abs_min, )"
                                       R"(abs_max, abs_mean, abs_std, abs_variance, abs_sum, )"
                                       R"(abs_prod, l1_norm, l2_norm, abs_l1_norm, abs_l2_norm",
        "train.save_interval": 2, "global.save_interval": 3, "global.end_step": 7},
         "CollectionConfigurations": [{"CollectionName": "weights"},
        {"CollectionName": "losses", "CollectionParameters": {"eval.save_interval": 4, "global.save_interval": 5}}]})")
                                .value();
    REQUIRE(it.size() == 3);
    CHECK(it.wanted(1) == stats(minimum, maximum, mean, stddev, variance, sum, product, l1, l2, of_abs(minimum),
                                of_abs(maximum), mean_abs, of_abs(stddev), of_abs(variance), of_abs(sum),
                                of_abs(product), of_abs(l1), of_abs(l2)));
    CHECK(steps_of(it, 0, mode::train) == list{0, 2, 4});
    CHECK(steps_of(it, 0, mode::eval) == list{0, 500, 1000});  // an interval without a mode does not apply here
    CHECK(steps_of(it, 1, mode::eval) == list{0, 4, 8});
    for (std::string_view const name : {"l1_norm", "abs_l2_norm"}) {
        dynamic_plan const one =
            parse_plan(hook_with("\"include_collections\": \"weights\", \"reductions\": \"" + std::string{name} + '"'))
                .value();
        dynamic_plan const ours =
            parse_plan(hook_with(name == "l1_norm" ? R"("include_collections": "weights", "reductions": "l1")"
                                                   : R"("include_collections": "weights", "reductions": "abs_l2")"))
                .value();
        CHECK(one == ours);
    }
    comes_back(it);
    CHECK(parse_plan(R"({"S3Path": "s3://bucket/prefix"})")->size() == 2);
    is_refused(R"({"S3Path": 3})", "bad_config", {"S3Path"});
}

TEST_CASE("a collection that smdebug's form only names has no tensors; one that it names again is one [A27][S20]") {
    dynamic_plan const named =
        parse_plan(R"({"HookParameters": {"save_all": false, "save_interval": 2}, "CollectionConfigurations": [
        {"CollectionName": "default"}, {"CollectionName": "trial"}, {"CollectionName": "weights"}]})")
            .value();
    REQUIRE(named.size() == 5);
    for (std::size_t const i : {std::size_t{0}, std::size_t{1}}) {
        for (std::string_view const name : {"loss", "fc/w", "grad/fc/w", "default", "trial", ""}) {
            CHECK_FALSE(takes_in(named, i, name));
        }
    }
    CHECK((named.name(0) == "default" && named.name(1) == "trial" && takes_in(named, 2, "fc/w")));
    comes_back(named);

    // A collection named twice: the later schedule counts, completed by the hook's. Expressions add up; the rest stays.
    dynamic_plan const again = parse_plan(R"({"HookParameters": {"save_interval": 7}, "CollectionConfigurations": [
        {"CollectionName": "act",
         "CollectionParameters": {"include_regex": "relu", "start_step": 4, "reductions": "min"}},
        {"CollectionName": "weights"},
        {"CollectionName": "act", "CollectionParameters": {"include_regex": "gelu,tanh", "save_steps": "1, 2"}}]})")
                                   .value();
    REQUIRE(again.size() == 4);
    CHECK((again.name(0) == "weights" && again.name(1) == "act"));
    for (std::string_view const name : {"a/relu", "b/gelu:0", "tanh"}) { CHECK(takes_in(again, 1, name)); }
    CHECK_FALSE(takes_in(again, 1, "sigmoid"));
    CHECK(steps_of(again, 1, mode::train, 5) == list{0, 1, 2, 7, 14});
    CHECK(again.wanted(1U << 1U) == stats(minimum));
    comes_back(again);
}

TEST_CASE("what is wrong in smdebug's form is named, with its collection and what is allowed [A27][D12]", "[D12]") {
    is_refused(hook_with(R"("global.save_interval": 0)"), "bad_config", {"global.save_interval", "interval"});
    is_refused(hook_with(R"("global.save_interval": 3)"), "bad_config",
               {"global.save_interval", "every step has a mode"});
    is_refused(weights_with(R"("global.end_step": 3)"), "bad_config", {"global.end_step", "\"weights\""});
    is_refused(weights_with(R"("global.save_steps": "x")"), "bad_config", {"global.save_steps", "\"weights\""});
    is_refused(weights_with(R"("test.save_interval": 3)"), "bad_config",
               {"test.save_interval", "\"test\" is no mode; allowed: train eval predict global"});
    is_refused(weights_with(R"("train.reductions": "min")"), "bad_config", {"train.reductions", "takes no mode"});
    is_refused(weights_with(R"("save_intervall": 3)"), "bad_config",
               {"save_intervall", "\"weights\"", "unknown key: did you mean save_interval?"});
    is_refused(weights_with(R"("save_all": true)"), "bad_config", {"save_all", "unknown key"});
    is_refused(hook_with(R"("save_histogram": true)"), "bad_config", {"save_histogram", "unknown key"});
    is_refused(hook_with(R"("save_all": "yes")"), "bad_config", {"save_all", "yes"});
    is_refused(hook_with(R"("start_step": "soon")"), "bad_config", {"start_step", "soon"});
    is_refused(hook_with(R"("end_step": [5])"), "bad_config", {"end_step"});
    is_refused(hook_with(R"("save_steps": "1,x")"), "bad_config", {"save_steps", "\"x\""});
    is_refused(hook_with(R"("save_steps": {"a": 1})"), "bad_config", {"save_steps"});
    is_refused(hook_with(R"("reductions": "median")"), "bad_config", {"median", "variance", "abs_"});
    is_refused(hook_with(R"("include_workers": 3)"), "bad_config", {"include_workers"});
    is_refused(hook_with(R"("include_collections": "nonsense")"), "bad_config",
               {"nonsense", "is no collection; allowed: weights"});
    is_refused(hook_with(R"("include_collections": "losse")"), "bad_config", {"did you mean losses?"});
    is_refused(hook_with(R"("reductions": "abs_maks")"), "bad_config",
               {"did you mean abs_max?", "prod l1_norm l2_norm, each also as abs_..."});
    is_refused(R"({"HookParameter": {}, "LocalPath": "a"})", "bad_config", {"did you mean HookParameters?"});
    is_refused(R"({"HookParameters": []})", "bad_config", {"HookParameters", "object"});
    is_refused(R"({"HookParameters": {}, "collections": []})", "bad_config", {"collections", "unknown key"});
    is_refused(R"({"CollectionConfigurations": {}})", "bad_config", {"CollectionConfigurations", "list"});
    is_refused(R"({"CollectionConfigurations": [{}]})", "bad_config", {"CollectionName"});
    is_refused(R"({"CollectionConfigurations": [{"CollectionName": "weights", "Parameters": {}}]})", "bad_config",
               {"Parameters", "\"weights\""});
    is_refused(R"({"CollectionConfigurations": [{"CollectionName": "weights", "CollectionParameters": 3}]})",
               "bad_config", {"CollectionParameters", "object"});
    is_refused(hook_with(R"("reductions": "mean_norm")"), "bad_config", {"mean_norm", "l1_norm"});
    is_refused(hook_with(R"("reductions": "abs_l3_norm")"), "bad_config", {"abs_l3_norm"});
    is_refused(R"({"LocalPath": 3})", "bad_config", {"LocalPath"});
    is_refused(weights_with(R"("save_interval": 3, "save_interval": 4)"), "bad_config", {"save_interval", "twice"});
}

TEST_CASE("a file, or the one that SPOTTER_CONFIG names, becomes the plan of a hook [A27]") {
    temporary_folder const folder;
    std::string const path = folder / "settings.json";
    CHECK(load_plan(path).error().code == errc::io_error);
    CHECK(speaks_of(load_plan(path).error(), path));
    CHECK(!load_plan(folder / ""));  // a folder
    std::ofstream{path}
        << R"({"collections": [{"name": "losses"}, {"name": "few", "pattern": "fc/*", "when": {"every": 4}}]})";
    std::string const bad = folder / "bad.json";
    std::ofstream{bad} << R"({"collections": [{"name": "x"}]})";
    CHECK(speaks_of(load_plan(bad).error(), "bad.json: pattern of collection \"x\": missing"));
    std::ofstream{bad} << "";
    CHECK(speaks_of(load_plan(bad).error(), "bad.json: empty: there is no JSON in it"));
    ::unsetenv("SPOTTER_CONFIG");
    CHECK(load_plan().error().code == errc::bad_config);
    CHECK(load_plan_or(plan{defaults::losses}).value() == dynamic_plan{plan{defaults::losses}});
    ::setenv("SPOTTER_CONFIG", path.c_str(), 1);
    result<dynamic_plan> const loaded = load_plan();
    CHECK(load_plan_or(plan{defaults::losses}).value() == *loaded);
    ::setenv("SPOTTER_CONFIG", (path + "x").c_str(), 1);
    CHECK(!load_plan_or(plan{defaults::losses}));
    ::unsetenv("SPOTTER_CONFIG");
    REQUIRE(loaded);
    {
        hook watch{folder / "run", *loaded};
        for (std::uint64_t i = 0; i < 10; ++i) {
            (void)watch.step(train(i), "loss"_t = 1.0F, "fc/w"_t = 2.0F, "else"_t = 3.0F);
        }
        CHECK(watch.health().good());
    }
    trial const run = open_trial(folder / "run").value();
    CHECK(run["loss"].payload_steps().size() == 10);
    CHECK(run["fc/w"].payload_steps() == std::vector<step_id>{train(0), train(4), train(8)});
    CHECK(run.names() == std::vector<std::string>{"fc/w", "loss"});
    CHECK(run.collections()[1].what == "\"fc/*\", every{4}: payload");
}

TEST_CASE("a dry run from the settings writes nothing, and the rules judge") {
    temporary_folder const folder;
    hook watch{folder / "run", parse_plan(R"({"dry_run": true, "collections": [{"name": "losses"}]})").value(),
               any("loss", l2 > 1.0)};
    CHECK(watch.step(train(0), "loss"_t = 2.0F));
    watch.finish();
    CHECK(!std::filesystem::exists(folder / "run"));
}

TEST_CASE("texts that are no settings are refused, never more") {
    std::uint64_t state = 3;
    for (int round = 0; round < 2000; ++round) {
        std::string text =
            round % 2 == 0 ? to_json(defaults::boosting)
                           : weights_with(R"("train.save_interval": "10", "save_steps": [1, 2], "reductions": "min")");
        for (int i = 0; i < 3; ++i) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            text[(state >> 33) % text.size()] = "{}[]\",:0-x"[(state >> 20) % 10];
        }
        result<dynamic_plan> const found = parse_plan(text);
        CHECK((found || found.error().code == errc::bad_config || found.error().code == errc::bad_pattern));
    }
}
