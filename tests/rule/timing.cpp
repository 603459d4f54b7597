// SPDX-License-Identifier: Apache-2.0
// Rules on time, batch size and number formats: each example of the catalogue, exactly.
#include <spotter/rule/builtin/data_wait.hpp>
#include <spotter/rule/builtin/gradient_noise_scale.hpp>
#include <spotter/rule/builtin/low_precision_overflow.hpp>
#include <spotter/rule/builtin/mixed_precision.hpp>
#include <spotter/rule/builtin/stalled_training.hpp>
#include <spotter/rule/builtin/step_time_outlier.hpp>
#include <tests/rule/features.hpp>
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <cmath>

using namespace spotter;
using namespace stage;

namespace {

constexpr bool waits_too_long() {
    run it{data_wait{.window = 2}};
    it.see(train(0), "time/wait", {0.25F});
    bool const early = it.step(train(0), "time/step", {1}) != truth::undecided;
    it.see(train(1), "time/wait", {0.25F});
    return !early && it.step(train(1), "time/step", {1}) == truth::yes && it.found[0].measured == 0.25;
}
static_assert(waits_too_long());
static_assert(gradient_noise_scale{.batch_small = 16, .batch_big = 64}.signal_of(5, 2) == 1);
static_assert(gradient_noise_scale{.batch_small = 16, .batch_big = 64}.noise_of(5, 2) == 64);

// Half of the elements 2^-26, which a pass in f16 rounds to zero.
constexpr std::uint64_t half_lost() {
    run it{mixed_precision{}};
    for (std::uint64_t i = 0; i < 20; ++i) {
        if (it.step(train(i), "grad/w", {0x1p-26F, 1, 0}) == truth::yes) { return i; }
    }
    return no_index;
}
static_assert(half_lost() == 9);

constexpr bool stalls_once() {
    stalled_training const rule{};
    stalled_training::state seen;
    findings out;
    (void)rule.close(seen, train(0), out);
    (void)rule.poll(seen, 0);
    return rule.poll(seen, 1800) == truth::no && rule.poll(seen, 1801) == truth::yes && out.empty();
}
static_assert(stalls_once());

template <class Run>
truth wait_step(Run& it, step_id at, float wait, float step) {
    it.see(at, "time/wait", {wait});
    it.see(at, "time/step", {step});
    return it.close(at);
}

}  // namespace

TEST_CASE("data_wait: 0.03 of 0.1 s a hundred times is a warning at 99, with 0.3", "[data_wait]") {
    run it{data_wait{}};
    for (std::uint64_t i = 0; i < 99; ++i) { CHECK(wait_step(it, train(i), 0.03F, 0.1F) == truth::undecided); }
    CHECK(it.covered().reason == "warm-up not reached: fewer than `window` steps with both times");
    CHECK(wait_step(it, train(99), 0.03F, 0.1F) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].severity == severity::warning && it.found[0].tensor == "time/wait"));
    CHECK((it.found[0].measured == Approx(0.3) && it.found[0].threshold == 0.2));
    CHECK(it.found[0].remedy == "Prefetch, cache or add loader workers.");
    // Steps that are left out: other modes, one time only, no time at all, no number.
    CHECK(wait_step(it, eval(0), 9, 9) == truth::undecided);
    CHECK(it.step(train(100), "time/step", {9}) == truth::undecided);
    CHECK(it.step(train(100), "time/wait", {9}) == truth::undecided);
    CHECK(wait_step(it, train(100), 0, 0) == truth::undecided);
    CHECK(wait_step(it, train(100), -1, 9) == truth::undecided);
    CHECK(wait_step(it, train(100), nan_f, 9) == truth::undecided);
    CHECK(wait_step(it, train(100), 1, pos_infinity_f) == truth::undecided);
    CHECK(wait_step(it, train(50), 0.03F, 0.1F) == truth::yes);  // after a rewind
    CHECK(it.found[0].measured == Approx(0.3));
}

TEST_CASE("data_wait: info from a twentieth on, and the waits of a step add up", "[data_wait]") {
    data_wait const quick{.window = 2};
    run it{quick};
    (void)wait_step(it, train(0), 0.0625F, 1);
    CHECK(wait_step(it, train(1), 0.0625F, 1) == truth::yes);
    CHECK((it.found[0].severity == severity::info && it.found[0].measured == 0.0625 && it.found[0].threshold == 0.05));
    CHECK(wait_step(it, train(2), 0, 1) == truth::no);
    it.see(train(3), "time/wait", {0.125F});
    it.see(train(3), "time/wait", {0.125F});
    CHECK(wait_step(it, train(3), 0.25F, 1) == truth::yes);
    CHECK((it.found[0].severity == severity::warning && it.found[0].measured == 0.25));
    CHECK(data_wait{.step = "["}.malformed() == "[");
}

