// SPDX-License-Identifier: Apache-2.0
// Rules from a file: they find the same as the same rules compiled in, and an error in a file is named.
#include <spotter/ext/json/rules.hpp>
#include <spotter/stat/summarize.hpp>

#include <tests/property/both_ways.hpp>

#include <fstream>

using namespace spotter;
using namespace spotter_test;

namespace {

[[nodiscard]] std::string why_not(std::string_view text) {
    auto const read = parse_rules(text);
    return read ? "fine" : std::string{name_of(read.error().code)} + ": " + std::string{read.error().what.view()};
}

// A recorded run with values, made without rules.
struct recorded {
    temporary_folder folder{};
    std::string path{};

    explicit recorded(std::uint64_t seed) {
        random_source random{seed};
        hook record{folder / "run", payload_from(0), hostile_options(random)};
        (void)run_hostile(record, hostile_maker{seed}.make(60), clock_is::still);
        path = std::string{record.path()};
    }
};

struct outcome {
    std::vector<plain_finding> findings{};
    std::vector<plain_coverage> covered{};
};
template <rule Rule>
outcome judged(trial const& run, Rule const& which) {
    replay_report const report = replay(run, which);
    CHECK(!report.trouble);
    outcome found{plain_list(report.findings), {}};
    for (coverage const& each : report.coverages) { found.covered.push_back(plain(each)); }
    return found;
}

// Checks that the rule in the text finds the same as the compiled one; returns the number of findings.
template <rule Rule>
std::size_t check_same(recorded const& from, std::string_view text, Rule const& compiled) {
    INFO(text);
    auto const read = parse_rules(text);
    INFO(read.error().what.view());
    REQUIRE(read);
    trial const run = open(from.path);
    outcome const expected = judged(run, compiled), found = judged(run, *read);
    compare_findings(expected.findings, found.findings);
    CHECK(expected.covered == found.covered);
    return found.findings.size();
}

}  // namespace

TEST_CASE("a rules file says what the same rules say in C++ [S64]") {
    std::size_t found = 0;
    for (std::uint64_t seed = 1; seed <= property_runs(3); ++seed) {
        recorded const from{seed};
        found += check_same(from, R"({"rules": ["supervised"]})", packs::supervised);
        found += check_same(from, R"({"rules": [{"rule": "sagemaker", "adapt": [{"severity": "error"}]}]})",
                            packs::sagemaker | severity::error);
        found += check_same(
            from, R"({"rules": [
            {"rule": "exploding_gradient", "max_mean_abs": 0.5, "patience": 1, "select": "*grad*"},
            {"rule": "vanishing_gradient", "defaults": "sagemaker", "threshold": 0.3}]})",
            exploding_gradient{.select = "*grad*", .max_mean_abs = 0.5, .patience = 1} ||
                vanishing_gradient{.threshold = 0.3, .patience = vanishing_gradient::sagemaker_defaults().patience});
        found += check_same(from, R"({"rules": [
            {"any": "*", "where": "nonfinite > 0"},
            {"all": {"and": [{"glob": "*w*"}, {"not": {"role": "loss"}}]},
             "where": {"or": ["l2 >= 1", {"not": "mean_abs < 0.1"}]}, "adapt": [{"for_steps": 2}, {"named": "heavy"}]},
            {"fraction": "*", "where": {"and": ["maximum > 0.2", "zero_fraction <= 0.9"]}, "is": "> 0.5"}]})",
                            any("*", nonfinite > 0) ||
                                (all(glob{"*w*"} && !of_role{role::loss}, l2 >= 1 || !(mean_abs < 0.1)) | for_steps{2} |
                                 named{"heavy"}) ||
                                (fraction("*", maximum > 0.2 && zero_fraction <= 0.9) > 0.5));
        found +=
            check_same(from, R"({"rules": [
            {"rising": "*", "of": "l2", "window": 4, "by": 0.01, "adapt": [{"cooldown": 5}]},
            {"stalled": "*", "window": 6, "by": 0.2}, {"unchanged": "*", "of": "maximum", "window": 2},
            {"spike": "*", "of": "l2", "window": 4, "deviations": 1.5, "adapt": ["once"]}]})",
                       (rising("*", l2, {.window = 4, .by = 0.01}) | cooldown{5}) ||
                           stalled("*", mean, {.window = 6, .by = 0.2}) || unchanged("*", maximum, {.window = 2}) ||
                           (spike("*", l2, {.window = 4, .deviations = 1.5}) | once));
        found += check_same(
            from, R"({"rules": [
            {"ratio_of": [{"latest": "*loss*", "of": "mean"}, {"latest": "*w*", "of": "l2", "mode": "train"}],
             "is": "> 0.01"},
            {"and": [{"any": "*", "where": "l1 > 1"}, {"not": {"any": "*", "where": "nan_count > 0"}}],
             "adapt": [{"only": {"and": [{"every": 2}, {"during": "train"}]}}, {"rearm": 2},
              {"on": "skip_update"}]}]})",
            (ratio_of(latest("*loss*", mean), latest("*w*", l2, mode::train)) > 0.01) ||
                on((any("*", l1 > 1) && !any("*", nan_count > 0)) | only{every{2} && during{mode::train}} | rearm{2},
                   skip_update));
    }
    CHECK(found > 100);
}

