// SPDX-License-Identifier: Apache-2.0
// Self-test: a fault is planted into a record, and the rule made for it finds it if the record holds what the rule
// needs.
#include "self_test/planter.hpp"

#include <spotter/judge/tracked.hpp>
#include <spotter/rules.hpp>
#include <spotter/stat/take_summary.hpp>
#include <spotter/workbench/self_test.hpp>

#include <tests/catch.hpp>
#include <tests/trial/runs.hpp>

#include <cmath>
#include <random>

using namespace spotter;
using namespace spotter_test;

namespace {

// A loop that looks healthy: falling loss, lively gradients, moving weights. `kept` is its plan.
template <class Plan>
void record_healthy_loop(std::string const& path, Plan const& kept, std::uint64_t steps = 600) {
    hook watch{path, kept};
    std::mt19937 random{7};
    std::normal_distribution<float> normal{0, 1};
    std::vector<float> w(64), v(64), grad_w(64), grad_v(64), act(32 * 8), input(32 * 4), logits(32 * 3);
    std::vector<std::int32_t> label(32);
    for (float& each : w) { each = normal(random); }
    for (float& each : v) { each = normal(random); }
    for (std::uint64_t i = 0; i < steps; ++i) {
        for (float& each : grad_w) { each = 0.1F * normal(random); }
        for (float& each : grad_v) { each = 0.1F * normal(random); }
        for (float& each : act) { each = (std::max)(0.0F, normal(random)); }
        for (float& each : input) { each = normal(random); }
        for (float& each : logits) { each = normal(random); }
        for (std::int32_t& each : label) { each = static_cast<std::int32_t>(random() % 3); }
        float const loss = 2.0F * std::exp(-0.004F * static_cast<float>(i)) + 0.05F + 0.01F * normal(random);
        (void)watch.step(train(i), "fc1/w"_t = view_of(w.data(), {8, 8}), "fc2/w"_t = view_of(v.data(), {8, 8}),
                         "grad/fc1/w"_t = view_of(grad_w.data(), {8, 8}),
                         "grad/fc2/w"_t = view_of(grad_v.data(), {8, 8}), "act/fc1"_t = view_of(act.data(), {32, 8}),
                         "input"_t = view_of(input.data(), {32, 4}), "logits"_t = view_of(logits.data(), {32, 3}),
                         "labels"_t = label, "loss"_t = loss);
        for (std::size_t k = 0; k < w.size(); ++k) { w[k] -= 0.05F * grad_w[k], v[k] -= 0.05F * grad_v[k]; }
    }
}
[[nodiscard]] self_test_result const& of(std::vector<self_test_result> const& all, std::string_view fault) {
    for (self_test_result const& each : all) {
        if (each.fault.name == fault) { return each; }
    }
    FAIL("no fault " << fault);
    return all.front();
}
[[nodiscard]] bool count_reported(self_test_result const& it, std::string_view rule) {
    return std::any_of(it.reports.begin(), it.reports.end(),
                       [&](fault_report const& each) { return each.rule == rule; });
}

constexpr auto whole_record = plan{collection{"all", "*", always{}}};

}  // namespace

TEST_CASE("self-test: each rule tells the fault that it is made for, and the record stays as it was") {
    temporary_folder const folder;
    record_healthy_loop(folder / "run", whole_record);
    auto const run = open_trial(folder / "run");
    auto const before = read_file(folder / "run/000000.spot");
    auto const all = self_test(*run, to_dynamic(non_finite{} || vanishing_gradient{} || exploding_gradient{} ||
                                                gradient_spike{} || dead_relu{} || all_zero{} || dead_update_path{} ||
                                                loss_not_decreasing{} || class_imbalance{} || output_collapse{} ||
                                                constant_batch{} || input_not_normalized{}));
    REQUIRE(all.size() == planted_faults().size());
    CHECK(count_reported(of(all, "nan_gradient"), "non_finite"));
    CHECK(of(all, "nan_gradient").reports[0].after == 0);
    CHECK(of(all, "nan_gradient").from == train(300));
    CHECK(of(all, "nan_gradient").tensor == "grad/fc1/w");
    CHECK(count_reported(of(all, "nan_loss"), "non_finite"));
    CHECK(count_reported(of(all, "vanishing_gradients"), "vanishing_gradient"));
    CHECK(of(all, "vanishing_gradients").tensors == 2);
    CHECK(count_reported(of(all, "exploding_gradients"), "exploding_gradient"));
    CHECK(count_reported(of(all, "exploding_gradients"), "gradient_spike"));
    CHECK(count_reported(of(all, "gradient_spikes"), "gradient_spike"));
    CHECK(count_reported(of(all, "dead_layer"), "dead_relu"));
    CHECK(count_reported(of(all, "dead_layer"), "all_zero"));
    CHECK(count_reported(of(all, "zero_weights"), "all_zero"));
    CHECK(count_reported(of(all, "frozen_layer"), "dead_update_path"));
    CHECK(of(all, "frozen_layer").reports[0].tensor == "fc1/w");
    CHECK(count_reported(of(all, "flat_loss"), "loss_not_decreasing"));
    CHECK(count_reported(of(all, "rising_loss"), "loss_not_decreasing"));
    CHECK(count_reported(of(all, "collapsed_output"), "output_collapse"));
    CHECK(count_reported(of(all, "same_batch"), "constant_batch"));
    CHECK(count_reported(of(all, "unscaled_input"), "input_not_normalized"));
    CHECK(read_file(folder / "run/000000.spot") == before);
}

