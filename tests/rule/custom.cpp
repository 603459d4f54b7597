// SPDX-License-Identifier: Apache-2.0
// A user's own rule, statistic and pattern; coverage; and rules inside static_assert.
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

using namespace spotter;
using namespace stage;

namespace {

// Fires when the two losses of a GAN cross for the n-th time.
struct losses_cross {
    using kind = rule_kind;
    static constexpr std::string_view name = "losses_cross";
    static constexpr std::string_view remedy = "Train the weaker side more often.";
    std::uint64_t times = 2;

    struct state {
        double generator = 0, critic = 0;
        bool seen = false, above = false;
        std::uint64_t crossings = 0;
    };
    [[nodiscard]] constexpr stats_mask needs(tensor_info const& tensor) const {
        return tensor.name == "g_loss" || tensor.name == "c_loss" ? stats_mask::sum : stats_mask::none;
    }
    constexpr void observe(state& it, observation const& seen) const {
        (seen.tensor.name == "g_loss" ? it.generator : it.critic) = mean(seen.stats).value;
        it.seen = true;
    }
    constexpr truth close(state& it, step_id, findings& out) const {
        if (!std::exchange(it.seen, false)) { return truth::undecided; }
        bool const above = it.generator > it.critic;
        it.crossings += above != std::exchange(it.above, above) ? 1 : 0;
        if (it.crossings < times) { return truth::no; }
        out.push({.tensor = "g_loss", .measured = static_cast<double>(it.crossings), .severity = severity::info});
        return truth::yes;
    }
};
static_assert(rule<losses_cross> && leaf_rule<losses_cross>);

struct crest {
    static constexpr stats_mask needs = stats_mask::abs_range | stats_mask::sum_squares | stats_mask::nonfinite;
    static constexpr std::string_view name = "crest";
    constexpr double operator()(summary const& of) const {
        return of.abs_maximum / (square_root(of.sum_squares / static_cast<double>(of.finite())) + 1e-12);
    }
};

constexpr bool explodes_at_two() {
    run it{exploding_gradient{}};
    bool const early =
        it.step(train(0), "grad/w", {11, -11}) == truth::yes || it.step(train(1), "grad/w", {12}) == truth::yes;
    return !early && it.step(train(2), "grad/w", {13}) == truth::yes && it.found[0].tensor == "grad/w" &&
           it.found[0].measured == 13;
}
constexpr bool dead_at_two() {
    run it{dead_relu{.samples = 3}};
    bool const early =
        it.step(train(0), "relu/1", {0, 0, 1}) == truth::yes || it.step(train(1), "relu/1", {0, 0, 1}) == truth::yes;
    return !early && it.step(train(2), "relu/1", {0, 0, 1}) == truth::yes && it.found[0].measured > 0.66;
}
constexpr bool composed() {
    run it{(any("grad/*", l2 > 1e3) || non_finite{}) | for_steps{2} | only{during{mode::train}}};
    return it.step(train(0), "grad/w", {2000}) == truth::no && it.step(eval(0), "grad/w", {0}) == truth::undecided &&
           it.step(train(1), "grad/w", {2000}) == truth::yes && it.found[0].rule == "any";
}
constexpr bool moves_too_much() {
    run it{update_ratio_band{.smoothing = 1, .warmup = 0, .patience = 1}};
    return it.step(train(0), "fc/w", {3, 4}) == truth::undecided && it.step(train(1), "fc/w", {63, 4}) == truth::yes;
}
constexpr bool stays_flat() {
    run it{loss_not_decreasing::sagemaker_defaults()};
    return it.step(train(0), "loss", {2}) == truth::undecided && it.step(train(10), "loss", {2}) == truth::yes;
}

}  // namespace

TEST_CASE("rules run inside static_assert") {
    static_assert(explodes_at_two());
    static_assert(dead_at_two());
    static_assert(composed());
    static_assert(moves_too_much());
    static_assert(stays_flat());
    SUCCEED();
}

