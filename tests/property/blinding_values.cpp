// SPDX-License-Identifier: Apache-2.0
// One NaN never blinds a rule, as in blinding.cpp: rules on data, predictions, activations, metrics, times and trees.
#include <tests/property/blinding.hpp>

using namespace blinding;

namespace {

// Classes in turn, and scores that predict them.
std::vector<float> labels(std::size_t count) {
    std::vector<float> out(count);
    for (std::size_t i = 0; i < count; ++i) { out[i] = static_cast<float>(i % 3); }
    return out;
}
std::vector<float> scores(std::uint64_t step, std::size_t count, std::uint64_t turn, double scale = 1) {
    std::vector<float> out = noises(step, 3 * count, 0.3 * scale);
    for (std::size_t i = 0; i < count; ++i) { out[3 * i + (i + turn) % 3] += static_cast<float>(scale); }
    return out;
}
// A metric whose value changes with the fault.
auto of_metric(std::string_view name, double healthy, double faulty) {
    return [=](auto& it, std::uint64_t i, bool bad) {
        it.number(name, (bad ? faulty : healthy) + 1e-4 * static_cast<double>(noise(i, 0)));
    };
}

}  // namespace

TEST_CASE("a NaN blinds no rule on data") {
    timing const from_start{.fault = 0, .slack = 3};  // these rules judge the run as a whole
    auto const inputs = [](double shift) {
        return [=](auto& it, std::uint64_t i, bool bad) {
            it.see("input", noises(i, 64 * 4, 1, bad ? shift : 0), {64, 2, 2, 1});
        };
    };
    never_blinded(input_not_normalized{.samples = 200}, inputs(30), from_start);
    never_blinded(check_input_images{.threshold_samples = 200}, inputs(1), from_start);
    never_blinded(constant_batch{},
                  [](auto& it, std::uint64_t i, bool bad) { it.see("input", noises(bad ? 7 : i, 12), {3, 4}); });
    never_blinded(class_imbalance{.samples = 100},
                  [](auto& it, std::uint64_t i, bool bad) {
                      it.see("labels", bad ? std::vector<float>(16) : labels(16), {16});
                      it.see("pred", scores(i, 16, 0), {16, 3});
                  },
                  {.steps = 400, .slack = 20});
    never_blinded(class_imbalance{.threshold_imbalance = 1000, .samples = 100, .min_accuracy = 0},
                  [](auto& it, std::uint64_t i, bool bad) {
                      it.see("labels", labels(16), {16});
                      it.see("pred", scores(i, 16, bad ? 1 : 0), {16, 3});
                  },
                  {.steps = 400, .slack = 5});
    never_blinded(unrelated_predictions{.samples = 64, .warmup = 0, .warmup_samples = 0},
                  [](auto& it, std::uint64_t i, bool bad) {
                      it.see("target", noises(i, 16), {16});
                      it.see("prediction", noises(bad ? i + 5000 : i, 16), {16});
                  },
                  {.slack = 20});
    never_blinded(rl_observation_range{},
                  [](auto& it, std::uint64_t i, bool bad) { it.see("obs", noises(i, 16, bad ? 100 : 1), {4, 4}); });
    never_blinded(rl_repeated_states{},
                  [](auto& it, std::uint64_t i, bool bad) {
                      it.see("obs", noises(bad ? 7 : i, 16), {1, 16});
                      if (i % 20 == 19) { it.number("metric/episode_return", 1 + noise(i, 0)); }
                  },
                  {.slack = 20});
}

TEST_CASE("a NaN blinds no rule on predictions") {
    never_blinded(confusion{}, [](auto& it, std::uint64_t i, bool bad) {
        it.close();
        it.at = eval(i);
        it.see("labels", labels(15), {15});
        it.see("pred", scores(i, 15, bad ? 1 : 0), {15, 3});
    });
    never_blinded(output_collapse{.warmup = 5, .samples = 64}, [](auto& it, std::uint64_t i, bool bad) {
        it.see("labels", labels(16), {16});
        it.see("pred", bad ? std::vector<float>(48, 0.5F) : scores(i, 16, 0), {16, 3});
    });
    never_blinded(output_collapse{.warmup = 5, .coefficient = 0, .samples = 64},
                  [](auto& it, std::uint64_t i, bool bad) {
                      std::vector<float> made = scores(i, 16, 0);
                      for (std::size_t k = 1; bad && k < made.size(); k += 3) { made[k] = 9; }
                      it.see("labels", labels(16), {16});
                      it.see("pred", made, {16, 3});
                  },
                  {.slack = 4});
    never_blinded(output_mismatch{}, [](auto& it, std::uint64_t i, bool bad) {
        std::vector<float> made = scores(i, 16, 0, 3);
        for (std::size_t k = 0; bad && k < made.size(); ++k) { made[k] = (k + i) % 3 == 0 ? 0.5F : 0.25F; }
        it.see("pred", made, {16, 3}, flag::logits);
    });
}

