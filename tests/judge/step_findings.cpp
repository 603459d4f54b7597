// SPDX-License-Identifier: Apache-2.0
// One condition gives one finding. A finding that a NaN explains names that NaN and is not another alarm.
#include <tests/catch.hpp>

#include <spotter/hook.hpp>
#include <spotter/rules.hpp>

#include <bit>
#include <vector>

using namespace spotter;

namespace {

float const nan_f = std::bit_cast<float>(0x7FC00000U);

// A step in which loss and gradient are NaN because an activation was.
template <class Hook>
auto bad_step(Hook& watch, step_id at, float w = 1) {
    std::vector<float> const weights{w, 2, 3, 4}, bad{1, nan_f, 3, 4};
    watch.begin(at);
    watch.observe("fc/w", view_of(weights.data(), {2, 2}));
    watch.observe("act/fc", view_of(bad.data(), {2, 2}));
    watch.observe("loss", nan_f);
    watch.observe("grad/fc/w", view_of(bad.data(), {2, 2}));
    return watch.end();
}

}  // namespace

TEST_CASE("a NaN is one alarm: the origin in front, the rest as info that names it, without advice of its own") {
    hook watch{plan{}, packs::supervised, loss_spike{}};
    auto const found = bad_step(watch, train(0));
    REQUIRE(found.size() > 1);
    CHECK((found[0].rule == "non_finite" && found[0].tensor == "act/fc" && found[0].severity == severity::error));
    std::size_t advices = 0;
    for (finding const& each : found) {
        advices += each.remedy.empty() ? 0 : 1;
        if (&each == &found[0]) { continue; }
        INFO(each.rule << " " << each.tensor << " " << each.detail.view());
        CHECK((each.severity == severity::info && each.decision == decision::proceed));
        CHECK(each.detail.view().starts_with("because of non_finite in \"act/fc\""));
    }
    CHECK(advices == 1);
    CHECK((found && found.decision() == decision::skip_update));
}

TEST_CASE("the same condition of two rules is reported once, with the strongest response") {
    hook watch{plan{}, packs::supervised, on(non_finite{}, stop)};
    auto const found = bad_step(watch, train(0));
    std::size_t reported = 0;
    for (finding const& each : found) { reported += each.rule == "non_finite" ? 1 : 0; }
    CHECK(reported == 1);
    CHECK((found[0].rule == "non_finite" && found[0].decision == decision::stop && found.decision() == decision::stop));
    hook other{plan{}, vanishing_gradient{.patience = 1}, vanishing_gradient{.patience = 1} | severity::error,
               vanishing_gradient{.threshold = 1e-5, .patience = 1}};
    std::vector<float> const small{1e-9F, 1e-9F};
    auto const vanished = other.step(train(0), "grad/fc/w"_t = view_of(small.data(), {1, 2}));
    REQUIRE(vanished.size() == 2);  // a different threshold is a different condition
    CHECK((vanished[0].severity == severity::error && vanished[0].decision == decision::stop));
    CHECK((vanished[0].threshold == 1e-7 && vanished[1].threshold == 1e-5));
}

TEST_CASE("every response of merged findings runs, and of a consequence, too") {
    int first = 0, second = 0, third = 0;
    hook watch{plan{}, on(non_finite{}, call{[&](finding const&) { ++first; }}),
               on(non_finite{}, call{[&](finding const& it) { second += it.rule == "non_finite" ? 1 : 100; }}),
               on(exploding_gradient{}, stop, call{[&](finding const& it) {
                      third += it.severity == severity::info && it.detail.view().starts_with("because of") ? 1 : 100;
                  }})};
    auto const found = bad_step(watch, train(0));
    CHECK((first == 1 && second == 1 && third == 1));
    REQUIRE(found.size() == 2);
    CHECK((found[0].rule == "non_finite" && found[0].decision == decision::stop));  // the consequence's decision
}

TEST_CASE("while a NaN stays, what it explains later is no alarm of its own; what it does not explain is") {
    hook watch{plan{}, non_finite{} | once, any("act/*", mean_abs > 2.0) | only{from{2}} | named{"large"},
               any("fc/w", maximum > 0.0) | only{from{2}} | named{"other"}};
    CHECK(bad_step(watch, train(0)));
    CHECK(bad_step(watch, train(1)).empty());
    auto const later = bad_step(watch, train(2));
    REQUIRE(later.size() == 2);
    CHECK((later[0].rule == "other" && later[0].severity == severity::warning));
    CHECK((later[1].rule == "large" && later[1].severity == severity::info));
    CHECK(later[1].detail.view() == "because of non_finite at train(0)");
    CHECK_FALSE(watch.healthy_since(train(1)));
    // A finite step of this mode ends it.
    std::vector<float> const weights{1, 2, 3, 4};
    CHECK(watch.step(train(3), "act/fc"_t = view_of(weights.data(), {2, 2})).front().severity == severity::warning);
    CHECK(bad_step(watch, train(4)).front().severity == severity::warning);
}

TEST_CASE("without a rule that names the origin, the first finding of a NaN is the alarm") {
    hook watch{plan{}, exploding_gradient{}, loss_spike{}, exploding_tensor{}};
    auto const found = bad_step(watch, train(0));
    REQUIRE(found.size() == 3);
    CHECK((found[0].rule == "exploding_gradient" && found[0].severity == severity::error));
    CHECK((found[1].severity == severity::info && found[2].severity == severity::info));
    CHECK(found.decision() == decision::skip_update);
}
