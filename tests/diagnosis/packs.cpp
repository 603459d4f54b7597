// SPDX-License-Identifier: Apache-2.0
// The catalogue by the pack: what is in which, and what each asks of a beginning.
#include <tests/rule/stage.hpp>

#include <spotter/hook.hpp>
#include <spotter/packs.hpp>

#include <tests/catch.hpp>

#include <random>
#include <string>

using namespace spotter;
using namespace stage;

TEST_CASE("what is in which pack") {
    auto const names_of = [](auto const& pack) {
        std::vector<std::string> names;
        machine{pack}.report([&](coverage const& each) { names.emplace_back(each.rule); });
        return names;
    };
    using names = std::vector<std::string>;
    names const any_net{"non_finite",        "dead_update_path",     "input_not_normalized", "dead_relu",
                        "all_zero",          "saturated_activation", "dormant_units",        "gradient_not_cleared",
                        "update_direction",  "exploding_gradient",   "vanishing_gradient",   "gradient_spike",
                        "update_ratio_band", "updates_too_small",    "bf16_stall",           "output_collapse",
                        "stalled_training"};
    auto const with = [&](names before, names const& after) {
        before.insert(before.end(), any_net.begin(), any_net.end());
        before.insert(before.end(), after.begin(), after.end());
        return before;
    };
    CHECK(names_of(packs::supervised) ==
          with({"poor_weight_initialization", "class_imbalance", "no_better_than_guessing", "unrelated_predictions",
                "label_noise", "output_mismatch", "identity_activation", "constant_batch"},
               {"loss_spike", "oscillating_loss", "underfit", "overfit", "overtraining", "gradient_depth_ratio",
                "tensor_variance", "unchanged_tensor"}));
    CHECK(names_of(packs::rl) ==
          with({"poor_weight_initialization"},
               {"rl_kl", "rl_explained_variance", "rl_clip_fraction", "rl_constant_reward", "rl_observation_range",
                "rl_repeated_states", "rl_target_network", "rl_policy_ascends"}));
    CHECK(names_of(packs::boosting) == names{"non_finite", "tree_depth", "low_feature_importance",
                                             "feature_importance_overweight", "stalled_training", "overfit",
                                             "overtraining"});
    CHECK(names_of(packs::system) == names{"data_wait", "step_time_outlier", "straggler", "replica_divergence",
                                           "max_initialization_time", "cpu_bottleneck", "io_bottleneck",
                                           "low_gpu_utilization", "gpu_memory_increase", "load_balancing", "batch_size",
                                           "dataloader", "memory_leak", "pressure", "noisy_neighbour"});
    CHECK(names_of(packs::sagemaker) ==
          names{"class_imbalance", "check_input_images", "nlp_sequence_ratio", "loss_not_decreasing", "overfit",
                "overtraining", "confusion", "poor_weight_initialization", "weight_update_ratio", "vanishing_gradient",
                "exploding_tensor", "all_zero", "tensor_variance", "unchanged_tensor", "saturated_activation",
                "dead_relu", "tree_depth", "feature_importance_overweight", "stalled_training"});
}

TEST_CASE("a policy's loss says nothing of its weights: packs::rl asks nothing else of a beginning than that") {
    auto const accused = [](auto const& pack) {
        run it{pack};
        std::vector<std::uint64_t> reported;
        for (std::uint64_t i = 0; i < 10; ++i) {
            it.see(train(i), "pre/1", {1, 1, 1});
            it.see(train(i), "pre/2", {0, 1, 2});
            it.see(train(i), "loss", {2.3F});
            it.close(train(i));
            for (finding const& each : it.found) {
                if (each.rule == "poor_weight_initialization") { reported.push_back(i); }
            }
        }
        return reported;
    };
    CHECK(accused(packs::supervised) == indices{5});
    CHECK(accused(packs::rl).empty());
}

