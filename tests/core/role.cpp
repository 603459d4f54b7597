// SPDX-License-Identifier: Apache-2.0
// Core: the role of a tensor, derived from its name.
#include <spotter/core/role.hpp>

#include <tests/catch.hpp>

using namespace spotter;

namespace {

struct row {
    std::string_view name;
    role what;
};

void check(std::initializer_list<row> rows) {
    for (row const& each : rows) {
        INFO(each.name);
        CHECK(name_of(guess_role(each.name)) == name_of(each.what));
    }
}

}  // namespace

TEST_CASE("losses, gradients, weights and biases are recognised by their names [A24]", "[A24]") {
    check({{"loss", role::loss},
           {"actor/loss", role::loss},
           {"policy_loss", role::loss},
           {"loss/total", role::loss},
           {"CrossEntropyLoss_output_0", role::loss},  // smdebug's
           {"softmaxcrossentropyloss0_output_0", role::loss},
           {"fc1_output_0", role::other},
           {"_output_0", role::other},
           {"12_output_0", role::other},
           {"grad/fc1/w", role::gradient},
           {"grads/fc1/b", role::gradient},
           {"gradient/x", role::gradient},
           {"fc1.weight.grad", role::gradient},
           {"fc1/w.grad", role::gradient},
           {"fc1/w", role::weight},
           {"conv.weight", role::weight},
           {"a/b/kernel", role::weight},
           {"fc1/b", role::bias},
           {"conv.bias", role::bias},
           {"a.b/bias", role::bias},
           {"w", role::weight},
           {"b", role::bias},
           {"rnn0/weights", role::weight},
           {"rnn0.biases", role::bias},
           {"grad for fc1.weight", role::gradient},
           {"AdamW m for fc1.weight", role::optimizer},
           {"AdamW v for fc1.weight", role::optimizer},
           {"kernel", role::weight}});
}

TEST_CASE("a gradient of a weight is no weight, whatever its last part [A24]", "[A24]") {
    check({{"grad/w", role::gradient}, {"grad/loss", role::gradient}, {"gradient/a/bias", role::gradient}});
    check({{"lossy", role::other},
           {"gradual/x", role::other},
           {"fc1/weights2", role::other},
           {"bw", role::other},
           {"", role::other}});
}

TEST_CASE("every glob of the rule catalogue finds its role") {
    check({{"input", role::input},
           {"input/image", role::input},
           {"inputs", role::input},
           {"targets", role::label},
           {"target", role::label},
           {"logits", role::prediction},
           {"probs", role::prediction},
           {"output", role::prediction},
           {"outputs", role::prediction},
           {"label", role::label},
           {"labels", role::label},
           {"labels/a", role::label},
           {"pred", role::prediction},
           {"preds", role::prediction},
           {"prediction", role::prediction},
           {"predictions", role::prediction},
           {"pred/a", role::prediction},
           {"preds/a", role::prediction},
           {"prediction/a", role::prediction},
           {"predictions/a", role::prediction},
           {"pre/fc1", role::preactivation},
           {"tanh_input", role::preactivation},
           {"act/fc1", role::activation},
           {"relu/3", role::activation},
           {"layer3_output", role::activation},
           {"feature_importance/gain", role::importance},
           {"m/feature_importance/gain", role::importance},
           {"tree/0", role::tree},
           {"trees/17/depth", role::tree},
           {"metric/accuracy", role::metric},
           {"time/step", role::timing},
           {"sys/gpu_util[0]", role::system},
           {"something", role::other}});
}

TEST_CASE("the names of boosted trees are recognised [A26] [D19]", "[A26][D19][S24]") {
    check({{"train-auc", role::metric},
           {"train-map", role::metric},
           {"train-rmse", role::metric},
           {"validation_0-rmse", role::metric},
           {"eval-ndcg@5", role::metric},
           {"train-error@0.3", role::metric},
           {"my-set-auc", role::metric},
           {"a.b@c-mlogloss", role::metric},
           {"x-gamma-nloglik", role::metric},
           {"eval-ndcg@5-", role::metric},
           {"eval-map-", role::metric},
           {"average_shap/f1", role::average_shap},
           {"full_shap", role::full_shap},
           {"full_shap/3", role::full_shap},
           {"hyperparameters/eta", role::hyperparameter},
           {"predictions", role::prediction},
           {"labels", role::label},
           {"feature_importance/weight/f-1", role::importance},
           {"average_shap/bias", role::average_shap}});
    check({{"-auc", role::other},
           {"train-", role::other},
           {"train-unknown", role::other},
           {"a/train-auc", role::other},
           {"auc", role::other}});
}

TEST_CASE("a gradient knows the name of its partner") {
    static_assert(gradient_of("grad/fc1/w") == "fc1/w");
    CHECK(gradient_of("grads/a.b") == "a.b");
    CHECK(gradient_of("gradient/x") == "x");
    CHECK(gradient_of("fc1.weight.grad") == "fc1.weight");
    CHECK(gradient_of("fc1/w").empty());
    CHECK(gradient_of("grad/").empty());
    CHECK(gradient_of("").empty());
}

TEST_CASE("roles and flags have names and bits") {
    for (std::size_t i = 0; i < role_count; ++i) { CHECK_FALSE(name_of(static_cast<role>(i)).empty()); }
    CHECK(name_of(role::system) == "system");
    static_assert(has(flag::frozen | flag::sparse_rows, flag::frozen) && !has(flag::frozen, flag::full_batch));
    static_assert(has(flag::logits | batch_axis(1), flag::logits) && !has(batch_axis(7), flag::logits));
}
