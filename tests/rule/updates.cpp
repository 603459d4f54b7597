// SPDX-License-Identifier: Apache-2.0
// Rules on inputs, gradients, weights and their updates: each example of the catalogue, exactly.
#include <spotter/rule/builtin/exploding_tensor.hpp>
#include <spotter/rule/builtin/gradient_depth_ratio.hpp>
#include <spotter/rule/builtin/gradient_not_cleared.hpp>
#include <spotter/rule/builtin/input_not_normalized.hpp>
#include <spotter/rule/builtin/tensor_variance.hpp>
#include <spotter/rule/builtin/updates_too_small.hpp>
#include <spotter/rule/builtin/weight_update_ratio.hpp>
#include <spotter/spotter.hpp>
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace spotter;
using namespace stage;
using namespace spotter::literals;

namespace {

constexpr bool a_jump_is_found_in_a_constant_expression() {
    run it{weight_update_ratio{}};
    (void)it.step(train(0), "fc1/w", {3, 4});
    return it.step(train(1), "fc1/w", {63, 4}) == truth::yes;
}
static_assert(a_jump_is_found_in_a_constant_expression());

// A batch of 64 samples of two values each, centre +- spread.
template <rule Rule>
void see_batch(run<Rule>& it, step_id at, float centre, float spread) {
    std::vector<float> values(128);
    for (std::size_t i = 0; i < values.size(); ++i) { values[i] = i % 2 == 0 ? centre - spread : centre + spread; }
    it.see(at, "input", values, {64, 2});
}

// Three gradients whose root mean squares are these.
template <rule Rule>
truth see_depth(run<Rule>& it, step_id at, float first, float last) {
    it.see(at, "grad/1/w", {first, -first});
    it.see(at, "grad/2/w", {1e-3F});
    it.see(at, "grad/3/w", {last, last, -last});
    return it.close(at);
}

// A weight that moves by `change` a step along the second axis, and its gradient.
struct small_steps {
    run<updates_too_small> it;
    explicit small_steps(updates_too_small const& rule = {}) : it{rule} {
        it.declare({.name = "fc1/w", .role = role::weight, .type = dtype::f32, .shape = {1, 2}});
        it.declare({.name = "grad/fc1/w",
                    .role = role::gradient,
                    .partner_role = role::weight,
                    .partner = 0,
                    .type = dtype::f32,
                    .shape = {1, 2}});
    }
    truth step(std::uint64_t at, float change, float slope) {
        it.see(train(at), "fc1/w", {1, change * static_cast<float>(at)});
        it.see(train(at), "grad/fc1/w", {0, slope});
        return it.close(train(at));
    }
};

static_assert(runs(input_not_normalized{}, "input") && runs(exploding_tensor{}, "x") &&
              runs(tensor_variance{}, "fc1/w") && runs(updates_too_small{}, "fc1/w") &&
              runs(gradient_depth_ratio{}, "grad/w") && runs(gradient_not_cleared{}, "grad/w"));

}  // namespace

TEST_CASE("input_not_normalized: [0, 1] and [-1, 1] are in order, 0 to 255 is not: at step 7 with 500 samples",
          "[input_not_normalized]") {
    auto const over_eight = [](input_not_normalized const& rule, float centre, float spread) {
        return fired(rule, 9, [&](auto& it, step_id at) { see_batch(it, at, centre, spread); });
    };
    CHECK(over_eight({}, 0.13F, 0.31F).empty());
    CHECK(over_eight({}, 0.5F, 0.5F).empty());
    CHECK(over_eight({}, 0, 1).empty());
    auto strict = input_not_normalized::strict();
    strict.samples = 500;
    CHECK(over_eight(strict, 0.13F, 0.31F) == indices{7, 8});  // what was judged holds
    CHECK(over_eight({.samples = 500}, 33, 79) == indices{7, 8});
    CHECK(over_eight({.samples = 500}, 0, 0) == indices{7, 8});
    CHECK(over_eight({.samples = 500}, 0, 6) == indices{7, 8});
    CHECK(over_eight({}, 33, 79).front() == 0);  // one batch tells, where it has 32 samples
    run wide{input_not_normalized{}};
    see_batch(wide, train(0), 2, 255);  // both are out of range: the finding names the one further out
    CHECK(wide.close(train(0)) == truth::yes);
    CHECK((wide.found[0].reason == "input varies too much" && wide.found[0].measured == Approx(255)));
    auto const narrow = [](float value) {  // one in 400 values
        run it{input_not_normalized{}};
        std::vector<float> values(400 * 32, 0);
        for (std::size_t i = 0; i < 32; ++i) { values[400 * i + i] = value; }
        it.see(train(0), "input", values, {32, 400});
        return it.close(train(0)) == truth::yes ? std::string{it.found[0].reason} : std::string{};
    };
    CHECK(narrow(1) == "input hardly varies");
    CHECK(narrow(1.0F / 255) == "input is next to zero");  // divided by 255 twice
    run it{strict};
    for (std::uint64_t i = 0; i < 7; ++i) {
        see_batch(it, train(i), 0.13F, 0.31F);
        CHECK(it.close(train(i)) == truth::undecided);
    }
    see_batch(it, train(7), 0.13F, 0.31F);
    CHECK(it.close(train(7)) == truth::yes);
    finding const& found = it.found[0];
    CHECK((found.measure == "stddev" && found.how == relation::less && found.threshold == 0.5));
    CHECK((found.reason == "input hardly varies" && found.severity == severity::warning && found.tensor == "input"));
    CHECK(found.measured == Approx(0.31));
    CHECK(found.detail.view() == "over 512 samples");
    CHECK(it.close(train(8)) == truth::undecided);  // without the input
}

