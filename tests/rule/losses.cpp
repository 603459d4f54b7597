// SPDX-License-Identifier: Apache-2.0
// Rules on training and eval losses: each example of the catalogue, exactly.
#include <spotter/rule/builtin/gradient_spike.hpp>
#include <spotter/rule/builtin/initial_loss.hpp>
#include <spotter/rule/builtin/loss_spike.hpp>
#include <spotter/rule/builtin/oscillating_loss.hpp>
#include <spotter/rule/builtin/overfit.hpp>
#include <spotter/rule/builtin/overtraining.hpp>
#include <spotter/rule/builtin/underfit.hpp>
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

using namespace spotter;
using namespace stage;

namespace {

// `steps` train steps of this loss, then one eval step; the answer of its close.
template <rule Rule>
constexpr truth phase(run<Rule>& it, std::uint64_t& at, std::uint64_t steps, float trained, float evaluated) {
    for (std::uint64_t i = 0; i < steps; ++i) { (void)it.step(train(at++), "loss", {trained}); }
    return it.step(eval(at), "loss", {evaluated});
}

// Losses of 0.99 and 1.01 in turn.
template <rule Rule>
constexpr bool quiet(run<Rule>& it, std::uint64_t from, std::uint64_t end) {
    bool silent = true;
    for (std::uint64_t i = from; i < end; ++i) {
        silent = it.step(train(i), "loss", {i % 2 == 0 ? 0.99F : 1.01F}) != truth::yes && silent;
    }
    return silent;
}

constexpr bool overfits_in_a_constant_expression() {
    run it{overfit::sagemaker_defaults()};
    std::uint64_t at = 0;
    return phase(it, at, 2, 1.0F, 1.25F) == truth::yes && it.found[0].measured == 0.25;
}
static_assert(overfits_in_a_constant_expression());

static_assert(runs(overfit{}, "loss") && runs(underfit{}, "loss") && runs(overtraining{}, "loss") &&
              runs(oscillating_loss{}, "loss") && runs(initial_loss{}, "loss") && runs(loss_spike{}, "loss") &&
              runs(gradient_spike{}, "grad/w"));

}  // namespace

TEST_CASE("overfit: a gap of 0.2 fires at the first phase as SageMaker has it", "[overfit]") {
    run it{overfit::sagemaker_defaults()};
    std::uint64_t at = 0;
    CHECK(phase(it, at, 5, 1.0F, 1.2F) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.rule == "overfit" && found.tensor == "loss" && found.severity == severity::warning));
    CHECK((found.measured == Approx(0.2) && found.threshold == 0.1 && found.how == relation::greater));
    CHECK(found.detail.view() == "train 1, eval 1.2");
    CHECK(it.step(train(at), "loss", {1}) == truth::undecided);  // between phases
}

TEST_CASE("overfit: three phases at twice the training loss fire at the third, a small gap never", "[overfit]") {
    auto const answers = [](overfit const& rule, float trained, float evaluated) {
        run it{rule};
        std::uint64_t at = 0;
        CHECK(phase(it, at, 10, 1.0F, 1.0F) == truth::no);  // L0 = 1
        std::vector<truth> out;
        for (int i = 0; i < 4; ++i) { out.push_back(phase(it, at, 5, trained, evaluated)); }
        if (!it.found.empty()) { CHECK(it.found[0].measured == Approx((evaluated - trained) / trained)); }
        return out;
    };
    std::vector const third{truth::no, truth::no, truth::yes, truth::yes};
    CHECK(answers({.min_gap = 0.05}, 0.1F, 0.2F) == third);
    CHECK(answers({.min_gap = 0.05}, 0.01F, 0.03F) == std::vector(4, truth::no));
    CHECK(answers({}, 0.1F, 0.25F) == third);
    CHECK(answers({}, 0.1F, 0.19F) == std::vector(4, truth::no));  // a gap of 0.09 |L0|
    auto const aws = overfit::sagemaker_defaults();
    CHECK((aws.start_step == 0 && aws.patience == 1 && aws.ratio_threshold == 0.1 && aws.min_gap == 0));
}

