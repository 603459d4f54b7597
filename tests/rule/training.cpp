// SPDX-License-Identifier: Apache-2.0
// Rules on losses, layers and updates: each example of the catalogue, exactly.
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <cmath>
#include <tuple>

using namespace spotter;
using namespace stage;

namespace {

// The first train step at which the rule says yes, of losses seen at steps first, first + gap, ...
template <rule Rule>
std::int64_t first_fired(Rule const& rule, std::vector<float> const& losses, std::uint64_t gap,
                         std::uint64_t first = 0) {
    run it{rule};
    for (std::size_t i = 0; i < losses.size(); ++i) {
        step_id const at = train(first + i * gap);
        if (it.step(at, "loss", {losses[i]}) == truth::yes) { return static_cast<std::int64_t>(at.index); }
    }
    return -1;
}

// Batches of 64 for ten units; `dead` of them are never active.
void see_layer(run<dead_relu>& it, step_id at, std::size_t dead) {
    std::vector<float> values(640);
    for (std::size_t i = 0; i < values.size(); ++i) { values[i] = i % 10 >= dead ? 1.0F : 0.0F; }
    it.see(at, "relu/1", values, {64, 10});
}

}  // namespace

TEST_CASE("loss_not_decreasing: the stream of the AWS test fires at 12, not when it starts at 13",
          "[loss_not_decreasing]") {
    std::vector<float> const losses{0.3F, 0.33F, 0.31F, 0.30F, 0.28F};
    CHECK(first_fired(loss_not_decreasing::sagemaker_defaults(), losses, 4) == 12);
    auto strict = loss_not_decreasing::sagemaker_defaults();
    strict.min_decrease = 0;
    CHECK(first_fired(strict, losses, 4) == 12);
    CHECK(first_fired(strict, {0.28F}, 4, 16) == -1);
    loss_not_decreasing const tolerant{
        .num_steps = 10, .smoothing = 1, .min_decrease = -0.20, .max_increase = 1e9, .patience = 1, .floor = 0};
    CHECK(first_fired(tolerant, {0.3F, 0.33F, 0.31F, 0.30F, 0.28F, 0.2F, 0.42F}, 4) == 24);
    auto const aws = loss_not_decreasing::sagemaker_defaults();
    CHECK((aws.num_steps == 10 && aws.smoothing == 1 && aws.min_decrease == 0.001));
    CHECK((aws.max_increase == 0.05 && aws.patience == 1 && aws.floor == 0));
}

TEST_CASE("loss_not_decreasing: a rise counts against the loss of the beginning", "[loss_not_decreasing]") {
    loss_not_decreasing const now{.num_steps = 10, .smoothing = 1};
    loss_not_decreasing const specified{.num_steps = 10, .smoothing = 1, .max_increase = 0.05, .floor = 0.05};
    CHECK(first_fired(specified, {1, 0.02F, 0.03F}, 10) == 20);  // half of a reference of 0.02
    CHECK(first_fired(now, {1, 0.02F, 0.03F}, 10) == -1);
    CHECK(first_fired(specified, {1, 1.07F}, 10) == 10);
    CHECK(first_fired(now, {1, 1.07F}, 10) == -1);
    CHECK(first_fired(now, {1, 1.2F}, 10) == 10);
}

TEST_CASE("loss_not_decreasing: a check is due num_steps after the last one", "[loss_not_decreasing]") {
    // Seen at 9, 12, 15, ...; flat from the start, so each check fires: at 21 against 9, the next at 33.
    run it{loss_not_decreasing::sagemaker_defaults()};
    std::vector<std::uint64_t> decided_at;
    truth before = truth::undecided;
    for (std::uint64_t i = 9; i <= 33; i += 3) {
        // Flat until 21, far lower afterwards: the answer changes at the next check only.
        truth const answer = it.step(train(i), "loss", {i <= 21 ? 2.0F : 1.0F});
        if (answer != before) { decided_at.push_back(i); }
        before = answer;
    }
    CHECK(decided_at == indices{21, 33});
    CHECK(before == truth::no);
}