TEST_CASE("input_not_normalized: the spread between batches counts, NaN does not", "[input_not_normalized]") {
    run it{input_not_normalized{.samples = 128}};
    see_batch(it, train(0), -10, 0);
    CHECK(it.close(train(0)) == truth::undecided);
    see_batch(it, eval(0), 100, 0);
    CHECK(it.close(eval(0)) == truth::undecided);
    see_batch(it, train(1), 10, 0);
    CHECK(it.close(train(1)) == truth::yes);
    CHECK((it.found[0].measure == "stddev" && it.found[0].measured == 10 && it.found[0].threshold == 5));
    run nans{input_not_normalized{.samples = 1}};
    CHECK(nans.step(train(0), "input", {nan_f, nan_f}) == truth::undecided);
    CHECK(nans.step(train(1), "input", {nan_f, -2, -2}) == truth::yes);
    CHECK((nans.found[0].measure == "|mean|" && nans.found[0].measured == 2));
}

TEST_CASE("input_not_normalized: real inputs only, counted along their batch axis", "[input_not_normalized]") {
    run it{input_not_normalized{.samples = 6}};
    it.declare({.name = "input/tokens", .role = role::input, .type = dtype::i64, .shape = {2, 3}});
    CHECK(it.covered().matched == 0);
    it.declare(
        {.name = "input", .role = role::input, .flags = batch_axis(1), .type = dtype::f32, .shape = extents{2, 3}});
    it.see(train(0), "input", std::vector<float>(6, 9.0F), {2, 3});
    CHECK(it.close(train(0)) == truth::undecided);  // three samples
    it.see(train(1), "input", std::vector<float>(4, 9.0F), {2, 2});
    CHECK(it.close(train(1)) == truth::undecided);  // two more
    CHECK(it.covered().reason == "warm-up not reached: fewer than `samples` samples");
    it.see(train(2), "input", std::vector<float>(2, 9.0F), {2, 1});
    CHECK(it.close(train(2)) == truth::yes);
}

TEST_CASE("exploding_tensor: NaN at 0 and 2 fires there; infinities pass where only NaN counts", "[exploding_tensor]") {
    auto const from = [](std::uint64_t first) {
        run it{exploding_tensor::sagemaker_defaults()};
        indices yes;
        for (std::uint64_t i = first; i < 3; ++i) {
            if (it.step(train(i), "x", {1, i == 1 ? 1.0F : nan_f}) == truth::yes) { yes.push_back(i); }
        }
        return yes;
    };
    CHECK(from(0) == indices{0, 2});
    CHECK(from(1) == indices{2});
    run it{exploding_tensor{}};
    it.see(eval(0), "x", {1, pos_infinity_f, nan_f});
    it.see(eval(0), "y", {neg_infinity_f});
    CHECK(it.close(eval(0)) == truth::yes);
    finding const& found = it.found[0];
    CHECK((found.tensor == "x" && found.measured == 2 && found.others == 1 && found.severity == severity::error));
    CHECK((found.decision == decision::skip_update && found.reason == "tensor is not finite"));
    CHECK(found.detail.view() == "first at index 1; nan 1, +inf 1, -inf 0");
    CHECK(it.close(eval(1)) == truth::undecided);
    run nans{exploding_tensor{.only_nan = true}};
    CHECK(nans.step(train(0), "x", {pos_infinity_f}) == truth::no);
    CHECK(nans.step(train(1), "x", {pos_infinity_f, nan_f}) == truth::yes);
    CHECK((nans.found[0].measured == 1 && nans.found[0].detail.view() == "nan 1, +inf 1, -inf 0"));
}

