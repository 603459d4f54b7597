// SPDX-License-Identifier: Apache-2.0
// Which names stand for the same quantity, one in training and one in evaluation.
#include <spotter/core/evaluation_name.hpp>

#include <tests/catch.hpp>

using namespace spotter;

TEST_CASE("a name says by a word of its own that it is of an evaluation") {
    for (std::string_view const name :
         {"val_loss", "loss/test", "validation-rmse", "Valid.Loss", "loss_DEV", "eval", "head1/holdout/loss"}) {
        INFO(name);
        CHECK(says_evaluation(name));
    }
    for (std::string_view const name :
         {"", "loss", "train_loss", "value_loss", "latest_loss", "devil", "loss/testify"}) {
        INFO(name);
        CHECK_FALSE(says_evaluation(name));
    }
}

TEST_CASE("an evaluation is of what has the same other words") {
    CHECK((is_evaluation_of("val_loss", "train_loss") && is_evaluation_of("val_loss", "loss")));
    CHECK((is_evaluation_of("loss/Validation", "Training loss") && is_evaluation_of("a/test/loss", "a/loss")));
    CHECK(is_evaluation_of("validation-mlogloss", "train-mlogloss"));
    CHECK((is_evaluation_of("valid_0's l2", "training's l2") && is_evaluation_of("test-Logloss", "learn-Logloss")));
    CHECK((is_evaluation_of("val_2/loss", "train_2/loss") && is_evaluation_of("val_2/loss", "loss")));  // of one fold
    CHECK_FALSE(is_evaluation_of("val_2/loss", "train_1/loss"));
    CHECK_FALSE(is_evaluation_of("val_loss", "val_loss"));
    CHECK_FALSE(is_evaluation_of("loss", "train_loss"));
    CHECK_FALSE(is_evaluation_of("val_loss", "test_loss"));
    CHECK_FALSE(is_evaluation_of("val_loss", "train_loss_2"));
    CHECK_FALSE(is_evaluation_of("a/val_loss", "b/loss"));
    CHECK_FALSE(is_evaluation_of("val", "train"));  // an evaluation of nothing named
    CHECK_FALSE(is_evaluation_of("val", ""));
}