TEST_CASE("overfit: an evaluation that stays at its first value has learned nothing, below zero too", "[overfit]") {
    auto const answer = [](float trained, float first, float then) {
        run it{overfit{.min_rise = 0.05}};
        std::uint64_t at = 0;
        (void)phase(it, at, 10, first, first);
        for (int i = 0; i < 3; ++i) { (void)phase(it, at, 5, trained, then); }
        return phase(it, at, 5, trained, then);
    };
    CHECK(answer(0.2F, 1, 1) == truth::yes);
    CHECK(answer(0.2F, 1, 0.6F) == truth::no);  // it has learned, and is at its best
    CHECK(answer(-3, -1, -1) == truth::yes);
    CHECK(answer(-3, -1, -1.4F) == truth::no);
}

TEST_CASE("overfit: means of finite losses, and no phase without one", "[overfit]") {
    run it{overfit::sagemaker_defaults()};
    CHECK(it.step(eval(0), "loss", {9}) == truth::undecided);  // nothing was trained before
    (void)it.step(train(0), "loss", {1});
    (void)it.step(train(1), "loss", {nan_f});
    CHECK(it.step(eval(0), "loss", {pos_infinity_f}) == truth::undecided);
    CHECK(it.step(eval(1), "loss", {9}) == truth::undecided);  // the phase before took what was trained
    (void)it.step(train(2), "loss", {1});
    CHECK(it.step(predict(0), "loss", {9}) == truth::undecided);
    CHECK(it.close(eval(2)) == truth::undecided);  // a close without the loss is no phase
    it.see(eval(3), "loss", {1});                  // observed twice: one close, the mean of both
    it.see(eval(3), "loss", {2});
    CHECK(it.close(eval(3)) == truth::yes);
    CHECK(it.found[0].measured == 0.5);
}

TEST_CASE("overfit: longer phases, the first step that counts, and phases that end with the next train step",
          "[overfit]") {
    auto rule = overfit::sagemaker_defaults();
    rule.phase_length = 3;
    run it{rule};
    std::uint64_t at = 0;
    CHECK(phase(it, at, 2, 1, 9) == truth::undecided);
    CHECK(phase(it, at, 0, 1, 0) == truth::undecided);
    CHECK(phase(it, at, 0, 1, 0) == truth::yes);  // 3 on average
    CHECK(it.found[0].measured == 2);
    rule = overfit::sagemaker_defaults();
    rule.start_step = 4;
    run late{rule};
    at = 0;
    CHECK(phase(late, at, 4, 1, 2) == truth::undecided);
    CHECK(phase(late, at, 4, 1, 2) == truth::yes);
    rule = overfit::sagemaker_defaults();
    rule.phase_length = 0;
    run open{rule};
    at = 0;
    CHECK(phase(open, at, 2, 1, 2) == truth::undecided);
    CHECK(phase(open, at, 0, 1, 4) == truth::undecided);
    CHECK(open.step(train(2), "loss", {5}) == truth::yes);  // 3 against 1; this step belongs to the next phase
    CHECK(open.found[0].measured == 2);
    CHECK(phase(open, at, 0, 1, 10) == truth::undecided);
    CHECK(open.close(train(3)) == truth::yes);  // also without the loss
    CHECK(open.found[0].measured == 1);
}