TEST_CASE("every rule of the catalogue has its name and its parameters in a file") {
    detail::each_built_in_rule([&](auto which) {
        INFO(which.name);
        nlohmann::json it = {{"rule", which.name}};
        detail::each_member(which, [&](std::string_view name, auto& value) {
            using type = std::remove_reference_t<decltype(value)>;
            std::string const key{name};
            if constexpr (std::same_as<type, selector>) {
                it[key] = {{"role", "weight"}};
            } else if constexpr (std::is_array_v<type>) {
                it[key] = nlohmann::json::array({1});
            } else if constexpr (std::is_arithmetic_v<type>) {
                if (is_finite(static_cast<double>(value))) { it[key] = value; }
            } else if constexpr (std::same_as<type, dtype>) {
                it[key] = "bf16";
            }
        });
        CHECK(why_not(nlohmann::json{{"rules", {it}}}.dump()) == "fine");
        it["no_such"] = 1;
        std::string const refused = why_not(nlohmann::json{{"rules", {it}}}.dump());
        CHECK(refused.starts_with("bad_config: no_such of rules[0]: unknown parameter; allowed: "));
    });
    detail::each_pack([](std::string_view name, auto const&) { CHECK(rule_named(name)); });
    CHECK(!rule_named("dead_reul"));
}

TEST_CASE("what is misspelt in a rules file is reported with the word that was meant") {
    for (auto const& [rule, meant] : std::initializer_list<std::pair<char const*, char const*>>{
             {R"("dead_reul")", "dead_relu"},
             {R"("supervized")", "supervised"},
             {R"({"rule": "dead_relu", "sampels": 5})", "samples"},
             {R"({"anny": "*", "where": "l2 > 1"})", "any"},
             {R"({"any": "*", "wehre": "l2 > 1", "where": "l2 > 1"})", "where"},
             {R"({"any": "*", "where": "maxmum > 1"})", "maximum"},
             {R"({"any": {"rol": "loss"}, "where": "l2 > 1"})", "role"},
             {R"({"any": {"role": "wieght"}, "where": "l2 > 1"})", "weight"},
             {R"({"stalled": "loss", "of": "mena"})", "mean"},
             {R"({"ratio_of": [{"latest": "a", "mod": "eval"}, {"latest": "b"}], "is": "> 1"})", "mode"},
             {R"({"rule": "non_finite", "adapt": [{"for_step": 3}]})", "for_steps"},
             {R"({"rule": "non_finite", "adapt": [{"only": {"evry": 3}}]})", "every"},
             {R"({"rule": "non_finite", "adapt": [{"only": "alway"}]})", "always"},
             {R"({"rule": "non_finite", "adapt": [{"on": "skip_updates"}]})", "skip_update"},
             {R"({"rule": "non_finite", "adapt": [{"on": {"append_line": "a"}}]})", "append_lines"}}) {
        std::string const reported = why_not("{\"rules\": [" + std::string{rule} + "]}");
        INFO(rule << ": " << reported);
        CHECK(reported.find("did you mean " + std::string{meant} + '?') != reported.npos);
    }
    CHECK(why_not(R"({"rule": ["non_finite"]})").find("did you mean rules?") != std::string::npos);
    auto const adapted = [](std::string const& by) {
        return why_not(R"({"rules": [{"rule": "non_finite", "adapt": [)" + by + "]}]}");
    };
    CHECK(adapted(R"({"once": true})").find("stands alone: \"adapt\": [\"once\"]") != std::string::npos);
    CHECK(adapted(R"("onec")").find("did you mean once?") != std::string::npos);
}