TEST_CASE("step_time_outlier: 0.3 s after a hundred times 0.1 s is reported at 100", "[step_time_outlier]") {
    run it{step_time_outlier{}};
    for (std::uint64_t i = 0; i < 20; ++i) { CHECK(it.step(train(i), "time/step", {0.1F}) == truth::undecided); }
    for (std::uint64_t i = 20; i < 100; ++i) { CHECK(it.step(train(i), "time/step", {0.1F}) == truth::no); }
    CHECK(it.step(train(100), "time/step", {0.3F}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].severity == severity::info && it.found[0].reason == "step took too long"));
    CHECK(it.found[0].measured == Approx(0.3));
    CHECK(it.found[0].threshold == Approx(0.2));
    CHECK(it.found[0].remedy == "Look at checkpoints, evaluation or the named rank at the named step.");
    CHECK(it.step(train(101), "time/step", {0.199F}) == truth::no);  // not above two medians
    CHECK(it.step(train(102), "time/step", {nan_f}) == truth::undecided);
    CHECK(it.close(train(103)) == truth::undecided);
    CHECK(it.step(eval(0), "time/step", {0.3F}) == truth::undecided);  // a history of its own
    CHECK(it.step(train(0), "time/step", {0.3F}) == truth::yes);       // after a rewind
    run short_memory{step_time_outlier{.window = 10, .min_history = 20}};
    for (std::uint64_t i = 0; i < 10; ++i) { (void)short_memory.step(train(i), "time/step", {0.1F}); }
    CHECK(short_memory.step(train(10), "time/step", {0.3F}) == truth::yes);
}

TEST_CASE("step_time_outlier: spread counts, and more than five of a hundred are a warning", "[step_time_outlier]") {
    run spread{step_time_outlier{}};
    for (std::uint64_t i = 0; i < 200;
         ++i) {  // median 0.2, MAD 0.1: of an even count the mean of the two in the middle
        truth const answer = spread.step(train(i), "time/step", {i % 2 == 0 ? 0.1F : 0.3F});
        if (i >= 128) { CHECK(answer == truth::no); }
    }
    CHECK(spread.step(train(200), "time/step", {1}) == truth::yes);
    CHECK(spread.found[0].threshold == Approx(0.2 + 5 * 1.4826 * 0.1));
    run it{step_time_outlier{}};
    std::vector<std::uint64_t> infos, warnings;
    for (std::uint64_t i = 0; i < 260; ++i) {
        it.see(train(i), "time/step", {i >= 30 && i % 10 == 0 && i < 110 ? 1.0F : 0.1F});
        it.see(train(i), "time/step", {9});  // a second sight does not count
        if (it.close(train(i)) != truth::yes) { continue; }
        (it.found[0].severity == severity::info ? infos : warnings).push_back(i);
    }
    CHECK(infos == indices{30, 40, 50, 60, 70});
    CHECK(warnings == indices{80, 90, 100});
}

TEST_CASE("gradient_noise_scale: 5 over 16 and 2 over 64 give a scale of 64", "[gradient_noise_scale]") {
    auto const last = [](gradient_noise_scale const& rule, float small, float big, finding* reported = nullptr) {
        run it{rule};
        truth answer = truth::undecided;
        for (std::uint64_t i = 0; i <= 100; ++i) {
            CHECK(answer == truth::undecided);
            it.see(train(i), "metric/grad_sq_small", {small});
            it.see(train(i), "metric/grad_sq_big", {big});
            answer = it.close(train(i));
        }
        if (reported != nullptr && answer == truth::yes) { *reported = it.found[0]; }
        return answer;
    };
    gradient_noise_scale const rule{.batch_small = 16, .batch_big = 64};
    CHECK(last(rule, 5, 2) == truth::no);
    finding found;
    gradient_noise_scale strict = rule;
    strict.ratio = 0.5;
    CHECK(last(strict, 5, 2, &found) == truth::yes);
    CHECK((found.measured == Approx(64) && found.severity == severity::info && found.tensor == "metric/grad_sq_small"));
    CHECK(found.remedy == "Change the batch size towards the measured value.");
    CHECK(last(rule, 5, 1.25F + 1.0F / 64, &found) == truth::yes);  // |G|^2 1/48, S 79.67: 3824
    CHECK((found.reason == "a larger batch would pay" && found.measured == Approx(3824)));
    CHECK((found.how == relation::greater && found.threshold == 640));
    CHECK(last(rule, 2.0625F, 2, &found) == truth::yes);  // |G|^2 1.979, S 1.333
    CHECK((found.reason == "a smaller batch would do" && found.measured == Approx(0.6737).epsilon(1e-3)));
    CHECK(last(rule, 4, 1) == truth::undecided);  // no signal
    CHECK(last(rule, 1, 2) == truth::undecided);  // no noise that could be
}