TEST_CASE("tensor_variance: a constant fires at 2, {-4, 4} has 16, {-1, 1} is in order", "[tensor_variance]") {
    CHECK(fired(tensor_variance{}, 4, "fc1/w", {1, 1}) == indices{2, 3});
    CHECK(fired(tensor_variance{}, 4, "fc1/w", {-4, 4}) == indices{2, 3});
    CHECK(fired(tensor_variance{}, 4, "fc1/w", {-1, 1}).empty());
    CHECK(fired(tensor_variance{}, 4, "fc1/w", {2e-3F, -2e-3F}).empty());  // 4e-6, as residual projections begin
    run it{tensor_variance{.patience = 1}};
    CHECK(it.step(train(0), "fc1/w", {-4, 4, nan_f}) == truth::yes);
    CHECK((it.found[0].measured == 16 && it.found[0].threshold == 10 && it.found[0].reason == "values are far apart"));
    CHECK(it.step(train(1), "fc1/w", {1, 1}) == truth::yes);
    CHECK((it.found[0].measured == 0 && it.found[0].threshold == 1e-8 && it.found[0].how == relation::less));
    CHECK(it.step(train(2), "fc1/w", {1, nan_f}) == truth::undecided);  // one element has no variance
    CHECK(it.step(train(3), "fc1/w", {nan_f, nan_f}) == truth::undecided);
    CHECK(it.step(eval(0), "fc1/w", {1, 1}) == truth::undecided);
    auto const gap = fired(tensor_variance{}, 5, [](auto& on, step_id at) {
        on.see(at, "fc1/w", {1, at.index == 1 ? nan_f : 1.0F});
        on.see(at, "fc1/w", {1, at.index == 1 ? nan_f : 1.0F});  // twice in a step counts once
    });
    CHECK(gap == indices{3, 4});
}

TEST_CASE("tensor_variance: without limits it could not run, one of them is enough", "[tensor_variance]") {
    auto rule = tensor_variance::sagemaker_defaults();
    run it{rule};
    CHECK(it.step(train(0), "fc1/w", {1, 1}) == truth::undecided);
    CHECK(it.covered().reason == "parameter min_threshold not set, nor max_threshold");
    rule.max_threshold = std::numeric_limits<double>::infinity();
    CHECK(fired(rule, 2, "fc1/w", {1, 1}).empty());
    rule.min_threshold = 0.5;
    CHECK(fired(rule, 2, "fc1/w", {1, 1}) == indices{0, 1});
    CHECK(fired(rule, 2, "fc1/w", {-1e18F, 1e18F}).empty());
}

TEST_CASE("weight_update_ratio: 1e-3 is silent, 12 and no change fire", "[weight_update_ratio]") {
    auto const to = [](float x, float y) {
        run it{weight_update_ratio{}};
        CHECK(it.step(train(0), "fc1/w", {3, 4}) == truth::undecided);
        truth const answer = it.step(train(1), "fc1/w", {x, y});
        return std::pair{answer, it.found.empty() ? finding{} : it.found[0]};
    };
    CHECK(to(3, 4.005F).first == truth::no);
    auto const [large, jump] = to(63, 4);
    CHECK((large == truth::yes && jump.how == relation::greater && jump.reason == "update is too large"));
    CHECK(jump.measured == Approx(12));
    auto const [small, rest] = to(3, 4);
    CHECK((small == truth::yes && rest.measured == 0 && rest.how == relation::less && rest.threshold == 1e-8));
}

TEST_CASE("weight_update_ratio: distance, gaps, rewinds and what is undefined", "[weight_update_ratio]") {
    run it{weight_update_ratio{}};
    run whole{weight_update_ratio::sagemaker_defaults()};
    run apart{weight_update_ratio{.num_steps = 5}};
    for (auto* one : {&it, &whole, &apart}) { (void)one->step(train(0), "fc1/w", {3, 4}); }
    CHECK(it.step(train(4), "fc1/w", {63, 4}) == truth::no);  // 3 a step
    CHECK(whole.step(train(4), "fc1/w", {63, 4}) == truth::yes);
    CHECK(apart.step(train(4), "fc1/w", {63, 4}) == truth::undecided);
    CHECK(apart.covered().judged == 0);
    CHECK(apart.step(train(9), "fc1/w", {63, 4}) == truth::yes);
    CHECK(it.step(train(4), "fc1/w", {9999, 4}) == truth::undecided);  // again in the same step
    CHECK(it.step(train(2), "fc1/w", {3, 4}) == truth::undecided);     // a rewind
    CHECK(it.step(train(3), "fc1/w", {3, nan_f}) == truth::undecided);
    CHECK(it.step(train(4), "fc1/w", {0, 0}) == truth::undecided);
    CHECK(it.step(train(5), "fc1/w", {1, 1}) == truth::undecided);  // from zero
    CHECK(it.step(eval(5), "fc1/w", {1, 1}) == truth::undecided);
    run frozen{weight_update_ratio{}};
    frozen.declare({.name = "fc1/w", .role = role::weight, .flags = flag::frozen, .type = dtype::f32, .shape = {1, 2}});
    CHECK(frozen.covered().matched == 0);
}