TEST_CASE("self-test: of statistics alone it says the same, as far as these go") {
    temporary_folder const folder;
    constexpr plan statistics{collection{"all", "*", always{},
                                         stats(minimum, maximum, mean, l2, of_abs(minimum), of_abs(maximum),
                                               of_abs(mean), zero_fraction, nonfinite, variance) |
                                             stats_mask::change | stats_mask::hash}};
    record_healthy_loop(folder / "run", statistics);
    auto const all =
        self_test(*open_trial(folder / "run"),
                  to_dynamic(non_finite{} || vanishing_gradient{} || exploding_gradient{} || all_zero{} ||
                             dead_update_path{} || output_collapse{} || loss_not_decreasing{} || constant_batch{}));
    CHECK(count_reported(of(all, "nan_gradient"), "non_finite"));
    CHECK(count_reported(of(all, "vanishing_gradients"), "vanishing_gradient"));
    CHECK(count_reported(of(all, "exploding_gradients"), "exploding_gradient"));
    CHECK(count_reported(of(all, "zero_weights"), "all_zero"));
    CHECK(count_reported(of(all, "frozen_layer"), "dead_update_path"));
    CHECK(count_reported(of(all, "flat_loss"), "loss_not_decreasing"));
    self_test_result const& unseen = of(all, "collapsed_output");
    CHECK_FALSE(unseen.planted());
    CHECK((unseen.fault.needed == "predictions" && unseen.fault.kept == "values"));
    REQUIRE(of(all, "shuffled_labels").silent.size() == 2);
    CHECK(of(all, "shuffled_labels").silent[0].why == "not among the rules");
    CHECK(count_reported(of(all, "same_batch"), "constant_batch"));  // by its hash
}

TEST_CASE("self-test: findings of the run itself do not count as finding the fault") {
    temporary_folder const folder;
    record_healthy_loop(folder / "run", whole_record);
    auto const all = self_test(*open_trial(folder / "run"), to_dynamic(any("loss", maximum > 0.0) | named{"always"}));
    for (self_test_result const& each : all) { CHECK_FALSE(count_reported(each, "always")); }
}

TEST_CASE("self-test: a run of few steps is too short") {
    temporary_folder const folder;
    record_healthy_loop(folder / "run", whole_record, 39);
    CHECK(self_test(*open_trial(folder / "run"), to_dynamic(non_finite{})).empty());
}

TEST_CASE("self-test: altered statistics are those of the altered values") {
    constexpr stats_mask all_terms = stats_mask::nonfinite | stats_mask::zeros | stats_mask::range |
                                     stats_mask::abs_range | stats_mask::sum | stats_mask::sum_abs |
                                     stats_mask::sum_squares | stats_mask::variance | stats_mask::change;
    for (planted_fault const& fault : planted_faults()) {
        if (fault.how == alteration::shuffled || fault.how == alteration::one_row ||
            fault.how == alteration::not_a_number) {
            continue;
        }
        INFO(fault.name);
        spotter::detail::fault_planter planter{fault, step_id{mode::train, 2}};
        std::mt19937 random{11};
        std::normal_distribution<double> normal{0.3, 1};
        std::vector<double> values(24);
        tracked_tensor recorded, altered;
        for (tracked_tensor* each : {&recorded, &altered}) {
            each->info.id = 0;
            each->info.name = "it";
            each->info.role = fault.role;
            each->info.type = dtype::f64;
            each->info.shape = extents{24};
            each->keep_copies(stats_mask::change);
        }
        bool active = false;
        for (std::uint64_t i = 0; i < 8; ++i) {
            step_id const step{i < 3 ? mode::train : fault.mode, i};
            for (double& each : values) { each = normal(random); }
            tensor_ref const view = view_of(values.data(), {24});
            summary stats = take_summary(view, all_terms);
            recorded.compare(view, step, stats);
            observation const seen = planter.alter({recorded.info, step, stats, view});
            active = active || i == 2;
            REQUIRE_FALSE(seen.view.absent());
            summary expected = take_summary(seen.view, all_terms);
            altered.compare(seen.view, step, expected);
            CHECK(seen.stats.minimum == Approx(expected.minimum));
            CHECK(seen.stats.maximum == Approx(expected.maximum));
            CHECK(seen.stats.abs_minimum == Approx(expected.abs_minimum));
            CHECK(seen.stats.abs_maximum == Approx(expected.abs_maximum));
            CHECK(seen.stats.sum == Approx(expected.sum));
            CHECK(seen.stats.sum_abs == Approx(expected.sum_abs));
            CHECK(seen.stats.sum_squares == Approx(expected.sum_squares));
            CHECK(seen.stats.moment2 == Approx(expected.moment2));
            CHECK(seen.stats.zeros == expected.zeros);
            if (expected.has_previous) {
                CHECK(seen.stats.delta_sum_squares == Approx(expected.delta_sum_squares).margin(1e-9));
                CHECK(seen.stats.previous_sum_squares == Approx(expected.previous_sum_squares));
                CHECK(seen.stats.dot == Approx(expected.dot).margin(1e-9));
                CHECK((seen.stats.changed == 0) == (expected.changed == 0));
            }
        }
    }
}