TEST_CASE("loss_not_decreasing: a constant loss fires at 349, one that decays never", "[loss_not_decreasing]") {
    for (auto const& rule : {loss_not_decreasing{.max_increase = 0.05, .floor = 0.05}, loss_not_decreasing{}}) {
        CHECK(fired(rule, 350, "loss", {2.3F}) == indices{349});
        CHECK(fired(rule, 3000, [](auto& it, step_id at) {
                  it.see(at, "loss", {static_cast<float>(std::pow(0.999, static_cast<double>(at.index)))});
              }).empty());
    }
    run it{loss_not_decreasing{}};
    for (std::uint64_t i = 0; i < 149; ++i) { CHECK(it.step(train(i), "loss", {2.3F}) == truth::undecided); }
    CHECK(it.step(train(149), "loss", {2.3F}) == truth::no);
}

TEST_CASE("loss_not_decreasing: rising is an error, flat a warning, and a negative loss has its sign right",
          "[loss_not_decreasing]") {
    run it{loss_not_decreasing::sagemaker_defaults()};
    it.step(train(0), "loss", {1});
    CHECK(it.step(train(10), "loss", {1.2F}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].severity == severity::error && it.found[0].reason == "loss rises" &&
           it.found[0].threshold == 0.05 && it.found[0].how == relation::greater));
    CHECK(it.found[0].measured == Approx(0.2));
    CHECK(it.found[0].detail.view() == "rose by 20 %");
    CHECK(it.step(train(20), "loss", {1.2F}) == truth::yes);
    CHECK((it.found[0].severity == severity::warning && it.found[0].reason == "loss is flat"));
    CHECK(it.found[0].detail.empty());
    CHECK(it.step(train(30), "loss", {1.224F}) == truth::yes);  // within max_increase
    CHECK((it.found[0].reason == "loss is flat" && it.found[0].detail.view() == "rose by 2 %"));
    CHECK(first_fired(loss_not_decreasing::sagemaker_defaults(), {-1, -1.2F, -1.5F}, 10) == -1);
    CHECK(first_fired(loss_not_decreasing::sagemaker_defaults(), {-1, -0.8F}, 10) == 10);
    // Not a number, and eval steps: as if they had not been.
    run gaps{loss_not_decreasing::sagemaker_defaults()};
    gaps.step(train(0), "loss", {1});
    CHECK(gaps.step(train(5), "loss", {nan_f}) == truth::undecided);
    CHECK(gaps.step(eval(10), "loss", {9}) == truth::undecided);
    CHECK(gaps.step(train(10), "loss", {0.5F}) == truth::no);
}

TEST_CASE("dead_relu: six of ten units dead fires at step 7, five do not", "[dead_relu]") {
    auto const of_ten = [](std::size_t dead) {
        return fired(dead_relu{}, 17, [&](auto& it, step_id at) { see_layer(it, at, dead); });
    };
    CHECK(of_ten(6) == indices{7, 15});
    CHECK(of_ten(5).empty());
    run it{dead_relu{}};
    for (std::uint64_t i = 0; i < 7; ++i) {
        see_layer(it, train(i), 6);
        CHECK(it.close(train(i)) == truth::undecided);
        // Changes nothing.
        it.declare({.name = "relu/1", .role = role::activation, .type = dtype::f32, .shape = {64, 10}});
    }
    see_layer(it, train(7), 6);
    CHECK(it.close(train(7)) == truth::yes);
    CHECK((it.found[0].measured == 0.6 && it.found[0].threshold == 0.5 && it.found[0].tensor == "relu/1"));
}

TEST_CASE("dead_relu: 5 of 512 active is dead, 6 is alive; zero elements alone say nothing", "[dead_relu]") {
    auto const active_in_512 = [](std::size_t active) {
        std::vector<float> values(512);
        for (std::size_t i = 0; i < active; ++i) { values[i * 80] = 1; }
        run it{dead_relu{}};
        it.see(train(0), "relu/1", values, {512, 1});
        return it.close(train(0));
    };
    CHECK(active_in_512(5) == truth::yes);
    CHECK(active_in_512(6) == truth::no);
    CHECK(fired(dead_relu{}, 16, [](auto& it, step_id at) {
              std::vector<float> values(640);
              for (std::size_t i = 0; i < values.size(); ++i) { values[i] = (i + at.index) % 2 == 0 ? 1.0F : 0.0F; }
              it.see(at, "relu/1", values, {64, 10});
          }).empty());
    // A unit of a convolution is a channel; the scenario of AWS: zero outputs fire at the first judged close.
    run conv{dead_relu::sagemaker_defaults()};
    conv.see(train(0), "relu/1", std::vector<float>(2 * 3 * 4), {2, 3, 2, 2});
    CHECK(conv.close(train(0)) == truth::yes);
    CHECK(conv.found[0].measured == 1);
}

