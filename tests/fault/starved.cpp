// SPDX-License-Identifier: Apache-2.0
// The n-th allocation fails, for every n, for each rule and pack: nothing crashes, every step is closed, and what was
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

// The rule, with the options that some rules require.
template <rule Rule>
Rule as_asked(Rule it) {
    if constexpr (requires { it.healthy; }) { it.healthy = &in_service; }
    if constexpr (std::same_as<Rule, gradient_noise_scale>) { it.batch_small = 16, it.batch_big = 64; }
    if constexpr (std::same_as<Rule, initial_loss>) { it.expected = 1; }
    if constexpr (std::same_as<Rule, rl_entropy_collapse>) { it.max_entropy = 1; }
    return it;
}

// All built-in rules with their defaults, and rules whose options make them judge early.
std::vector<dynamic_rule> catalogue() {
    std::vector<dynamic_rule> list;
    detail::each_built_in_rule([&](auto const& each) { list.emplace_back(as_asked(each)); });
    for (dynamic_rule const& each : list_of(
             unchanged_tensor{.num_steps = 2}, unchanged_tensor{.num_steps = 2, .rtol = 0.5},
             update_ratio_band{.warmup = 1}, update_direction{.warmup = 1, .window = 1}, dead_relu{.samples = 8},
             dormant_units{.samples = 8}, saturated_activation{.samples = 8}, class_imbalance{.samples = 8},
             output_collapse{.warmup = 1, .samples = 8}, data_wait{.window = 2}, step_time_outlier{.min_history = 2},
             similar_across_runs{.rtol = 0.1}, straggler{.window = 2}, step_outlier{.n_outliers = 1, .patience = 2},
             cpu_bottleneck{.patience = 1}, io_bottleneck{.patience = 1},
             low_gpu_utilization{.window = 2, .patience = 2}, gpu_memory_increase{.window = 2, .blocks = 2, .skip = 0},
             gpu_memory_increase{.window = 1, .two_windows = true}, load_balancing{.patience = 1},
             batch_size{.patience = 1}, dataloader{.patience = 1}, memory_leak{.window = 2, .blocks = 2, .skip = 0},
             pressure{.window = 2}, noisy_neighbour{.samples = 1},
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
    constexpr plan keep{
        collection{"all", "{*loss*,*act*,*w*}", always{}, payload | stats(l2, stddev) | stats_mask::change},
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
