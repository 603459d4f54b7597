// SPDX-License-Identifier: Apache-2.0
// Rules on gradients and on anything non-finite: each example of the catalogue, exactly.
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <string>

using namespace spotter;
using namespace stage;

TEST_CASE("non_finite names the first bad tensor, the index and the counts [S71]", "[S71][non_finite]") {
    run it{non_finite{}};
    CHECK(it.step(train(6), "act/1", {1, 2}) == truth::no);
    it.see(train(7), "act/1", {1, 2});
    it.see(train(7), "act/2", {1, nan_f, neg_infinity_f});
    it.see(train(7), "loss", {nan_f});
    CHECK(it.close(train(7)) == truth::yes);
    finding const& found = it.found[0];
    CHECK((it.found.size() == 1 && found.rule == "non_finite" && found.tensor == "act/2" && found.step == train(7)));
    CHECK((found.severity == severity::error && found.decision == decision::skip_update && found.others == 1));
    CHECK((found.measured == 2 && found.reason == "originates here" && !found.remedy.empty()));
    CHECK(found.detail.view() == "first at index 1; nan 1, +inf 0, -inf 1");
    CHECK(it.step(train(8), "act/1", {1}) == truth::no);  // level: gone with its cause
}

TEST_CASE("non_finite says where a bad value came from, in every mode", "[non_finite]") {
    run it{non_finite{}};
    CHECK(it.step(eval(0), "fc1/w", {pos_infinity_f}) == truth::yes);
    CHECK(it.found[0].reason == "entered from the previous step");
    CHECK(it.step(predict(0), "input", {nan_f}) == truth::yes);
    CHECK(it.found[0].reason == "bad input");
    CHECK(it.step(train(0), "act/1", {nan_f}) == truth::yes);
    CHECK(it.found[0].reason == "first tensor observed; its inputs were not");
    CHECK(it.close(train(1)) == truth::undecided);  // nothing was observed
}

TEST_CASE("non_finite: a gradient comes before the weight that it was carried into, where what was computed forward is "
          "finite",
          "[non_finite]") {
    auto const origin = [](float weight, float loss, float gradient) {
        run it{non_finite{}};
        it.see(train(3), "fc1/w", {weight, 1});
        it.see(train(3), "loss", {loss});
        it.see(train(3), "grad/fc2/w", {1});
        it.see(train(3), "grad/fc1/w", {gradient});
        CHECK(it.close(train(3)) == truth::yes);
        return std::string{it.found[0].tensor} + ": " + std::string{it.found[0].reason};
    };
    CHECK(origin(nan_f, 1, nan_f) == "grad/fc1/w: originates here");  // shown after the update
    CHECK(origin(nan_f, nan_f, nan_f) == "fc1/w: entered from the previous step");
    CHECK(origin(nan_f, 1, 1) == "fc1/w: entered from the previous step");
    run alone{non_finite{}};  // nothing tells
    alone.see(train(3), "fc1/w", {nan_f});
    alone.see(train(3), "grad/fc1/w", {nan_f});
    CHECK(alone.close(train(3)) == truth::yes);
    CHECK(alone.found[0].tensor == "fc1/w");
}

TEST_CASE("non_finite: of two nets, one computed from the other after its update, the gradient that was carried into "
          "its weight",
          "[non_finite]") {
    auto const origin = [](float first_loss, std::vector<float> const& weight, std::vector<float> const& gradient) {
        run it{non_finite{}};
        it.see(train(3), "judge/w", weight, {3});
        it.see(train(3), "grad/judge/w", gradient, {3});
        it.see(train(3), "loss/judge", {first_loss});
        it.see(train(3), "loss/maker", {nan_f});
        it.see(train(3), "grad/maker/w", {nan_f, nan_f});
        it.see(train(3), "maker/w", {nan_f, nan_f});
        CHECK(it.close(train(3)) == truth::yes);
        return it.found[0].tensor;
    };
    CHECK(origin(1, {1, nan_f, 1}, {1, nan_f, 1}) == "grad/judge/w");
    CHECK(origin(1, {1, nan_f, 1}, {nan_f, nan_f, nan_f}) == "judge/w");  // computed from it
    CHECK(origin(nan_f, {1, nan_f, 1}, {1, nan_f, 1}) == "judge/w");
}

TEST_CASE("vanishing_gradient: 1e-8 fires at 2, at 0 as SageMaker has it", "[vanishing_gradient]") {
    CHECK(fired(vanishing_gradient{}, 5, "grad/w", {1e-8F, -1e-8F}) == indices{2, 3, 4});
    CHECK(fired(vanishing_gradient::sagemaker_defaults(), 2, "grad/w", {1e-8F}) == indices{0, 1});
    CHECK(fired(vanishing_gradient{}, 5, "grad/w", {0, 0}) == indices{2, 3, 4});
    run it{vanishing_gradient{.patience = 1}};
    CHECK(it.step(train(0), "grad/fc1/w", {1e-8F, 3e-8F}) == truth::yes);
    finding const& found = it.found[0];
    CHECK((found.tensor == "grad/fc1/w" && found.measure == "mean_abs" && found.how == relation::less &&
           found.threshold == 1e-7));
    CHECK(found.measured == Approx(2e-8));
    CHECK(found.severity == severity::warning);
}