TEST_CASE("updates_too_small: a ratio of 1e-9 fires at 50, 1e-3 never", "[updates_too_small]") {
    small_steps slow;
    for (std::uint64_t i = 0; i < 50; ++i) { CHECK(slow.step(i, 1e-9F, 2) == (i == 0 ? truth::undecided : truth::no)); }
    CHECK(slow.step(50, 1e-9F, 2) == truth::yes);
    finding const& found = slow.it.found[0];
    CHECK((found.tensor == "fc1/w" && found.threshold == 1e-7 && found.how == relation::less && found.others == 0));
    CHECK((found.severity == severity::warning && found.reason == "weights hardly move"));
    CHECK(found.measured == Approx(1e-9).epsilon(1e-4));
    CHECK(found.detail.view() == "1 of 1 weights; effective learning rate 5e-10");
    small_steps healthy;
    for (std::uint64_t i = 0; i < 60; ++i) { CHECK(healthy.step(i, 1e-3F, 2) != truth::yes); }
}

TEST_CASE("updates_too_small: judged with the gradient that made the update, finite and not all zero",
          "[updates_too_small]") {
    updates_too_small rule{.patience = 1};
    small_steps it{rule};
    CHECK(it.step(0, 0, 2) == truth::undecided);
    CHECK(it.step(1, 0, 0) == truth::yes);            // by the gradient of step 0
    CHECK(it.step(2, 0, nan_f) == truth::undecided);  // by that of step 1, all zero
    CHECK(it.step(3, 0, 2) == truth::undecided);      // by that of step 2, not finite: such updates are skipped
    CHECK(it.step(4, 0, 2) == truth::yes);
    it.it.see(train(5), "fc1/w", {1, 0});
    CHECK(it.it.close(train(5)) == truth::yes);
    it.it.see(train(6), "fc1/w", {1, 0});
    CHECK(it.it.close(train(6)) == truth::undecided);  // no gradient was observed at 5
    CHECK(it.step(2, 0, 2) == truth::undecided);       // a rewind
    CHECK(it.step(3, 0, 2) == truth::yes);
    rule.after_update = true;
    small_steps after{rule};
    CHECK(after.step(0, 0, 2) == truth::undecided);
    CHECK(after.step(1, 0, 0) == truth::undecided);
    CHECK(after.step(2, 0, 2) == truth::yes);
    small_steps idle;
    for (std::uint64_t i = 0; i < 3; ++i) { idle.it.see(train(i), "fc1/w", {1, 0}), (void)idle.it.close(train(i)); }
    CHECK(idle.it.covered().reason == "no change of a weight together with its gradient, finite and not all zero");
    CHECK(idle.it.covered().matched == 1);  // gradients and losses are read, not judged
}

TEST_CASE("updates_too_small: a share of the weights, in a row, softened once training has settled",
          "[updates_too_small]") {
    small_steps it{updates_too_small{.share = 0.6, .patience = 2}};
    it.it.declare({.name = "fc2/w", .role = role::weight, .type = dtype::f32, .shape = {1, 2}});
    it.it.declare({.name = "grad/fc2/w",
                   .role = role::gradient,
                   .partner_role = role::weight,
                   .partner = 2,
                   .type = dtype::f32,
                   .shape = {1, 2}});
    auto const step = [&](std::uint64_t at, float other) {
        it.it.see(train(at), "loss", {at < 10 ? 4.0F : 0.1F});
        it.it.see(train(at), "fc2/w", {1, other});
        it.it.see(train(at), "fc2/w", {1, other});  // again: nothing more
        it.it.see(train(at), "grad/fc2/w", {1, 1});
        return it.step(at, 0, 1);
    };
    CHECK(step(0, 0) == truth::undecided);
    CHECK(step(1, 0) == truth::no);
    CHECK(step(2, 0) == truth::yes);
    CHECK((it.it.found[0].others == 1 && it.it.found[0].tensor == "fc2/w"));
    CHECK(step(3, 1) == truth::no);  // half of them
    CHECK(step(4, 1) == truth::no);
    for (std::uint64_t i = 5; i < 70; ++i) {
        CHECK(step(i, 1) == truth::yes);
        CHECK(it.it.found[0].severity == (i < 49 ? severity::warning : severity::info));
    }
}

TEST_CASE("gradient_depth_ratio: 1e-6 against 1e-2 and 1e-3 against 1e-6 fire at 9", "[gradient_depth_ratio]") {
    auto const first = [](float front, float back) {
        run it{gradient_depth_ratio{}};
        for (std::uint64_t i = 0; i < 20; ++i) {
            if (see_depth(it, train(i), front, back) == truth::yes) {
                return std::pair{static_cast<std::int64_t>(i), it.found[0]};
            }
        }
        return std::pair{std::int64_t{-1}, finding{}};
    };
    auto const [small_at, small] = first(1e-6F, 1e-2F);
    CHECK((small_at == 9 && small.reason == "gradients vanish towards the first layer" && small.tensor == "grad/1/w"));
    CHECK((small.measured == Approx(1e-4) && small.how == relation::less && small.threshold == 1e-3));
    CHECK(small.detail.view() == "1e-6 against 0.01 of grad/3/w");
    CHECK(first(1e-3F, 10).first == -1);  // the absolute limit
    auto const [large_at, large] = first(1e-3F, 1e-6F);
    CHECK((large_at == 9 && large.reason == "gradients grow towards the first layer" && large.threshold == 70));
    CHECK((large.measured == Approx(1000) && large.severity == severity::warning));
}