TEST_CASE("what is wrong with a rules file is named, with its key and place [S27]") {
    auto const refused = [](std::string_view rules) { return why_not("{\"rules\": [" + std::string{rules} + "]}"); };
    CHECK(refused(R"({"rule": "dead_relu", "samples": -5})") ==
          "bad_config: samples of rules[0]: must be a whole number, from 0 on, not -5");
    CHECK(refused(R"("dead_relu", {"not": {"rule": "nope"}})")
              .starts_with("bad_config: nope of rules[1]: there is no rule"));
    CHECK(refused(R"({"or": ["non_finite", {"any": "[a", "where": "l2 > 1"}]})")
              .starts_with("bad_pattern: any of rules[0].or[1]: \"[a\""));
    CHECK(refused(R"({"any": {"regex": "grad/("}, "where": "l2 > 1"})").starts_with("bad_pattern: "));
    CHECK(refused(R"({"any": "*", "where": "mena > 1"})")
              .starts_with("bad_config: where of rules[0]: \"mena\" is no statistic: did you mean mean? Allowed: "));
    CHECK(refused(R"({"any": "*", "where": "l2 is 1"})").starts_with("bad_config: where of rules[0]: \"l2 is 1\""));
    CHECK(refused(R"({"any": "*", "where": "l2 > much"})").starts_with("bad_config: where"));
    CHECK(refused(R"({"any": "*"})").starts_with("bad_config: where of rules[0]: missing"));
    CHECK(refused(R"({"any": "*", "where": "l2 > 1", "were": 1})")
              .starts_with("bad_config: were of rules[0]: unknown key"));
    CHECK(refused(R"({"fraction": "*", "where": "l2 > 1", "is": 0.5})").starts_with("bad_config: is"));
    CHECK(refused(R"({"ratio_of": [{"latest": "a"}], "is": "> 1"})").starts_with("bad_config: ratio_of"));
    CHECK(refused(R"({"ratio_of": [{"latest": "a", "mode": "test"}, {"latest": "b"}], "is": "> 1"})")
              .starts_with("bad_config: mode of rules[0]: must be"));
    CHECK(refused(R"({"and": []})").starts_with("bad_config: and"));
    CHECK(refused(R"({"rule": "non_finite", "adapt": [{"for_steps": 0}]})").starts_with("bad_config: for_steps"));
    CHECK(refused(R"({"rule": "non_finite", "adapt": [{"only": {"every": 0}}]})")
              .starts_with("bad_config: only of rules[0]"));
    CHECK(refused(R"({"rule": "non_finite", "adapt": [{"severity": "bad"}]})").starts_with("bad_config: severity"));
    CHECK(refused(R"({"rule": "dead_relu", "defaults": "aws"})").starts_with("bad_config: defaults"));
    for (std::string_view const by_amazon :  // its profiler rules
         {"cpu_bottleneck", "io_bottleneck", "low_gpu_utilization", "gpu_memory_increase", "load_balancing",
          "batch_size", "dataloader", "max_initialization_time", "step_outlier"}) {
        CHECK(parse_rules(R"({"rules": [{"rule": ")" + std::string{by_amazon} + R"(", "defaults": "sagemaker"}]})"));
    }
    CHECK(refused(R"({"rule": "outside_envelope", "healthy": "/none"})").starts_with("io_error: healthy"));
    CHECK(refused(R"({"rule": "nlp_sequence_ratio", "tokens": [0, 1.5]})").starts_with("bad_config: tokens"));
    CHECK(refused("3").starts_with("bad_config: rule of rules[0]"));
    CHECK(why_not("[]").starts_with("bad_config: "));
    CHECK(why_not(R"({"rules": []})").starts_with("bad_config: rules"));
    CHECK(why_not(R"({"rules": ["non_finite"], "rule": 1})").starts_with("bad_config: rule: unknown key"));
    CHECK(why_not(R"({"rules": ["non_finite"], "rules": []})").starts_with("bad_config: "));
    CHECK(why_not("{").starts_with("bad_config: "));
    CHECK(!load_rules("/no/such/file"));
}

TEST_CASE("a value that a rule refuses is repeated, under the key that the file has") {
    auto const refused = [](std::string_view rule) { return why_not("{\"rules\": [" + std::string{rule} + "]}"); };
    auto const adapted = [&](std::string const& by) {
        return refused(R"({"rule": "non_finite", "adapt": [)" + by + "]}");
    };
    CHECK(adapted(R"({"severity": "loud"})") ==
          "bad_config: severity of rules[0]: must be \"note\", \"warning\" or \"error\", not \"loud\"");
    CHECK(adapted(R"({"cooldown": -1})").ends_with("from 1 on, not -1"));
    CHECK(adapted(R"({"only": {"during": "training"}})") ==
          "bad_config: only of rules[0]: \"during\" takes \"train\", \"eval\" or \"predict\", not \"training\"");
    CHECK(
        refused(R"({"rule": "dead_relu", "select": 3})").starts_with("bad_config: select of rules[0]: must be a glob"));
    CHECK(refused(R"({"stalled": {"rol": "loss"}})").starts_with("bad_config: stalled of rules[0]: "));
    CHECK(refused(R"({"ratio_of": [{"latest": 3}, {"latest": "b"}], "is": "> 1"})").starts_with("bad_config: latest"));
    CHECK(refused(R"({"ratio_of": [{"latest": "a", "mode": "test"}, {"latest": "b"}], "is": "> 1"})")
              .ends_with("\"predict\", not \"test\""));
}

TEST_CASE("an adaptor beside the rule is pointed to its place") {
    auto const refused = [](std::string_view rule) { return why_not("{\"rules\": [" + std::string{rule} + "]}"); };
    CHECK(refused(R"({"rule": "dead_relu", "severity": "note"})") ==
          R"(bad_config: severity of rules[0]: unknown parameter: it is given in "adapt": [{"severity": "warning"}])");
    CHECK(
        refused(R"({"rule": "loss_spike", "mode": "train"})").ends_with(R"("adapt": [{"only": {"during": "train"}}])"));
    CHECK(refused(R"({"rule": "supervised", "only": "always"})").ends_with(R"("adapt": [{"only": {"every": 10}}])"));
    CHECK(refused(R"({"any": "*", "where": "l2 > 1", "once": 1})").ends_with(R"("adapt": ["once"])"));
}

TEST_CASE("an error of a rules file begins with its path") {
    temporary_folder const folder;
    auto const why = [&](std::string const& text) {
        std::string const file = folder / "a.json";
        std::ofstream{file} << text;
        auto const read = load_rules(file);
        REQUIRE(!read);
        std::string const words{read.error().what.view()};
        std::size_t const cut = words.find("a.json: ");
        REQUIRE(cut != words.npos);
        CHECK((words.starts_with("...") || words.starts_with(file)));
        return words.substr(cut + 8);
    };
    CHECK(why(R"({"rules": [{"rule": "dead_relu", "samples": -5}]})").starts_with("samples of rules[0]: must be"));
    CHECK(why("") == "empty: there is no JSON in it");
    CHECK(why(" \n\t") == "empty: there is no JSON in it");
    CHECK(why("{").starts_with("line 1 is no JSON"));
}

TEST_CASE("actions of a rules file run all, in order; a malformed one is refused [S67]") {
    temporary_folder const folder;
    std::string const alerts = folder / "alerts.jsonl", other = folder / "other.jsonl";
    std::string const file = folder / "rules.json";
    std::ofstream{file} << R"({"rules": [  // comments are allowed
        {"any": "loss", "where": "mean > 10", "adapt": [{"named": "too high"},
            {"on": ["stop", {"append_lines": ")"
                        << alerts << R"("}, {"append_lines": ")" << other << R"("}]}]}]})";
    {
        auto const rules = load_rules(file);
        REQUIRE(rules);
        hook watch{folder / "run", *rules};
        CHECK(watch.step(train(0), "loss"_t = 3.0).decision() == decision::proceed);
        spotter::step_alarm const found = watch.step(train(1), "loss"_t = 11.0);
        CHECK(found.decision() == decision::stop);
        REQUIRE(found.size() == 1);
        CHECK(found[0].rule == "too high");
        CHECK(watch.health().good());
    }
    for (std::string const& each : {alerts, other}) {
        std::string line;
        REQUIRE(std::getline(std::ifstream{each}, line));
        CHECK(line.find("\"too high\"") != line.npos);
    }
    auto const refused = [](std::string_view on) {
        return why_not(R"({"rules": [{"rule": "non_finite", "adapt": [{"on": )" + std::string{on} + "}]}]}");
    };
    for (std::string_view const on :
         {"\"halt\"", R"({"append_line": "a"})", R"({"run_command": ""})", "3", R"(["stop", {}])"}) {
        CHECK(refused(on).starts_with("bad_config: on of rules[0]"));
    }
}