TEST_CASE("dead_relu: only ReLUs, only train steps, and a NaN only delays", "[dead_relu]") {
    run it{dead_relu{.samples = 2}};
    it.declare({.name = "act/tanh",
                .role = role::activation,
                .activation = activation_kind::tanh,
                .type = dtype::f32,
                .shape = {2, 1}});
    CHECK(it.covered().matched == 0);
    it.see(eval(0), "act/1", {0.0F, 0.0F}, {2, 1});
    CHECK(it.close(eval(0)) == truth::undecided);
    it.see(train(0), "act/1", {nan_f, 0.0F}, {2, 1});
    CHECK(it.close(train(0)) == truth::undecided);
    it.see(train(1), "act/1", {0.0F, 0.0F}, {2, 1});
    CHECK(it.close(train(1)) == truth::yes);
}

TEST_CASE("update_ratio_band: a ratio of 1 warns at 40, 1e-6 informs at 40, 1e-3 is healthy", "[update_ratio_band]") {
    auto const with_ratio = [](double ratio) {
        run it{update_ratio_band{}};
        std::int64_t first = -1;
        severity level = severity::error;
        double measured = 0;
        double size = 1;
        for (std::uint64_t i = 0; i < 60; ++i) {  // a weight that turns: the change is orthogonal to it
            double const angle = 2 * std::asin(ratio / 2) * static_cast<double>(i);
            it.see(train(i), "fc1/w",
                   {static_cast<float>(size * std::cos(angle)), static_cast<float>(size * std::sin(angle))});
            if (it.close(train(i)) == truth::yes && first < 0) {
                first = static_cast<std::int64_t>(i), level = it.found[0].severity, measured = it.found[0].measured;
            }
        }
        return std::tuple{first, level, measured};
    };
    auto const [large_at, large_level, large] = with_ratio(1);
    CHECK((large_at == 40 && large_level == severity::warning));
    CHECK(large == Approx(1).epsilon(1e-6));
    CHECK(std::get<0>(with_ratio(1e-3)) == -1);
    auto const [small_at, small_level, small] = with_ratio(1e-6);
    CHECK((small_at == 40 && small_level == severity::info));
    CHECK(small == Approx(1e-6).epsilon(0.2));  // single precision
}

TEST_CASE("update_ratio_band: steps apart divide, and what did not move is undefined", "[update_ratio_band]") {
    using rule_type = update_ratio_band;
    run it{rule_type{.smoothing = 1, .warmup = 0, .patience = 1}};
    CHECK(it.step(train(0), "fc1/w", {3, 4}) == truth::undecided);
    CHECK(it.step(train(1), "fc1/w", {3, 4}) == truth::undecided);
    CHECK(it.step(train(2), "fc1/w", {3, 4.005F}) == truth::no);      // 1e-3
    CHECK(it.step(train(3), "fc1/w", {9, 12}) == truth::yes);         // 2
    CHECK(it.step(train(103), "fc1/w", {0, 0}) == truth::no);         // 1 in 100 steps
    CHECK(it.step(train(104), "fc1/w", {3, 4}) == truth::undecided);  // from zero
    CHECK(it.step(train(105), "fc1/w", {nan_f, 4}) == truth::undecided);
    CHECK(it.step(train(106), "fc1/w", {3, 4}) == truth::undecided);
    CHECK(it.step(eval(0), "fc1/w", {300, 400}) == truth::undecided);
    CHECK(it.step(train(107), "fc1/w", {3, 4.005F}) == truth::no);
    run one_sided{rule_type{.low = 0, .smoothing = 1, .warmup = 0, .patience = 1}};
    one_sided.step(train(0), "fc1/w", {1, 1});
    CHECK(one_sided.step(train(1), "fc1/w", {1, 1.0000001F}) == truth::no);
    CHECK(it.needs("fc1/w") == (stats_mask::change | stats_mask::sum_squares));
    run frozen{rule_type{}};
    frozen.declare({.name = "fc1/w", .role = role::weight, .flags = flag::frozen, .type = dtype::f32, .shape = {1, 2}});
    CHECK(frozen.covered().matched == 0);
}

