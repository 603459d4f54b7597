// SPDX-License-Identifier: Apache-2.0
// What rules extract of a tensor at a step is bounded: at most 1 kB a rule, however large the tensor is, and whatever
// is in it.
#include <tests/catch.hpp>

#include <spotter/hook.hpp>
#include <spotter/rule/dynamic_rule.hpp>
#include <spotter/rules.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace spotter;

namespace {

// As a record has it: varints where all numbers are whole, else eight bytes each.
std::size_t bytes_of(std::span<double const> numbers) {
    bool const whole = std::all_of(numbers.begin(), numbers.end(), [](double each) {
        return each >= 0 && each <= 0x1p53 && each == static_cast<double>(static_cast<std::uint64_t>(each));
    });
    if (!whole) { return 8 * numbers.size(); }
    std::size_t bytes = 0;
    for (double const each : numbers) {
        for (auto rest = static_cast<std::uint64_t>(each); rest >= 128; rest >>= 7) { ++bytes; }
        ++bytes;
    }
    return bytes;
}

// Counts what rules put into a record beside statistics.
struct size_sink : null_sink {
    std::size_t largest = 0, features = 0, units = 0;

    void observe(observation const& it, stats_mask keep) noexcept {
        if (!has(keep, stats_mask::unit_activity)) { return; }
        units += it.units.active.empty() ? 0 : 1;
        largest = (std::max)(largest, it.units.active.size_bytes() + it.units.finite.size_bytes());
    }
    void feature(tensor_info const&, step_id, std::uint64_t, std::span<double const> numbers) noexcept {
        features += numbers.empty() ? 0 : 1;
        largest = (std::max)(largest, bytes_of(numbers));
    }
};

struct large_tensor {
    char const* name;
    extents shape;
    bool whole = false;  // class numbers up to 2000
    flag flags = flag::none;
};

struct sizes {
    std::size_t largest = 0, extracted = 0;
};
sizes measure_rule(dynamic_rule const& rule, std::vector<large_tensor> const& tensors) {
    static std::vector<float> const fractions = [] {
        std::vector<float> made(1'000'000);
        for (std::size_t i = 0; i < made.size(); ++i) {
            made[i] = 0.001F + static_cast<float>(i * 2654435761U % 1009) / 500.0F;
        }
        return made;
    }();
    static std::vector<std::int16_t> const classes = [] {
        std::vector<std::int16_t> made(1'000'000);
        for (std::size_t i = 0; i < made.size(); ++i) { made[i] = static_cast<std::int16_t>(i * 2654435761U % 2000); }
        return made;
    }();
    sizes found;
    for (large_tensor const& each : tensors) {
        size_sink sink;
        hook watch{sink, plan{}, rule};
        for (step_id const at : {train(0), eval(0), train(1)}) {
            watch.begin(at);
            if (each.whole) {
                watch.observe(each.name, view_of(classes.data(), each.shape), each.flags);
            } else {
                watch.observe(each.name, view_of(fractions.data(), each.shape), each.flags);
            }
            (void)watch.end();
        }
        INFO(each.name << ", rank " << static_cast<int>(each.shape.rank) << ", first size " << each.shape.size[0]);
        CHECK(watch.health().good());
        CHECK(sink.largest <= 1024);
        found.largest = (std::max)(found.largest, sink.largest);
        found.extracted += sink.features + sink.units;
    }
    return found;
}

flag const tanh_layer = activated_by(activation_kind::tanh);

}  // namespace