TEST_CASE("gradient_depth_ratio: what is undefined, and other modes, leave the streak", "[gradient_depth_ratio]") {
    run it{gradient_depth_ratio{.patience = 2}};
    CHECK(see_depth(it, train(0), 1e-6F, 1e-2F) == truth::no);
    CHECK(see_depth(it, train(1), nan_f, 1e-2F) == truth::undecided);
    CHECK(see_depth(it, train(2), 1e-6F, nan_f) == truth::undecided);
    CHECK(see_depth(it, train(3), 1e-6F, 0) == truth::undecided);
    CHECK(see_depth(it, eval(0), 1, 1) == truth::undecided);
    it.see(train(4), "grad/1/w", {1e-6F});
    it.see(train(4), "grad/1/w", {1e-6F});
    it.see(train(4), "grad/3/w", {1e-2F});
    CHECK(it.close(train(4)) == truth::undecided);  // two of them are too few
    CHECK(see_depth(it, train(5), 1e-6F, 1e-2F) == truth::yes);
    CHECK(see_depth(it, train(6), 1, 1) == truth::no);
    CHECK(see_depth(it, train(7), 0, 1e-2F) == truth::no);
    CHECK(see_depth(it, train(8), 0, 1e-2F) == truth::yes);
}

TEST_CASE("gradient_depth_ratio: the order is that of the first step; softened once training has settled",
          "[gradient_depth_ratio]") {
    run it{gradient_depth_ratio{.patience = 1}};
    for (std::uint64_t i = 0; i < 60; ++i) {
        it.see(train(i), "loss", {i < 10 ? 4.0F : 0.1F});
        if (i == 0) {
            CHECK(see_depth(it, train(i), 1e-6F, 1e-2F) == truth::yes);
        } else {  // from the last layer to the first
            it.see(train(i), "grad/3/w", {1e-2F});
            it.see(train(i), "grad/2/w", {1e-3F});
            it.see(train(i), "grad/1/w", {1e-6F});
            CHECK(it.close(train(i)) == truth::yes);
        }
        CHECK(it.found[0].tensor == "grad/1/w");
        CHECK(it.found[0].severity == (i < 49 ? severity::warning : severity::info));
    }
}

TEST_CASE("gradient_depth_ratio: nets with losses of their own are judged each by itself", "[gradient_depth_ratio]") {
    // The discriminator has won: its gradients are small, those of the generator are not, and neither fades with depth.
    auto const found_with = [](std::initializer_list<std::string_view> losses, float front) {
        run it{gradient_depth_ratio{.patience = 2}};
        std::string found;
        for (std::uint64_t i = 0; i < 4; ++i) {
            for (std::string_view const each : losses) { it.see(train(i), each, {1.0F + static_cast<float>(i)}); }
            for (char const* const name : {"grad/netD.1.weight", "grad/netD.2.weight", "grad/netD.3.weight"}) {
                it.see(train(i), name, {1e-7F});
            }
            it.see(train(i), "grad/netG.1.weight", {front});
            it.see(train(i), "grad/netG.2.weight", {200});
            it.see(train(i), "grad/netG.3.weight", {200});
            if (it.close(train(i)) == truth::yes) { found += std::string{it.found[0].tensor} + ' '; }
        }
        return found;
    };
    CHECK(found_with({"loss/D", "loss/G"}, 200) == "");
    CHECK(found_with({"d_loss", "g_loss"}, 1e-5F) == "grad/netG.1.weight grad/netG.1.weight grad/netG.1.weight ");
    CHECK(found_with({"loss"}, 200) == "grad/netD.1.weight grad/netD.1.weight grad/netD.1.weight ");  // one net
}

TEST_CASE("gradient_not_cleared: g, 2g, 3g, ... fires at 10", "[gradient_not_cleared]") {
    auto const growing = [](auto& it, step_id at) {
        auto const size = static_cast<float>(at.index + 1);
        it.see(at, "grad/fc1/b", {size * 3, size * 4});
    };
    // From 20 on ten steps no longer double the norm.
    CHECK(fired(gradient_not_cleared{}, 30, growing) == indices{10, 11, 12, 13, 14, 15, 16, 17, 18, 19});
    run it{gradient_not_cleared{}};
    for (std::uint64_t i = 0; i < 10; ++i) {
        growing(it, train(i));
        CHECK(it.close(train(i)) == truth::undecided);
    }
    growing(it, train(10));
    CHECK(it.close(train(10)) == truth::yes);
    finding const& found = it.found[0];
    CHECK((found.tensor == "grad/fc1/b" && found.threshold == 2 && found.how == relation::greater_equal));
    CHECK((found.measured == Approx(11) && found.reason == "gradients pile up"));
    growing(it, eval(11));
    CHECK(it.close(eval(11)) == truth::undecided);
    growing(it, train(4));
    CHECK(it.close(train(4)) == truth::undecided);  // a rewind
}

