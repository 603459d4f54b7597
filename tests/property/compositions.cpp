// SPDX-License-Identifier: Apache-2.0
// The library's law for compositions of built-in rules and for the packs: the same findings in the loop and in a replay
// [S64].
#include <tests/property/both_ways.hpp>

#include <spotter/rule/rule_pack.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

template <class Use>
void with_compositions(std::uint64_t group, std::uint64_t seed, Use&& use) {
    random_source random{seed * 131 + 3};
    auto const small = [&] { return 1 + random.below(4); };
    double const share = random.unit();
    switch (group) {
        case 0: {  // rules that extract features, several of each kind under different adaptors
            update_direction const direction{.warmup = 1, .window = small(), .share = share};
            unchanged_tensor const unchanged{.num_steps = small(), .rtol = share};
            poor_weight_initialization const beginning{
                .distribution_range = share, .patience = 1, .steps = 9, .conjunct = false};
            return use((direction | only{every{3}}) || (unchanged | only{every{2}}), direction, unchanged,
                       (unchanged | only{during{mode::train} && every{small()}}) || (beginning | only{from{20}}),
                       beginning | cooldown{small()},
                       together(direction, !(direction | only{from{small()}}), beginning | only{every{2}}) | rearm{2});
        }
        case 1:
            return use((vanishing_gradient{.threshold = share / 1e5} || exploding_gradient{.max_mean_abs = share}) &&
                           !loss_spike{.window = 8, .min_history = 3, .threshold = share * 9},
                       together(dead_relu{.threshold_inactivity = share, .samples = 9 * small()},
                                dormant_units{.tau = share, .samples = 9}, all_zero{.patience = small()}) |
                           for_steps{small()},
                       (class_imbalance{.threshold_imbalance = 2, .samples = 20, .argmax = true, .min_accuracy = 0} |
                        only{every{small()}}) ||
                           confusion{.select = role::prediction, .predictions = role::label, .argmax = true},
                       output_collapse{.warmup = 1, .coefficient = share, .samples = 9} ||
                           (output_collapse{.select = role::label,
                                            .labels = role::prediction,
                                            .warmup = 1,
                                            .coefficient = share,
                                            .samples = 9} |
                            only{during{mode::train}}),
                       !tensor_variance{.max_threshold = share} && (non_finite{} | rearm{small()}),
                       on(mixed_precision{.max_underflow = share, .patience = 2} | once, skip_update) | severity::info);
        case 2:
            return use(together(dead_update_path{.patience = small()} | only{every{2}},
                                bf16_stall{.share = share, .patience = small()},
                                updates_too_small{.threshold = share, .patience = small()}) &&
                           !rl_kl{.target = share},
                       (update_ratio_band{.low = share, .smoothing = 2, .warmup = small(), .patience = 1} |
                        cooldown{small()}) ||
                           (weight_update_ratio{.large_threshold = share} | only{during{mode::train} && !before{9}}),
                       (gradient_not_cleared{.cosine = share, .window = 2} | only{every{2}}) ||
                           gradient_not_cleared{.cosine = share, .window = 2},
                       !(constant_batch{.patience = small()} && input_not_normalized{.samples = 40}) &&
                           (rl_repeated_states{.length = 2, .episodes = 1} || rl_constant_reward{.episodes = small()}),
                       (overfit{.patience = 1, .ratio_threshold = share} || underfit{.warmup = 3, .num_steps = 2}) |
                           for_steps{small()} | rearm{small()});
        default:  // only rules that need no time between closes
            return use(packs::supervised, packs::rl || packs::boosting, packs::sagemaker | severity::warning,
                       packs::system);
    }
}
constexpr std::uint64_t kinds = 4;

}  // namespace

TEST_CASE("compositions of built-in rules, and packs, say in a replay what they said in the loop [S64]") {
    verdicts seen;
    for (std::uint64_t run = 0; run < kinds * property_runs(5); ++run) {
        INFO("stream " << run);
        with_compositions(run % kinds, 1000 + run, [&](auto const&... rules) {
            check_both_ways(1000 + run, run % kinds == 3 ? clock_is::going : clock_is::still, seen, rules...);
        });
    }
    std::uint64_t fired = 0;
    for (auto const& [name, counts] : seen) { fired += counts.second > 0 ? 1 : 0; }
    CHECK(fired > 40);
}
