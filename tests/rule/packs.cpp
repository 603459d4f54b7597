// SPDX-License-Identifier: Apache-2.0
// Packs: many rules as one say what `||` of them says.
#include <tests/rule/stage.hpp>

#include <spotter/rule/rule_pack.hpp>

#include <tests/catch.hpp>

using namespace spotter;
using namespace stage;

namespace {

constexpr auto first = any("grad/*", l2 > 1.0);
constexpr auto second = all_zero{.patience = 1};
constexpr auto third = any("loss", mean > 2.0) | only{every{2}};
constexpr auto chained = first || second || third;
constexpr auto packed = together(first, second, third);

template <rule Rule>
std::vector<std::string> story(Rule const& rule) {
    run it{rule};
    std::vector<std::string> lines;
    for (std::uint64_t i = 0; i < 12; ++i) {
        step_id const at = i % 5 == 4 ? eval(i) : train(i);
        if (i % 3 != 0) { it.see(at, "grad/fc/w", {static_cast<float>(i) / 4, i % 4 == 1 ? nan_f : 0.5F}); }
        if (i % 4 != 1) { it.see(at, "fc/w", {i % 3 == 1 ? 1.0F : 0.0F, 0}); }
        if (i > 3) { it.see(at, "loss", {static_cast<float>(i) / 3}); }
        std::string line = std::to_string(static_cast<int>(it.close(at)));
        for (finding const& each : it.found) { line += ' ' + std::string{each.rule} + ' ' + std::string{each.tensor}; }
        lines.push_back(line);
    }
    it.inside().report([&](coverage const& each) {
        lines.push_back(std::string{each.rule} + ' ' + std::to_string(each.judged) + ' ' + std::to_string(each.fired));
    });
    return lines;
}

constexpr bool runs_in_a_constant() {
    run it{together(first, second)};
    return it.step(train(0), "grad/fc/w", {3.0F}) == truth::yes && it.found.size() == 1;
}
static_assert(runs_in_a_constant());

}  // namespace

TEST_CASE("a pack says what its rules say side by side") {
    CHECK(story(packed) == story(chained));
    CHECK(story(together(packed, packed)) == story(packed || packed));
    CHECK(story(packed | rearm{2} | cooldown{3}) == story(chained | rearm{2} | cooldown{3}));
    CHECK(story(!packed) == story(!chained));
    CHECK(story(packed && third) == story(chained && third));
}

TEST_CASE("a pack asks of a tensor what its rules ask, and names the one that is malformed") {
    run it{packed};
    it.see(train(0), "grad/fc/w", {1});
    it.see(train(0), "act/x", {1});
    it.see(train(0), "other", {1});
    CHECK(has(it.needs("grad/fc/w"), terms::sum_squares));
    CHECK(it.needs("act/x") == needs_of(zeros));
    CHECK(it.needs("other") == terms::none);
    CHECK(machine{together(first, any("[a", l2 > 0.0))}.malformed() == "[a");
}

namespace {

constexpr auto mild = any("x", maximum > 0.0) | severity::info;
constexpr auto hard = any("x", maximum > 0.0) | named{"hard"} | severity::error;
constexpr auto twelve = together(mild, mild, mild, mild, mild, mild, mild, mild, mild, mild, mild, mild);
constexpr auto sixteen = together(twelve, mild, mild, mild, mild);

template <rule Rule>
std::size_t errors_of(run<Rule> const& it) {
    std::size_t count = 0;
    for (finding const& each : it.found) { count += each.severity == severity::error ? 1 : 0; }
    return count;
}

}  // namespace

TEST_CASE("of more findings than there is room for the strongest stay, in their order") {
    run it{together(sixteen, mild, hard, on(mild, stop) | severity::warning, twelve)};
    CHECK(it.step(train(0), "x", {1}) == truth::yes);
    REQUIRE(it.found.size() == findings::capacity);
    CHECK(it.found.left_out() == 31 - findings::capacity);
    CHECK((it.found[14].rule == "hard" && it.found[14].severity == severity::error));
    CHECK(it.found[15].severity == severity::warning);
    CHECK(it.found[13].severity == severity::info);
    run either{sixteen || hard};
    CHECK(either.step(train(0), "x", {1}) == truth::yes);
    CHECK((errors_of(either) == 1 && either.found.size() == findings::capacity && either.found.left_out() == 1));
    run equals{together(on(mild, stop), sixteen, on(mild, stop), mild)};
    CHECK(equals.step(train(0), "x", {1}) == truth::yes);
    CHECK((response_of(equals.found[0]) == decision::stop && response_of(equals.found[15]) == decision::stop));
    CHECK(response_of(equals.found[14]) == decision::proceed);
}

