// SPDX-License-Identifier: Apache-2.0
// The library's law for the whole catalogue: a built-in rule gives the same findings in the loop and in a replay [S64].
#include <spotter/rule/dynamic_rule.hpp>

#include <tests/asks_for.hpp>
#include <tests/property/both_ways.hpp>

#include <set>

using namespace spotter;
using namespace spotter_test;

namespace {

// Groups of rules whose windows are short enough that they fire. Together with `judged_elsewhere` they are the
// catalogue.
template <class Use>
void with_rules(std::uint64_t group, std::uint64_t seed, Use&& use) {
    random_source random{seed * 31 + 7};
    auto const small = [&] { return 1 + random.below(4); };
    bool const coin = random.one_in(2);
    double const share = random.unit();
    switch (group) {
        case 0:
            return use(loss_not_decreasing{.num_steps = small(), .smoothing = small(), .patience = small()},
                       overfit{.patience = small(), .ratio_threshold = share, .phase_length = random.below(3)},
                       underfit{.warmup = small(),
                                .num_steps = small(),
                                .min_progress = share,
                                .patience = small(),
                                .smoothing = small(),
                                .phase_length = random.below(3)},
                       overtraining{.patience_train = small(),
                                    .patience_validation = small(),
                                    .delta = share / 50,
                                    .relative = coin,
                                    .require_both_stalled = random.one_in(2),
                                    .phase_length = random.below(3)},
                       oscillating_loss{.window = 3 + small(), .flips = share, .amplitude = share / 3},
                       initial_loss{.expected = share * 3},
                       loss_spike{.window = 4 + small(),
                                  .min_history = small(),
                                  .threshold = share * 8,
                                  .persistence = small(),
                                  .horizon = 4,
                                  .relearn = random.below(4)},
                       unchanged_tensor{.num_steps = small()},
                       unchanged_tensor{.num_steps = small(), .rtol = share, .equal_nan = coin},
                       stalled_training{.threshold = 200 + 1000 * share});
        case 1:
            return use(vanishing_gradient{.threshold = share / 1e5, .patience = small()},
                       exploding_gradient{.max_mean_abs = share * 20, .patience = small()},
                       gradient_spike{.window = 4 + small(),
                                      .min_history = small(),
                                      .threshold = share * 8,
                                      .persistence = small(),
                                      .horizon = 4,
                                      .relearn = random.below(4)},
                       gradient_not_cleared{.inertia = share,
                                            .warmup = small(),
                                            .lasting = 1,
                                            .lasting_alone = small(),
                                            .cosine = share,
                                            .window = 2 + random.below(3)},
                       gradient_depth_ratio{.vanish = share, .vanish_abs = 2 * share, .patience = small()},
                       mixed_precision{.to = coin ? dtype::f16 : dtype::bf16,
                                       .max_underflow = share / 4,
                                       .patience = small(),
                                       .skip_window = 5 * small()},
                       gradient_noise_scale{.batch_small = 16, .batch_big = 64, .ratio = 1 + share, .warmup = small()},
                       non_finite{}, exploding_tensor{.only_nan = coin}, low_precision_overflow{.to = dtype::f8_e4m3});
        case 2:
            return use(
                dead_update_path{.patience = small(), .period = small(), .never_trained = 3 * small()},
                update_direction{.warmup = small(), .window = small(), .share = share, .after_update = coin},
                update_ratio_band{
                    .low = share / 10, .high = share, .smoothing = small(), .warmup = small(), .patience = small()},
                updates_too_small{.threshold = share, .share = share / 2, .patience = small(), .after_update = coin},
                weight_update_ratio{.num_steps = small(), .large_threshold = share, .per_step = coin},
                bf16_stall{.share = share / 2, .patience = small()},
                tensor_variance{.min_threshold = share / 100, .max_threshold = share * 3, .patience = small()},
                all_zero{.threshold = share, .patience = small()},
                poor_weight_initialization{.threshold = 1 + share,
                                           .distribution_range = share,
                                           .patience = small(),
                                           .steps = 10 * small(),
                                           .symmetry = coin,
                                           .conjunct = random.one_in(2)},
                weight_update_ratio{.select = "metric/*", .num_steps = small(), .large_threshold = share});
        case 3:
            return use(class_imbalance{.threshold_imbalance = 1 + share,
                                       .threshold_misprediction = share,
                                       .samples = 20 * small(),
                                       .argmax = coin,
                                       .min_accuracy = share / 2,
                                       .min_class_samples = small()},
                       confusion{.min_diag = share,
                                 .max_off_diag = 1 - share,
                                 .samples = 9 * small(),
                                 .argmax = !coin,
                                 .phase_length = random.below(3)},
                       output_collapse{.warmup = small(),
                                       .patience = small(),
                                       .coefficient = share / 10,
                                       .share = 0.4 + share / 2,
                                       .min_label_entropy = share / 2,
                                       .samples = 9},
                       output_mismatch{.patience = small()},
                       input_not_normalized{
                           .max_abs_mean = share / 4, .min_std = share, .max_std = 1 + share, .samples = 20 * small()},
                       check_input_images{.threshold_mean = share / 4, .threshold_samples = 20 * small()},
                       nlp_sequence_ratio{.limits = {share}, .window = small()},
                       constant_batch{.patience = small(), .ring = 4 * small(), .duplicates = share},
                       dead_relu{.threshold_inactivity = share, .threshold_layer = share / 3, .samples = 9 * small()},
                       saturated_activation{.tanh_min = -share * 3,
                                            .tanh_max = share * 3,
                                            .threshold_inactivity = 0.9,
                                            .threshold_layer = share / 3,
                                            .samples = 9 * small(),
                                            .from_output = coin},
                       dormant_units{.tau = share, .max_share = share / 2, .samples = 9 * small()},
                       identity_activation{.patience = small()});
        case 4:
            return use(
                cpu_bottleneck{.threshold = share / 2,
                               .gpu_threshold = share,
                               .cpu_threshold = share / 2,
                               .min_busy = share / 2,
                               .patience = small()},
                io_bottleneck{
                    .threshold = share / 2, .gpu_threshold = share, .io_threshold = share / 2, .patience = small()},
                low_gpu_utilization{
                    .threshold_p95 = share, .threshold_p5 = share / 4, .window = 4 + small(), .patience = small()},
                gpu_memory_increase{.window = 4 + small(),
                                    .blocks = 4,
                                    .increase = share / 20,
                                    .monotone = share,
                                    .skip = random.below(2),
                                    .patience = random.below(2) + 1},
                gpu_memory_increase{
                    .window = 2, .increase = share / 10, .patience = 1, .two_windows = true, .min_samples = small()},
                load_balancing{.threshold = share, .patience = small(), .window = 5},
                batch_size{.gpu_threshold = 1 + share,
                           .gpu_memory_threshold = 1 + share,
                           .cpu_threshold = 1 + share,
                           .window = 5,
                           .patience = small()},
                dataloader{.min_threshold = share, .max_threshold = 1 + share, .patience = small(), .window = 5},
                memory_leak{.window = 4 + small(),
                            .blocks = 3,
                            .increase = share / 20,
                            .monotone = share,
                            .patience = random.below(2) + 1},
                pressure{.io = share / 2, .window = small()},
                noisy_neighbour{
                    .quiet = share / 3, .busy = share / 2, .factor = 1 + share / 4, .samples = small(), .window = 30},
                max_initialization_time{.threshold = share},
                step_outlier{.stddev = share * 2, .n_outliers = small(), .patience = small()});
        case 5:
            return use(rl_kl{.target = share / 4, .patience = small()},
                       rl_explained_variance{.warmup = small(), .patience = small()},
                       rl_entropy_collapse{.max_entropy = 1, .low = share, .patience = small(), .early = 9 * small()},
                       rl_clip_fraction{.limit = share, .patience = small()}, rl_constant_reward{.episodes = small()},
                       rl_observation_range{.limit = share * 3, .share = share / 4},
                       rl_repeated_states{.length = small(), .episodes = small()},
                       rl_target_network{.patience = 2 * small(), .allow_equal = random.below(3)},
                       data_wait{.window = small(), .moderate = share / 2, .high = share},
                       step_time_outlier{.window = 4 + small(),
                                         .k = share * 5,
                                         .min_history = 3,
                                         .factor = 1 + share,
                                         .share = share / 4,
                                         .horizon = 9},
                       tree_depth{.depth = small()},
                       low_feature_importance{.relative = share, .max_low = share / 2, .warmup = small()},
                       feature_importance_overweight{.threshold = share, .nfeatures = small()});
        default:
            return use(
                attention_collapse{.min_entropy = share, .patience = small()},
                attention_one_position{.share = share, .patience = small()},
                attention_similar_heads{.max_distance = share, .max_entropy = 1, .patience = small()},
                no_better_than_guessing{.samples = 9 * small(),
                                        .warmup = 9 * small(),
                                        .patience = small(),
                                        .largest_share = 1,
                                        .warmup_pairs = 90 * small(),
                                        .even = share / 2,
                                        .rests = 9 * small()},
                unrelated_predictions{.select = "act/1",
                                      .predictions = "pre/1",
                                      .samples = 9 * small(),
                                      .warmup = 9 * small(),
                                      .warmup_samples = 90 * small(),
                                      .patience = small()},
                rl_policy_ascends{
                    .select = "aux_loss", .divergence = "metric/approx_kl", .correlation = share - 0.6, .patience = 1});
    }
}

constexpr stats_mask all_statistics =
    static_cast<stats_mask>(0xFFFF) | stats_mask::unit_activity | stats_mask::quantiles | stats_mask::histogram;
// Whether a rule finds in a loop that shows `all` what it finds beside one that asks for all statistics; adds its
// findings to `found`.
void check_alone(stream const& all, dynamic_rule const& rule, std::size_t& found) {
    options const choices{.clock = &tell_test_time};
    hook alone{plan{}, choices, rule};
    hook beside{plan{}, choices, rule, asks_for<all_statistics>{}};
    alarms const said = run_hostile(alone, all, clock_is::still);
    CHECK(run_hostile(beside, all, clock_is::still) == said);
    found += said.size();
}

constexpr std::uint64_t families = 7;
#define SPOTTER_NAME(which) #which,
constexpr std::string_view all_rules[] = {SPOTTER_EACH_RULE(SPOTTER_NAME)};
#undef SPOTTER_NAME
// `label_noise` needs a net that has learned: the next test. The others compare a run with another one, or workers with
// each other: tests/replay/drift.cpp, envelope.cpp and side_by_side.cpp.
constexpr rule_id judged_elsewhere[] = {rule_id::drift,
                                        rule_id::label_noise,
                                        rule_id::outside_envelope,
                                        rule_id::replica_divergence,
                                        rule_id::similar_across_runs,
                                        rule_id::straggler};

}  // namespace

