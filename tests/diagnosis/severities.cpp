// SPDX-License-Identifier: Apache-2.0
// How loud a condition is as a run does, and what an alarm asks of the loop.
#include <tests/diagnosis/program.hpp>

#include <tests/catch.hpp>

#include <algorithm>

using namespace spotter_test;

namespace {

// Half of the units never answer: met in healthy nets.
constexpr auto half_dead = [](shown_step& it, std::uint64_t) {
    for (std::size_t i = 0; i < it.act.size(); ++i) { it.act[i] = i % 8 < 7 ? 0 : it.act[i]; }
};
template <class One, class Other>
auto both(One one, Other other) {
    return [=](shown_step& it, std::uint64_t i) { one(it, i), other(it, i); };
}
bool any_of_rule(std::vector<reported_finding> const& all, std::string_view rule, severity level) {
    for (reported_finding const& each : all) {
        if (each.rule == rule && each.level == level) { return true; }
    }
    return false;
}

}  // namespace

TEST_CASE("a symptom is a note while a run makes progress, and the cause once it does not") {
    auto const well = story_of(packs::supervised, 600, {}, half_dead);
    CHECK(alarms_of(well).empty());
    CHECK(any_of_rule(well, "dead_relu", severity::info));
    reported_finding const badly = first_alarm(story_of(packs::supervised, 520, {}, both(half_dead, flat)));
    CHECK((badly.at == 503 && badly.rule == "dead_relu" && badly.level == severity::warning));
}

TEST_CASE("one cause is reported in front, and what was found beside it as notes") {
    auto const all = story_of(packs::supervised, 110, {.rate = 500}, both(half_dead, worse));
    std::size_t alarms = 0, notes = 0;
    for (reported_finding const& each : all) {
        if (each.at != 31) { continue; }
        CHECK((alarms == 1 || (notes == 0 && each.rule == "learning_rate_too_large")));
        (each.level >= severity::warning ? alarms : notes) += 1;
    }
    CHECK((alarms == 1 && notes >= 2));
}

TEST_CASE("weights that climb in a run that learns are reported as a habit of the program, and as a fault in "
          "one that does not") {
    auto const of_direction = [](std::vector<reported_finding> const& all) {
        std::vector<reported_finding> found;
        for (reported_finding const& each : all) {
            if (each.rule == "update_direction") { found.push_back(each); }
        }
        return found;
    };
    std::vector<reported_finding> const learns = of_direction(story_of(packs::supervised, 300, {.rate = -1}, as_it_is));
    REQUIRE(learns.size() == 1);
    CHECK((learns[0].level == severity::info && learns[0].reason == "gradients look negated, or of another instant"));
    std::vector<reported_finding> const fails = of_direction(story_of(packs::supervised, 700, {.rate = -1}, flat));
    REQUIRE_FALSE(fails.empty());
    CHECK((fails.back().level > severity::info && fails.back().reason == "the optimizer ascends"));
}

// Rules of the alarms in a run that shows `trained(step)` at each of `steps`, and `evaluated(step)` at every `each`-th.
template <class Trained, class Evaluated>
std::vector<std::string> alarms_of_losses(std::uint64_t steps, std::uint64_t each, Trained&& trained,
                                          Evaluated&& evaluated) {
    hook watch{plan{}, packs::supervised};
    std::vector<std::string> all;
    auto const note = [&](step_alarm const& found) {
        for (finding const& it : found) {
            if (it.severity >= severity::warning) { all.emplace_back(it.rule); }
        }
    };
    for (std::uint64_t i = 0; i < steps; ++i) {
        note(watch.step(train(i), "train_loss"_t = trained(static_cast<double>(i))));
        if (i % each == each - 1) { note(watch.step(eval(i), "val_loss"_t = evaluated(static_cast<double>(i)))); }
    }
    return all;
}

TEST_CASE("what is learned by heart is a note as long as evaluation is far below where training began") {
    auto const alarms = [](double evaluated) {
        return alarms_of_losses(
            400, 20, [](double i) { return 2.3 * std::exp(-0.02 * i); }, [=](double) { return evaluated; });
    };
    CHECK(alarms(0.2).empty());
    CHECK(alarms(0.5) == std::vector<std::string>{"overfit"});
}

TEST_CASE("an objective below zero is learned by heart where evaluation gains little of what training does") {
    auto const alarms = [](double evaluated) {
        auto const towards = [](double last) {
            return [=](double i) { return -0.2 + (last + 0.2) * (1 - std::exp(-0.02 * i)); };
        };
        return alarms_of_losses(300, 40, towards(-0.9), towards(evaluated));
    };
    CHECK(alarms(-0.85).empty());
    CHECK(alarms(-0.5).empty());
    CHECK(alarms(-0.22) == std::vector<std::string>{"overfit"});
    CHECK(alarms(-0.1) == std::vector<std::string>{"overfit"});
}