TEST_CASE("a rule written by a user composes, adapts and is signed like a built-in one [A52]", "[A52]") {
    run it{(losses_cross{.times = 1} | severity::warning) && any("c_loss", minimum > 0)};
    it.see(train(0), "g_loss", {1});
    it.see(train(0), "c_loss", {2});
    CHECK(it.close(train(0)) == truth::no);
    it.see(train(1), "g_loss", {3});
    it.see(train(1), "c_loss", {2});
    CHECK(it.close(train(1)) == truth::yes);
    finding const& found = it.found[0];
    CHECK((found.rule == "losses_cross" && found.remedy == losses_cross::remedy && found.step == train(1) &&
           found.severity == severity::warning));
    CHECK(it.close(train(2)) == truth::undecided);
}

TEST_CASE("a statistic and a pattern of the user's quantify like the others") {
    run it{any([](std::string_view name) { return name.ends_with("act"); }, crest{} > 1.9)};
    CHECK(it.step(train(0), "1/act", {1, -1, 1, 1}) == truth::no);
    CHECK(it.step(train(1), "1/act", {0, 0, 8, 0}) == truth::yes);
    CHECK((it.found[0].measure == "crest" && it.found[0].measured == Approx(2)));
    CHECK(it.needs("1/act") == crest::needs);
}

TEST_CASE("coverage counts matched tensors, judged, undecided and fired closes") {
    run it{any("grad/*", l2 > 2)};
    it.see(train(0), "grad/1", {1});
    it.see(train(0), "grad/2", {3});
    it.see(train(0), "other", {3});
    it.close(train(0));
    it.step(train(1), "grad/1", {nan_f});
    it.close(train(2));
    coverage const seen = it.covered();
    CHECK((seen.rule == "any" && seen.matched == 2 && seen.judged == 1 && seen.fired == 1 && seen.undecided == 1));
    CHECK((seen.could_run() && seen.reason.empty()));
}

TEST_CASE("a rule that could not run says why") {
    run none{dead_relu{}};
    none.step(train(0), "loss", {1});
    CHECK((!none.covered().could_run() && none.covered().reason == "no tensor matched"));
    run eval_only{vanishing_gradient{}};
    eval_only.step(eval(0), "grad/w", {1});
    CHECK(eval_only.covered().reason == "matched, but never in mode train");
    run short_run{dead_relu{}};
    short_run.step(train(0), "relu/1", {1});
    CHECK(short_run.covered().reason.starts_with("warm-up not reached"));
    run too_few{loss_not_decreasing{}};
    too_few.step(train(0), "loss", {1});
    CHECK(too_few.covered().reason.starts_with("warm-up not reached"));
    run blind{any("x", l2 > 2)};
    blind.step(train(0), "x", {nan_f});
    CHECK(blind.covered().reason == "matched, but nothing could be decided");
    run hidden{any("x", l2 > 2) | only{during{mode::eval}}};
    hidden.step(train(0), "x", {1});
    CHECK(hidden.covered().reason == "matched, but never observed");
}

TEST_CASE("a composite reports each leaf") {
    machine it{(any("a", l2 > 1) | once) && !non_finite{}};
    std::vector<std::string_view> leaves;
    it.report([&](coverage const& each) { leaves.push_back(each.rule); });
    CHECK(leaves == std::vector<std::string_view>{"any", "non_finite"});
}

TEST_CASE("a tensor that is declared again, and no longer matches, is no longer counted nor judged") {
    run it{vanishing_gradient{.patience = 1}};
    tensor_info gradient{.name = "grad/x", .role = role::gradient, .type = dtype::f32, .shape = {1, 2}};
    it.declare(gradient);
    CHECK(it.covered().matched == 1);
    CHECK(it.step(train(0), "grad/x", {0, 0}) == truth::yes);
    it.declare(gradient);
    CHECK(it.covered().matched == 1);
    gradient.partner_role = role::bias;
    it.declare(gradient);
    CHECK(it.covered().matched == 0);
    CHECK(it.step(train(1), "grad/x", {0, 0}) == truth::undecided);
}

TEST_CASE("the malformed pattern of a rule can be read off its machine [S27]", "[S27]") {
    static constexpr std::string_view bad = "grad/[";
    CHECK(machine{any(glob{std::string_view{bad}}, l2 > 1) || non_finite{}}.malformed() == bad);
    CHECK(machine{non_finite{} && (any(glob{std::string_view{bad}}, l2 > 1) | once)}.malformed() == bad);
    std::string const critic = "critic[";
    CHECK(machine{!dead_relu{.select = critic.c_str()}}.malformed() == "critic[");
    CHECK(machine{dead_relu{.select = "critic/*"}}.malformed().empty());
}