TEST_CASE("overfit: each loss for itself, a rewind ends the streak, and what is missing has a name", "[overfit]") {
    run it{overfit{.patience = 2, .min_gap = 0}};
    std::uint64_t at = 0;
    CHECK(phase(it, at, 5, 1, 2) == truth::no);
    at = 3;
    CHECK(phase(it, at, 5, 1, 2) == truth::no);  // trained anew from 3 on
    CHECK(phase(it, at, 5, 1, 2) == truth::yes);
    run two{overfit::sagemaker_defaults()};
    for (char const* name : {"a_loss", "b_loss"}) { two.see(train(0), name, {1}); }
    (void)two.close(train(0));
    two.see(eval(0), "a_loss", {1});
    two.see(eval(0), "b_loss", {2});
    CHECK(two.close(eval(0)) == truth::yes);
    CHECK((two.found[0].tensor == "b_loss" && two.found[0].others == 0));
    run blind{overfit{}};
    (void)blind.step(train(0), "loss", {1});
    CHECK(blind.covered().reason == "matched, but never in mode eval");
    run idle{overfit{}};
    (void)idle.step(eval(0), "loss", {1});
    CHECK(idle.covered().reason == "matched, but never in mode train");
    run other{overfit{}};
    CHECK(other.step(eval(0), "fc1/w", {1}) == truth::undecided);
    CHECK(other.covered().matched == 0);
}

TEST_CASE("overtraining: best at phase 4, rising from there, fires at phase 14", "[overtraining]") {
    auto const first = [](overtraining const& rule, float rise) {
        run it{rule};
        std::uint64_t at = 0;
        for (int p = 0; p < 20; ++p) {
            float const evaluated =
                p <= 4 ? 1.0F - 0.1F * static_cast<float>(p) : 0.6F + rise * static_cast<float>(p - 4);
            if (phase(it, at, 10, 1.0F - 0.05F * static_cast<float>(p), evaluated) != truth::yes) { continue; }
            finding const& found = it.found[0];
            CHECK((found.measured == 10 && found.threshold == 10 && found.how == relation::greater_equal));
            CHECK(found.reason == "eval loss rises while the training loss falls");
            CHECK(found.detail.view() ==
                  (rise == 0.05F ? "best eval loss 0.6, now 1.1" : "best eval loss 0.6, now 0.63"));
            CHECK(found.severity == severity::warning);
            return p;
        }
        return -1;
    };
    CHECK(first({.delta = 0.01}, 0.05F) == 14);
    CHECK(first({.delta = 0.01}, 0) == -1);
    CHECK(first({.delta = 0.01}, 0.003F) == 14);
    CHECK(first({}, 0.05F) == 14);
    CHECK(first({}, 0.003F) == -1);  // up by 0.045 |L0| at most
}

TEST_CASE("overtraining: a training loss that does not fall, and a best that is the first, are silent",
          "[overtraining]") {
    auto const fires = [](float fall, float gain) {
        run it{overtraining{.patience_validation = 2}};
        std::uint64_t at = 0;
        bool fired = false;
        for (int p = 0; p < 8; ++p) {
            float const evaluated = p == 0 ? 1.0F : p == 1 ? 1.0F - gain : 1.5F;
            fired = phase(it, at, 10, 1.0F - fall * static_cast<float>(p), evaluated) == truth::yes || fired;
        }
        return fired;
    };
    CHECK(fires(0.05F, 0.1F));
    CHECK_FALSE(fires(0, 0.1F));
    CHECK_FALSE(fires(0.05F, 0));
}

TEST_CASE("overtraining: evaluations that scatter are not above the best for long", "[overtraining]") {
    auto const fires = [](bool scatters) {
        run it{overtraining{}};
        std::uint64_t at = 0;
        bool fired = false;
        for (int p = 0; p < 40; ++p) {
            float const now = p < 3 ? 1.0F - 0.2F * static_cast<float>(p) : scatters && p % 3 == 0 ? 0.56F : 0.7F;
            fired = phase(it, at, 10, 1.0F - 0.02F * static_cast<float>(p), now) == truth::yes || fired;
        }
        return fired;
    };
    CHECK(fires(false));
    CHECK_FALSE(fires(true));  // every third one is as good as the best
}

