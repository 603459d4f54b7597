// SPDX-License-Identifier: Apache-2.0
// Rules on the units of a layer: each example of the catalogue, exactly.
#include <spotter/rule/builtin/dormant_units.hpp>
#include <spotter/rule/builtin/saturated_activation.hpp>
#include <tests/rule/features.hpp>

#include <tests/catch.hpp>

using namespace spotter;
using namespace stage;

namespace {

tensor_info layer(std::string_view name, activation_kind kind, extents const& shape) {
    tensor_info info;
    info.name = name;
    info.role = guess_role(name);
    info.activation = kind;
    info.type = dtype::f32;
    info.shape = shape;
    return info;
}
// A batch of 64 for units with these values.
std::vector<float> batch_of(std::vector<float> const& units) {
    std::vector<float> values;
    for (int i = 0; i < 64; ++i) { values.insert(values.end(), units.begin(), units.end()); }
    return values;
}
template <rule Rule>
indices fired_by_units(Rule const& rule, std::uint64_t steps, std::string_view name, activation_kind kind,
                       std::vector<float> const& units) {
    std::vector<float> const values = batch_of(units);
    return fired(rule, steps, [&](auto& it, step_id at) {
        if (at.index == 0) { it.declare(layer(name, kind, {64, units.size()})); }
        it.see(at, name, values, {64, units.size()});
    });
}
indices saturated(std::vector<float> const& units, activation_kind kind = activation_kind::tanh,
                  saturated_activation const& rule = {}) {
    return fired_by_units(rule, 17, rule.from_output ? "act/1" : "pre/1", kind, units);
}

constexpr bool saturates_at_once() {
    run it{saturated_activation{.samples = 1}};
    it.declare({.name = "pre/1",
                .role = role::preactivation,
                .activation = activation_kind::sigmoid,
                .type = dtype::f32,
                .shape = {1, 2}});
    return it.step(train(0), "pre/1", {5, -5}) == truth::yes && it.step(train(1), "pre/1", {5, -4.9F}) == truth::no;
}
static_assert(saturates_at_once());
constexpr bool sleeps_at_once() {
    run it{dormant_units{.samples = 1}};
    return it.step(train(0), "act/1", {1, -1, 0, 0, 0}) == truth::yes && it.found[0].measured > 0.59;
}
static_assert(sleeps_at_once());

}  // namespace

TEST_CASE("saturated_activation: three of four tanh units at 6 fire at step 7, two do not", "[saturated_activation]") {
    CHECK(saturated({6, 6, 6, 0}) == indices{7, 15});
    CHECK(saturated({6, 6, 0, 0}).empty());
    CHECK(saturated({6, -6, 5, 0}) == indices{7, 15});  // at a limit, of either side
    CHECK(saturated({6, 6, 4.99F, 0}).empty());
    CHECK(saturated({6, 6, 6, 0}, activation_kind::sigmoid) == indices{7, 15});
    CHECK(saturated({6, 6, 6, 0}, activation_kind::relu).empty());
    auto const sagemaker = saturated_activation::sagemaker_defaults();
    CHECK(saturated({6, 6, 6, 0}, activation_kind::tanh, sagemaker).empty());
    CHECK(saturated({10, 10, -10, 0}, activation_kind::tanh, sagemaker).size() == 17);
    CHECK(saturated({17, 17, -23, 0}, activation_kind::sigmoid, sagemaker).size() == 17);
    CHECK(saturated({16, 16, -22, 0}, activation_kind::sigmoid, sagemaker).empty());
}

TEST_CASE("saturated_activation: the evidence, and closes between windows", "[saturated_activation]") {
    run it{saturated_activation{}};
    it.declare(layer("pre/1", activation_kind::tanh, {64, 4}));
    std::vector<float> const values = batch_of({6, 6, 6, 0});
    for (std::uint64_t i = 0; i < 7; ++i) {
        it.see(train(i), "pre/1", values, {64, 4});
        CHECK(it.close(train(i)) == truth::undecided);
    }
    CHECK(it.covered().reason == "warm-up not reached: fewer than `samples` inputs a unit");
    CHECK(it.close(train(7)) == truth::undecided);
    it.see(eval(0), "pre/1", values, {64, 4});
    CHECK(it.close(eval(0)) == truth::undecided);
    it.see(train(3), "pre/1", values, {64, 4});  // after a rewind
    CHECK(it.close(train(3)) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.rule == "saturated_activation" && found.tensor == "pre/1" && found.reason == "units are saturated"));
    CHECK((found.measured == 0.75 && found.threshold == 0.5 && found.severity == severity::warning));
}