TEST_CASE("gradient_not_cleared: a buffer that is flagged so is meant to gather", "[gradient_not_cleared]") {
    auto const growing = [](flag flags) {
        return fired(gradient_not_cleared{}, 20, [=](auto& it, step_id at) {
            if (at.index == 0) {
                it.declare(
                    {.name = "grad/w", .role = role::gradient, .flags = flags, .type = dtype::f32, .shape = {2}});
            }
            float const times = static_cast<float>(at.index) + 1;
            it.see(at, "grad/w", {0.1F * times, 0.2F * times});
        });
    };
    CHECK(growing(flag::none).front() == 10);
    CHECK(growing(flag::gathered).empty());
}

TEST_CASE("gradient_not_cleared: the norm has to rise in `rising` of the changes", "[gradient_not_cleared]") {
    auto const of_sizes = [](std::vector<float> const& sizes, gradient_not_cleared const& rule = {}) {
        return fired(rule, sizes.size(), [&](auto& it, step_id at) {
            float const size = sizes[static_cast<std::size_t>(at.index)];
            it.see(at, "grad/fc1/b", {size * 3, size * 4});
        });
    };
    // Ten changes that double the norm and slow down: of them eight upwards, and seven.
    CHECK(of_sizes({1, 2, 3, 4, 5, 4.5F, 5.5F, 5, 6, 7, 8}) == indices{10});
    CHECK(of_sizes({1, 2, 3, 4, 3.5F, 4.5F, 4, 5, 6, 5.5F, 8}).empty());
    CHECK(of_sizes({1, 2, 3, 4, 3.5F, 4.5F, 4, 5, 6, 5.5F, 8}, {.rising = 0.7}) == indices{10});
}

TEST_CASE("gradient_not_cleared: more than half of the gradients of a step have to pile up", "[gradient_not_cleared]") {
    auto const of_four = [](std::uint64_t piling) {
        return fired(gradient_not_cleared{}, 12, [=](auto& it, step_id at) {
            std::uint64_t which = 0;
            for (char const* name : {"grad/a", "grad/b", "grad/c", "grad/d"}) {
                it.see(at, name, {which++ < piling ? static_cast<float>(at.index + 1) : 1.0F, 0});
            }
        });
    };
    CHECK(of_four(2).empty());
    CHECK(of_four(3) == indices{10, 11});
}

TEST_CASE("gradient_not_cleared: testifies whether most gradients change little", "[gradient_not_cleared]") {
    auto const says = [](std::uint64_t piling) {
        run it{gradient_not_cleared{}};
        std::mt19937 random{1};
        std::vector<std::string> all;
        constexpr char const* names[] = {"grad/a", "grad/b", "grad/c"};
        std::array<std::vector<float>, 3> gradients{std::vector<float>(8), std::vector<float>(8),
                                                    std::vector<float>(8)};
        for (std::uint64_t i = 0; i < 38; ++i) {
            std::uint64_t which = 0;
            for (auto& gradient : gradients) {
                bool const piles = which++ < piling;
                for (float& each : gradient) {
                    each = (piles ? each : 0) + static_cast<float>(double(random()) / 2147483648.0 - 1);
                }
                it.see(train(i), names[which - 1], view_of(gradient.data(), {8}));
            }
            truth const answer = it.close(train(i));
            for (finding const& each : it.found) {
                if (answer == truth::no) { all.emplace_back(each.reason); }
                CHECK(each.tensor == "grad/a");
            }
        }
        return all;
    };
    CHECK(says(0).empty());
    CHECK(says(1).empty());
    CHECK(says(2) == std::vector<std::string>{"most gradients change little from step to step"});
    CHECK(says(3) == std::vector<std::string>{"most gradients change little from step to step"});
}

TEST_CASE("gradient_not_cleared: a net that runs away grows by a factor, and is none", "[gradient_not_cleared]") {
    CHECK(fired(gradient_not_cleared{}, 30, [](auto& it, step_id at) {
              float const size = static_cast<float>(std::pow(1.1, static_cast<double>(at.index)));
              it.see(at, "grad/w", {size, size});
          }).empty());
}

