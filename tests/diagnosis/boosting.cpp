// SPDX-License-Identifier: Apache-2.0
// What packs::boosting says of rounds as boosters report them: by all their names, and whatever else is shown.
#include <spotter/hook.hpp>
#include <spotter/packs.hpp>

#include <tests/catch.hpp>
#include <tests/true_as_printed.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

using namespace spotter;
using spotter_test::check_as_printed;

namespace {

struct round_alarm {
    std::uint64_t at = 0;
    std::string rule, tensor;
    severity level = severity::info;
};
template <class Show>
std::vector<round_alarm> rounds(std::uint64_t count, Show show, severity from = severity::warning) {
    hook watch{plan{}, packs::boosting};
    std::vector<round_alarm> all;
    for (std::uint64_t i = 0; i < count; ++i) {
        watch.begin(train(i));
        show(watch, i);
        step_alarm const found = watch.end();
        check_as_printed(found);
        for (finding const& each : found) {
            if (each.severity < from) { continue; }
            all.push_back({i, std::string{each.rule}, std::string{each.tensor}, each.severity});
        }
    }
    return all;
}

// From a first value down to what is left of it.
double falls_to(double rest, double share, std::uint64_t i) {
    return rest + (1 - rest) * std::exp(-share * static_cast<double>(i));
}
double learned_by_heart(std::uint64_t i) {
    return falls_to(0.6, 0.1, i) + (i > 20 ? 0.003 * static_cast<double>(i - 20) : 0);
}
std::vector<float> gains(std::size_t features, float first) {
    std::vector<float> all(features, (1 - first) / static_cast<float>(features - 1));
    all[0] = first;
    return all;
}

}  // namespace

TEST_CASE("boosting: an evaluation that falls to the last round is not overfit, nor one that rests at its best") {
    for (double const rest : {0.02, 0.18, 0.3, 0.5}) {
        for (double const share : {0.02, 0.05, 0.14, 0.3}) {
            INFO("rest " << rest << ", share " << share);
            CHECK(rounds(100, [&](auto& watch, std::uint64_t i) {
                      watch.observe("train-logloss", 0.7 * falls_to(0.005, 0.2, i));
                      watch.observe("validation-logloss", 0.72 * falls_to(rest, share, i));
                  }).empty());
        }
    }
    // It falls slowly, by a third in all.
    CHECK(rounds(100, [](auto& watch, std::uint64_t i) {
              watch.observe("train-rmse", falls_to(0.005, 0.2, i));
              watch.observe("validation-rmse", 1 - 0.003 * static_cast<double>(i));
          }).empty());
}

TEST_CASE("boosting: what rises in evaluation is overfit, under every name that boosters and libraries have for it") {
    for (auto const& [trained, evaluated] : std::initializer_list<std::pair<char const*, char const*>>{
             {"train-rmse", "validation-rmse"},
             {"train-mae", "eval-mae"},
             {"train-logloss", "test-logloss"},
             {"mine-rmse", "test-mine-rmse"},
             {"train-rmse-mean", "test-rmse-mean"},
             {"train-l2", "valid_0-l2"},
             {"training's l2", "valid_0's l2"},
             {"training l2", "valid_1 l2"},
             {"train/l2", "valid/l2"},
             {"train-l1", "valid-l1"},
             {"train-huber", "valid-huber"},
             {"train-mse", "valid-mse"},
             {"train-binary_logloss", "valid-binary_logloss"},
             {"training's binary_logloss", "valid_0's binary_logloss"},
             {"training's multi_logloss", "valid_0's multi_logloss"},
             {"learn-RMSE", "test-RMSE"},
             {"learn-Logloss", "test-Logloss"},
             {"learn-MultiClass", "validation_0-MultiClass"},
             {"learn-Quantile:alpha=0.9", "test-Quantile:alpha=0.9"},
             {"train_loss", "val_loss"},
             {"loss", "val_loss"},
             {"train-loss", "valid-loss"},
             {"train_log_loss", "validation_log_loss"}}) {
        INFO(trained << " and " << evaluated);
        auto const all = rounds(100, [&](auto& watch, std::uint64_t i) {
            watch.observe(trained, falls_to(0, 0.1, i));
            watch.observe(evaluated, learned_by_heart(i));
        });
        REQUIRE_FALSE(all.empty());
        CHECK((all[0].rule == "overfit" || all[0].rule == "overtraining"));
        CHECK((all[0].tensor == trained && all[0].at > 26 && all[0].at < 70));
    }
}

TEST_CASE("boosting: what is to rise may, and is no loss") {
    for (std::string const name : {"auc", "aucpr", "ndcg@5", "map@3", "accuracy", "AUC", "F1", "R2", "Accuracy"}) {
        INFO(name);
        CHECK(rounds(100, [&](auto& watch, std::uint64_t i) {
                  watch.observe("train-" + name, 0.5 + 0.5 * (1 - falls_to(0, 0.1, i)));
                  watch.observe("test-" + name, 0.5 + 0.1 * (1 - falls_to(0, 0.1, i)));
              }).empty());
    }
}