TEST_CASE("overtraining: as SageMaker has it both losses must have stalled", "[overtraining]") {
    auto const answers = [](float fall) {
        run it{overtraining::sagemaker_defaults()};
        std::uint64_t at = 0;
        std::vector<truth> out;
        for (int p = 0; p < 12; ++p) { out.push_back(phase(it, at, 2, 1.0F - fall * static_cast<float>(p), 1.0F)); }
        if (!it.found.empty()) { CHECK(it.found[0].reason == "neither loss improves"); }
        return out;
    };
    auto stalled = std::vector(12, truth::no);
    stalled[10] = stalled[11] = truth::yes;
    CHECK(answers(0) == stalled);
    CHECK(answers(0.02F) == std::vector(12, truth::no));
    auto const aws = overtraining::sagemaker_defaults();
    CHECK((aws.patience_train == 5 && aws.patience_validation == 10 && aws.delta == 0.01));
    CHECK((!aws.relative && aws.require_both_stalled));
}

TEST_CASE("overtraining: NaN phases do not count, a rewind begins the patience anew", "[overtraining]") {
    run it{overtraining{.patience_validation = 3}};
    std::uint64_t at = 0;
    auto const next = [&](float trained, float evaluated) { return phase(it, at, 10, trained, evaluated); };
    CHECK(it.step(eval(0), "loss", {1}) == truth::undecided);  // before training
    CHECK(next(1, 0.5F) == truth::no);
    CHECK(next(0.9F, nan_f) == truth::undecided);
    CHECK(next(0.8F, 0.8F) == truth::no);
    CHECK(next(nan_f, 0.8F) == truth::undecided);
    at = 5;
    CHECK(next(0.7F, 0.8F) == truth::no);
    CHECK(next(0.6F, 0.8F) == truth::no);
    CHECK(next(0.5F, 0.8F) == truth::yes);
}

TEST_CASE("underfit: a constant loss fires at 700, one that halves over 500 steps never", "[underfit]") {
    CHECK(fired(underfit{}, 702, "loss", {2.3F}) == indices{700, 701});
    CHECK(fired(underfit{}, 1500, [](auto& it, step_id at) {
              float const part = at.index < 500 ? static_cast<float>(at.index) / 500.0F : 1.0F;
              it.see(at, "loss", {2.3F - 1.15F * part});
          }).empty());
    run it{underfit{}};
    for (std::uint64_t i = 0; i < 500; ++i) { CHECK(it.step(train(i), "loss", {2.3F}) == truth::undecided); }
    CHECK(it.step(train(500), "loss", {2.3F}) == truth::no);
    for (std::uint64_t i = 501; i < 701; ++i) { (void)it.step(train(i), "loss", {2.3F}); }
    REQUIRE(it.found.size() == 1);
    CHECK(it.found[0].measured == Approx(0).margin(1e-12));
    CHECK((it.found[0].threshold == 0.1 && it.found[0].how == relation::less));
}

TEST_CASE("underfit: checks count from the first step and fall on the next one seen", "[underfit]") {
    run it{underfit{.warmup = 10, .num_steps = 10, .patience = 2}};
    std::vector<std::uint64_t> yes;
    for (std::uint64_t i = 3; i < 40; i += 4) {  // due at 13, 23, 33: seen at 15, 23, 35
        if (it.step(train(i), "loss", {1}) == truth::yes) { yes.push_back(i); }
    }
    CHECK(yes == indices{23, 27, 31, 35, 39});
    CHECK(it.step(train(12), "loss", {1}) == truth::undecided);  // a rewind
    CHECK(it.step(train(13), "loss", {1}) == truth::no);
    CHECK(it.step(train(13), "loss", {1}) == truth::no);  // once more in the step: no second check
    CHECK(it.step(train(22), "loss", {1}) == truth::no);
    CHECK(it.step(train(23), "loss", {nan_f}) == truth::undecided);
    CHECK(it.step(train(24), "loss", {1}) == truth::yes);
}

TEST_CASE("underfit: near the largest index checks are due as near 0, and a warm-up without end ends never",
          "[underfit]") {
    std::uint64_t const top = ~std::uint64_t{0};
    for (std::uint64_t const start : {std::uint64_t{0}, top - 39}) {
        run it{underfit{.warmup = 10, .num_steps = 10, .patience = 2}};
        for (std::uint64_t i = 0; i < 40; ++i) {
            truth const expected = i < 10 ? truth::undecided : i < 20 ? truth::no : truth::yes;
            CHECK(it.step(train(start + i), "loss", {1}) == expected);
        }
    }
    for (underfit const& endless : {underfit{.warmup = top}, underfit{.warmup = 0, .num_steps = top, .patience = 2}}) {
        run it{endless};
        for (std::uint64_t i = 5; i < 20; ++i) { CHECK(it.step(train(i), "loss", {1}) != truth::yes); }
    }
}