TEST_CASE("gradient_not_cleared: gradients that grow and shrink without noise hold nothing of those before",
          "[gradient_not_cleared]") {
    for (double const growth : {1.03, 1.1, 1.14}) {
        std::mt19937 random{1};
        std::vector<double> along(400), all(400);
        for (double& each : along) { each = static_cast<double>(random()) / 2147483648.0 - 1; }
        double size = 1e-3;
        CHECK(fired(gradient_not_cleared{}, 200, [&](auto& it, step_id at) {
                  double const t = static_cast<double>(at.index);
                  size *= at.index < 60 ? 1.001 : at.index < 90 ? growth : 0.97;
                  for (std::size_t i = 0; i < all.size(); ++i) {
                      all[i] = size * along[i] * (1 + 0.01 * std::sin(static_cast<double>(i) + 0.01 * t));
                  }
                  it.see(at, "grad/w", view_of(all.data(), {20, 20}));
              }).empty());
    }
}

TEST_CASE("gradient_not_cleared: what shrinks by its last bits holds nothing of those before",
          "[gradient_not_cleared]") {
    // A saturated sample: the gradient is 1 - sigmoid, which float32 has in steps of 6e-8.
    CHECK(fired(gradient_not_cleared{}, 600, [](auto& it, step_id at) {
              float const off = 6e-3F / static_cast<float>(1 + at.index);
              float const one = 1.0F - off, other = 1.0F - 1.37F * off;
              std::vector<float> all(15);
              for (std::size_t i = 0; i < all.size(); ++i) {
                  all[i] = -(1.0F - (i < 8 ? one : other)) * (0.9F + 0.01F * static_cast<float>(i % 5));
              }
              it.see(at, "grad/w", view_of(all.data(), {3, 5}));
          }).empty());
}

TEST_CASE("gradient_not_cleared: gradients that are nearly parallel and shrink, with little noise, hold nothing",
          "[gradient_not_cleared]") {
    // Much of a gradient stays, as that of a term that nothing is learned of yet; the rest turns and fades, as under an
    // adaptive optimizer.
    for (float const turn : {8.0F, 12.0F, 20.0F}) {
        for (float const fade : {15.0F, 25.0F, 40.0F}) {
            std::mt19937 random{1};
            std::vector<float> all(32);
            CHECK(fired(gradient_not_cleared{}, 200, [&](auto& it, step_id at) {
                      auto const t = static_cast<float>(at.index);
                      float const rest = 8 * std::exp(-t / fade);
                      float const change = rest * std::sqrt(1 / (turn * turn) + 1 / (fade * fade));
                      for (float& each : all) {
                          each = 0.05F * change * (static_cast<float>(random()) / 2147483648.0F - 1);
                      }
                      all[0] += 1, all[1] += rest * std::cos(t / turn), all[2] += rest * std::sin(t / turn);
                      it.see(at, "grad/w", all, {4, 8});
                  }).empty());
        }
    }
}

TEST_CASE("gradient_not_cleared: a complex gradient is judged as its parts", "[gradient_not_cleared]") {
    std::vector<float> parts(24);
    std::vector<std::complex<float>> numbers(12);
    hook real{plan{}, gradient_not_cleared{}}, complex{plan{}, gradient_not_cleared{}};
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < 30; ++i) {
        for (std::size_t k = 0; k < parts.size(); ++k) { parts[k] += static_cast<float>(k % 5) - 1; }
        for (std::size_t k = 0; k < numbers.size(); ++k) { numbers[k] = {parts[2 * k], parts[2 * k + 1]}; }
        bool const fired = !real.step(train(i), "grad/w"_t = view_of(parts, {6, 4})).empty();
        CHECK(!complex.step(train(i), "grad/w"_t = view_of(numbers, {3, 4})).empty() == fired);
        found += fired ? 1 : 0;
    }
    CHECK(found > 0);
}

TEST_CASE("gradient_not_cleared: a single number has no direction", "[gradient_not_cleared]") {
    run it{gradient_not_cleared{}};
    for (std::uint64_t i = 0; i < 20; ++i) {
        it.see(train(i), "grad/value/b", {static_cast<float>(i + 1)});
        CHECK(it.close(train(i)) == truth::undecided);
    }
    CHECK(it.needs("grad/value/b") == stats_mask::none);
}

TEST_CASE("gradient_not_cleared: a turn, a steady norm, and growth within a step are no sign",
          "[gradient_not_cleared]") {
    CHECK(fired(gradient_not_cleared{}, 40,
                [](auto& it, step_id at) {  // turns away once in eight steps
                    float const size =
                        std::bit_cast<float>(static_cast<std::uint32_t>(0x3F800000U + (at.index << 22U)));
                    it.see(at, "grad/w", {at.index % 8 == 0 ? -size : size, 0});
                })
              .empty());
    CHECK(fired(gradient_not_cleared{}, 40, "grad/w", {1, 2}).empty());
    CHECK(fired(gradient_not_cleared{}, 40,
                [](auto& it, step_id at) {  // micro-batches, cleared at each step
                    for (float const size : {1.0F, 2.0F, 3.0F, 4.0F}) { it.see(at, "grad/w", {size, size}); }
                })
              .empty());
    // A NaN leaves two changes undefined; zero has no direction.
    CHECK(fired(gradient_not_cleared{.window = 4}, 9, [](auto& it, step_id at) {
              auto const size = static_cast<float>(at.index + 1);
              it.see(at, "grad/w", {at.index == 2 ? nan_f : size, size});
          }) == indices{7});
    CHECK(fired(gradient_not_cleared{}, 30, "grad/w", {0, 0}).empty());
}

