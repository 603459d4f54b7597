// SPDX-License-Identifier: Apache-2.0
// The order of a hook's arguments decides nothing: rules by hand before, behind and between a pack leave its cause in
// front.
#include <tests/diagnosis/program.hpp>

#include <spotter/rules.hpp>

#include <algorithm>

using namespace spotter_test;

namespace {

struct judged_run {
    std::vector<std::string> lines;                        // of all alarms: equals may come in any order
    std::string first;                                     // the first line that is a warning or worse
    spotter::decision asked = spotter::decision::proceed;  // by that alarm
    friend bool operator==(judged_run const&, judged_run const&) = default;
};

template <class Change, class... Rules>
judged_run judge(std::uint64_t steps, habits const& like, Change change, Rules const&... rules) {
    hook watch{plan{}, rules...};
    judged_run all;
    show_run(watch, steps, like, change, [&](std::uint64_t, step_alarm const& found) {
        for (finding const& each : found) { all.lines.push_back(spotter::detail::sentence_of<std::string>(each)); }
        if (found && all.first.empty()) {
            all.first = spotter::detail::sentence_of<std::string>(found.front());
            all.asked = found.decision();
        }
    });
    std::sort(all.lines.begin(), all.lines.end());
    return all;
}

// What three rules tell, in each of their six orders.
template <class Change, class A, class B, class C>
std::vector<judged_run> in_each_order(std::uint64_t steps, habits const& like, Change change, A const& a, B const& b,
                                      C const& c) {
    return {judge(steps, like, change, a, b, c), judge(steps, like, change, a, c, b),
            judge(steps, like, change, b, a, c), judge(steps, like, change, b, c, a),
            judge(steps, like, change, c, a, b), judge(steps, like, change, c, b, a)};
}

// As README's ten lines have it, and one more by hand.
template <class Change>
judged_run reported_alike(std::uint64_t steps, habits const& like, Change change) {
    auto const all = in_each_order(steps, like, change, on(non_finite{}, stop), packs::supervised,
                                   on(exploding_gradient{}, stop) | rearm{10});
    for (std::size_t i = 1; i < all.size(); ++i) {
        INFO("order " << i);
        CHECK(all[i] == all[0]);
    }
    return all[0];
}

constexpr auto spoiled_at = [](std::uint64_t when) {
    return [=](shown_step& it, std::uint64_t i) {
        if (i == when) { it.gradients[0][3] = std::bit_cast<float>(0x7FC00000U); }
    };
};
// What a step does that is too large: a layer overflows, all of it.
constexpr auto overflows_at = [](std::uint64_t when) {
    return [=](shown_step& it, std::uint64_t i) {
        if (i == when) { it.act.assign(it.act.size(), std::bit_cast<float>(0x7F800000U)); }
    };
};

}  // namespace

TEST_CASE("order: what led to a value that is no number is reported first, beside a rule by hand that asks to stop") {
    auto const rising = [](shown_step& it, std::uint64_t i) {
        it.loss = 2.3 * std::exp(0.05 * static_cast<double>(i));
        overflows_at(20)(it, i);
    };
    judged_run const sign = reported_alike(30, {}, rising);
    CHECK(sign.first.starts_with("error: update_direction: the loss rises under small steps at train(20)"));
    judged_run const rate = reported_alike(30, {.rate = 500}, rising);
    CHECK(rate.first.starts_with("error: learning_rate_too_large: "));
    judged_run const input = reported_alike(30, {.input_size = 255}, overflows_at(1));
    CHECK(input.first.starts_with("error: input_not_normalized: "));
    for (judged_run const& each : {sign, rate, input}) {
        CHECK(each.first.find("\"act/fc1\"") != each.first.npos);
        CHECK((each.first.find("[stop]") != each.first.npos && each.asked == decision::stop));
        std::string all;
        for (std::string const& line : each.lines) { all += line + "\n"; }
        CHECK(all.find("note: non_finite") != all.npos);  // where it is stands behind
    }
    judged_run const alone = reported_alike(60, {}, spoiled_at(40));
    CHECK(alone.first.starts_with("error: non_finite: originates here at train(40), \"grad/fc1/w\""));
    CHECK(alone.asked == decision::stop);
}

TEST_CASE("order: a cause stands before what a rule by hand found that is no more severe, whatever that asks for") {
    auto const still = [](shown_step& it, std::uint64_t) {
        it.loss = 2.3;
        for (float& each : it.gradients[0]) { each *= 1e6F; }
    };
    auto const check = [&](auto const&... rules) {
        hook watch{plan{}, rules...};
        show_run(watch, 30, {.rate = 500}, still, [](std::uint64_t i, step_alarm const& found) {
            if (i < 3) { return; }
            REQUIRE_FALSE(found.empty());
            CHECK(found.decision() == decision::stop);
            CHECK(found.front().rule == (i == 29 ? "learning_rate_too_large" : "exploding_gradient"));
            if (i == 29) { CHECK((found.front().leads && found.front().severity == severity::warning)); }
        });
    };
    check(on(exploding_gradient{}, stop), packs::supervised);
    check(packs::supervised, on(exploding_gradient{}, stop));
    check(on(exploding_gradient{}, stop) || packs::supervised);
}

TEST_CASE("order: two packs and a rule that find the same tell one cause") {
    auto const rising = [](shown_step& it, std::uint64_t i) {
        it.loss = 2.3 * std::exp(0.05 * static_cast<double>(i));
        overflows_at(20)(it, i);
    };
    auto const all =
        in_each_order(30, {}, rising, packs::boosting, packs::supervised, on(non_finite{.select = "act/*"}, stop));
    for (judged_run const& each : all) { CHECK(each == all[0]); }
    CHECK(all[0].first.starts_with("error: update_direction: "));
}

TEST_CASE("order: a cause is reported before an equal, and what is more severe before a cause") {
    finding cause, other;
    cause.leads = true;
    other.decision = decision::stop, other.decision_is_set = true;
    CHECK((is_reported_before(cause, other) && !is_reported_before(other, cause)));
    other.severity = severity::error;
    CHECK((is_reported_before(other, cause) && !is_reported_before(cause, other)));
    finding const plain;
    CHECK_FALSE((is_reported_before(plain, plain) || is_reported_before(cause, cause)));
    // Of many the weakest goes, which is no cause.
    findings all;
    other.severity = severity::warning;
    all.push(cause);
    for (std::size_t i = 0; i < findings::capacity; ++i) { all.push(other); }
    CHECK((all.size() == findings::capacity && all[0].leads && all.left_out() == 1));
}