TEST_CASE("underfit: progress in evaluation is progress", "[underfit]") {
    auto const fires = [](float evaluated) {
        run it{underfit{.warmup = 10, .num_steps = 10, .patience = 1}};
        (void)it.step(train(0), "loss", {1});
        (void)it.step(eval(0), "loss", {1});
        (void)it.step(eval(1), "loss", {evaluated});
        bool const fired = it.step(train(10), "loss", {1}) == truth::yes;
        if (fired) { CHECK(it.found[0].detail.view() == "eval loss fell by 5 %"); }
        return fired;
    };
    CHECK(fires(0.95F));
    CHECK_FALSE(fires(0.5F));
    CHECK(fired(underfit{.warmup = 5}, 400, "loss", {0}).empty());  // of nothing there is no fraction
}

TEST_CASE("oscillating_loss: 1, 3, 1, 3, ... fires at 49, a narrow swing does not", "[oscillating_loss]") {
    auto const swinging = [](oscillating_loss const& rule, float low, float high, std::uint64_t steps) {
        return fired(rule, steps, [&](auto& it, step_id at) { it.see(at, "loss", {at.index % 2 == 0 ? low : high}); });
    };
    CHECK(swinging({.flips = 0.5}, 1, 3, 51) == indices{49, 50});
    CHECK(swinging({.flips = 0.5}, 1.95F, 2.05F, 200).empty());
    CHECK(swinging({}, 1, 3, 51) == indices{49, 50});
    // 1, 3, 2, 1, 3, 2, ... turns in two places of three, as noise does.
    auto const noisy = [](auto& it, step_id at) {
        it.see(at, "loss", {at.index % 3 == 0 ? 1.0F : at.index % 3 == 1 ? 3.0F : 2.0F});
    };
    CHECK(fired(oscillating_loss{.flips = 0.5}, 51, noisy) == indices{49, 50});
    CHECK(fired(oscillating_loss{}, 200, noisy).empty());
    run it{oscillating_loss{}};
    for (std::uint64_t i = 0; i < 49; ++i) {
        CHECK(it.step(train(i), "loss", {i % 2 == 0 ? 1.0F : 3.0F}) == truth::undecided);
    }
    CHECK(it.step(train(49), "loss", {3}) == truth::yes);
    finding const& found = it.found[0];
    CHECK((found.measured == 1 && found.threshold == 0.85 && found.severity == severity::warning));
    CHECK(found.detail.view() == "over 50 losses; from the 10th to the 90th percentile 2");
}

TEST_CASE("oscillating_loss: progress, plateaus, NaN and rewinds", "[oscillating_loss]") {
    CHECK(fired(oscillating_loss{}, 100,
                [](auto& it, step_id at) {  // swings, and falls by a half
                    it.see(at, "loss",
                           {(at.index % 2 == 0 ? 1.0F : 3.0F) * std::exp2(-static_cast<float>(at.index) / 50)});
                })
              .empty());
    CHECK(fired(oscillating_loss{.flips = 0.5}, 100,
                [](auto& it, step_id at) {  // changes direction every fourth step
                    it.see(at, "loss", {at.index / 4 % 2 == 0 ? 1.0F : 3.0F});
                })
              .empty());
    run it{oscillating_loss{.window = 4}};
    float const values[] = {1, nan_f, 3, 1};
    for (std::uint64_t i = 0; i < 4; ++i) { CHECK(it.step(train(i), "loss", {values[i]}) == truth::undecided); }
    CHECK(it.step(eval(0), "loss", {3}) == truth::undecided);
    CHECK(it.step(train(4), "loss", {3}) == truth::yes);
    CHECK(it.step(train(3), "loss", {3}) == truth::undecided);
    run small{oscillating_loss{.window = 2}};
    for (std::uint64_t i = 0; i < 9; ++i) { (void)small.step(train(i), "loss", {1}); }
    CHECK(small.covered().reason == "parameter window below 3");
}