TEST_CASE("boosted trees: a metric that is made smaller is a loss, in training and in evaluation") {
    auto const first = [](auto&& trained, auto&& evaluated) {
        hook watch{plan{}, packs::boosting};
        for (std::uint64_t i = 0; i < 60; ++i) {
            watch.begin(train(i));
            watch.observe("train-mlogloss", trained(static_cast<double>(i)));
            watch.observe("validation-mlogloss", evaluated(static_cast<double>(i)));
            watch.observe("validation-auc", 0.5 + 0.001 * static_cast<double>(i % 2));
            step_alarm const found = watch.end();
            for (finding const& each : found) {
                if (each.severity >= severity::warning) { return std::string{each.rule} + ' ' + std::to_string(i); }
            }
        }
        return std::string{};
    };
    auto const stays = [](double) { return 1.386; };
    auto const learns = [](double round) { return 1.386 * std::exp(-0.1 * round) + 0.01; };
    CHECK(first(learns, [&](double round) { return 0.1 + learns(round); }).empty());
    CHECK(first(stays, stays) == "loss_not_decreasing 29");
    CHECK(first(learns, [](double round) { return 1.386 + 0.05 * round; }) == "overfit 13");
}

TEST_CASE("a note is reported once an episode") {
    auto const all = story_of(packs::supervised, 600, {}, half_dead);
    std::size_t reported_at = 0;
    for (reported_finding const& each : all) { reported_at += each.rule == "dead_relu" ? 1 : 0; }
    CHECK(reported_at == 1);
}

TEST_CASE("a flat run is warned of and goes on; one that gets worse is an error that asks to stop") {
    reported_finding const still = first_alarm(story_of(packs::supervised, 520, {}, flat));
    CHECK((still.level == severity::warning && still.decision == decision::proceed));
    std::size_t rises = 0;
    for (reported_finding const& each : story_of(packs::supervised, 150, {}, worse)) {
        if (each.level < severity::warning) { continue; }
        ++rises;
        CHECK((each.rule == "update_direction" && each.level == severity::error && each.decision == decision::stop));
    }
    CHECK(rises == 1);
}

TEST_CASE("a run that learns after all gets no further report") {
    auto const course = [](shown_step& it, std::uint64_t i) {
        if (i < 600) { flat(it, i); }
    };
    CHECK(alarms_of(story_of(packs::supervised, 2500, {}, course)) ==
          std::vector<std::string>{"503 loss_not_decreasing"});
}

TEST_CASE("a missing gradient beside another cause is a note") {
    auto const dead_and_cut = [](shown_step& it, std::uint64_t i) {
        flat(it, i);
        it.act.assign(it.act.size(), 0.0F), it.gradients[0].assign(it.gradients[0].size(), 0.0F);
    };
    bool noted = false;
    for (reported_finding const& each : story_of(packs::supervised, 600, {}, dead_and_cut)) {
        if (each.rule != "dead_update_path") { continue; }
        INFO(each.at);
        CHECK(each.level == severity::info);
        noted = true;
    }
    CHECK(noted);
}

TEST_CASE("where no outcome is known only what is far beyond its limit is an alarm") {
    habits const no_loss{.shows_loss = false};
    CHECK(alarms_of(story_of(packs::supervised, 100, no_loss, half_dead)).empty());
    auto const all_dead = [](shown_step& it, std::uint64_t) { it.act.assign(it.act.size(), 0.0F); };
    CHECK_FALSE(alarms_of(story_of(packs::supervised, 100, no_loss, all_dead)).empty());
    CHECK_FALSE(alarms_of(story_of(packs::rl, 100, {}, all_dead)).empty());
}

TEST_CASE("adaptors and responses take a pack as they take any rule") {
    reported_finding const it = first_alarm(story_of(on(packs::supervised, skip_update), 520, {}, flat));
    CHECK((it.rule == "loss_not_decreasing" && it.decision == decision::skip_update));
    CHECK(alarms_of(story_of(packs::supervised | severity::info, 520, {}, flat)).empty());
    CHECK(alarms_of(story_of(packs::supervised | only{before{50}}, 520, {}, flat)).empty());
}