TEST_CASE("what a rule extracts of a tensor of a million elements takes at most 1 kB a step") {
    std::vector<large_tensor> const layers{{"act/1", {2, 500'000}, false, tanh_layer},
                                           {"act/2", {1000, 1000}, false, tanh_layer},
                                           {"pre/1", {4, 2500, 10, 10}, false, tanh_layer}};
    for (dynamic_rule const& each : {dynamic_rule{dead_relu{.select = "*"}}, dynamic_rule{dormant_units{.select = "*"}},
                                     dynamic_rule{saturated_activation{}}}) {
        CHECK(measure_rule(each, layers).extracted > 0);
    }
    std::vector<large_tensor> const samples{{"labels", {1'000'000}, true},
                                            {"labels/images", {16, 3, 125, 166}},
                                            {"pred", {500'000, 2}},
                                            {"pred/wide", {100, 10'000}},
                                            {"pred/images", {16, 3, 125, 166}}};
    for (dynamic_rule const& each : {dynamic_rule{class_imbalance{}}, dynamic_rule{confusion{}},
                                     dynamic_rule{label_noise{}}, dynamic_rule{output_collapse{}}}) {
        CHECK(measure_rule(each, samples).extracted > 0);
    }
    CHECK(measure_rule(dynamic_rule{output_mismatch{}}, {{"pred", {1000, 1000}, false, flag::logits}}).extracted > 0);
    for (dynamic_rule const& each :
         {dynamic_rule{feature_importance_overweight{.nfeatures = 1000}}, dynamic_rule{low_feature_importance{}}}) {
        CHECK(measure_rule(each, {{"feature_importance/gain", {1'000'000}}}).extracted > 0);
    }
    std::vector<large_tensor> const inputs{{"input/image", {2, 500, 10, 100}}, {"input/tokens", {1000, 1000}, true}};
    for (dynamic_rule const& each : {dynamic_rule{check_input_images{}}, dynamic_rule{nlp_sequence_ratio{}},
                                     dynamic_rule{rl_observation_range{}}}) {
        CHECK(measure_rule(each, inputs).extracted > 0);
    }
    std::vector<large_tensor> const weights{{"fc/w", {1000, 1000}}, {"grad/fc/w", {1000, 1000}}};
    for (dynamic_rule const& each : {dynamic_rule{mixed_precision{}}, dynamic_rule{poor_weight_initialization{}},
                                     dynamic_rule{unchanged_tensor{.select = "*", .num_steps = 2, .rtol = 0.1}}}) {
        CHECK(measure_rule(each, weights).extracted > 0);
    }
    (void)measure_rule(dynamic_rule{update_direction{}}, weights);
}

TEST_CASE("of a layer with many units a fixed part is judged, spread over it, and all of a small one") {
    unit_sample const small{120}, large{100'000};
    for (std::size_t i = 0; i < small.size(); ++i) { CHECK(small[i] == i); }
    REQUIRE((small.size() == 120 && large.size() == 120));
    for (std::size_t i = 0; i + 1 < large.size(); ++i) { CHECK(large[i] < large[i + 1]); }
    CHECK((large[0] < 834 && large[119] >= 99'166 && large[119] < 100'000));
    // Every second unit is dead: about half of the judged ones are, as they lie at no regular distance.
    std::size_t dead = 0;
    for (std::size_t i = 0; i < large.size(); ++i) { dead += large[i] % 2; }
    CHECK((dead > 40 && dead < 80));
    hook watch{plan{}, dead_relu{.samples = 4}};
    std::vector<float> outputs(4 * 1000, 1.0F);
    for (std::size_t i = 0; i < outputs.size(); ++i) { outputs[i] = i % 1000 < 900 ? 0.0F : 1.0F; }
    auto const found = watch.step(train(0), "relu/1"_t = view_of(outputs.data(), {4, 1000}));
    REQUIRE(found.size() == 1);
    CHECK(found[0].measured == Approx(0.9).margin(0.02));
}

TEST_CASE(
    "of many samples those in the same places are taken of labels and predictions, however many classes they have") {
    std::vector<std::int32_t> labels(3000), said(3000);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        labels[i] = static_cast<std::int32_t>(i % 100);
        said[i] = labels[i] == 7 ? 5000 : labels[i];  // longer numbers, so fewer are taken
    }
    hook watch{plan{}, confusion{.category_no = 0}};
    (void)watch.step(eval(0), "labels"_t = labels, "pred"_t = labels);
    std::size_t judged = 0, fired = 0;
    watch.coverage_of_rules([&](coverage const& each) { judged = each.judged, fired = each.fired; });
    CHECK((judged == 1 && fired == 0));
    for (std::size_t i = 0; i < said.size(); ++i) { said[i] = labels[i] == 8 ? 900 : labels[i]; }
    (void)watch.step(eval(1), "labels"_t = labels, "pred"_t = said);
    watch.coverage_of_rules([&](coverage const& each) { judged = each.judged, fired = each.fired; });
    CHECK((judged == 2 && fired == 1));
}