TEST_CASE("initial_loss: ten classes expect 2.3", "[initial_loss]") {
    constexpr initial_loss rule{.expected = initial_loss::cross_entropy(10)};
    CHECK(rule.expected == Approx(std::log(10.0)));
    CHECK(initial_loss::binary() == Approx(std::log(2.0)));
    CHECK((initial_loss::mse(4) == 4 && initial_loss::cross_entropy(0) == 0));
    auto const first = [&](float loss) {
        run it{rule};
        return it.step(train(0), "loss", {loss});
    };
    CHECK(first(2.4F) == truth::no);
    CHECK(first(7.0F) == truth::yes);
    CHECK(first(0.5F) == truth::yes);
    CHECK(first(nan_f) == truth::undecided);
    run it{rule};
    CHECK(it.step(eval(0), "loss", {9}) == truth::undecided);
    CHECK(it.step(train(0), "loss", {nan_f}) == truth::undecided);
    it.see(train(1), "loss", {7});
    it.see(train(1), "loss", {2});  // a second one in the step is not the first
    CHECK(it.close(train(1)) == truth::yes);
    finding const& found = it.found[0];
    CHECK((found.measured == 7 && found.how == relation::greater && found.reason == "first loss is too high"));
    CHECK(found.threshold == Approx(3 * std::log(10.0)));
    CHECK(it.step(train(2), "loss", {7}) == truth::undecided);
    CHECK(it.step(train(0), "loss", {7}) == truth::undecided);  // after a rewind too
    run low{rule};
    CHECK(low.step(train(0), "loss", {0.5F}) == truth::yes);
    CHECK((low.found[0].how == relation::less && low.found[0].reason == "first loss is too low"));
    CHECK(low.found[0].threshold == Approx(std::log(10.0) / 3));
}

TEST_CASE("initial_loss: without `expected` it could not run", "[initial_loss]") {
    run it{initial_loss{}};
    CHECK(it.step(train(0), "loss", {7}) == truth::undecided);
    CHECK(it.covered().reason == "parameter expected not set");
    run resumed{initial_loss{.expected = 2.3} | only{before{100}}};
    CHECK(resumed.step(train(5000), "loss", {0.1F}) == truth::undecided);
}

TEST_CASE("loss_spike: a NaN is an error and leaves no trace, 1e6 after it is an error too", "[loss_spike]") {
    run it{loss_spike{}};
    CHECK(quiet(it, 0, 200));
    CHECK(it.step(train(200), "loss", {nan_f}) == truth::yes);
    CHECK((it.found[0].severity == severity::error && it.found[0].reason == "loss is not finite" &&
           it.found[0].decision == decision::skip_update));
    CHECK(quiet(it, 201, 205));
    CHECK(it.step(train(205), "loss", {1e6F}) == truth::yes);
    finding const& found = it.found[0];
    CHECK((found.severity == severity::error && found.threshold == 7 && found.reason == "loss spikes"));
    CHECK(found.measured == Approx(6.745e7).epsilon(1e-4));
    CHECK(found.detail.view() == "loss 1e6, median 1");
}

TEST_CASE("loss_spike: 1.10 is silent, 1.12 informs, and spikes that pile up warn", "[loss_spike]") {
    run it{loss_spike{}};
    CHECK(quiet(it, 0, 205));
    CHECK(it.step(train(205), "loss", {1.10F}) == truth::no);
    run near{loss_spike{.threshold = 6.7, .min_rise = 0.09}};
    CHECK(quiet(near, 0, 205));
    CHECK(near.step(train(205), "loss", {1.10F}) == truth::yes);
    CHECK(near.found[0].measured == Approx(6.745).epsilon(1e-3));
    run other{loss_spike{}};
    CHECK(quiet(other, 0, 205));
    severity const levels[] = {severity::info, severity::info, severity::warning};
    for (std::uint64_t i = 0; i < 3; ++i) {
        CHECK(other.step(train(205 + i), "loss", {1.12F}) == truth::yes);
        CHECK((other.found[0].severity == levels[i] && other.found[0].measured == Approx(8.094).epsilon(1e-3)));
    }
}