TEST_CASE("gradient_noise_scale averages both estimates before it divides, and wants both sizes",
          "[gradient_noise_scale]") {
    run it{gradient_noise_scale{.batch_small = 16, .batch_big = 64, .ratio = 0.5, .warmup = 1}};
    auto const sight = [&](step_id at, float small, float big) {
        it.see(at, "metric/grad_sq_small", {small});
        it.see(at, "metric/grad_sq_big", {big});
        return it.close(at);
    };
    CHECK(sight(train(0), 4, 1) == truth::undecided);  // |G|^2 0, S 64
    CHECK(sight(train(1), nan_f, 2) == truth::undecided);
    CHECK(it.step(train(1), "metric/grad_sq_big", {2}) == truth::undecided);
    CHECK(sight(eval(1), 9, 2) == truth::undecided);
    CHECK(sight(train(2), 5, 2) == truth::yes);  // |G|^2 1, S 64
    double const signal = 0.01 / (0.99 * 0.01 + 0.01);
    CHECK(it.found[0].measured == Approx(64 / signal));
    run unset{gradient_noise_scale{.batch_big = 64}};
    unset.see(train(0), "metric/grad_sq_big", {2});
    CHECK(unset.step(train(0), "metric/grad_sq_small", {5}) == truth::undecided);
    CHECK(unset.covered().reason == "parameter batch_small not set");
    run half{gradient_noise_scale{.batch_small = 64, .batch_big = 64}};
    CHECK(half.step(train(0), "metric/grad_sq_small", {5}) == truth::undecided);
    CHECK(half.covered().reason == "parameter batch_big not set, or not above batch_small");
}

TEST_CASE("mixed_precision: half of the elements 2^-26 underflow in f16 and fire at 9, 2^-24 does not",
          "[mixed_precision]") {
    run it{mixed_precision{}};
    for (std::uint64_t i = 0; i < 9; ++i) { CHECK(it.step(train(i), "grad/w", {0x1p-26F, 1, 0}) == truth::no); }
    CHECK(it.step(train(9), "grad/w", {0x1p-26F, 1, 0}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].measured == 0.5 && it.found[0].threshold == 0.1 && it.found[0].reason == "gradients underflow"));
    CHECK((it.found[0].severity == severity::warning && it.found[0].tensor == "grad/w"));
    CHECK(it.found[0].remedy == "Raise the loss scale or keep master weights in f32.");
    CHECK(fired(mixed_precision{}, 12, "grad/w", {0x1p-24F, -0x1p-24F}).empty());
    // With a scale of 4 it is 2^-24 again.
    CHECK(fired(mixed_precision{}, 12, [](auto& run, step_id at) {
              run.see(at, "metric/loss_scale", {4});
              run.see(at, "grad/w", {0x1p-26F});
          }).empty());
    struct example {
        dtype to;
        float lost, kept;
    };
    for (example const& each :
         {example{dtype::bf16, 0x1.8p-135F, 0x1p-134F}, example{dtype::f8_e4m3, 0x1.8p-11F, 0x1p-10F},
          example{dtype::f8_e5m2, 0x1.8p-18F, 0x1p-17F}}) {
        mixed_precision const rule{.to = each.to, .patience = 1};
        CHECK(fired(rule, 1, "grad/w", {each.lost}) == indices{0});
        CHECK(fired(rule, 1, "grad/w", {each.kept}).empty());
    }
}