TEST_CASE("saturated_activation: 5 of 512 unsaturated inputs are few, 6 are enough", "[saturated_activation]") {
    auto const with = [](std::size_t free) {
        std::vector<float> values(512, 9);
        for (std::size_t i = 0; i < free; ++i) { values[i * 80] = 0; }
        run it{saturated_activation{}};
        it.declare(layer("pre/1", activation_kind::tanh, {512, 1}));
        it.see(train(0), "pre/1", values, {512, 1});
        return it.close(train(0));
    };
    CHECK(with(5) == truth::yes);
    CHECK(with(6) == truth::no);
}

TEST_CASE("saturated_activation judges outputs by what the limits become", "[saturated_activation]") {
    saturated_activation const outputs{.from_output = true};
    auto const sigmoid = outputs.open_band(activation_kind::sigmoid);
    CHECK(sigmoid.low == Approx(0.0066928509).epsilon(1e-8));
    CHECK(sigmoid.high == Approx(0.9933071491).epsilon(1e-8));
    auto const tanh = outputs.open_band(activation_kind::tanh);
    CHECK(tanh.low == Approx(-0.9999092043).epsilon(1e-8));
    CHECK(tanh.high == Approx(0.9999092043).epsilon(1e-8));
    CHECK(saturated({0.994F, 0.006F, 1, 0.5F}, activation_kind::sigmoid, outputs) == indices{7, 15});
    CHECK(saturated({0.993F, 0.007F, 1, 0.5F}, activation_kind::sigmoid, outputs).empty());
    CHECK(saturated({1, -1, 0.99991F, 0}, activation_kind::tanh, outputs) == indices{7, 15});
    // Each side has its own tensors.
    run it{outputs};
    it.declare(layer("pre/1", activation_kind::tanh, {64, 4}));
    CHECK(it.covered().matched == 0);
    run inputs{saturated_activation{}};
    inputs.declare(layer("act/1", activation_kind::tanh, {64, 4}));
    inputs.declare(layer("pre/2", activation_kind::unknown, {64, 4}));
    CHECK(inputs.covered().matched == 0);
}

TEST_CASE("saturated_activation: a NaN is no input, channels are units, and a column may be a sample",
          "[saturated_activation]") {
    run it{saturated_activation{.samples = 2}};
    it.declare(layer("pre/1", activation_kind::tanh, {2, 1}));
    it.see(train(0), "pre/1", {nan_f, 9}, {2, 1});
    CHECK(it.close(train(0)) == truth::undecided);
    it.see(train(1), "pre/1", {pos_infinity_f, nan_f}, {2, 1});
    CHECK(it.close(train(1)) == truth::undecided);
    it.see(train(2), "pre/1", {neg_infinity_f, 9}, {2, 1});
    CHECK(it.close(train(2)) == truth::yes);
    it.see(train(3), "pre/1", {9}, {1, 1});
    it.see(train(3), "pre/1", {9}, {1, 1});  // twice in a step
    CHECK(it.close(train(3)) == truth::yes);

    run channels{saturated_activation{.samples = 4}};
    channels.declare(layer("pre/1", activation_kind::tanh, {2, 3, 1, 2}));
    channels.see(train(0), "pre/1", {9, 9, 9, 9, 0, 0, 9, 9, 9, 9, 0, 0}, {2, 3, 1, 2});
    CHECK(channels.close(train(0)) == truth::yes);
    CHECK(channels.found[0].measured == Approx(2.0 / 3));

    run column{saturated_activation{.samples = 3}};
    tensor_info info = layer("pre/1", activation_kind::tanh, {2, 3});
    info.flags = batch_axis(1);
    column.declare(info);
    column.see(train(0), "pre/1", {9, 9, 9, 0, 0, 0}, {2, 3});
    CHECK(column.close(train(0)) == truth::no);
    column.see(train(1), "pre/1", {9, 9, 9, 9, 9, 9}, {2, 3});
    CHECK(column.close(train(1)) == truth::yes);
    // More units than before begin a window of their own.
    column.see(train(2), "pre/1", {9, 9, 9, 9, 9, 9, 9, 9, 0}, {3, 3});
    CHECK(column.close(train(2)) == truth::yes);
    CHECK(column.found[0].measured == Approx(2.0 / 3));
}