TEST_CASE("loss_spike: 5.0 from 205 on fires until it is the new level", "[loss_spike]") {
    run it{loss_spike{}};
    CHECK(quiet(it, 0, 205));
    indices yes;
    for (std::uint64_t i = 205; i < 260; ++i) {
        if (it.step(train(i), "loss", {5}) == truth::yes) { yes.push_back(i); }
    }
    CHECK((yes.size() == 32 && yes.front() == 205 && yes.back() == 236));
    CHECK(it.step(train(260), "loss", {6}) == truth::yes);
    CHECK(it.step(train(261), "loss", {1}) == truth::no);  // downwards is no spike
}

TEST_CASE("loss_spike: warm-up, a step's observations together, rewinds and other modes", "[loss_spike]") {
    run it{loss_spike{}};
    for (std::uint64_t i = 0; i < 20; ++i) { CHECK(it.step(train(i), "loss", {1}) == truth::undecided); }
    CHECK(it.step(eval(0), "loss", {100}) == truth::undecided);
    it.see(train(20), "loss", {0.5F});
    it.see(train(20), "loss", {1.5F});
    CHECK(it.close(train(20)) == truth::no);
    CHECK(it.step(train(21), "loss", {100}) == truth::yes);
    CHECK(it.step(train(5), "loss", {100}) == truth::undecided);  // a rewind: the window begins anew
    CHECK(it.close(train(6)) == truth::undecided);
    run early{loss_spike{}};
    CHECK(early.step(train(0), "loss", {pos_infinity_f}) == truth::yes);
    run idle{loss_spike{}};
    (void)idle.step(train(0), "loss", {1});
    CHECK(idle.covered().reason == "warm-up not reached: fewer than `min_history` losses");
}

TEST_CASE("gradient_spike: the global norm, its logarithm, ten times the largest", "[gradient_spike]") {
    auto const after_quiet = [](float a, float b, severity& level) {
        run it{gradient_spike{}};
        for (std::uint64_t i = 0; i < 100; ++i) {
            it.see(train(i), "grad/a", {i % 2 == 0 ? 0.59F : 0.61F});
            it.see(train(i), "grad/b", {i % 2 == 0 ? 0.79F : 0.81F});
            CHECK(it.close(train(i)) == (i < 20 ? truth::undecided : truth::no));
        }
        it.see(train(100), "grad/a", {a});
        it.see(train(100), "grad/a", {a});  // observed twice it counts once
        it.see(train(100), "grad/b", {b});
        truth const answer = it.close(train(100));
        if (answer == truth::yes) {
            level = it.found[0].severity;
            CHECK(it.found[0].tensor == "grad/a");
            CHECK((it.found[0].threshold == 7 && it.found[0].reason == "gradient norm spikes"));
            CHECK(it.found[0].measured == Approx(std::log(std::sqrt(a * a + b * b)) / 0.1).epsilon(1e-2));
        }
        return answer;
    };
    severity level = severity::warning;
    CHECK(after_quiet(1.8F, 0.8F, level) == truth::no);  // e^0.7 is 2.01
    CHECK(after_quiet(2.0F, 0.8F, level) == truth::yes);
    CHECK(level == severity::info);
    CHECK(after_quiet(10.5F, 0.8F, level) == truth::yes);
    CHECK(level == severity::error);
}