TEST_CASE("a metric of a policy's update that is no number is no fault of the loop") {
    auto const alarms = [](auto const& pack, char const* name) {
        run it{pack};
        it.see(train(0), name, {nan_f});
        (void)it.close(train(0));
        return it.found.empty() ? std::string{} : std::string{it.found[0].rule};
    };
    CHECK(alarms(packs::rl, "metric/explained_variance").empty());
    CHECK(alarms(packs::rl, "metric/approx_kl") == "rl_kl");
    CHECK(alarms(packs::rl, "metric/episode_length").empty());  // the mean of no episode
    CHECK(alarms(packs::rl, "metric/episode_return") == "non_finite");
    CHECK(alarms(packs::rl, "loss/policy") == "non_finite");
    CHECK(alarms(packs::supervised, "metric/accuracy") == "non_finite");
}

TEST_CASE("packs::rl: an update may take a small batch many times; states that outlast episodes are found") {
    // Rollouts of 8 states, each taken in 16 epochs; episodes end between them.
    auto const found_in = [](bool stuck) {
        hook watch{plan{}, packs::rl};
        std::vector<std::string> all;
        std::mt19937 random{1};
        std::vector<float> states(32);
        for (std::uint64_t i = 0; i < 320; ++i) {
            bool const fresh = i % 16 == 0;
            if (fresh && (i == 0 || !stuck)) {
                for (float& each : states) { each = static_cast<float>(random()) / 2147483648.0F - 1; }
            }
            watch.begin(train(i));
            if (fresh && i > 0) { watch.observe("metric/episode_return", 10.0F + static_cast<float>(random() % 7)); }
            watch.observe("input", view_of(states.data(), {8, 4}));
            watch.observe("loss/value", 1.0F / static_cast<float>(i + 1));
            step_alarm const at = watch.end();
            for (finding const& each : at) {
                all.push_back(std::string{each.rule} + (each.severity == severity::info ? ", a note" : ""));
            }
        }
        return all;
    };
    CHECK(found_in(false).empty());
    CHECK(found_in(true) == std::vector<std::string>{"rl_repeated_states, a note", "rl_repeated_states"});
}

TEST_CASE("packs::supervised: colours that a net of coordinates is to give are numbers, shuffled or not") {
    auto const alarms_in = [](bool shuffled) {
        hook watch{plan{}, packs::supervised};
        std::mt19937 random{1};
        std::vector<float> places(64), colours(96), said(96);
        auto const draw = [&](float low, float high) {
            return low + (high - low) * static_cast<float>(random() >> 8U) / 16777216.0F;
        };
        std::vector<std::string> alarms;
        for (std::uint64_t i = 0; i < 400; ++i) {
            for (float& each : places) { each = draw(-1, 1); }
            for (std::size_t k = 0; k < 96; ++k) {  // red is the strongest of nearly all
                float const lightest = k % 3 == 0 ? 1.0F : k % 3 == 1 ? 0.6F : 0.4F;
                colours[k] = draw(lightest - 0.4F, lightest);
                said[k] = shuffled ? draw(lightest - 0.4F, lightest) : colours[k] + draw(-0.1F, 0.1F);
            }
            step_alarm const at =
                watch.step(train(i), "input"_t = view_of(places.data(), {32, 2}),
                           "labels"_t = view_of(colours.data(), {32, 3}), "pred"_t = view_of(said.data(), {32, 3}),
                           "loss"_t = shuffled ? draw(0.09F, 0.11F) : 0.1F / static_cast<float>(i + 10));
            for (finding const& each : at) {
                if (each.severity >= severity::warning) { alarms.emplace_back(each.rule); }
            }
        }
        return alarms;
    };
    CHECK(alarms_in(false).empty());
    CHECK(alarms_in(true) == std::vector<std::string>{"unrelated_predictions"});
}

TEST_CASE("the packs tell a dead layer before the gradients that vanish behind it") {
    auto const story_of = [](auto const& pack) {
        run it{pack};
        std::vector<std::string> reported;
        for (std::uint64_t i = 0; i < 10; ++i) {
            it.see(train(i), "act/fc", {0, 0, 0});
            it.see(train(i), "grad/fc/w", {0, 0, 0});
            it.close(train(i));
            for (finding const& each : it.found) {
                reported.push_back(std::to_string(i) + ' ' + std::string{each.rule});
            }
        }
        return reported;
    };
    CHECK(story_of(packs::supervised) == std::vector<std::string>{"2 all_zero", "9 vanishing_gradient"});
    CHECK(story_of(packs::rl) == std::vector<std::string>{"2 all_zero", "9 vanishing_gradient"});
}
