// SPDX-License-Identifier: Apache-2.0
// The n-th allocation fails, for every n, for each rule and pack. Nothing crashes, every step is closed, and what was
// not judged is named.
#include <tests/fault/starved.hpp>

#include <spotter/replay/envelope.hpp>
#include <spotter/rule/dynamic_rule.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

template <rule... Rules>
std::vector<dynamic_rule> list_of(Rules const&... each) {
    return {dynamic_rule{each}...};
}

envelope const in_service{{{"fc1/w", mode::predict, mean, {{0, 1, 9}}}}, 2};

std::vector<dynamic_rule> catalogue() {
    std::vector<dynamic_rule> list =
        list_of(non_finite{}, exploding_tensor{}, all_zero{}, tensor_variance{}, unchanged_tensor{.num_steps = 2},
                unchanged_tensor{.num_steps = 2, .rtol = 0.5}, loss_not_decreasing{}, underfit{}, overfit{},
                overtraining{}, loss_spike{}, oscillating_loss{}, initial_loss{.expected = 1}, vanishing_gradient{},
                exploding_gradient{}, gradient_spike{}, gradient_depth_ratio{}, gradient_not_cleared{},
                mixed_precision{}, gradient_noise_scale{.batch_small = 16, .batch_big = 64});
    for (dynamic_rule const& each :
         list_of(poor_weight_initialization{}, update_ratio_band{.warmup = 1}, weight_update_ratio{},
                 updates_too_small{}, update_direction{.warmup = 1, .window = 1}, dead_update_path{}, bf16_stall{},
                 dead_relu{.samples = 8}, dormant_units{.samples = 8}, saturated_activation{.samples = 8},
                 identity_activation{}, input_not_normalized{}, check_input_images{}, nlp_sequence_ratio{},
                 constant_batch{}, class_imbalance{.samples = 8}, confusion{},
                 output_collapse{.warmup = 1, .samples = 8}, output_mismatch{})) {
        list.push_back(each);
    }
    for (dynamic_rule const& each : list_of(
             attention_collapse{}, attention_one_position{}, attention_similar_heads{}, drift{.healthy = &in_service},
             rl_kl{}, unrelated_predictions{}, rl_policy_ascends{}, rl_explained_variance{},
             rl_entropy_collapse{.max_entropy = 1}, rl_clip_fraction{}, rl_constant_reward{}, rl_observation_range{},
             rl_repeated_states{}, rl_target_network{}, tree_depth{}, feature_importance_overweight{},
             low_feature_importance{}, data_wait{.window = 2}, step_time_outlier{.min_history = 2}, stalled_training{},
             similar_across_runs{}, similar_across_runs{.rtol = 0.1}, replica_divergence{}, straggler{.window = 2},
             step_outlier{.n_outliers = 1, .patience = 2}, cpu_bottleneck{.patience = 1}, io_bottleneck{.patience = 1},
             low_gpu_utilization{.window = 2, .patience = 2}, gpu_memory_increase{.window = 2, .blocks = 2, .skip = 0},
             gpu_memory_increase{.window = 1, .two_windows = true}, load_balancing{.patience = 1},
             batch_size{.patience = 1}, dataloader{.patience = 1}, memory_leak{.window = 2, .blocks = 2, .skip = 0},
             pressure{.window = 2}, noisy_neighbour{.samples = 1}, low_precision_overflow{}, max_initialization_time{},
             any("*", l2 > 1e3) || (all("grad/*", mean_abs < 1e-7) | for_steps{3}),
             stalled("loss", mean, {.window = 2}), spike("loss", l2, {.window = 4}),
             gap_of(latest("loss", mean), latest("loss", mean)) > 1e9)) {
        list.push_back(each);
    }
    return list;
}

std::string name_of_rule(dynamic_rule const& it) {
    std::string name;
    machine<dynamic_rule>{it}.report([&](coverage const& each) { name = std::string{each.rule}; });
    return name;
}

}  // namespace

TEST_CASE("a hook with any rule of the catalogue outlives the failure of any allocation, and names what it lacks") {
    for (dynamic_rule const& each : catalogue()) {
        fail_each(name_of_rule(each), [&](auto use) {
            hook watch{plan{}, each};
            use(watch);
        });
    }
}

TEST_CASE("any rule of the catalogue is closed before it met a tensor, and finds nothing") {
    for (dynamic_rule const& each : catalogue()) {
        INFO(name_of_rule(each));
        hook watch{plan{}, each};
        for (std::uint64_t step = 0; step < 3; ++step) { CHECK(watch.step(step).empty()); }
        CHECK(watch.health().good());
    }
}

TEST_CASE("a hook with a pack, a plan of values, quantiles and changes, and long names outlives it, too") {
    constexpr plan keep{collection{"all", "{*loss*,*act*,*w*}", always{}, payload | stats(l2, stddev) | terms::change},
                        collection{"spread", "*act*", always{}, quantiles | histogram}};
    fail_each("nothing but a plan", [&](auto use) {
        hook watch{keep};
        use(watch);
    });
    fail_each(
        "supervised",
        [&](auto use) {
            hook watch{keep, packs::supervised};
            use(watch);
        },
        3);
    fail_each(
        "reinforcement learning",
        [&](auto use) {
            hook watch{plan{}, packs::rl};
            use(watch);
        },
        3);
    fail_each("boosting and time", [&](auto use) {
        hook watch{plan{}, packs::boosting, packs::system};
        use(watch);
    });
    fail_each(
        "SageMaker's",
        [&](auto use) {
            hook watch{plan{}, packs::sagemaker};
            use(watch);
        },
        3);
}