namespace {

// Gradients of 200 elements: a signal and noise of the same size, new at each step, plus `kept` times the gradient
// before.
indices noisy_gradients(double kept, std::uint64_t steps, double signal = 1, double noise = 1) {
    std::mt19937 random{1};
    std::vector<double> all(200, 0.0);
    return fired(gradient_not_cleared{}, steps, [&](auto& it, step_id at) {
        for (std::size_t i = 0; i < all.size(); ++i) {
            double const fresh = static_cast<double>(random()) / 2147483648.0 - 1;
            all[i] = kept * all[i] + signal * (i % 2 == 0 ? 1 : -1) + noise * fresh;
        }
        it.see(at, "grad/w", view_of(all.data(), {10, 20}));
    });
}

}  // namespace

TEST_CASE("gradient_not_cleared: what piles up shows in its noise, without growth in one direction",
          "[gradient_not_cleared]") {
    indices const reported = noisy_gradients(1, 200, 0.3);
    REQUIRE_FALSE(reported.empty());
    CHECK((reported.front() <= 60 && reported.back() == 199));
    // Computed anew, and with momentum in the buffer, whatever the share of noise.
    for (double const noise : {0.01, 0.1, 0.3, 1.0, 3.0}) {
        CHECK(noisy_gradients(0, 300, 1, noise).empty());
        CHECK(noisy_gradients(0.5, 300, 1, noise).empty());
    }
    for (double const noise : {1.0, 3.0}) { CHECK(noisy_gradients(0.9, 300, 1, noise).empty()); }
}

TEST_CASE("gradient_not_cleared: one gradient that holds those before it, while others are computed anew",
          "[gradient_not_cleared]") {
    // The first of four is its signal, noise and `kept` times the one before; the others are signal and noise.
    auto const first_of_four = [](double kept, double signal, double noise, double noise_of_others, double growth = 0) {
        std::mt19937 random{1};
        std::vector<double> all(200, 0.0);
        return fired(gradient_not_cleared{}, 400, [=](auto& it, step_id at) mutable {
            for (char const* const name : {"grad/a", "grad/b", "grad/c", "grad/d"}) {
                bool const is_first = name[5] == 'a';
                std::vector<double> one(all.size());
                for (std::size_t i = 0; i < one.size(); ++i) {
                    double const fresh = static_cast<double>(random()) / 2147483648.0 - 1;
                    double const of_first = signal * (1 + growth * static_cast<double>(at.index));
                    double const straight = (is_first ? of_first : 0.3) * (i % 2 == 0 ? 1 : -1);
                    one[i] = straight + (is_first ? noise : noise_of_others) * fresh;
                    if (is_first) { one[i] = all[i] = one[i] + kept * all[i]; }
                }
                it.see(at, name, view_of(one.data(), {10, 20}));
            }
        });
    };
    for (double const signal : {0.0, 0.05, 0.3}) {
        indices const reported = first_of_four(1, signal, 1, 1);
        REQUIRE_FALSE(reported.empty());
        CHECK((reported.front() < 250 && reported.back() == 399));
    }
    CHECK(first_of_four(1, 0, 1, 0.01).empty());  // others hardly change: nothing says that they are computed anew
    CHECK(first_of_four(0, 1, 0.01, 1).empty());  // computed anew with little noise
    CHECK(first_of_four(0, 0.5, 0.05, 1, 0.02).empty());  // likewise, and growing
    CHECK(first_of_four(0.9, 0, 1, 1).empty());           // momentum in one buffer
    CHECK(first_of_four(0.9, 0.3, 1, 1).empty());         // as much signal as the others have
}

TEST_CASE("gradient_not_cleared: a smooth descent has no noise, and piles nothing up", "[gradient_not_cleared]") {
    // Gradient descent on a bowl, with momentum and without: every step is computed anew.
    for (double const momentum : {0.0, 0.9}) {
        std::vector<double> at(50), speed(50, 0.0), gradient(50);
        for (std::size_t i = 0; i < at.size(); ++i) { at[i] = std::cos(static_cast<double>(i)); }
        CHECK(fired(gradient_not_cleared{}, 400, [&](auto& it, step_id when) {
                  for (std::size_t i = 0; i < at.size(); ++i) {
                      gradient[i] = (0.05 + 0.02 * static_cast<double>(i)) * at[i];
                      speed[i] = momentum * speed[i] - 0.1 * gradient[i];
                      at[i] += speed[i];
                  }
                  it.see(when, "grad/w", view_of(gradient.data(), {5, 10}));
              }).empty());
    }
}
