// SPDX-License-Identifier: Apache-2.0
// Which names report a metric of a data set, whether a larger value is better, and which role the name gives.
#include <spotter/core/role.hpp>
#include <spotter/core/selector.hpp>

#include <tests/catch.hpp>

#include <string>

using namespace spotter;

namespace {

// "set metric falls" (or rises) for a metric's name; "" for any other.
std::string reported(std::string_view name) {
    reported_metric const it = reported_metric_of(name);
    if (!it) { return {}; }
    return std::string{it.set} + " | " + std::string{it.metric} + (it.rises() ? " rises" : " falls");
}

}  // namespace

TEST_CASE("a metric is known by its set and by what XGBoost, LightGBM, CatBoost and scikit-learn call it") {
    CHECK(reported("train-rmse") == "train | rmse falls");
    CHECK(reported("dtest-auc") == "dtest | auc rises");
    CHECK(reported("train-ndcg@5-") == "train | ndcg@5- rises");
    CHECK(reported("train-tweedie-nloglik@1.5") == "train-tweedie | nloglik@1.5 falls");
    CHECK(reported("test-rmse-mean") == "test | rmse-mean falls");
    CHECK(reported("validation_0-rmse") == "validation_0 | rmse falls");
    CHECK(reported("train-l2") == "train | l2 falls");
    CHECK(reported("training's l2") == "training | l2 falls");
    CHECK(reported("valid_0's binary_logloss") == "valid_0 | binary_logloss falls");
    CHECK(reported("valid_0-binary_logloss") == "valid_0 | binary_logloss falls");
    CHECK(reported("mine's average_precision") == "mine | average_precision rises");
    CHECK(reported("training l2") == "training | l2 falls");
    CHECK(reported("learn-Logloss") == "learn | Logloss falls");
    CHECK(reported("test-NDCG:top=10;type=Base") == "test | NDCG:top=10;type=Base rises");
    CHECK(reported("train_loss") == "train | loss falls");
    CHECK(reported("val_score") == "val | score rises");
    CHECK(reported("rmse/test") == "test | rmse falls");
    for (std::string_view const name : {"auc", "accuracy", "ndcg", "map", "r2", "f1"}) {
        INFO(name);
        CHECK(reported_metric_of("valid_0-" + std::string{name}).rises());
        CHECK(guess_role("valid_0-" + std::string{name}) == role::metric);
    }
}

TEST_CASE("a name without a metric of a data set reports none") {
    for (std::string_view const name :
         {"", "train", "rmse", "l2", "fc1-l2", "-rmse", "test-rmse-std", "train/w", "valid/layer1/l2", "learning_rate",
          "train_images", "grad/l2", "a longer name than any metric of the table has, in training"}) {
        INFO(name);
        CHECK(reported(name).empty());
    }
}

TEST_CASE("the role of a metric by its name: a loss is one, whatever stands between it and its set") {
    CHECK((guess_role("train_loss") == role::loss && guess_role("val-loss") == role::loss));
    CHECK((guess_role("Training loss") == role::loss && guess_role("loss/val") == role::loss));
    CHECK((guess_role("train-l2") == role::metric && guess_role("valid_0's auc") == role::metric));
    CHECK((guess_role("l2") == role::other && guess_role("train/w") == role::weight));
    auto const falls = [](std::string_view name) {
        tensor_info it;
        it.name = name, it.role = guess_role(name);
        return select::boosting_losses(it);
    };
    CHECK((falls("train-l2") && falls("val_loss") && falls("loss") && !falls("train-auc") && !falls("l2")));
}