TEST_CASE("what a rule refers to lives as long as the rule and its machines") {
    temporary_folder const folder;
    std::optional<dynamic_rule> copy;
    {
        auto read = parse_rules(R"({"rules": [{"any": "lo*", "where": "mean > 1", "adapt": [{"named": "held"}]}]})");
        REQUIRE(read);
        copy = *read;
    }
    judges at{*copy};
    copy.reset();
    tensor_info info{};
    info.id = 0;
    info.name = "loss";
    at.declare(info, [](std::size_t, tensor_needs const& needs) { CHECK(any(needs.mask)); });
    double const value = 2;
    tensor_ref const view = view_of(&value, {});
    at.observe({info, train(0), summarize(view, stats_mask::sum | stats_mask::nonfinite), view, {}}, 1);
    spotter::step_alarm found;
    at.close(train(0), 1, found, [](finding const&) {});
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule == "held");
}

TEST_CASE("an envelope is named by its path, and lives as long as the rule that it is for") {
    temporary_folder const folder;
    {
        hook watch{folder / "service", everything};
        for (std::uint64_t i = 0; i < 8; ++i) { (void)watch.step(predict(i), "x"_t = i < 4 ? 2.0 : 9.0); }
    }
    envelope const healthy{{{"x", mode::predict, mean, {{1, 3, 10}}}}, 2};
    REQUIRE(!save_envelope(healthy, folder / "healthy.envelope"));
    auto const read = parse_rules(R"({"rules": [{"rule": "drift", "margin": 1, "healthy": ")" +
                                  folder / "healthy.envelope" + "\"}]}");
    INFO(read.error().what.view());
    REQUIRE(read);
    trial const run = open(folder / "service");
    outcome const found = judged(run, *read), expected = judged(run, drift{.healthy = &healthy, .margin = 1});
    compare_findings(expected.findings, found.findings);
    CHECK(found.findings.size() == 4);
    CHECK(expected.covered == found.covered);
}