TEST_CASE("dormant_units: three of five silent units are 0.6", "[dormant_units]") {
    dormant_units const specified{.samples = 512};
    CHECK(fired_by_units(specified, 17, "act/1", activation_kind::unknown, {1, 1, 0, 0, 0}) == indices{7, 15});
    CHECK(fired_by_units(specified, 17, "act/1", activation_kind::tanh, {1, -1, 1, 0, 0}).empty());
    CHECK(fired_by_units(specified, 8, "act/1", activation_kind::relu, {0, 0}) == indices{7});
    CHECK(fired_by_units(dormant_units{}, 65, "act/1", activation_kind::unknown, {1, 1, 0, 0, 0}) == indices{63});
    run it{dormant_units{.samples = 1}};
    CHECK(it.step(train(0), "act/1", {1, 1, 0, 0, 0}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const& found = it.found[0];
    CHECK((found.measured == 0.6 && found.threshold == 0.5 && found.tensor == "act/1"));
    CHECK((found.reason == "units are dormant" && found.severity == severity::warning));
    // At tau exactly: the mean of 2, 2 and twice 0.125 is 1.0625.
    run limit{dormant_units{.tau = 0.125 / 1.0625, .max_share = 0.4, .samples = 1}};
    CHECK(limit.step(train(0), "act/1", {2, 2, 0.125F, -0.125F}) == truth::yes);
    CHECK(limit.step(train(1), "act/1", {2, 2, 0.126F, -0.126F}) == truth::no);
}

TEST_CASE("dormant_units: a unit that is never finite is left out, and only train steps count", "[dormant_units]") {
    run it{dormant_units{.samples = 1}};
    CHECK(it.step(eval(0), "act/1", {1, 0, 0}) == truth::undecided);
    CHECK(it.covered().reason == "matched, but never in mode train");
    CHECK(it.step(train(0), "act/1", {nan_f, nan_f, nan_f}) == truth::undecided);
    CHECK(it.step(train(1), "act/1", {1, nan_f, 1, 0}) == truth::no);
    CHECK(it.step(train(2), "act/1", {1, 0, pos_infinity_f, 0}) == truth::yes);
    CHECK(it.found[0].measured == Approx(2.0 / 3));
    CHECK(it.close(train(3)) == truth::undecided);
    run none{dormant_units{}};
    CHECK(none.step(train(0), "fc/w", {1, 0, 0}) == truth::undecided);
    CHECK(none.covered().reason == "no tensor matched");
}

TEST_CASE("rules on units judge their features as they judge the values") {
    auto const play = [](auto& it, auto tell) {
        it.declare(layer("pre/1", activation_kind::tanh, {2, 3}));
        for (std::uint64_t i = 0; i < 20; ++i) {
            step_id const at = i % 5 == 4 ? eval(i) : train(i);
            float const x = static_cast<float>(i);
            it.see(at, "pre/1", {x, -x, 9, 9, i == 3 ? nan_f : x, 9}, {2, 3});
            it.see(at, "act/1", {x, 0, 0, 0, 1e-3F * x, 0}, {2, 3});
            tell(it.close(at));
        }
    };
    CHECK(judges_without_values(saturated_activation{.samples = 3}, play));
    CHECK(judges_without_values(dormant_units{.samples = 3}, play));
}

TEST_CASE("rules on units make nothing of damaged features") {
    std::vector<truth> const nothing(3, truth::undecided);
    double const nan = static_cast<double>(nan_f), infinity = static_cast<double>(pos_infinity_f);
    for (std::vector<double> const& made :
         {std::vector<double>{nan, 9, 0, nan}, {infinity, 9}, {9, infinity}, {0, -9}, {1}, {}}) {
        CHECK(answers_to(saturated_activation{.samples = 1}, layer("pre/1", activation_kind::tanh, {1, 2}), made) ==
              nothing);
        CHECK(answers_to(dormant_units{.samples = 1}, layer("act/1", activation_kind::tanh, {1, 2}), made) == nothing);
    }
}