TEST_CASE("loss_not_decreasing: a rewind ends what was said of the steps that were undone") {
    run it{loss_not_decreasing{.num_steps = 10, .smoothing = 1, .patience = 1}};
    for (std::uint64_t i = 0; i < 100; ++i) { (void)it.step(train(i), "loss", {1.0F + static_cast<float>(i)}); }
    CHECK(it.step(train(100), "loss", {102}) == truth::yes);
    int fired = 0;
    for (std::uint64_t i = 50; i < 100; ++i) {
        fired += it.step(train(i), "loss", {100.0F / static_cast<float>(i)}) == truth::yes ? 1 : 0;
    }
    CHECK(fired == 0);
}

TEST_CASE("loss_not_decreasing: near the largest index, and with checks that never come, nothing is due early") {
    std::uint64_t const top = ~std::uint64_t{0};
    run near_the_end{loss_not_decreasing{.num_steps = 100, .smoothing = 1, .patience = 1}};
    for (std::uint64_t i = 0; i < 100; ++i) {
        CHECK(near_the_end.step(train(top - 99 + i), "loss", {1}) == truth::undecided);
    }
    run never_due{loss_not_decreasing{.num_steps = top, .smoothing = 1, .patience = 1}};
    for (std::uint64_t i = 1; i < 10; ++i) { CHECK(never_due.step(train(i), "loss", {1}) == truth::undecided); }
}

TEST_CASE("loss_not_decreasing: smoothing over no observation is no smoothing") {
    CHECK(fired(loss_not_decreasing{.num_steps = 10, .smoothing = 0, .patience = 1, .floor = 0.05}, 200,
                [](auto& it, step_id at) { it.see(at, "loss", {1.0F / (1.0F + static_cast<float>(at.index))}); })
              .empty());
}

TEST_CASE("dead_relu: a unit that is always NaN keeps no layer from being judged") {
    auto const dead = [](auto& it, step_id at) {
        std::vector<float> values(64 * 10, 0.0F);
        for (std::size_t row = 0; row < 64; ++row) { values[row * 10] = nan_f, values[row * 10 + 1] = 1.0F; }
        it.see(at, "act/1", values, {64, 10});
    };
    CHECK(fired(dead_relu{}, 16, dead) == indices{7, 15});
}

TEST_CASE("a tensor observed twice in a step is one tensor of the evidence") {
    run it{any("grad/*", l2 > 1.0)};
    it.see(train(0), "grad/a", {5});
    it.see(train(0), "grad/a", {6});
    it.see(train(0), "grad/b", {7});
    CHECK(it.close(train(0)) == truth::yes);
    CHECK(it.found[0].others == 1);
}

TEST_CASE("a lambda that captures nothing selects") {
    auto const rule = all_zero{.select = [](tensor_info const& tensor) { return tensor.name == "x"; }, .patience = 1};
    run it{rule};
    CHECK(it.step(train(0), "x", {0}) == truth::yes);
    CHECK(it.step(train(1), "act/y", {0}) == truth::undecided);
}

TEST_CASE("a weight that is handed over flat is named as the reason why nothing was judged") {
    run it{vanishing_gradient{}};
    std::vector<float> const values(6, 1.0F);
    it.see(train(0), "grad/fc/w", values, {6});
    CHECK(it.close(train(0)) == truth::undecided);
    CHECK(it.covered().reason.starts_with("matched only tensors of rank 1"));
    run other{vanishing_gradient{}};
    other.see(train(0), "something", values, {6});
    CHECK(other.covered().reason == "no tensor matched");
}