TEST_CASE("gradient_spike: not finite is an error, all zero is undefined", "[gradient_spike]") {
    run it{gradient_spike{.min_history = 2}};
    it.see(train(0), "grad/a", {1});
    it.see(train(0), "grad/b", {nan_f});
    CHECK(it.close(train(0)) == truth::yes);
    CHECK((it.found[0].tensor == "grad/b" && it.found[0].severity == severity::error &&
           it.found[0].decision == decision::skip_update));
    CHECK(it.step(train(1), "grad/a", {0}) == truth::undecided);
    CHECK(it.step(train(2), "grad/a", {1}) == truth::undecided);
    CHECK(it.step(train(3), "grad/a", {1}) == truth::undecided);
    CHECK(it.step(train(4), "grad/a", {1}) == truth::no);
    CHECK(it.step(train(5), "grad/a", {0}) == truth::undecided);
    CHECK(it.close(train(6)) == truth::undecided);
    CHECK(it.step(eval(0), "grad/a", {9}) == truth::undecided);
    CHECK(it.step(train(7), "grad/a", {9}) == truth::yes);
    CHECK(it.step(train(3), "grad/a", {9}) == truth::undecided);  // a rewind
}

namespace {

// spike_history by the definition, without its ways round a median.
struct plain_history {
    std::vector<double> all{};
    double median = 0, deviations = 0;

    static double middle(std::vector<double> values) {
        std::sort(values.begin(), values.end());
        return 0.5 * values[(values.size() - 1) / 2] + 0.5 * values[values.size() / 2];
    }
    bool stands_out(double value, spike_limits const& by, double least_rise) {
        median = middle(all);
        std::vector<double> apart;
        for (double const each : all) { apart.push_back(std::abs(each - median)); }
        double const scale =
            (std::max)({1.4826 * middle(apart), by.relative_floor * std::abs(median), by.absolute_floor});
        deviations = (value - median) / scale;
        return deviations > by.threshold && value - median > least_rise;
    }
};

}  // namespace

TEST_CASE("loss_spike, gradient_spike: what is kept sorted says what sorting says, of any sign and with values that "
          "come again") {
    std::mt19937 random{11};
    std::normal_distribution<double> normal;
    slot_array<std::uint64_t> scratch, other;
    for (std::uint64_t const window : {2U, 3U, 20U, 128U}) {
        sorted_values kept;
        recent_values plain;
        REQUIRE(kept.keep(window));
        REQUIRE(keep_sortable(plain, window, scratch));
        for (int i = 0; i < 600; ++i) {
            if (i == 300) { kept.clear(), plain.clear(); }
            double const value = random() % 3 == 0   ? (random() % 2 == 0 ? 0.0 : -0.0)
                                 : random() % 3 == 0 ? 1.0
                                                     : normal(random);
            kept.add(value), plain.add(value);
            double const expected = median_of(plain, scratch, [](double each) { return each; });
            REQUIRE(std::bit_cast<std::uint64_t>(kept.median()) == std::bit_cast<std::uint64_t>(expected));
            for (std::size_t rank = 1; rank < kept.size(); ++rank) {
                REQUIRE(!(kept.ranked(rank) < kept.ranked(rank - 1)));
            }
        }
    }
    std::uint64_t spikes = 0;
    for (double const level : {1.0, 0.0, -3.0}) {
        for (double const floor : {0.01, 0.0}) {
            spike_limits const by{32, 8, 3, 10, 0, 4, floor, 0.001, false};
            spike_history history;
            plain_history plain;
            REQUIRE(history.keep(by, other));
            for (int i = 0; i < 3000; ++i) {
                double const value = level + 0.1 * normal(random) * (random() % 20 == 0 ? 10 : 1);
                spike_history::judgement const said = history.judge(value, by, 0.05, other);
                bool const enough = plain.all.size() >= by.min_history;
                bool const spike = enough && plain.stands_out(value, by, 0.05);
                REQUIRE(said.spike == (!enough ? truth::undecided : truth_of(spike)));
                if (spike) {
                    ++spikes;
                    REQUIRE((said.median == plain.median && said.deviations == plain.deviations));
                } else {
                    plain.all.push_back(value);
                    if (plain.all.size() > by.window) { plain.all.erase(plain.all.begin()); }
                }
            }
        }
    }
    CHECK(spikes > 100);
}
