// SPDX-License-Identifier: Apache-2.0
// An alarm triggers an experiment, at most once in a thousand steps: proven, refuted or not proven. What an examination
// proved right raises no alarm afterwards.
#include <spotter/preflight.hpp>
#include <spotter/replay.hpp>
#include <spotter/response/finding_json.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>
#include <tests/preflight/net.hpp>
#include <tests/temporary_folder.hpp>

#include <stdexcept>
#include <string>
#include <vector>

using namespace spotter;

namespace {

// Sends one finding through the judges, as the close of a step does.
struct asked_alarm {
    step_findings found{};
    alarm_experiment experiment{};

    asked_alarm() {
        tensor_info info;
        info.name = "loss", info.id = 0;
        REQUIRE(found.declare(info, 2, 0));
    }
    finding ask(rule_id which, std::uint64_t step, severity level = severity::error) {
        finding one;
        one.attribute_to(which);
        one.severity = level, one.decision = decision::stop, one.detail << "seen";
        one.step = train(step);
        found.clear();
        REQUIRE(found.take(one));
        found.finish_step(train(step));
        experiment.answer(found, train(step), 3);
        return *found.begin();
    }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(found.end() - found.begin()); }
};

using net_type = preflight_test::perceptron<>;

}  // namespace

TEST_CASE("an alarm that the experiment refutes is a note, and asks for nothing") {
    net_type net;
    alarm_examination exam{[&] { return preflight_test::examined(net); }};
    asked_alarm alarm;
    alarm.experiment.ask(exam);
    finding const reported = alarm.ask(rule_id::update_direction, 0);
    CHECK(reported.severity == severity::info);
    CHECK(reported.decision == decision::proceed);
    CHECK(reported.detail.view() == "refuted: an examination proved it right; seen");
    CHECK(exam.examined().passes() > 0);
    CHECK(alarm.size() == 1);
}

TEST_CASE("an alarm that the experiment proves says so, and stands first") {
    net_type net;
    net.rate = -net.rate;
    alarm_examination exam{[&] { return preflight_test::examined(net); }};
    asked_alarm alarm;
    alarm.experiment.ask(exam);
    finding const reported = alarm.ask(rule_id::update_direction, 0, severity::warning);
    CHECK(reported.severity == severity::warning);
    CHECK(reported.leads);
    CHECK(reported.detail.view() == "proven: update_direction at \"update\"; seen");
}

TEST_CASE("another fault that the experiment finds is reported beside the alarm") {
    net_type net;
    net.spoils = [](net_type& it) {
        for (float& g : it.g2.values) { g = -g; }
    };
    alarm_examination exam{[&] { return preflight_test::examined(net); }};
    asked_alarm alarm;
    alarm.experiment.ask(exam);
    finding const reported = alarm.ask(rule_id::learning_rate_too_large, 5, severity::warning);
    CHECK(reported.detail.view() == "not proven; seen");
    REQUIRE(alarm.size() == 2);
    finding const& more = alarm.found.begin()[1];
    CHECK(more.rule == "negated_gradient");
    CHECK(more.tensor == "fc2/w");
    CHECK(more.step == train(5));
    CHECK(more.worker == 3);
    CHECK(more.leads);
}

TEST_CASE("it is asked once in a thousand steps, by train steps, and by what names a fault of the loop alone") {
    net_type net;
    int times = 0;
    alarm_examination exam{[&] {
        ++times;
        return preflight_test::examined(net);
    }};
    asked_alarm alarm;
    alarm.experiment.ask(exam);
    (void)alarm.ask(rule_id::loss_spike, 0);
    (void)alarm.ask(rule_id::update_direction, 0, severity::info);
    CHECK(times == 0);
    (void)alarm.ask(rule_id::update_direction, 10);
    (void)alarm.ask(rule_id::update_direction, 11);
    CHECK(alarm.ask(rule_id::update_direction, 1009).severity == severity::error);  // not asked, so unchanged
    (void)alarm.ask(rule_id::update_direction, 3);
    CHECK(times == 1);
    (void)alarm.ask(rule_id::update_direction, 1010);
    CHECK(times == 2);
}

TEST_CASE("a net that cannot be examined proves nothing, and what throws is caught") {
    net_type net;
    net.before_loss = [](net_type&) { throw std::runtime_error{"no batch"}; };
    alarm_examination exam{[&] { return preflight_test::examined(net); }};
    asked_alarm alarm;
    alarm.experiment.ask(exam);
    finding const reported = alarm.ask(rule_id::gradient_not_cleared, 0);
    CHECK(reported.severity == severity::error);
    CHECK(reported.detail.view() == "not proven; seen");
    CHECK(alarm.size() == 1);
    CHECK(exam.examined().first() == preflight_cause::threw);
    alarm_examination throws{[]() -> preflight_result { throw std::runtime_error{"no net"}; }};
    asked_alarm other;
    other.experiment.ask(throws);
    CHECK(other.ask(rule_id::gradient_not_cleared, 0).detail.view() == "seen");
}