TEST_CASE("what a rule takes back pushes nothing out") {
    run it{together(sixteen, hard | once, !hard, hard && any("x", maximum > 2.0))};
    CHECK(it.step(train(0), "x", {1}) == truth::yes);
    CHECK((errors_of(it) == 1 && it.found.left_out() == 1));
    CHECK(it.step(train(1), "x", {1}) == truth::yes);
    CHECK((errors_of(it) == 0 && it.found.size() == findings::capacity && it.found.left_out() == 0));
    run both{sixteen && on(hard, skip_update)};
    CHECK(both.step(train(0), "x", {1}) == truth::yes);
    CHECK((both.found.size() == findings::capacity && errors_of(both) == 1 && both.found.left_out() == 0));
    CHECK((both.found[0].severity == severity::error && response_of(both.found[0]) == decision::skip_update));
}

TEST_CASE("what a finding that was left out asks of the loop is asked all the same") {
    constexpr auto warns = any("x", maximum > 0.0);
    constexpr auto eight = together(warns, warns, warns, warns, warns, warns, warns, warns);
    run it{together(on(mild, stop), eight, eight)};
    CHECK(it.step(train(0), "x", {1}) == truth::yes);
    CHECK(it.found.left_out() == 1);
    for (finding const& each : it.found) { CHECK(response_of(each) == decision::proceed); }
    spotter::step_alarm told;
    told.add(it.found);
    CHECK((told.decision() == decision::stop && told.left_out() == 9));
    it.step(train(1), "x", {-1});
    spotter::step_alarm none;
    none.add(it.found);
    CHECK(none.decision() == decision::proceed);
}

TEST_CASE("what is in which pack") {
    auto const names_of = [](auto const& pack) {
        std::vector<std::string> names;
        machine{pack}.report([&](coverage const& each) { names.emplace_back(each.rule); });
        return names;
    };
    using names = std::vector<std::string>;
    names const any_net{"non_finite",           "dead_update_path",   "input_not_normalized",
                        "constant_batch",       "dead_relu",          "all_zero",
                        "saturated_activation", "dormant_units",      "gradient_not_cleared",
                        "update_direction",     "exploding_gradient", "vanishing_gradient",
                        "gradient_spike",       "update_ratio_band",  "updates_too_small",
                        "bf16_stall",           "output_collapse",    "stalled_training"};
    auto const with = [&](names before, names const& after) {
        before.insert(before.end(), any_net.begin(), any_net.end());
        before.insert(before.end(), after.begin(), after.end());
        return before;
    };
    CHECK(names_of(packs::supervised) ==
          with({"poor_weight_initialization", "class_imbalance", "output_mismatch", "identity_activation"},
               {"loss_not_decreasing", "loss_spike", "oscillating_loss", "underfit", "overfit", "overtraining",
                "gradient_depth_ratio", "tensor_variance", "unchanged_tensor"}));
    CHECK(names_of(packs::rl) == with({"poor_weight_initialization"},
                                      {"rl_kl", "rl_explained_variance", "rl_clip_fraction", "rl_constant_reward",
                                       "rl_observation_range", "rl_repeated_states", "rl_target_network"}));
    CHECK(names_of(packs::boosting) ==
          names{"tree_depth", "low_feature_importance", "feature_importance_overweight", "stalled_training"});
    CHECK(names_of(packs::system) == names{"data_wait", "step_time_outlier", "straggler", "replica_divergence"});
    CHECK(names_of(packs::sagemaker) ==
          names{"class_imbalance", "check_input_images", "nlp_sequence_ratio", "loss_not_decreasing", "overfit",
                "overtraining", "confusion", "poor_weight_initialization", "weight_update_ratio", "vanishing_gradient",
                "exploding_tensor", "all_zero", "tensor_variance", "unchanged_tensor", "saturated_activation",
                "dead_relu", "tree_depth", "feature_importance_overweight", "stalled_training"});
}

TEST_CASE("a policy's loss says nothing of its weights: packs::rl asks nothing else of a beginning than that") {
    auto const accused = [](auto const& pack) {
        run it{pack};
        std::vector<std::uint64_t> told;
        for (std::uint64_t i = 0; i < 10; ++i) {
            it.see(train(i), "pre/1", {1, 1, 1});
            it.see(train(i), "pre/2", {0, 1, 2});
            it.see(train(i), "loss", {2.3F});
            it.close(train(i));
            for (finding const& each : it.found) {
                if (each.rule == "poor_weight_initialization") { told.push_back(i); }
            }
        }
        return told;
    };
    CHECK(accused(packs::supervised) == indices{5});
    CHECK(accused(packs::rl).empty());
}

TEST_CASE("the packs tell a dead layer before the gradients that vanish behind it") {
    auto const story_of = [](auto const& pack) {
        run it{pack};
        std::vector<std::string> told;
        for (std::uint64_t i = 0; i < 3; ++i) {
            it.see(train(i), "act/fc", {0, 0, 0});
            it.see(train(i), "grad/fc/w", {0, 0, 0});
            it.close(train(i));
            for (finding const& each : it.found) { told.push_back(std::to_string(i) + ' ' + std::string{each.rule}); }
        }
        return told;
    };
    std::vector<std::string> const expected{"2 all_zero", "2 vanishing_gradient"};
    CHECK(story_of(packs::supervised) == expected);
    CHECK(story_of(packs::rl) == expected);
}