TEST_CASE("a NaN blinds no rule on activations") {
    auto const kind = [](activation_kind which) { return activated_by(which); };
    never_blinded(dead_relu{.samples = 64},
                  [&](auto& it, std::uint64_t i, bool bad) {
                      it.see("relu/1", bad ? std::vector<float>(64) : noises(i, 64, 0.5, 0.6), {16, 4},
                             kind(activation_kind::relu));
                  },
                  {.slack = 4});
    never_blinded(dormant_units{.samples = 64},
                  [](auto& it, std::uint64_t i, bool bad) {
                      std::vector<float> made = noises(i, 64, 0.5, 0.6);
                      for (std::size_t k = 0; bad && k < 64; ++k) { made[k] *= k % 4 == 0 ? 1.0F : 0.0F; }
                      it.see("act/1", made, {16, 4});
                  },
                  {.slack = 4});
    never_blinded(saturated_activation{.samples = 64},
                  [&](auto& it, std::uint64_t i, bool bad) {
                      it.see("pre/1", noises(i, 64, bad ? 0.5 : 1, bad ? 20 : 0), {16, 4}, kind(activation_kind::tanh));
                  },
                  {.slack = 4});
    never_blinded(identity_activation{}, [&](auto& it, std::uint64_t i, bool bad) {
        it.see("pre/1", noises(i, 64), {16, 4}, kind(activation_kind::tanh));
        it.see("act/1", noises(i, 64, bad ? 1 : 0.7), {16, 4}, kind(activation_kind::tanh));
    });
}

TEST_CASE("a NaN blinds no rule on metrics, times and trees") {
    never_blinded(rl_kl{}, of_metric("metric/approx_kl", 0.01, 0.2));
    never_blinded(rl_explained_variance{}, of_metric("metric/explained_variance", 0.5, -0.5));
    never_blinded(rl_entropy_collapse{.max_entropy = 1}, of_metric("metric/entropy", 0.8, 0.01));
    never_blinded(rl_clip_fraction{}, of_metric("metric/clip_fraction", 0.1, 0.9));
    never_blinded(rl_policy_ascends{},
                  [](auto& it, std::uint64_t i, bool bad) {
                      double const moved = static_cast<double>(i % 8);
                      it.number("metric/approx_kl", moved);
                      it.number("policy_loss", bad ? moved : -moved);
                  },
                  {.slack = 96});
    never_blinded(rl_constant_reward{},
                  [](auto& it, std::uint64_t i, bool bad) {
                      it.number("metric/episode_return", bad ? 1 : static_cast<double>(noise(i, 0)));
                  },
                  {.fault = 0});
    never_blinded(mixed_precision{.max_skip = 0.3, .skip_window = 20}, [](auto& it, std::uint64_t i, bool bad) {
        it.see("grad/fc/w", noises(i, 12, 0.5, 1), {3, 4});
        it.number("metric/loss_scale", 128);
        it.number("metric/step_skipped", bad ? 1 : 0);
    });
    never_blinded(data_wait{.window = 20}, [](auto& it, std::uint64_t, bool bad) {
        it.number("time/wait", bad ? 0.05 : 0.001);
        it.number("time/step", 0.1);
    });
    never_blinded(step_time_outlier{}, [](auto& it, std::uint64_t i, bool bad) {
        it.number("time/step", bad ? 0.5 : 0.1 + 0.001 * static_cast<double>(noise(i, 0)));
    });
    never_blinded(tree_depth{},
                  [](auto& it, std::uint64_t, bool bad) { it.see("trees/0/id", {0, 1, 2, bad ? 500.0F : 5.0F}, {4}); });
    auto const importances = [](auto& it, std::uint64_t i, bool bad) {
        std::vector<float> made = noises(i, 8, 0.1, 1);
        for (std::size_t k = 1; bad && k < made.size(); ++k) { made[k] = 0.001F; }
        it.see("feature_importance/gain", made, {8});
    };
    never_blinded(low_feature_importance{}, importances);
    never_blinded(feature_importance_overweight{}, importances);
}