TEST_CASE("what an examination before the training proved right no rule names afterwards") {
    net_type net;
    preflight_result const right = preflight_test::examined(net);
    CHECK(right.proven_right().size() == 3);
    asked_alarm alarm;
    alarm.experiment.take_as_right(right.proven_right());
    alarm.experiment.take_as_right(right.proven_right());  // a second time
    for (rule_id const each : {rule_id::update_direction, rule_id::gradient_not_cleared, rule_id::learning_rate_zero}) {
        CHECK(alarm.ask(each, 700).severity == severity::info);
    }
    CHECK(alarm.ask(rule_id::dead_update_path, 700).severity == severity::error);  // this fault may still begin later

    net.clears = false;
    preflight_result const uncleared = preflight_test::examined(net);
    CHECK(uncleared.proven_right().size() <= 2);
    for (rule_id const each : uncleared.proven_right()) { CHECK(each != rule_id::gradient_not_cleared); }
}

TEST_CASE("a hook runs the experiment: it decides how an alarm of the rules is reported") {
    net_type net;
    alarm_examination exam{[&] { return preflight_test::examined(net); }};
    // The rule is mistaken: the loop is right and shows its gradient with the wrong sign.
    hook watch{plan<>{}, update_direction{.warmup = 0, .window = 5}};
    watch.examine_with(exam);
    std::vector<float> w(8, 1.0F), shown(8);
    std::string reported;
    for (std::uint64_t i = 0; i < 40 && reported.empty(); ++i) {
        for (std::size_t k = 0; k < w.size(); ++k) { shown[k] = -0.1F * static_cast<float>(k + 1); }
        step_alarm const found = watch.step(train(i), "fc/w"_t = view_of(w.data(), {2, 4}),
                                            "grad/fc/w"_t = view_of(shown.data(), {2, 4}), "loss"_t = 1.0);
        CHECK(!found);
        for (finding const& each : found) { reported += each.detail.view(); }
        for (std::size_t k = 0; k < w.size(); ++k) { w[k] -= 0.01F * static_cast<float>(k + 1); }
    }
    INFO(reported);
    CHECK(reported.find("refuted: an examination proved it right") == 0);
    null_hook nothing;
    nothing.examine_with(exam);
}

namespace {

// A loop that shows its gradient with the wrong sign, so that this rule is mistaken. The examined net may be right or
// wrong.
constexpr update_direction mistaken{.warmup = 0, .window = 5};

template <class Hook>
std::vector<std::string> count_reported(Hook& watch, std::uint64_t steps = 40) {
    std::vector<float> w(8, 1.0F), shown(8);
    std::vector<std::string> reported;
    for (std::uint64_t i = 0; i < steps; ++i) {
        for (std::size_t k = 0; k < w.size(); ++k) { shown[k] = -0.1F * static_cast<float>(k + 1); }
        for (finding const& each :
             watch.step(train(i), "fc/w"_t = view_of(w.data(), {2, 4}), "grad/fc/w"_t = view_of(shown.data(), {2, 4}),
                                  "loss"_t = 1.0)) {
            reported.emplace_back(json_of(each, {.time = 1}).view());
        }
        for (std::size_t k = 0; k < w.size(); ++k) { w[k] -= 0.01F * static_cast<float>(k + 1); }
    }
    return reported;
}
std::vector<std::string> reported_by_replay(std::string const& path) {
    trial const run = open_trial(path).value();
    std::vector<std::string> reported;
    for (finding const& each : replay(run, mistaken).findings) {
        reported.emplace_back(json_of(each, {.time = 1}).view());
    }
    return reported;
}

}  // namespace

TEST_CASE("a replay tells what the loop heard: an alarm that was refuted is a note there, too") {
    spotter_test::temporary_folder const folder;
    net_type net;
    alarm_examination exam{[&] { return preflight_test::examined(net); }};
    std::vector<std::string> heard;
    {
        hook watch{folder / "run", plan<>{}, mistaken};
        watch.examine_with(exam);
        heard = count_reported(watch);
    }
    REQUIRE(!heard.empty());
    CHECK(heard[0].find("refuted: an examination proved it right") != std::string::npos);
    CHECK(reported_by_replay(folder / "run") == heard);
}

TEST_CASE("a replay tells what the experiment found beside the alarm") {
    spotter_test::temporary_folder const folder;
    net_type net;
    net.clears = false;
    alarm_examination exam{[&] { return preflight_test::examined(net); }};
    std::vector<std::string> heard;
    {
        hook watch{folder / "run", plan<>{}, mistaken};
        watch.examine_with(exam);
        heard = count_reported(watch);
    }
    REQUIRE(heard.size() > 1);
    CHECK(heard[0].find("{\"rule\": \"gradient_not_cleared\"") == 0);
    CHECK(reported_by_replay(folder / "run") == heard);
}

TEST_CASE("a replay knows what an examination before the training proved right, from its step on") {
    spotter_test::temporary_folder const folder;
    net_type net;
    std::vector<std::string> heard;
    {
        hook watch{folder / "run", plan<>{}, mistaken};
        watch.add(preflight_test::examined(net));
        heard = count_reported(watch);
    }
    bool refuted = false;
    std::vector<std::string> of_rules;  // without the examination's own notes
    for (std::string const& each : heard) {
        if (each.find("{\"rule\": \"update_direction\"") == 0) { of_rules.push_back(each); }
        refuted = refuted || each.find("refuted: an examination proved it right") != std::string::npos;
    }
    CHECK(refuted);
    CHECK(reported_by_replay(folder / "run") == of_rules);
}
