// SPDX-License-Identifier: Apache-2.0
// Series and pairs: windows, modes, hostile values, evidence.
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

using namespace spotter;
using namespace stage;

namespace {

template <rule Rule>
std::vector<truth> answers(Rule const& rule, std::initializer_list<float> values, mode within = mode::train) {
    run<Rule> it{rule};
    std::vector<truth> out;
    for (float const each : values) { out.push_back(it.step({within, out.size()}, "loss", {each})); }
    return out;
}
constexpr truth yes = truth::yes, no = truth::no, open = truth::undecided;

constexpr bool spikes_in_a_constant() {
    run it{spike("loss", mean, {.window = 3})};
    for (std::uint64_t i = 0; i < 6; ++i) { (void)it.step(train(i), "loss", {1.0F + 0.01F * static_cast<float>(i)}); }
    return it.step(train(6), "loss", {5}) == truth::yes && it.found[0].tensor == "loss" && it.found[0].rule == "spike";
}
static_assert(spikes_in_a_constant());

}  // namespace

TEST_CASE("stalled: the newer half of a full window moved by no more than a share of the older") {
    auto const rule = stalled("loss", mean, {.window = 4, .by = 0.1});
    CHECK(answers(rule, {1, 1, 1, 1, 0.5F, 0.4F}) == std::vector{open, open, open, yes, no, no});
    CHECK(answers(rule, {1, 1, 1.2F, 1.2F, 1.2F, 1.2F}) == std::vector{open, open, open, no, yes, yes});
    CHECK(answers(rule, {-1, -1, -1.05F, -1.05F}).back() == yes);
    CHECK(answers(rule, {0, 0, 0, 0}).back() == yes);
    run it{rule};
    for (std::uint64_t i = 0; i < 4; ++i) { (void)it.step(train(i), "loss", {2}); }
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].measured == 0 && it.found[0].threshold == 0.1 && it.found[0].how == relation::less_equal));
    CHECK(it.found[0].reason == "mean");
}

TEST_CASE("rising: upwards only, by more than a share, whatever the sign") {
    auto const rule = rising("loss", mean, {.window = 4, .by = 0.1});
    CHECK(answers(rule, {1, 1, 1.2F, 1.2F}).back() == yes);
    CHECK(answers(rule, {1.2F, 1.2F, 1, 1}).back() == no);
    CHECK(answers(rule, {-1, -1, -0.5F, -0.5F}).back() == yes);
    CHECK(answers(rule, {-0.5F, -0.5F, -1, -1}).back() == no);
    CHECK(answers(rule, {1, 1, 1.05F, 1.05F}).back() == no);
}

TEST_CASE("unchanged: the same number throughout the window") {
    CHECK(answers(unchanged("loss", mean, {.window = 3}), {1, 1, 1, 1, 2, 2, 2}) ==
          std::vector{open, open, yes, yes, no, no, yes});
    CHECK(answers(unchanged("loss", mean, {.window = 0}), {1, 1, 2}) == std::vector{open, yes, no});
}

TEST_CASE(
    "spike: far above the median of what came before; it does not raise the bar for the next, but a new level does") {
    auto const rule = spike("loss", mean, {.window = 4, .deviations = 7});
    CHECK(answers(rule, {1, 1.1F, 0.9F, 1, 9, 9, 1, 9}) == std::vector{open, open, open, open, yes, yes, no, yes});
    CHECK(answers(rule, {1, 1, 1, 1, 9, 9, 9, 9, 9, 9, 9, 9, 9}) ==
          std::vector{open, open, open, open, yes, yes, yes, yes, open, open, open, open, no});
    CHECK(answers(rule, {1, 1.1F, 0.9F, 1, -50}).back() == no);  // downwards is no spike
}

TEST_CASE("a value that is not finite enters no window and decides nothing") {
    auto const rule = unchanged("loss", mean, {.window = 2});
    CHECK(answers(rule, {1, nan_f, 1, pos_infinity_f, 1}) == std::vector{open, open, yes, open, yes});
    CHECK(answers(spike("loss", mean, {.window = 2}), {1, 1, nan_f, 9, 1}) == std::vector{open, open, open, yes, no});
}

TEST_CASE("every tensor and mode is a series of its own; a step without the tensor decides nothing") {
    run it{unchanged("*", mean, {.window = 2})};
    it.see(train(0), "a", {1});
    it.see(train(0), "b", {2});
    CHECK(it.close(train(0)) == open);
    CHECK(it.close(train(1)) == open);
    CHECK(it.step(eval(0), "a", {1}) == open);
    it.see(train(2), "a", {5});
    it.see(train(2), "b", {2});
    CHECK(it.close(train(2)) == yes);
    CHECK((it.found[0].tensor == "b" && it.found[0].others == 0 && it.found[0].measured == 2));
    CHECK(it.step(eval(1), "a", {1}) == yes);
    CHECK(it.covered().judged == 2);
}

TEST_CASE("a series that was never filled says so") {
    run it{stalled("loss", mean)};
    (void)it.step(train(0), "loss", {1});
    CHECK(it.covered().reason == "window not filled");
}

TEST_CASE("pairs: the latest values of two modes, judged when either is new and both are known") {
    run it{gap_of(latest("loss", mean, mode::eval), latest("loss", mean, mode::train)) > 0.5};
    CHECK(it.step(train(0), "loss", {1}) == open);
    CHECK(it.step(eval(0), "loss", {1.2F}) == no);
    CHECK(it.step(train(1), "loss", {0.25F}) == yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].tensor == "loss" && it.found[0].measured == Approx(0.95) && it.found[0].threshold == 0.5));
    CHECK(it.found[0].detail.view() == "against \"loss\": 1.2 and 0.25");
    CHECK(it.close(train(2)) == open);
    CHECK(it.step(train(3), "loss", {nan_f}) == open);
}

TEST_CASE("pairs: two tensors of one step; a ratio to zero is undecided") {
    run it{ratio_of(latest("generator", mean), latest("critic", mean)) >= 10.0};
    auto const step = [&](std::uint64_t i, float generator, float critic) {
        it.see(train(i), "generator", {generator});
        it.see(train(i), "critic", {critic});
        return it.close(train(i));
    };
    CHECK(step(0, 10, 1) == yes);
    CHECK(step(1, 9, 1) == no);
    CHECK(step(2, 9, 0) == open);
    CHECK(step(3, 0, 1) == no);
    CHECK(step(4, -20, -1) == yes);
}

TEST_CASE("a malformed pattern on either side is reported") {
    CHECK(run{ratio_of(latest("a", l2), latest("b[", l2)) > 1.0}.inside().malformed() == "b[");
    CHECK(run{stalled("a{", l2)}.inside().malformed() == "a{");
}