TEST_CASE("mixed_precision: a scale that falls from 65536 to 1 is an error at 16, one that was always 1 is not",
          "[mixed_precision]") {
    run it{mixed_precision{}};
    float scale = 65536;
    for (std::uint64_t i = 0; i < 16; ++i, scale /= 2) {
        CHECK(it.step(train(i), "metric/loss_scale", {scale}) == truth::no);
    }
    CHECK(it.step(train(16), "metric/loss_scale", {scale}) == truth::yes);
    CHECK((it.found[0].severity == severity::error && it.found[0].measured == 1 && it.found[0].threshold == 1));
    CHECK(it.found[0].reason == "loss scale collapsed");
    CHECK(it.step(train(17), "metric/loss_scale", {nan_f}) == truth::undecided);
    CHECK(it.step(eval(0), "metric/loss_scale", {0}) == truth::undecided);
    CHECK(it.step(train(3), "metric/loss_scale", {2}) == truth::no);  // after a rewind
    CHECK(fired(mixed_precision{.to = dtype::bf16}, 3, "metric/loss_scale", {1}).empty());
}

TEST_CASE("mixed_precision: what overflows is reported as info, at the sizes where a format rounds to no number",
          "[mixed_precision]") {
    auto const overflows = [](dtype to, float size) {
        return !fired(mixed_precision{.to = to}, 1, "grad/w", {size}).empty();
    };
    CHECK((overflows(dtype::f16, 65520) && !overflows(dtype::f16, 65519)));
    CHECK((overflows(dtype::f8_e4m3, -464.5F) && !overflows(dtype::f8_e4m3, 464)));
    CHECK((overflows(dtype::f8_e5m2, 61440) && !overflows(dtype::f8_e5m2, 61439)));
    CHECK((overflows(dtype::bf16, 0x1.FF8p127F) && !overflows(dtype::bf16, 0x1.FEp127F)));
    run it{mixed_precision{}};
    it.see(train(0), "metric/loss_scale", {65536});
    CHECK(it.step(train(0), "grad/w", {1, 0.5F}) == truth::yes);
    CHECK((it.found[0].severity == severity::info && it.found[0].measured == 65536 && it.found[0].threshold == 65520));
    CHECK(it.step(train(1), "grad/w", {nan_f, 0.5F}) == truth::yes);
    CHECK((it.found[0].severity == severity::info && it.found[0].detail.view() == "1 element is not finite"));
    CHECK(it.step(train(2), "grad/w", {0.5F, 0}) == truth::no);
    CHECK(it.step(train(3), "grad/w", {0, 0}) == truth::undecided);
}

TEST_CASE("mixed_precision: more than ten skipped steps of a thousand are a warning", "[mixed_precision]") {
    auto const of_skips = [](std::uint64_t skips) {
        return fired(mixed_precision{}, 1100, [=](auto& it, step_id at) {
            for (int i = 0; i < 2; ++i) { it.see(at, "metric/step_skipped", {at.index < skips ? 1.0F : 0.0F}); }
        });
    };
    CHECK(of_skips(10).empty());
    auto const eleven = of_skips(11);
    REQUIRE(eleven.size() == 990);  // until the first of them leaves the window
    CHECK((eleven.front() == 10 && eleven.back() == 999));
    run it{mixed_precision{.skip_window = 10}};
    CHECK(it.step(train(0), "metric/step_skipped", {1}) == truth::yes);
    CHECK((it.found[0].measured == 0.1 && it.found[0].severity == severity::warning));
    run unjudged{mixed_precision{.skip_window = 0}};
    CHECK(unjudged.step(train(0), "metric/step_skipped", {1}) != truth::yes);
    run none{mixed_precision{.to = dtype::f32}};
    CHECK(none.step(train(0), "grad/w", {1}) == truth::undecided);
    CHECK(none.covered().reason == "parameter `to` is no low-precision type");
    CHECK(mixed_precision{.step_skipped = "["}.malformed() == "[");
}

TEST_CASE("mixed_precision: streaks count steps, and a replay of the exponents answers alike", "[mixed_precision]") {
    auto const twice = fired(mixed_precision{.patience = 3}, 5, [](auto& it, step_id at) {
        it.see(at, "grad/w", {0x1p-30F});
        it.see(at, "grad/w", {0x1p-30F});
    });
    CHECK(twice == indices{2, 3, 4});
    CHECK(judges_without_values(
        mixed_precision{.patience = 2}, "grad/w",
        {{1, 0x1p-30F}, {0x1p-30F, nan_f}, {1e30F, 1e-40F}, {0}, {}, {3, -3}, {0x1p-30F}, {0x1p-30F}}));
    // Whatever the scale, the feature is the same.
    CHECK(mixed_precision{}.feature_key() == mixed_precision{.to = dtype::bf16, .min_scale = 8}.feature_key());
    feature made;
    float const values[] = {0, nan_f, 1, -1.5F, 8, 0x1p-149F};
    exponent_counts::extract(view_of(values, {6}), made);
    REQUIRE(made.all().size() == 1 + 149 + 4);
    CHECK((made.all()[0] == -149 && made.all()[1] == 1 && made.all()[150] == 2 && made.all()[153] == 1));
    made.clear();
    double const wide[] = {0x1p-1074, 1e300};
    exponent_counts::extract(view_of(wide, {2}), made);
    CHECK((made.all().size() == 386 && made.all()[0] == -192 && made.all()[385] == 1));
}