TEST_CASE("vanishing_gradient judges magnitudes, strictly, and is not blinded by a NaN", "[vanishing_gradient]") {
    CHECK(fired(vanishing_gradient{}, 5, "grad/w", {1, -1}).empty());
    run exact{vanishing_gradient{.threshold = 0x1p-24, .patience = 1}};
    CHECK(exact.step(train(0), "grad/w", {0x1p-24F}) == truth::no);
    CHECK(fired(vanishing_gradient{}, 4, "grad/w", {nan_f, 1e-8F, 1e-8F}) == indices{2, 3});
    // A gradient without a finite element leaves the streak as it is.
    auto const gap = fired(vanishing_gradient{}, 6,
                           [](auto& it, step_id at) { it.see(at, "grad/w", {at.index == 1 ? nan_f : 1e-8F}); });
    CHECK(gap == indices{3, 4, 5});
}

TEST_CASE("vanishing_gradient watches gradients of weights, in train steps, and softens once training has settled",
          "[vanishing_gradient]") {
    CHECK(fired(vanishing_gradient{}, 5, "grad/b", {0, 0}).empty());  // its partner is a bias
    run vector{vanishing_gradient{}};
    vector.see(train(0), "grad/w", {0.0F}, {1});
    CHECK(vector.covered().matched == 0);
    run it{vanishing_gradient{.patience = 1}};
    CHECK(it.step(eval(0), "grad/w", {0}) == truth::undecided);
    for (std::uint64_t i = 0; i < 200; ++i) {
        it.see(train(i), "loss", {i < 10 ? 4.0F : 0.1F});
        CHECK(it.step(train(i), "grad/w", {0}) == truth::yes);
        CHECK(it.found[0].severity == (i < 49 ? severity::warning : severity::info));  // 50 observations are asked for
    }
    CHECK(it.covered().matched == 1);  // the loss is read, not judged
}

TEST_CASE("exploding_gradient: 11 fires at 2, one infinity at once", "[exploding_gradient]") {
    CHECK(fired(exploding_gradient{}, 5, "grad/w", {11, -11}) == indices{2, 3, 4});
    CHECK(fired(exploding_gradient{}, 5, "grad/w", {10, 10}).empty());
    run it{exploding_gradient{}};
    CHECK(it.step(train(0), "grad/b", {1, pos_infinity_f}) == truth::yes);
    CHECK((it.found[0].severity == severity::error && it.found[0].decision == decision::skip_update &&
           it.found[0].tensor == "grad/b"));
    CHECK(it.step(train(1), "grad/b", {1, 1}) == truth::no);
    CHECK(it.step(train(2), "grad/b", {11, nan_f}) == truth::yes);  // counts, although the NaN speaks first
    CHECK(it.step(train(3), "grad/b", {11, 11}) == truth::no);
    CHECK(it.step(train(4), "grad/b", {11, 11}) == truth::yes);
    CHECK((it.found[0].severity == severity::warning && it.found[0].measured == 11));
}

TEST_CASE("all_zero: {0, -0.0} fires at 2, {0, NaN} never", "[all_zero]") {
    CHECK(fired(all_zero{}, 4, "fc1/w", {0, -0.0F}) == indices{2, 3});
    CHECK(fired(all_zero::sagemaker_defaults(), 1, "act/1", {0, -0.0F}) == indices{0});
    CHECK(fired(all_zero{}, 5, "fc1/w", {0, nan_f}).empty());
    CHECK(fired(all_zero{.threshold = 0.5}, 4, "fc1/w", {0, 1}) == indices{2, 3});
    CHECK(fired(all_zero{}, 5, "grad/w", {0}).empty());
    run empty{all_zero{.patience = 1}};
    empty.see(train(0), "act/1", std::vector<float>{}, {0, 4});
    CHECK(empty.close(train(0)) == truth::undecided);
    // Outputs of a ReLU net whose weights are all zero (the scenario of AWS).
    CHECK(fired(all_zero{}, 3, "relu/1", {0, 0, 0, 0}) == indices{2});
}

TEST_CASE("patience counts closes with the tensor; those without it, and other modes, leave the streak") {
    run it{exploding_gradient{}};
    CHECK(it.step(train(0), "grad/w", {11}) == truth::no);
    CHECK(it.close(train(1)) == truth::undecided);
    CHECK(it.step(eval(0), "grad/w", {0}) == truth::undecided);
    CHECK(it.step(train(2), "grad/w", {11}) == truth::no);
    CHECK(it.step(train(3), "grad/w", {11}) == truth::yes);
    CHECK(it.step(train(4), "grad/w", {1}) == truth::no);
    CHECK(it.step(train(5), "grad/w", {11}) == truth::no);
    // Twice in a step counts once.
    run twice{exploding_gradient{.patience = 2}};
    twice.see(train(0), "grad/w", {11});
    CHECK(twice.step(train(0), "grad/w", {11}) == truth::no);
    CHECK(twice.step(train(1), "grad/w", {11}) == truth::yes);
}