TEST_CASE("every built-in rule says in a replay what it said in the loop, with values and without [S64]") {
    verdicts seen;
    for (std::uint64_t run = 0; run < families * property_runs(8); ++run) {
        INFO("stream " << run);
        with_rules(run % families, run, [&](auto const&... rules) {
            check_both_ways(run, run % families == 0 ? clock_is::going : clock_is::still, seen, rules...);
        });
    }
    std::set<std::string_view> left_out;
    for (std::string_view const each : all_rules) {
        if (seen.find(std::string{each}) == seen.end()) { left_out.insert(each); }
    }
    std::set<std::string_view> elsewhere;
    for (rule_id const each : judged_elsewhere) { elsewhere.insert(name_of(each)); }
    CHECK(left_out == elsewhere);
    for (auto const& [name, counts] : seen) {
        INFO(name << " was judged " << counts.first << " times and fired " << counts.second << " times");
        CHECK((counts.second > 0 && counts.second < counts.first));
    }
}

TEST_CASE("a built-in rule finds the same, whatever statistics other rules ask for") {
    std::size_t found = 0;
    for (std::uint64_t run = 0; run < families * property_runs(4); ++run) {
        INFO("stream " << run);
        stream const all = hostile_maker{run + 900}.make(120);
        with_rules(run % families, run,
                   [&](auto const&... rules) { (check_alone(all, dynamic_rule{rules}, found), ...); });
        check_alone(all, dynamic_rule{packs::supervised}, found);
    }
    CHECK(found > 100);
}

TEST_CASE("labels that are noise are reported in a replay as in the loop") {
    temporary_folder const folder;
    random_source random{5};
    label_noise const rule{.samples = 200, .patience = 1};
    alarms inside;
    std::vector<plain_coverage> covered;
    hook watch{folder / "run", payload_from(0), rule};
    for (std::uint64_t i = 0; i < 40; ++i) {
        std::array<float, 60> scores{};
        std::array<std::int64_t, 20> labels{};
        for (std::size_t r = 0; r < labels.size(); ++r) {
            auto const right = as_size(random.below(3));
            scores[3 * r + right] = 1 + static_cast<float>(random.unit());
            labels[r] = static_cast<std::int64_t>(random.one_in(3) ? (right + 1) % 3 : right);
        }
        watch.begin(train(i));
        watch.observe("pred", view_of(scores.data(), {20, 3}), flag::logits);
        watch.observe("labels", labels);
        keep(inside, watch.end());
    }
    watch.finish();
    CHECK(inside.size() > 0);
    watch.coverage_of_rules([&](coverage const& each) { covered.push_back(plain(each)); });
    compare_with_replay(watch.path(), inside, plain_list(open(watch.path()).findings()), covered, rule);
}