TEST_CASE(
    "boosting: a value that is no number is reported, in a metric and in predictions; a gap in the rows is none") {
    double const nan = std::numeric_limits<double>::quiet_NaN();
    for (char const* const name : {"train-rmse", "valid_0's l2", "val_loss", "test-AUC"}) {
        auto const all = rounds(60, [&](auto& watch, std::uint64_t i) {
            watch.observe("train-logloss", falls_to(0.1, 0.1, i));
            watch.observe(name, i < 20 ? 0.5 : nan);
        });
        INFO(name);
        REQUIRE_FALSE(all.empty());
        CHECK((all[0].at == 20 && all[0].rule == "non_finite" && all[0].tensor == name));
        CHECK(all[0].level == severity::error);
    }
    auto const predicted = rounds(60, [&](auto& watch, std::uint64_t i) {
        std::vector<float> const said(100, i < 20 ? 1.0F : std::numeric_limits<float>::quiet_NaN());
        watch.observe("train-rmse", falls_to(0.1, 0.1, i));
        watch.observe("predictions", said);
    });
    REQUIRE_FALSE(predicted.empty());
    CHECK((predicted[0].at == 20 && predicted[0].rule == "non_finite" && predicted[0].tensor == "predictions"));
    CHECK(rounds(60, [&](auto& watch, std::uint64_t i) {
              std::vector<float> const rows{1, std::numeric_limits<float>::quiet_NaN(), 3, static_cast<float>(i)};
              watch.observe("input", view_of(rows, {2, 2}));
              watch.observe("train-rmse", falls_to(0.1, 0.1, i));
          }).empty());
}

TEST_CASE("boosting: few features that matter are a note, and hide nothing") {
    auto const healthy = [](auto& watch, std::uint64_t i) {
        watch.observe("train-rmse", falls_to(0.05, 0.03, i));
        watch.observe("feature_importance/gain", gains(10, 0.91F));
    };
    CHECK(rounds(100, healthy).empty());
    auto const notes = rounds(100, healthy, severity::info);
    CHECK(std::any_of(notes.begin(), notes.end(), [](round_alarm const& it) {
        return it.at == 19 && it.rule == "feature_importance_overweight" && it.level == severity::info;
    }));
    auto const lost = rounds(100, [](auto& watch, std::uint64_t i) {
        watch.observe("train-rmse", i < 40 ? falls_to(0.05, 0.03, i) : std::pow(10.0, static_cast<double>(i - 40)));
        watch.observe("feature_importance/gain", gains(10, 0.91F));
    });
    REQUIRE_FALSE(lost.empty());
    CHECK((lost[0].rule == "loss_not_decreasing" && lost[0].level == severity::error));
    // Too deep trees are reported when they are seen; they do not explain a rising training loss.
    auto const deep = rounds(60, [](auto& watch, std::uint64_t i) {
        std::vector<double> const ids{0, 1, 2, 1023};
        watch.observe("trees/0/id", ids);
        watch.observe("train-rmse", std::pow(10.0, static_cast<double>(i)));
    });
    REQUIRE(deep.size() >= 2);
    CHECK((deep[0].at == 0 && deep[0].rule == "tree_depth" && deep[0].level == severity::warning));
    CHECK((deep[1].at == 10 && deep[1].rule == "loss_not_decreasing" && deep[1].level == severity::error));
}

TEST_CASE("boosting: rounds that gain next to nothing from the first on are flat, slow ones are not") {
    auto const alarms = [](double share) {
        return rounds(60, [&](auto& watch, std::uint64_t i) {
            watch.observe("train-rmse", falls_to(0, share, i));
            watch.observe("validation-rmse", 1.1 * falls_to(0, share, i));
        });
    };
    for (double const share : {1e-7, 3e-7, 1e-6, 1e-5}) {
        auto const all = alarms(share);
        REQUIRE_FALSE(all.empty());
        CHECK((all[0].rule == "loss_not_decreasing" && all[0].at == 29));
    }
    for (double const share : {2e-4, 1e-3, 0.01, 0.1}) { CHECK(alarms(share).empty()); }
}

TEST_CASE("boosting: rounds that change nothing are flat, however many metrics there are") {
    auto const all = rounds(60, [](auto& watch, std::uint64_t i) {
        watch.observe("train-logloss", 0.69 - 1e-9 * static_cast<double>(i));
        watch.observe("train-error", 0.5);
        watch.observe("validation-logloss", 0.7);
    });
    REQUIRE_FALSE(all.empty());
    CHECK((all[0].rule == "loss_not_decreasing" && all[0].at == 29));
}
