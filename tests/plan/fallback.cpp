// SPDX-License-Identifier: Apache-2.0
// The plan's fallback for collections that omit `when` or `what`; the default collections.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <spotter/plan/defaults.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr tensor_info called(std::string_view name) {
    tensor_info it;
    it.name = name;
    it.role = guess_role(name);
    return it;
}

constexpr plan seldom{fallback{.when = every{500}, .what = payload},
                      collection{"x", "p"},
                      collection{"y", "q", every{2}},
                      defaults::losses,
                      defaults::gradients,
                      collection{"z", "r", always{}, stats(l2)}};
static_assert(seldom.due(train(1)) == 0b10100);
static_assert(seldom.due(train(250)) == 0b10110);
static_assert(seldom.due(train(500)) == 0b11111);
static_assert(seldom.due(eval(500)) == 0b10111, "the gradients' fallback stays in training");
static_assert(seldom.wanted(0b00001) == payload && seldom.wanted(0b10000) == stats(l2));

constexpr plan small{fallback{.what = stats(minimum)}, collection{"x", "p"}, defaults::losses, defaults::weights,
                     collection{"y", "q", always{}, payload}};
static_assert(small.wanted(0b0001) == stats(minimum) && small.wanted(0b0100) == stats(minimum));
static_assert(small.wanted(0b0010) == payload && small.wanted(0b1000) == payload,
              "what a collection says is not touched [S30]");
static_assert(small.due(train(1)) == 0b1111, "a fallback that says no `when` is always");

constexpr plan without{collection{"x", "p"}, defaults::weights};
static_assert(without.due(train(1)) == 0b01 && without.due(train(500)) == 0b11 && without.wanted(0b11) == payload);

}  // namespace

TEST_CASE("an omitted when or what takes the plan's fallback; what is said stays [A23][S30]", "[A23][S30]") {
    collecting_sink sink;
    hook watch{sink, plan{fallback{.when = every{5}, .what = stats(minimum)}, defaults::losses, defaults::weights,
                          collection{"mine", "m"}}};
    for (std::uint64_t i = 0; i < 10; ++i) {
        (void)watch.step(train(i), "loss"_t = 1.0F, "fc/w"_t = 2.0F, "m"_t = 3.0F);
    }
    CHECK(sink.kept["loss"].size() == 10);
    CHECK(sink.kept["fc/w"].empty());
    CHECK(sink.asked["fc/w"] == stats(minimum));
    CHECK(sink.count("observe fc/w") == 2);
    CHECK(sink.count("observe m") == 2);
    REQUIRE(sink.collections.size() == 3);
    CHECK(sink.collections[1] == "weights: role::weight, every{5}: range, counts");
}

TEST_CASE("the default collections take their role, given or guessed from the name [A24]", "[A24]") {
    constexpr plan all{defaults::losses,    defaults::metrics, defaults::weights, defaults::biases, defaults::gradients,
                       defaults::optimizer, defaults::inputs,  defaults::outputs, defaults::all};
    auto const members = [&](std::string_view name) { return all.members(called(name)) & 0xFF; };
    for (char const* name : {"loss", "a/loss", "mse_loss", "loss/b"}) { CHECK(members(name) == 1); }
    for (char const* name : {"metric/accuracy", "train-auc"}) { CHECK(members(name) == 2); }
    for (char const* name : {"fc/w", "fc/weight", "conv.kernel"}) { CHECK(members(name) == 4); }
    for (char const* name : {"fc/b", "fc.bias"}) { CHECK(members(name) == 8); }
    for (char const* name : {"grad/fc/w", "grads/b", "gradient/x", "fc.grad"}) { CHECK(members(name) == 16); }
    CHECK(members("optimizer/m") == 32);
    CHECK(members("input") == 64);
    CHECK(members("predictions") == 128);
    CHECK(members("else") == 0);
    CHECK((all.members(called("else")) >> 8) == 1);
    tensor_info given = called("theta");
    given.role = role::weight;
    CHECK((all.members(given) & 0xFF) == 4);
    CHECK((all.due(train(500)) & all.due(predict(500))) == 0b111001111);  // all but gradients and optimizer
}

TEST_CASE("boosted trees: every metric is a metric, the falling ones are losses [A26][S24]", "[A26][S24]") {
    constexpr auto const& it = defaults::boosting;
    auto const members = [&](std::string_view name) { return it.members(called(name)); };
    for (char const* name : {"train-auc", "train-map", "eval_2-map@10", "x.y-auc@3-", "train-aucpr"}) {
        CHECK(members(name) == 0b01);
    }
    for (char const* name : {"train-rmse", "train-mape", "validation_0-logloss", "a-b@c-error@0.7"}) {
        CHECK(members(name) == 0b11);
    }
    CHECK(members("feature_importance/weight/f0") == 0b000000100);
    CHECK(members("average_shap/f0") == 0b000001000);
    CHECK(members("average_shap/bias_of_mine") == 0b000001000);
    CHECK(members("average_shap/bias") == 0);
    CHECK(members("full_shap") == 0b000010000);
    CHECK(members("trees/3") == 0b000100000);
    CHECK(members("hyperparameters") == 0b001000000);
    CHECK(members("predictions") == 0b010000000);
    CHECK(members("labels") == 0b100000000);
    CHECK(it.due(train(1)) == 0b11);
    CHECK(it.due(train(10)) == 0x1FF);
}