TEST_CASE("stalled_training: silent at 1800 s, known at 1801, reported by the next close", "[stalled_training]") {
    stalled_training const rule = stalled_training::sagemaker_defaults();
    stalled_training::state seen;
    findings out;
    CHECK(rule.close(seen, train(0), out) == truth::no);
    CHECK(rule.poll(seen, 0) == truth::undecided);  // this is when the close happened
    CHECK(rule.poll(seen, 1800) == truth::no);
    CHECK(rule.poll(seen, 1801) == truth::yes);
    CHECK(rule.poll(seen, 1900) == truth::no);
    CHECK(out.empty());
    // The close that ends the stall tells it, and asks for nothing.
    CHECK(rule.close(seen, train(1), out) == truth::yes);
    REQUIRE(out.size() == 1);
    CHECK((out[0].severity == severity::error && out[0].reason == "no step was closed"));
    CHECK((out[0].measured == 1900 && out[0].threshold == 1800 && response_of(out[0]) == decision::proceed));
    CHECK(rule.close(seen, train(2), out) == truth::no);
    CHECK(rule.poll(seen, 2000) == truth::undecided);
    CHECK(rule.poll(seen, 3800) == truth::no);
    CHECK(rule.poll(seen, 3801) == truth::yes);
}

TEST_CASE("stalled_training counts from the first poll where no step was ever closed, and survives odd clocks",
          "[stalled_training]") {
    stalled_training const rule{.threshold = 10};
    stalled_training::state seen;
    findings out;
    CHECK(rule.poll(seen, 5) == truth::undecided);
    CHECK(rule.poll(seen, 15) == truth::no);
    CHECK(rule.poll(seen, static_cast<double>(nan_f)) == truth::undecided);
    CHECK(rule.poll(seen, 15.5) == truth::yes);
    CHECK(rule.close(seen, train(0), out) == truth::yes);
    CHECK(rule.poll(seen, 20) == truth::undecided);
    CHECK(rule.poll(seen, 3) == truth::undecided);  // backwards: anew
    CHECK(rule.poll(seen, 13) == truth::no);
    CHECK(rule.poll(seen, 14) == truth::yes);
    // It is a rule like any other: it runs in a machine, and judged closes are no silence.
    machine it{rule};
    CHECK(it.declare({.id = 0, .name = "loss", .role = role::loss}).mask == stats_mask::none);
    CHECK(it.close(train(0), out) == truth::no);
    it.report([](coverage const& each) { CHECK((each.judged == 1 && each.reason.empty())); });
    it.poll(0);
    it.poll(11);
    out.clear();
    CHECK(it.close(train(1), out) == truth::yes);
    CHECK((out[0].rule == "stalled_training" && out[0].measured == 11));
    CHECK(out[0].remedy == "Inspect the input pipeline and collectives; no step has been closed.");
}

TEST_CASE("low_precision_overflow: 65519 fits f16, -65520 does not; each format has its own end",
          "[low_precision_overflow]") {
    run it{low_precision_overflow{}};
    CHECK(it.step(train(0), "fc/w", {1, 65519}) == truth::no);
    CHECK(it.step(train(1), "fc/w", {1, -65520}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].measured == 65520 && it.found[0].detail.view() == "as f16"));
    CHECK(it.step(train(2), "fc/w", {nan_f, nan_f}) == truth::undecided);
    CHECK(it.step(train(3), "act/1", {1e9F}) == truth::undecided);
    run brain{low_precision_overflow{.to = dtype::bf16}};
    CHECK(brain.step(train(0), "fc/w", {3.38e38F}) == truth::no);
    CHECK(brain.step(train(1), "fc/w", {3.4e38F}) == truth::yes);
    run tiny{low_precision_overflow{.to = dtype::f8_e4m3}};
    CHECK(tiny.step(train(0), "fc/w", {464}) == truth::no);
    CHECK(tiny.step(train(1), "fc/w", {464.5F}) == truth::yes);
    run none{low_precision_overflow{.to = dtype::i32}};
    CHECK(none.step(train(0), "fc/w", {1e9F}) == truth::undecided);
}
