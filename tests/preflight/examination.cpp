// SPDX-License-Identifier: Apache-2.0
// Loops by functions of their own: nets that cannot be copied, what is saved and restored, and what a result says.
#include <spotter/preflight.hpp>
#include <spotter/print.hpp>
#include <spotter/response/finding_json.hpp>

#include <tests/catch.hpp>
#include <tests/preflight/net.hpp>

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

using namespace spotter;
using namespace preflight_test;

namespace {

// A net that nobody can copy, with momentum.
struct fixed_net {
    perceptron<> net{};
    std::vector<std::vector<float>> velocity{};
    fixed_net() {
        for (auto* const each : net.weights()) { velocity.emplace_back(each->size()); }
    }
    fixed_net(fixed_net const&) = delete;
    void update(float sign = 1) {
        for (std::size_t k = 0; k < velocity.size(); ++k) {
            for (std::size_t i = 0; i < velocity[k].size(); ++i) {
                velocity[k][i] = 0.9F * velocity[k][i] + (*net.gradients()[k])[i];
                (*net.weights()[k])[i] -= sign * 0.05F * velocity[k][i];
            }
        }
    }
};

examination exam_of(fixed_net& of, std::vector<std::vector<float>>& kept) {
    examination exam;
    exam.parameters = [&of](auto& visit) {
        auto& net = of.net;
        visit("fc1/w", net.w1, net.g1), visit("fc1/b", net.b1, net.gb1), visit("fc2/w", net.w2, net.g2),
            visit("fc2/b", net.b2, net.gb2), visit("fc3/w", net.w3, net.g3);
    };
    exam.backward = [&of] { return of.net.forward_backward(); };
    exam.update = [&of] { of.update(); };
    exam.save = [&of, &kept] { kept = of.velocity; };
    exam.restore = [&of, &kept] { of.velocity = kept; };
    return exam;
}

}  // namespace

TEST_CASE("a net that is not copied is examined where it is, and is afterwards what it was") {
    fixed_net of;
    std::vector<std::vector<float>> kept;
    auto const w1 = of.net.w1.values, b2 = of.net.b2;
    auto const velocity = of.velocity;
    preflight_result const found = preflight(exam_of(of, kept));
    INFO(found);
    CHECK(!found);
    CHECK(found.count(gradient_proof::right) == 5);
    CHECK(found.passes() <= 60);
    CHECK(of.net.w1.values == w1);
    CHECK(of.net.b2 == b2);
    CHECK(of.velocity == velocity);
}

TEST_CASE("faults are reported of it as of others") {
    fixed_net of;
    std::vector<std::vector<float>> kept;
    examination exam = exam_of(of, kept);
    exam.update = [&of] { of.update(-1); };
    CHECK(preflight(exam).first() == preflight_cause::update_direction);
    examination negated = exam_of(of, kept);
    of.net.spoils = [](perceptron<>& it) {
        for (auto* const each : it.gradients()) {
            for (float& g : *each) { g = -g; }
        }
    };
    CHECK(preflight(negated).first() == preflight_cause::negated_gradient);
}

TEST_CASE("a restore that forgets the moments is reported") {
    fixed_net of;
    std::vector<std::vector<float>> kept;
    examination exam = exam_of(of, kept);
    exam.restore = [] {};
    preflight_result const found = preflight(exam);
    INFO(found);
    CHECK(found.first() == preflight_cause::not_restored);
    CHECK(found.all()[0].finding.tensor == "update");
}

TEST_CASE("random numbers that restore rewinds are rewound before each pass where that is asked for") {
    fixed_net of;
    std::vector<std::vector<float>> kept;
    prng random, kept_random;
    examination exam = exam_of(of, kept);
    of.net.before_loss = [&random](perceptron<>& it) {
        for (float& each : it.logits.values) { each += static_cast<float>(random.next()); }
    };
    exam.save = [&] { kept = of.velocity, kept_random = random; };
    exam.restore = [&] { of.velocity = kept, random = kept_random; };
    CHECK(preflight(exam).find(preflight_cause::not_repeatable) != nullptr);
    exam.restore_each = true;
    preflight_result const found = preflight(exam);
    INFO(found);
    CHECK(!found);
    CHECK(found.count(gradient_proof::right) == 5);
}

