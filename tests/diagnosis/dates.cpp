// SPDX-License-Identifier: Apache-2.0
// What a finding is dated by: the last step of the mode that has shown it; and which of the steps was too large.
#include <tests/diagnosis/program.hpp>

#include <tests/catch.hpp>

using namespace spotter_test;

namespace {

struct dated {
    step_id closed, step;
    std::string rule, detail;
};

// Ten steps of training and one of evaluation, in turn, whose losses are what `trained` and `evaluated` give.
template <class Trained, class Evaluated>
std::vector<dated> in_turn(habits const& like, std::uint64_t steps, Trained trained, Evaluated evaluated) {
    hook watch{plan{}, packs::supervised};
    shown_program program{like};
    std::vector<dated> all;
    auto const keep = [&](step_id closed, step_alarm const& found) {
        check_as_printed(found);
        for (finding const& each : found) {
            if (each.severity < severity::warning) { continue; }
            all.push_back({closed, each.step, std::string{each.rule}, std::string{each.detail.view()}});
        }
    };
    for (std::uint64_t i = 0; i < steps; ++i) {
        shown_step const& it = program.at(i);
        watch.begin(train(i));
        watch.observe("fc1/w", view_of(it.weights[0].data(), {8, 4}));
        watch.observe("fc2/w", view_of(it.weights[1].data(), {3, 8}));
        watch.observe("grad/fc1/w", view_of(it.gradients[0].data(), {8, 4}));
        watch.observe("grad/fc2/w", view_of(it.gradients[1].data(), {3, 8}));
        watch.observe("loss", trained(i));
        keep(train(i), watch.end());
        if (i % 10 != 9) { continue; }
        watch.begin(eval(i));
        watch.observe("loss", evaluated(i));
        keep(eval(i), watch.end());
    }
    return all;
}

}  // namespace

TEST_CASE("dates: what training has shown is dated there, though an evaluation makes it known") {
    // Ten evaluations make it known that neither gets anywhere.
    auto const noisy = [](double level) {
        return [=](std::uint64_t i) { return level + 0.3 * std::sin(static_cast<double>(i * i)); };
    };
    auto const all =
        in_turn({.rate = 500}, 200, noisy(2.3), [](std::uint64_t i) { return 2.3 + 0.001 * double(i % 7); });
    REQUIRE_FALSE(all.empty());
    CHECK((all[0].rule == "learning_rate_too_large" && all[0].closed.mode == mode::eval));
    CHECK((all[0].step == train(all[0].closed.index)));
    for (dated const& each : all) { CHECK((each.step.mode == mode::train && each.step.index <= each.closed.index)); }
    // The evaluation itself is dated where it was made.
    auto const still =
        in_turn({.rate = 1}, 200, noisy(2.3), [](std::uint64_t i) { return 2.3 + 0.001 * double(i % 7); });
    REQUIRE_FALSE(still.empty());
    CHECK((still[0].rule == "loss_not_decreasing" && still[0].step == still[0].closed));
    CHECK(still[0].step.mode == mode::eval);
}

TEST_CASE("an evaluation far above the training loss is overfit, whether it falls or rests; one far below the "
          "beginning is not") {
    auto const learned = [](std::uint64_t i) { return 2.3 * std::exp(-0.02 * static_cast<double>(i)); };
    CHECK(in_turn({}, 300, learned, [](std::uint64_t i) {
              return 0.1 + 2.2 * std::exp(-0.02 * static_cast<double>(i));
          }).empty());
    auto const falls =
        in_turn({}, 300, learned, [](std::uint64_t i) { return 0.6 + 1.7 * std::exp(-0.01 * static_cast<double>(i)); });
    REQUIRE_FALSE(falls.empty());
    CHECK((falls[0].rule == "overfit" && falls[0].step.mode == mode::eval));
    auto const rests =
        in_turn({}, 300, learned, [](std::uint64_t i) { return i < 30 ? 2.3 : 1.2 + 0.01 * double(i % 7); });
    REQUIRE_FALSE(rests.empty());
    CHECK((rests[0].rule == "overfit" && rests[0].step.mode == mode::eval));
}

TEST_CASE("dates: a step that is larger than the weights says which step that was") {
    auto const lost = [](std::uint64_t i) { return 2.3 * std::exp(0.05 * static_cast<double>(i)); };
    auto const all = in_turn({.rate = 500}, 60, lost, [](std::uint64_t) { return 2.3; });
    REQUIRE_FALSE(all.empty());
    CHECK(all[0].rule == "learning_rate_too_large");
    INFO(all[0].detail);
    std::size_t const at = all[0].detail.find("; seen at train(");
    REQUIRE(at != std::string::npos);
    std::uint64_t const seen = std::stoull(all[0].detail.substr(at + 16));
    CHECK((seen >= 1 && seen <= 5));  // one of the first updates, seen by the step after it
}