TEST_CASE("predictions that stay unrelated are a warning while the loss falls, and so is a target that never differs") {
    auto const alarms_under = [](auto&& loss) {
        hook unrelated{plan{}, packs::supervised};
        std::mt19937 random{1};
        std::vector<float> target(64), said(64);
        std::vector<std::string> alarms;
        for (std::uint64_t i = 0; i < 500; ++i) {
            for (std::size_t k = 0; k < target.size(); ++k) {
                target[k] = static_cast<float>(random() % 1000) / 999.0F,
                said[k] = static_cast<float>(random() % 1000) / 999.0F;
            }
            step_alarm const found =
                unrelated.step(train(i), "target"_t = view_of(target.data(), {64, 1}),
                               "pred"_t = view_of(said.data(), {64, 1}), "loss"_t = loss(static_cast<double>(i)));
            for (finding const& each : found) {
                if (each.severity >= severity::warning) {
                    alarms.push_back(std::to_string(i) + ' ' + std::string{each.rule});
                }
            }
        }
        return alarms;
    };
    // Windows of eight steps: the first that counts ends at 151, the twentieth at 303.
    using reported = std::vector<std::string>;
    CHECK(alarms_under([](double i) { return 0.1 + std::exp(-0.01 * i); }) == reported{"303 unrelated_predictions"});
    auto const rests_from = [](double first) {
        return [first](double i) { return i < 10 ? first : 2 + 1e-3 * i / 500; };
    };
    CHECK(alarms_under(rests_from(2.5)) == reported{"303 unrelated_predictions"});  // models of speech rest like that
    CHECK(alarms_under(rests_from(2.1)) == reported{"167 unrelated_predictions"});

    auto const agent = [](bool equal) {
        hook watch{plan{}, packs::rl};
        std::vector<std::string> found;
        std::vector<float> online(8), copied(8, 0.5F), gradient(8, 0.01F);
        for (std::uint64_t i = 0; i < 200; ++i) {
            for (std::size_t k = 0; k < online.size(); ++k) {
                online[k] = static_cast<float>(k + 1) - 0.001F * static_cast<float>(i);
            }
            if (equal) { copied = online; }
            if (!equal && i % 20 == 0) { copied = online; }
            step_alarm const it = watch.step(
                train(i), "q/w"_t = view_of(online.data(), {2, 4}), "target/q/w"_t = view_of(copied.data(), {2, 4}),
                "grad/q/w"_t = view_of(gradient.data(), {2, 4}), "metric/episode_return"_t = static_cast<double>(i));
            for (finding const& each : it) {
                if (each.severity >= severity::warning) {
                    found.push_back(std::to_string(i) + ' ' + std::string{each.rule});
                }
            }
        }
        return found;
    };
    CHECK(agent(false).empty());
    CHECK(agent(true) == std::vector<std::string>{"49 rl_target_network"});
}

TEST_CASE("labels that are partly random are a warning once the loss rests, or as the cause of overfitting; no stop") {
    using namespace spotter;
    auto const alarms_of_noisy = [](bool evaluates) {
        hook watch{plan{}, packs::supervised};
        std::vector<std::int32_t> labels(50);
        std::vector<float> logits(500);
        std::uint32_t drawn = 1;
        std::vector<std::pair<std::uint64_t, std::string>> alarms;
        for (std::uint64_t i = 0; i < 400; ++i) {
            for (std::size_t k = 0; k < 50; ++k) {
                drawn = 1664525U * drawn + 1013904223U;
                std::size_t const is = k % 10, other = (is + 1 + (drawn >> 8U) % 9) % 10;
                labels[k] = static_cast<std::int32_t>((drawn >> 16U) % 10 < 4 ? other : is);
                for (std::size_t c = 0; c < 10; ++c) { logits[10 * k + c] = 0; }
                logits[10 * k + is] = 1 + static_cast<float>(drawn >> 20U) / 4096.0F;
            }
            auto const count = [&](step_alarm const& of) {
                for (finding const& each : of) {
                    CHECK((each.id != rule_id::label_noise || response_of(each) == decision::proceed));
                    if (each.severity >= severity::warning) { alarms.emplace_back(i, each.rule); }
                }
            };
            double const at = static_cast<double>(i);
            count(watch.step(train(i), "labels"_t = labels, "logits"_t = view_of(logits.data(), {50, 10}),
                             "loss"_t = 0.5 + 1.8 * std::exp(-0.03 * at)));
            if (evaluates && i % 10 == 9) { count(watch.step(eval(i), "loss"_t = 1.5 + 0.02 * at)); }
        }
        return alarms;
    };
    auto const alone = alarms_of_noisy(false), evaluated = alarms_of_noisy(true);
    REQUIRE((alone.size() == 1 && !evaluated.empty()));
    CHECK((alone[0].second == "label_noise" && alone[0].first > 150));  // three windows are full at step 60
    CHECK((evaluated[0].second == "label_noise" && evaluated[0].first < 100));
    CHECK(std::count_if(evaluated.begin(), evaluated.end(),
                        [](auto const& it) { return it.second == "label_noise"; }) == 1);
}