TEST_CASE("weights and gradients are afterwards what they were, though each pass was restored") {
    fixed_net of;
    std::vector<std::vector<float>> kept;
    for (auto* const each : of.net.gradients()) {
        for (float& g : *each) { g = 3; }  // of the last step: this loop clears behind its update
    }
    of.net.clears = false;
    auto const w1 = of.net.w1.values, b2 = of.net.b2, g3 = of.net.g3.values;
    examination exam = exam_of(of, kept);
    exam.update = [&of] { of.update(), of.net.clear(); };
    exam.restore_each = true;
    preflight_result const found = preflight(exam);
    INFO(found);
    CHECK(!found);
    CHECK(found.find(preflight_cause::cleared_by_update) != nullptr);
    CHECK(of.net.w1.values == w1);
    CHECK(of.net.b2 == b2);
    CHECK(of.net.g3.values == g3);
}

TEST_CASE("a loss of its own saves backward passes, and has to be the same loss") {
    fixed_net of;
    std::vector<std::vector<float>> kept;
    int backwards = 0;
    examination exam = exam_of(of, kept);
    exam.loss = [&of] {
        perceptron<> other = of.net;
        return other.forward_backward();
    };
    exam.backward = [&] {
        ++backwards;
        return of.net.forward_backward();
    };
    preflight_result const found = preflight(exam);
    CHECK(!found);
    CHECK(backwards < 15);
    exam.loss = [&of] {
        perceptron<> other = of.net;
        return other.forward_backward() + 0.1;
    };
    CHECK(preflight(exam).first() == preflight_cause::losses_differ);
}

TEST_CASE("what is found is reported as any finding is, causes first, and what they explain as notes") {
    perceptron<> net;
    net.rate = 300;
    net.spoils = [](perceptron<>& it) {
        for (auto* const each : it.gradients()) {
            for (float& g : *each) { g = -g; }
        }
    };
    preflight_result found = examined(net);
    CHECK(found);
    CHECK(found.alarm().size() == found.all().size());
    CHECK(found.alarm().front().rule == "negated_gradient");
    CHECK(std::string{found.alarm().front().reason}.starts_with("proven: "));
    for (std::size_t i = 1; i < found.all().size(); ++i) {
        CHECK(found.all()[i - 1].finding.severity >= found.all()[i].finding.severity);
    }
    preflight_result const moved = std::move(found);
    CHECK(moved.all()[0].finding.tensor == "all");

    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    print(moved, file);
    std::string text(static_cast<std::size_t>(std::ftell(file)), ' ');
    std::rewind(file);
    REQUIRE(std::fread(text.data(), 1, text.size(), file) == text.size());
    std::fclose(file);
    CHECK(text.starts_with("error: negated_gradient: proven: the gradient is minus the derivative of the loss at "
                           "train(0), \"all\": gradient over derivative -1"));
    CHECK(std::string{json_of(moved.alarm().front()).view()}.find("\"rule\": \"negated_gradient\"") !=
          std::string::npos);
    CHECK(std::string{moved.sentence().view()}.starts_with(
        "0 of 5 gradients are right, 5 wrong; first of what is wrong: negated_gradient; "));
}

TEST_CASE("a symptom is a note beside its cause, and an alarm alone") {
    perceptron<> both;
    both.rate = 300;
    for (float& each : both.x.values) { each = 100 + 60 * each; }
    preflight_result const found = examined(both);
    INFO(found);
    CHECK(found.first() == preflight_cause::input_not_normalized);
    for (auto const& each : found.all()) {
        if (each.cause != preflight_cause::learning_rate_too_large) { continue; }
        CHECK(each.finding.severity == severity::info);
        CHECK(each.finding.remedy.empty());  // that of the cause helps
    }
}

TEST_CASE("every cause has a name of its own, a reason and, where it is an alarm, a remedy and a proof") {
    for (std::size_t i = 1; i < preflight_cause_count; ++i) {
        preflight_row const& row = describe_cause(static_cast<preflight_cause>(i));
        CHECK(!row.reason.empty());
        if (row.severity > severity::info) {
            CHECK(!row.remedy.empty());
            CHECK(!row.proof.empty());
        }
        for (std::size_t k = 1; k < i; ++k) { CHECK(row.name != describe_cause(static_cast<preflight_cause>(k)).name); }
    }
    CHECK(name_of(static_cast<preflight_cause>(200)) == "none");
}

TEST_CASE("progress is reported once half a second has gone by") {
    perceptron<> net;
    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    preflight_options<perceptron<>> choices;
    choices.progress = file;
    int calls = 0;
    (void)preflight(
        net,
        [&](perceptron<>& it) {
            if (++calls == 2) { std::this_thread::sleep_for(std::chrono::milliseconds{600}); }
            return it.forward_backward();
        },
        step, choices);
    CHECK(std::ftell(file) > 0);
    std::fclose(file);
}
