// SPDX-License-Identifier: Apache-2.0
// Each cause with made-up evidence, through a hook and a pack: which finding comes first, when, and that a healthy run
// has none.
#include <tests/diagnosis/program.hpp>

#include <tests/catch.hpp>

#include <algorithm>

using namespace spotter_test;

namespace {

// All weights begin with one value.
// Units that begin alike get equal gradients: rows of the first weight, columns of the second.
constexpr auto one_value = [](shown_step& it, std::uint64_t i) {
    for (std::size_t k = 0; k < 32; ++k) { it.gradients[0][k] = it.gradients[0][k % 4]; }
    for (std::size_t k = 0; k < 24; ++k) { it.gradients[1][k] = it.gradients[1][k / 8 * 8]; }
    if (i > 0) { return; }
    for (auto& weight : it.weights) { weight.assign(weight.size(), 0.3F); }
};
constexpr auto from_zero = [](shown_step& it, std::uint64_t i) {
    if (i == 0) { it.weights[0].assign(32, 0.0F); }
};

// The first warning or error, "rule: reason"; empty where there is none.
std::string alarm_in(step_alarm const& found) {
    for (finding const& each : found) {
        if (each.severity >= severity::warning) { return std::string{each.rule} + ": " + std::string{each.reason}; }
    }
    return {};
}

// The first alarm of a net whose one weight moves by `update` in each element, and whose evaluation stays at 1.61.
// `loss(i)` is the training loss; every `every`-th step is evaluated.
template <class Loss>
std::string alarm_beside_flat_evaluation(float update, float gradient_size, std::uint64_t steps, std::uint64_t every,
                                         Loss&& loss) {
    hook watch{plan{}, packs::supervised};
    std::vector<float> weight(64, 0.5F), gradient(64, gradient_size);
    for (std::size_t e = 0; e < 64; ++e) { weight[e] += 0.01F * static_cast<float>(e % 7); }
    std::string first;
    for (std::uint64_t i = 0; i < steps && first.empty(); ++i) {
        watch.begin(train(i));
        watch.observe("fc1/w", view_of(weight.data(), {8, 8}));
        watch.observe("grad/fc1/w", view_of(gradient.data(), {8, 8}));
        for (float& each : weight) { each -= update; }
        double const at = static_cast<double>(i);
        first = alarm_in(watch.end("loss"_t = loss(at) + 0.01 * std::sin(3 * at)));
        if (first.empty() && i % every == every - 1) { first = alarm_in(watch.step(eval(i), "loss"_t = 1.61)); }
    }
    return first;
}

}  // namespace

TEST_CASE("in a healthy run nothing is reported, nor in one without a loss") {
    CHECK(story_of(packs::supervised, 1000, {}, as_it_is).empty());
    CHECK(story_of(packs::rl, 1000, {}, as_it_is).empty());
    CHECK(story_of(packs::supervised, 1000, {.shows_loss = false}, as_it_is).empty());
}

TEST_CASE("cause: no weight has ever moved, reported though the loss falls") {
    auto const all = story_of(packs::supervised, 40, {.rate = 0}, as_it_is);
    reported_finding const it = first_alarm(all);
    CHECK((it.at == 10 && it.rule == "learning_rate_zero" && it.tensor == "fc1/w" && it.level == severity::warning));
    CHECK(alarms_of(story_of(packs::supervised, 40, {.rate = 0, .shows_first_gradient = false}, as_it_is)).front() ==
          "10 learning_rate_zero");
    // A weight that rests at zero has no length, so it is no evidence that no step of that length would gain anything.
    CHECK(alarms_of(story_of(packs::supervised, 40, {.rate = 0, .layers = 1}, from_zero)).front() ==
          "10 learning_rate_zero");
}

TEST_CASE("cause: no weight has ever moved, but its bias does: the weight is left out") {
    auto const first_of = [](float moves, bool shows_gradient = true) {
        hook watch{plan{}, packs::supervised};
        std::vector<float> const weight{0.3F, -0.2F, 0.5F, 0.1F}, gradient{0.1F, -0.1F, 0.2F, 0.1F};
        std::vector<float> bias{0.1F, 0.2F};
        std::string first;
        for (std::uint64_t i = 0; i < 40 && first.empty(); ++i) {
            watch.begin(train(i));
            watch.observe("fc1/w", view_of(weight.data(), {2, 2}));
            watch.observe("fc1/b", view_of(bias.data(), {2}));
            if (shows_gradient) { watch.observe("grad/fc1/w", view_of(gradient.data(), {2, 2})); }
            first = alarm_in(watch.end("loss"_t = 2.3 * std::exp(-0.01 * static_cast<double>(i))));
            for (float& each : bias) { each += moves; }
        }
        return first;
    };
    CHECK(first_of(0.01F) == "dead_update_path: updates do not change it");
    // A bias of next to nothing can move by a rate that is too small for weights.
    CHECK(first_of(1e-8F).starts_with("learning_rate_zero"));
    CHECK(first_of(0).starts_with("learning_rate_zero"));
    CHECK(first_of(0.01F, false) == "dead_update_path: it never changes");
}

TEST_CASE("cause: steps are next to nothing beside the weights, once the loss does not fall") {
    reported_finding const it = first_alarm(story_of(packs::supervised, 520, {.rate = 3e-3}, flat));
    CHECK((it.at == 100 && it.rule == "learning_rate_too_small" && it.level == severity::warning));
    CHECK(it.detail.starts_with("an update of 0.1 % takes the rate times 1"));
    // Steps of some size: all together are below a hundredth of the weights.
    reported_finding const together = first_alarm(story_of(packs::supervised, 520, {.rate = 7e-3}, flat));
    CHECK((together.rule == "learning_rate_too_small" && together.at >= 490));
    // Steps of some more: by the gradients, all together could not have changed the loss by a hundredth.
    reported_finding const short_of_it = first_alarm(story_of(packs::supervised, 520, {.rate = 0.05}, flat));
    CHECK((short_of_it.rule == "learning_rate_too_small" && short_of_it.at >= 490));
    CHECK(short_of_it.reason == "all steps together cannot change the loss");
    // Usual steps; and gradients that are too small themselves.
    CHECK(first_alarm(story_of(packs::supervised, 520, {.rate = 1}, flat)).rule != "learning_rate_too_small");
    auto const faint = [](shown_step& shown, std::uint64_t i) {
        flat(shown, i);
        for (auto& gradient : shown.gradients) {
            for (float& each : gradient) { each *= 1e-2F; }
        }
    };
    CHECK(first_alarm(story_of(packs::supervised, 520, {.rate = 0.05}, faint)).rule != "learning_rate_too_small");
    // A rate that is small, and does its work.
    CHECK(alarms_of(story_of(packs::supervised, 500, {.rate = 3e-3}, as_it_is)).empty());
    // A rate that moves nothing is reported whatever the loss does.
    CHECK(first_alarm(story_of(packs::supervised, 150, {.rate = 1e-4}, as_it_is)).rule == "learning_rate_too_small");
}

TEST_CASE("cause: a plateau near small initial weights is no flat loss while gradients grow") {
    // A step as long as the weights would change the loss by little; the gradients' size is exp(growth * step).
    auto const plateau = [](double size, double growth) {
        return [=](shown_step& it, std::uint64_t i) {
            flat(it, i);
            double const times = size * std::exp(growth * static_cast<double>(i));
            for (auto& gradient : it.gradients) {
                for (float& each : gradient) { each = static_cast<float>(times * each); }
            }
        };
    };
    CHECK(alarms_of(story_of(packs::supervised, 1500, {}, plateau(0.05, 0.002))).empty());
    CHECK(first_alarm(story_of(packs::supervised, 600, {}, plateau(0.05, -0.002))).reason == "loss is flat");
    // A single layer has no such plateau.
    reported_finding const alone = first_alarm(story_of(packs::supervised, 600, {.layers = 1}, plateau(0.05, 0.002)));
    CHECK(alone.rule == "learning_rate_too_small");
    // Gradients that could have changed the loss from the start.
    CHECK(first_alarm(story_of(packs::supervised, 600, {}, plateau(5, 0.002))).reason == "loss is flat");
    // Weights that shrink do not leave a plateau.
    auto const decaying = [&](shown_step& it, std::uint64_t i) {
        plateau(0.05, 0.006)(it, i);
        for (auto& weight : it.weights) {
            for (float& each : weight) { each *= 0.997F; }
        }
    };
    CHECK(first_alarm(story_of(packs::supervised, 700, {}, decaying)).rule == "weight_decay_too_large");
}

TEST_CASE("cause: units that die in training were killed by steps, those dead from the start were not") {
    auto const dead_from = [](std::uint64_t step) {
        return [=](shown_step& it, std::uint64_t i) {
            flat(it, i);
            if (i >= step) { it.act.assign(it.act.size(), 0); }
        };
    };
    reported_finding const died = first_alarm(story_of(packs::supervised, 520, {}, dead_from(60)));
    CHECK((died.rule == "learning_rate_too_large" && died.reason == "units died in training"));
    CHECK((died.tensor == "act/fc1" && died.detail.find("for: units died") != died.detail.npos));
    reported_finding const dead = first_alarm(story_of(packs::supervised, 520, {}, dead_from(0)));
    CHECK((dead.rule == "all_zero" && dead.detail.find("dead without a leap") != dead.detail.npos));
    // 19 of 20 units, after 250 closes: a training that fails lets units die.
    auto const nearly_dead_from = [](std::uint64_t step) {
        hook watch{plan{}, packs::supervised};
        std::mt19937 random{3};
        std::vector<float> act(320);
        for (std::uint64_t i = 0; i < 700; ++i) {
            for (std::size_t k = 0; k < 320; ++k) {
                act[k] = i >= step && k % 20 != 0 ? 0 : static_cast<float>(random() % 3);
            }
            watch.begin(train(i));
            watch.observe("act/fc1", view_of(act.data(), {16, 20}));
            for (finding const& each : watch.end("loss"_t = 2.3 + 0.01 * std::sin(3 * static_cast<double>(i)))) {
                if (each.severity >= severity::warning) { return std::string{each.detail.view()}; }
            }
        }
        return std::string{};
    };
    CHECK(nearly_dead_from(0) == "for: dead without a leap, dead units");
    CHECK(nearly_dead_from(250) == "for: dead units");
}

TEST_CASE(
    "cause: after 750 updates weights have moved by next to nothing in all, or by little where little is learned") {
    auto const levels_off_at = [](double end) {
        return [=](shown_step& it, std::uint64_t i) {
            double const noise = 0.01 * std::sin(7.0 * static_cast<double>(i));
            it.loss = end + (2.3 - end) * std::exp(-0.005 * static_cast<double>(i)) + noise;
        };
    };
    std::string const reason = "weights are hardly away from where they began";
    reported_finding const little = first_alarm(story_of(packs::supervised, 1000, {.rate = 0.04}, levels_off_at(1.9)));
    CHECK((little.rule == "learning_rate_too_small" && little.at == 800));
    CHECK(alarms_of(story_of(packs::supervised, 1000, {.rate = 0.04}, levels_off_at(0.8))).empty());
    CHECK(alarms_of(story_of(packs::supervised, 1000, {.rate = 0.3}, levels_off_at(1.9))).empty());
    CHECK(first_alarm(story_of(packs::supervised, 1000, {.rate = 0.006}, levels_off_at(0.8))).reason == reason);
    // Not while the rate warms up.
    hook watch{plan{}, packs::supervised};
    std::mt19937 random{5};
    std::normal_distribution<double> normal;
    std::vector<float> weight(64), gradient(64);
    for (float& each : weight) { each = static_cast<float>(0.35 * normal(random)); }
    for (std::uint64_t i = 0; i < 2000; ++i) {
        double const rate = 1e-7 * static_cast<double>(i);
        for (std::size_t e = 0; e < 64; ++e) { weight[e] -= static_cast<float>(rate * 0.35 * gradient[e]); }
        for (float& each : gradient) { each = static_cast<float>(normal(random)); }
        watch.begin(train(i));
        watch.observe("fc1/w", view_of(weight.data(), {8, 8}));
        watch.observe("grad/fc1/w", view_of(gradient.data(), {8, 8}));
        CHECK(alarm_in(watch.end("loss"_t = 1.8 + 0.5 * std::exp(-0.004 * static_cast<double>(i)))).empty());
    }
}

TEST_CASE("cause: most weights began next to zero, and have not moved, in a run that learns little") {
    auto const first = [](std::size_t resting) {  // layers; the last one moves
        hook watch{plan{}, packs::supervised};
        std::mt19937 random{3};
        std::normal_distribution<double> normal;
        std::vector<std::vector<float>> weights(resting + 1, std::vector<float>(64, 0.5F));
        std::vector<float> gradient(64);
        for (std::size_t layer = 0; layer < resting; ++layer) {
            for (float& each : weights[layer]) { each = static_cast<float>(0.003 * normal(random)); }
        }
        for (std::uint64_t i = 0; i < 900; ++i) {
            for (float& each : gradient) { each = static_cast<float>(normal(random)); }
            watch.begin(train(i));
            for (std::size_t layer = 0; layer <= resting; ++layer) {
                std::string const name = "fc" + std::to_string(layer) + "/w";
                watch.observe(name, view_of(weights[layer].data(), {8, 8}));
                watch.observe("grad/" + name, view_of(gradient.data(), {8, 8}));
                double const update = layer < resting ? 3e-3 * 2e-6 : 0.5 * 1e-3;
                for (std::size_t k = 0; k < 64; ++k) {
                    weights[layer][k] -= static_cast<float>(update * static_cast<double>(gradient[k]));
                }
            }
            double const loss = 2.6 + 0.17 * std::exp(-0.004 * static_cast<double>(i));
            std::string const found = alarm_in(watch.end("loss"_t = loss));
            if (!found.empty()) { return found; }
        }
        return std::string{};
    };
    CHECK(first(2) == "learning_rate_too_small: weights are hardly away from where they began");
    CHECK(first(1).empty());  // half of them
}

TEST_CASE("cause: where the loss rests, a table that begins next to zero and grows does not move too fast") {
    auto const grows = [](shown_step& it, std::uint64_t i) {
        it.loss = 61.3;
        for (std::size_t k = 0; k < it.weights[0].size(); ++k) {
            it.weights[0][k] = 1e-3F * static_cast<float>(std::exp(0.2 * double(i))) * (k % 3 == 0 ? -1.0F : 1.0F);
        }
    };
    auto const story = story_of(packs::supervised, 40, {.layers = 1, .shows_first_gradient = false}, grows);
    CHECK(first_alarm(story).rule.empty());
}

TEST_CASE("cause: a loss alone that rests at its first value is no alarm before a hundred steps, where weights move") {
    // Under a rate that warms up the loss leaves its first value late.
    auto const story = [](std::uint64_t leaves_at) {
        return story_of(packs::supervised, 400, {}, [=](shown_step& it, std::uint64_t i) {
            double const since = i < leaves_at ? 0 : static_cast<double>(i - leaves_at);
            it.loss = 0.693 * std::exp(-0.02 * since) - 1e-9 * static_cast<double>(i);
        });
    };
    CHECK(first_alarm(story(70)).rule.empty());
    reported_finding const rests = first_alarm(story(1000));
    CHECK((rests.rule == "loss_not_decreasing" && rests.at == 99));
}

TEST_CASE("cause: over 500 updates weights moved by a tenth of themselves on average, though the loss falls") {
    reported_finding const it = first_alarm(story_of(packs::supervised, 700, {.rate = 60}, as_it_is));
    CHECK((it.rule == "learning_rate_too_large" && it.at == 500 && it.level == severity::warning));
    CHECK(alarms_of(story_of(packs::supervised, 700, {.rate = 30}, as_it_is)).empty());
    CHECK(first_alarm(story_of(packs::rl, 700, {.rate = 60}, as_it_is)).rule == "learning_rate_too_large");
    // A single one may hold the places of points.
    CHECK(alarms_of(story_of(packs::supervised, 700, {.rate = 60, .layers = 1}, as_it_is)).empty());
}

TEST_CASE("cause: first updates threw the loss up by a half, and it never came back") {
    // Six large updates, and usual ones behind them.
    auto const up_to = [](double level) {
        return [=, held = std::array<std::vector<float>, 2>{}](shown_step& it, std::uint64_t i) mutable {
            double const noise = 0.3 * std::sin(5.0 * static_cast<double>(i));
            it.loss = i == 0 ? 2.3 : level + std::exp(-0.1 * static_cast<double>(i)) + noise;
            if (i == 6) { held = it.weights; }
            if (i <= 6) { return; }
            for (auto& weight : held) { weight[i % weight.size()] *= 1.01F; }
            it.weights = held;
        };
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 800, {.rate = 300}, up_to(2.7)));
    CHECK((it.rule == "learning_rate_too_large" && it.at >= 498 && it.at < 520));
    CHECK(alarms_of(story_of(packs::supervised, 800, {.rate = 300}, up_to(1.9))).empty());
}

TEST_CASE(
    "cause: a layer that died and stays dead is reported though the loss falls, one that is active again is not") {
    auto const dead_from_60 = [](std::uint64_t active_every) {
        return [=](shown_step& it, std::uint64_t i) {
            if (i >= 60 && i % active_every != 0) { it.act.assign(it.act.size(), 0); }
        };
    };
    reported_finding const stays = first_alarm(story_of(packs::supervised, 200, {}, dead_from_60(1000)));
    CHECK((stays.at >= 110 && stays.at < 120 && stays.tensor == "act/fc1"));
    CHECK(stays.reason == "units died in training");
    CHECK(alarms_of(story_of(packs::supervised, 400, {}, dead_from_60(40))).empty());
    // Of an agent, too.
    CHECK(first_alarm(story_of(packs::rl, 200, {}, dead_from_60(1000))).tensor == "act/fc1");
}

TEST_CASE("cause: weights that shrink to nothing have too large a decay") {
    auto const shrinking = [](double by) {
        return [=](shown_step& it, std::uint64_t i) {
            flat(it, i);
            for (auto& weight : it.weights) {
                for (float& each : weight) { each = static_cast<float>(each * by); }
            }
        };
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 600, {}, shrinking(0.99)));
    CHECK((it.rule == "weight_decay_too_large" && it.tensor == "fc1/w"));
    CHECK(it.detail.find("for: most weights shrank") != it.detail.npos);
    CHECK(first_alarm(story_of(packs::supervised, 600, {}, shrinking(1))).rule == "loss_not_decreasing");
    // All are a twentieth of what they began as, however well the run does.
    auto const while_it_improves = [&](double by) {
        return first_alarm(story_of(packs::supervised, 600, {}, [&](shown_step& shown, std::uint64_t i) {
            double const loss = shown.loss;
            shrinking(by)(shown, i);
            shown.loss = loss;
        }));
    };
    CHECK(while_it_improves(0.99).rule == "weight_decay_too_large");
    CHECK(while_it_improves(0.998).rule.empty());
    // Beside a weight of next to nothing any step is large.
    auto const flips = [&](shown_step& shown, std::uint64_t i) { shrinking(i < 200 ? 0.95 : -1)(shown, i); };
    CHECK(first_alarm(story_of(packs::supervised, 600, {}, flips)).rule == "weight_decay_too_large");
    // A weight that is all NaN has not shrunk.
    auto const not_finite = [](shown_step& shown, std::uint64_t i) {
        for (auto& weight : shown.weights) {
            for (float& each : weight) { each = i < 50 ? each : std::nanf(""); }
        }
    };
    reported_finding const bad = first_alarm(story_of(packs::supervised, 60, {}, not_finite));
    CHECK((bad.rule == "non_finite" && bad.detail.find("shrank") == bad.detail.npos));
}

TEST_CASE("cause: a rate that jumps in the middle of a run") {
    auto const jump_at = [](std::uint64_t step) {
        return [=](shown_step& it, std::uint64_t i) {
            it.loss = i < step ? it.loss : 9 + 0.02 * std::sin(static_cast<double>(i));
            if (i == step) {
                for (auto& weight : it.weights) {
                    for (float& each : weight) { each *= -3; }
                }
            }
        };
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 1400, {}, jump_at(300)));
    CHECK((it.rule == "learning_rate_too_large" && it.detail.find("most weights leapt later") != it.detail.npos));
    CHECK(it.detail.find("seen at train(300)") != it.detail.npos);
    // Where the jump ends in a NaN, that is the cause of the NaN, however well the run went before.
    reported_finding const bad =
        first_alarm(story_of(packs::supervised, 320, {}, [&](shown_step& shown, std::uint64_t i) {
            if (i < 310) { jump_at(300)(shown, i); }
            if (i == 302) { shown.loss = std::numeric_limits<double>::quiet_NaN(); }
        }));
    CHECK((bad.at == 302 && bad.rule == "learning_rate_too_large" && bad.tensor == "loss"));
}

TEST_CASE("cause: weights that rest after a leap were thrown where nothing pulls them") {
    auto const rest_from = [](std::uint64_t last, float times) {
        std::array<std::vector<float>, 2> kept;
        return [=](shown_step& it, std::uint64_t i) mutable {
            if (i == last) {
                for (float& each : it.weights[0]) { each *= times; }
                kept = it.weights;
            }
            if (i > last) { it.weights = kept; }
        };
    };
    auto const first_of = [&](float times, bool shows_gradient) {
        habits const like{.shows_first_gradient = shows_gradient};
        return first_alarm(story_of(packs::supervised, 500, like, rest_from(300, times))).rule;
    };
    CHECK(first_of(-3, false) == "learning_rate_too_large");
    CHECK(first_of(1, false) == "learning_rate_zero");
    CHECK(first_of(-3, true) == "learning_rate_zero");  // a gradient still pulls it
}

TEST_CASE("cause: one gradient that is far larger than all before throws the weights away") {
    auto const thrown_at = [](std::uint64_t update, std::uint64_t large_gradient, float times) {
        return [=](shown_step& it, std::uint64_t i) {
            it.loss = i < update ? it.loss : 9 + 0.02 * std::sin(static_cast<double>(i));
            for (std::size_t k = 0; k < 2; ++k) {
                for (float& each : it.weights[k]) { each *= i == update ? -3.0F : 1.0F; }
                for (float& each : it.gradients[k]) { each *= i == large_gradient ? times : 1.0F; }
            }
        };
    };
    // Weights are shown before their update, so the next step shows what a gradient did.
    reported_finding const thrown = first_alarm(story_of(packs::supervised, 1400, {}, thrown_at(301, 300, 1e5F)));
    CHECK((thrown.rule == "gradient_spike" && thrown.tensor == "fc2/w" && thrown.at > 301));
    CHECK(thrown.detail.find("for: one gradient jumped") != thrown.detail.npos);
    CHECK(thrown.detail.find("seen at train(300)") != thrown.detail.npos);
    // Under Adam no update is a leap; the loss rises, and stays there.
    auto const drifts = [](std::uint64_t from, float times) {
        return [=](shown_step& it, std::uint64_t i) {
            it.loss = i < from ? it.loss : 2.2 + 0.02 * std::sin(static_cast<double>(i));
            for (auto& gradient : it.gradients) {
                for (float& each : gradient) { each *= i == from - 1 ? times : 1.0F; }
            }
        };
    };
    CHECK(first_alarm(story_of(packs::supervised, 1400, {}, drifts(301, 1e5F))).rule == "gradient_spike");
    CHECK(first_alarm(story_of(packs::supervised, 1400, {}, drifts(301, 1))).rule == "loss_not_decreasing");
    // A gradient that grows after the weights leapt, or long before, or by little, is not why they did.
    for (auto const& [at, times] : {std::pair{301, 1e5F}, {290, 1e5F}, {300, 30.0F}}) {
        auto const other = thrown_at(301, static_cast<std::uint64_t>(at), times);
        CHECK(first_alarm(story_of(packs::supervised, 1400, {}, other)).rule == "learning_rate_too_large");
    }
}

TEST_CASE("cause: first updates that leapt are no cause where the loss then fell, or nothing is wrong with it") {
    auto const leaps = [](shown_step& it, std::uint64_t i) {
        if (i == 1) {
            for (auto& weight : it.weights) {
                for (float& each : weight) { each *= -8; }
            }
        }
    };
    auto const first = [&](std::uint64_t steps, auto&& change) {
        return first_alarm(story_of(packs::supervised, steps, {}, [&](shown_step& it, std::uint64_t i) {
            leaps(it, i);
            change(it, i);
        }));
    };
    CHECK(first(200, as_it_is).rule.empty());
    CHECK(first(40, [](shown_step& it, std::uint64_t) { it.weights[1].assign(24, 0.5F); }).rule == "dead_update_path");
    CHECK(first(1200, [](shown_step& it, std::uint64_t i) {
              it.loss = i < 300 ? it.loss : 9 + 0.02 * std::sin(static_cast<double>(i));
          }).rule == "loss_not_decreasing");
    // Where nothing was gained since, they are.
    CHECK(first(60, worse).rule == "learning_rate_too_large");
}

TEST_CASE("cause: a weight that began small may leap, and says nothing of the rate") {
    auto const first = [](float size) {
        return first_alarm(story_of(packs::supervised, 60, {}, [&](shown_step& it, std::uint64_t i) {
            worse(it, i);
            for (float& each : it.weights[1]) { each *= i == 0 ? size : i == 1 ? -8.0F : 1.0F; }
        }));
    };
    CHECK(first(1).rule == "learning_rate_too_large");
    reported_finding const small = first(0.1F);
    CHECK((small.rule == "update_direction" && small.reason == "the loss rises under small steps"));
}

TEST_CASE("cause: updates of an earlier phase are no cause of what a later one does") {
    auto const first_of = [](bool leaps_again, double level = 2.3) {
        hook watch{plan{}, packs::supervised};
        std::vector<float> encoder(32, 0.3F), readout(32, 0.3F);
        std::string first;
        for (std::uint64_t i = 0; i < 1200 && first.empty(); ++i) {
            bool const is_encoding = i < 600;
            std::vector<float>& trained = is_encoding ? encoder : readout;
            bool const leaps = i == 1 || (leaps_again && i == 601);
            for (std::size_t k = 0; k < 32; ++k) {
                trained[k] = leaps ? (k % 2 == 0 ? -3.0F : 2.0F) : trained[k] + 1e-3F * static_cast<float>((i + k) % 3);
            }
            watch.begin(train(i));
            watch.observe(is_encoding ? "encoder/w" : "readout/w", view_of(trained, {8, 4}));
            double const noise = 0.01 * static_cast<double>(i % 7);
            watch.scalar(is_encoding ? "encoder_loss" : "readout_loss",
                         is_encoding ? 5 * std::exp(-0.005 * static_cast<double>(i)) + noise
                         : i == 600  ? 2.3
                                     : level + noise);
            first = alarm_in(watch.end());
        }
        return first;
    };
    CHECK(first_of(false) == "loss_not_decreasing: loss is flat");
    CHECK(first_of(false, 5) == "loss_not_decreasing: loss stays above its beginning");
    CHECK(first_of(true).starts_with("learning_rate_too_large: "));
}

TEST_CASE("a weight that is not finite says whether it was so before the update") {
    for (instant const shown : {instant::before_update, instant::after_update}) {
        hook watch{plan{}, packs::supervised, options{.instant = shown}};
        auto const bad = [](shown_step& it, std::uint64_t i) {
            if (i == 5) { it.weights[0][3] = NAN; }
        };
        std::string reason;
        show_run(watch, 6, {}, bad, [&](std::uint64_t, step_alarm const& all) {
            for (finding const& each : all) { reason = each.reason; }
        });
        CHECK(reason ==
              (shown == instant::after_update ? "arose in this step's update" : "entered from the previous step"));
    }
}

TEST_CASE("cause: weights that are not finite any more were made so by steps, where the finite ones grew") {
    // After `steps` sound ones, seven tenths of the first weight are not finite, and the others are `grown` as large.
    auto const first_of = [](std::uint64_t steps, float grown) {
        hook watch{plan{}, packs::supervised, options{.instant = instant::after_update}};
        auto const bad = [&](shown_step& it, std::uint64_t i) {
            if (i != steps) { return; }
            for (std::size_t k = 0; k < 32; ++k) { it.weights[0][k] *= k % 10 < 7 ? NAN : grown; }
            it.loss = NAN;
        };
        std::string first;
        show_run(watch, steps + 1, {.shows_first_gradient = false}, bad, [&](std::uint64_t, step_alarm const& all) {
            if (first.empty() && !all.empty()) { first = std::string{all[0].rule} + ": " + std::string{all[0].reason}; }
        });
        return first;
    };
    for (std::uint64_t const steps : {std::uint64_t{0}, std::uint64_t{10}}) {
        CHECK(first_of(steps, 1e9F) == "learning_rate_too_large: weights grow until they are not finite");
        CHECK(first_of(steps, 1.0F) == "non_finite: arose in this step's update");
    }
}

TEST_CASE("cause: weights that begin at zero and stay there are no rate") {
    auto const at_zero = [](shown_step& it, std::uint64_t) {
        for (auto& weight : it.weights) { weight.assign(weight.size(), 0); }
        for (auto& gradient : it.gradients) { gradient.assign(gradient.size(), 0); }
    };
    reported_finding const it =
        first_alarm(story_of(packs::supervised, 40, {.rate = 0, .shows_first_gradient = false}, at_zero));
    CHECK((it.rule == "poor_weight_initialization" && it.detail.find("weights rest at zero") != it.detail.npos));
    // Shown after the first update, and without gradients, they began at zero all the same.
    hook watch{plan{}, packs::supervised, options{.instant = instant::after_update}};
    std::vector<float> const user(32), item(24);
    std::string first;
    for (std::uint64_t i = 0; i < 40 && first.empty(); ++i) {
        watch.begin(train(i));
        watch.observe("user/w", view_of(user.data(), {8, 4}));
        watch.observe("item/w", view_of(item.data(), {6, 4}));
        watch.observe("loss", std::exp(-0.01 * static_cast<double>(i)));
        for (finding const& each : watch.end()) {
            if (each.severity >= severity::warning && first.empty()) { first = std::string{each.rule}; }
        }
    }
    CHECK(first == "poor_weight_initialization");
}

TEST_CASE("cause: a step is larger than the weights, once it does harm") {
    reported_finding const it = first_alarm(story_of(packs::supervised, 120, {.rate = 500}, worse));
    CHECK(it.detail.find("; for: most weights leapt, most weights leap") != it.detail.npos);
    CHECK((it.at == 31 && it.rule == "learning_rate_too_large" && it.reason == "a step is larger than the weights"));
    CHECK(it.detail.starts_with("an update of 1 % takes the rate times 0.01"));
    auto const harmless = story_of(packs::supervised, 70, {.rate = 500}, as_it_is);
    CHECK((alarms_of(harmless).empty() && !harmless.empty()));  // notes
}

TEST_CASE("cause: in reinforcement learning first steps that leap are reported at once") {
    auto const story = [](auto const& pack, double rate) {
        return story_of(pack, 20, {.rate = rate, .shows_loss = false}, as_it_is);
    };
    reported_finding const it = first_alarm(story(packs::rl, 500));
    CHECK((it.at <= 3 && it.rule == "learning_rate_too_large"));
    CHECK(alarms_of(story(packs::rl, 50)).empty());
    CHECK(alarms_of(story(packs::supervised, 500)).empty());
}

TEST_CASE("what a leap of the weights threw up is no progress until it is below where it began") {
    auto const thrown_up = [](double ends_at) {
        return [=](shown_step& it, std::uint64_t i) {
            double const fades = std::exp(-0.1 * static_cast<double>(i));
            it.loss = i == 0 ? 2.3 : ends_at + (800 + 50 * static_cast<double>(i % 3)) * fades;
        };
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 240, {.rate = 500}, thrown_up(2.4)));
    CHECK((it.rule == "learning_rate_too_large" && it.level >= severity::warning));
    CHECK(alarms_of(story_of(packs::supervised, 240, {.rate = 500}, thrown_up(1.9))).empty());
    CHECK(alarms_of(story_of(packs::supervised, 240, {}, thrown_up(2.4))).empty());  // nothing leapt
}

TEST_CASE("cause: a loss that rises from the start under small steps has the wrong sign") {
    auto const rising = [](shown_step& it, std::uint64_t i) {
        it.loss = 2.3 * std::exp(0.05 * static_cast<double>(i));
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 120, {}, rising));
    CHECK((it.rule == "update_direction" && it.reason == "the loss rises under small steps" && it.tensor == "loss"));
    CHECK((it.at < 50 && it.level == severity::error && it.detail.starts_with("largest early update 0.002")));
    CHECK(it.detail.find("; for: loss rises under small steps") != it.detail.npos);
    // Activations overflow: the finding names their place and the cause.
    auto const lost = [&](shown_step& step, std::uint64_t i) {
        rising(step, i);
        if (i == 20) { step.act.assign(step.act.size(), std::bit_cast<float>(0x7F800000U)); }
    };
    reported_finding const bad = first_alarm(story_of(packs::supervised, 30, {}, lost));
    CHECK((bad.at == 20 && bad.rule == "update_direction" && bad.tensor == "act/fc1"));
    // Large steps overshoot.
    reported_finding const large = first_alarm(story_of(packs::supervised, 120, {.rate = 100}, rising));
    CHECK(large.rule == "learning_rate_too_large");
}

TEST_CASE("of two nets against each other, large steps of the winner are no fault of the loser") {
    // D wins and G loses; the weights of one of them turn by a fifth of their size at each step.
    auto const alarms = [](char leaps) {
        hook watch{plan{}, packs::supervised};
        std::uint64_t all = 0;
        std::vector<float> weights[2], gradients[2];
        for (std::size_t k = 0; k < 2; ++k) {
            gradients[k].resize(64);
            for (std::size_t e = 0; e < 64; ++e) { weights[k].push_back(0.05F * static_cast<float>(e * (7 + k) % 37)); }
        }
        for (std::uint64_t i = 0; i < 400; ++i) {
            double const at = static_cast<double>(i);
            watch.begin(train(i));
            for (std::size_t k = 0; k < 2; ++k) {
                char const net = "DG"[k];
                std::string const name = std::string{net} + "/fc1/w";
                float const step = net == leaps ? 0.3F : 0.001F;
                for (std::size_t e = 0; e < 64; ++e) {
                    if (i > 0) { weights[k][e] -= gradients[k][e]; }
                    gradients[k][e] = (e + i) % 2 == 0 ? step : -step;
                }
                watch.observe(name, view_of(weights[k].data(), {8, 8}));
                watch.observe("grad/" + name, view_of(gradients[k].data(), {8, 8}));
            }
            watch.observe("loss/D", 0.3 + std::exp(-0.02 * at) + 0.02 * std::sin(3 * at));
            watch.observe("loss/G", 0.7 + 0.004 * at + 0.02 * std::sin(3 * at));
            for (finding const& each : watch.end()) { all += each.severity >= severity::warning ? 1U : 0U; }
        }
        return all;
    };
    CHECK(alarms('D') == 0);
    CHECK(alarms('G') > 0);
}

TEST_CASE("an evaluation that stays where training began is learned by heart only where training improves") {
    auto const first = [](double trained_share) {
        return alarm_beside_flat_evaluation(1e-3F, 0.01F, 200, 1, [=](double at) {
            return 1.6 * (1 - (1 - trained_share) * (1 - std::exp(-0.02 * at)));
        });
    };
    CHECK(first(0.8) == "overfit: eval loss is no lower than before training");
    CHECK(first(1) == "loss_not_decreasing: eval loss is flat");
}

TEST_CASE("an evaluation that stays where it began, with the training loss beside it, is flat and not overfit") {
    // Training falls by 8 % before the first evaluation. Both stay there.
    hook watch{plan{}, packs::supervised};
    std::string first;
    for (std::uint64_t i = 0; i < 1500 && first.empty(); ++i) {
        double const at = static_cast<double>(i);
        double const loss = 1.49 + 0.13 * std::exp(-0.05 * at) + 0.01 * std::sin(0.37 * at * at);
        first = alarm_in(watch.step(train(i), "loss"_t = loss));
        if (first.empty() && i % 100 == 99) { first = alarm_in(watch.step(eval(i), "loss"_t = 1.49)); }
    }
    CHECK(first == "loss_not_decreasing: eval loss is flat");
}

TEST_CASE("an evaluation far above the training loss is overfit where it learns little, or gets worse again") {
    // Training falls to a twentieth; evaluation falls from 2 to `best` in 150 steps, and goes to `last` from 300 on.
    auto const first = [](double best, double last) {
        hook watch{plan{}, packs::supervised};
        std::string alarm;
        for (std::uint64_t i = 0; i < 600 && alarm.empty(); ++i) {
            double const at = static_cast<double>(i), noise = 0.002 * std::sin(3 * at);
            alarm = alarm_in(watch.step(train(i), "loss"_t = 2 * std::exp(-0.01 * (at < 300 ? at : 300)) + noise));
            if (!alarm.empty() || i % 10 != 9) { continue; }
            double const fall = at < 150 ? at / 150 : 1;
            double const now = i < 300 ? 2 - (2 - best) * fall : last;
            alarm = alarm_in(watch.step(eval(i), "loss"_t = now + noise));
        }
        return alarm;
    };
    CHECK(first(1, 1).empty());                       // it rests at its best
    CHECK(first(1, 1.3).starts_with("overfit: "));    // it has become worse
    CHECK(first(1.6, 1.6).starts_with("overfit: "));  // it has learned little
}

TEST_CASE("an evaluation that is bad is not learned by heart where training is above its beginning, too") {
    hook watch{plan{}, packs::supervised};
    std::string first;
    auto const note = [&](step_alarm const& found) {
        for (finding const& each : found) {
            if (each.severity >= severity::warning && first.empty()) {
                first = std::string{each.rule} + ": " + std::string{each.remedy};
            }
        }
    };
    for (std::uint64_t i = 0; i < 400 && first.empty(); ++i) {
        double const at = static_cast<double>(i), noise = 0.01 * std::sin(3 * at);
        double const loss = i < 40 ? 1.6 - 0.006 * at : i < 80 ? 1.36 + 0.0135 * (at - 40) : 1.9;
        note(watch.step(train(i), "loss"_t = loss + noise));
        if (i % 10 == 9) { note(watch.step(eval(i), "loss"_t = i < 60 ? 1.5 - 0.003 * at : 1.75)); }
    }
    CHECK(first == "loss_not_decreasing: Lower the learning rate, and check the sign of the loss.");
}

TEST_CASE("after a leap, an evaluation that recovers is no progress while it is above where training began") {
    auto const first = [](double ends_at) {
        hook watch{plan{}, packs::supervised};
        std::vector<float> weight(64), gradient(64, 0.01F);
        for (std::size_t e = 0; e < 64; ++e) { weight[e] = 0.1F * static_cast<float>(1 + e % 7); }
        for (std::uint64_t i = 0; i < 150; ++i) {
            double const up = ends_at + 300 * std::exp(-0.1 * static_cast<double>(i)) + 2 * static_cast<double>(i % 3);
            watch.begin(train(i));
            for (float& each : gradient) { each = i % 2 == 0 ? 0.01F : 0.02F; }
            watch.observe("fc1/w", view_of(weight.data(), {8, 8}));
            watch.observe("grad/fc1/w", view_of(gradient.data(), {8, 8}));
            for (float& each : weight) { each -= i == 0 ? 10.0F : 0.01F; }
            step_alarm const trained = watch.end("loss"_t = i == 0 ? 1.6 : up);
            for (finding const& each : trained) {
                if (each.severity >= severity::warning) { return std::string{each.rule}; }
            }
            for (finding const& each : watch.step(eval(i), "loss"_t = up)) {
                if (each.severity >= severity::warning) { return std::string{each.rule}; }
            }
        }
        return std::string{};
    };
    CHECK(first(20) == "learning_rate_too_large");
}

TEST_CASE("a finding that names a second cause of the same rule names it by what it is") {
    hook watch{plan{}, packs::supervised};
    std::string detail;
    for (std::uint64_t i = 0; i < 100 && detail.empty(); ++i) {
        (void)watch.step(train(i), "loss"_t = 0.3 + 2 * std::exp(-0.02 * static_cast<double>(i)));
        if (i % 10 != 0) { continue; }
        for (finding const& each : watch.step(eval(i), "loss"_t = 3.0)) {
            if (each.reason == "eval loss is no lower than before training") { detail = each.detail.view(); }
        }
    }
    CHECK(detail.find("; or ") != detail.npos);
    CHECK(detail.find("; or overfit") == detail.npos);
}

TEST_CASE("cause: weights that have overflowed before they were seen did not begin so large") {
    auto const exploded = [](shown_step& it, std::uint64_t i) {
        for (std::size_t k = 0; i == 0 && k < it.weights[0].size(); ++k) {
            it.weights[0][k] = k < 24 ? std::bit_cast<float>(0x7F800000U) : 1e30F;
        }
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 5, {}, exploded));
    CHECK((it.at == 0 && it.rule == "non_finite" && it.tensor == "fc1/w"));
}

TEST_CASE("cause: weights that climb under a loss that rises to a bound have the wrong sign") {
    auto const bounded = [](shown_step& it, std::uint64_t i) {
        it.loss = 2.0 - 0.23 * std::exp(-static_cast<double>(i) / 60);
        for (auto& each : it.gradients) { each.assign(each.size(), 0.01F); }
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 100, {.rate = -1}, bounded));
    CHECK((it.rule == "update_direction" && it.reason == "the optimizer ascends" && it.level == severity::error));
    CHECK(it.detail.find("against") == it.detail.npos);
    CHECK(alarms_of(story_of(packs::supervised, 100, {}, bounded)).empty());  // who descends may still come to learn
}

TEST_CASE("cause: a layer that keeps climbing has the wrong sign, though the loss has not risen") {
    std::vector<float> before;
    auto const climbs = [&](double up) {
        before.clear();
        return [&, up](shown_step& it, std::uint64_t i) {
            flat(it, i);
            for (std::size_t k = 0; k < before.size(); ++k) {
                it.weights[1][k] += static_cast<float>(up) * before[k];  // a step down takes a tenth of the gradient
            }
            before = it.gradients[1];
        };
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 520, {}, climbs(0.3)));
    CHECK((it.rule == "update_direction" && it.tensor == "fc2/w" && it.level == severity::warning));
    CHECK(it.detail.find("some keep climbing") != it.detail.npos);
    CHECK(first_alarm(story_of(packs::supervised, 520, {}, climbs(0))).rule != "update_direction");
}

TEST_CASE("cause: one layer climbs, weight and bias, though the run improves") {
    // Three layers that descend, but for the parameters that `up` names. The alarm's first rule and step.
    auto const first = [](std::string_view weight, std::string_view bias) {
        hook watch{plan{}, packs::supervised};
        std::array<std::vector<float>, 6> parameters;
        for (std::size_t k = 0; k < 6; ++k) { parameters[k].assign(16, 0.2F), parameters[k][k] = 0.5F; }
        std::vector<float> gradient(16);
        for (std::uint64_t i = 0; i < 200; ++i) {
            watch.begin(train(i));
            for (std::size_t k = 0; k < 6; ++k) {
                std::string const name = "fc" + std::to_string(k / 2 + 1) + (k % 2 == 0 ? "/w" : "/b");
                std::uint64_t const extent = k % 2 == 0 ? 4 : 1;
                watch.observe(name, view_of(parameters[k].data(), {extent, 16 / extent}));
                for (std::size_t e = 0; e < 16; ++e) {
                    gradient[e] = std::sin(static_cast<float>(7 * i * i + 3 * e + k));
                }
                watch.observe("grad/" + name, view_of(gradient.data(), {extent, 16 / extent}));
                float const rate = name == weight || name == bias ? 1e-3F : -1e-3F;
                for (std::size_t e = 0; e < 16; ++e) { parameters[k][e] += rate * gradient[e]; }
            }
            double const noise = 0.05 * std::sin(static_cast<double>(i * i));
            for (finding const& each : watch.end("loss"_t = 2 * std::exp(-0.01 * static_cast<double>(i)) + noise)) {
                if (each.severity >= severity::warning) {
                    return std::string{each.rule} + ' ' + std::string{each.tensor} + ' ' + std::to_string(i);
                }
            }
        }
        return std::string{};
    };
    CHECK(first("fc2/w", "fc2/b") == "update_direction fc2/b 54");
    CHECK(first("fc2/w", "").empty());  // as a weight that only decays
    CHECK(first("", "").empty());
}

TEST_CASE("cause: a loss that rests where the first update has thrown it was thrown there") {
    auto const thrown = [](double to) {
        return [=](shown_step& it, std::uint64_t i) {
            it.loss = i == 0 ? 1.77 : to - 1e-7 * static_cast<double>(i % 3);
            if (i == 1) {
                for (float& each : it.weights[1]) { each *= 20; }
            }
        };
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 60, {.rate = 1e-2}, thrown(1)));
    CHECK((it.at == 30 && it.rule == "learning_rate_too_large" && it.tensor == "fc2/w"));
}

TEST_CASE("cause: of two losses, that one is named whose values were compared") {
    // The first loss as given, the second around 5; labels come late.
    auto const first_of = [](auto const& loss, std::uint64_t steps, std::array<std::int64_t, 4> const& labels) {
        hook watch{plan{}, packs::supervised};
        for (std::uint64_t i = 0; i < steps; ++i) {
            watch.begin(train(i));
            watch.observe("first_loss", loss(static_cast<double>(i)));
            watch.observe("second_loss", 5 + 0.5 * std::sin(static_cast<double>(i)));
            if (i >= 40 && labels[1] != 0) { watch.observe("labels", view_of(labels.data(), {labels.size()})); }
            step_alarm const found = watch.end();
            check_as_printed(found);
            for (finding const& each : found) {
                if (each.severity >= severity::warning) {
                    return std::string{each.reason} + ' ' + std::string{each.tensor};
                }
            }
        }
        return std::string{};
    };
    auto const falls = [](double i) { return -2.3 - 0.02 * i; };
    CHECK(first_of(falls, 60, {0, 1, 2, 1}) == "a loss on class labels is below zero first_loss");
    auto const falls_later = [](double i) { return 0.7 - 0.014 * i; };
    CHECK(first_of(falls_later, 200, {-1, 1, 1, -1}) == "the loss falls below zero on labels below zero first_loss");
    auto const without_bottom = [](double i) { return -std::exp(0.05 * i); };
    CHECK(first_of(without_bottom, 200, {}) == "loss falls without bound first_loss");
    // Gradients that have nothing to gain are compared with the first loss, though it is flat.
    hook watch{plan{}, packs::supervised};
    shown_program program{{.rate = 1e-4}};
    std::string named;
    for (std::uint64_t i = 0; i < 150 && named.empty(); ++i) {
        shown_step& it = program.at(i);
        for (float& each : it.gradients[0]) { each *= 1e-9F; }
        watch.begin(train(i));
        watch.observe("fc1/w", view_of(it.weights[0].data(), {8, 4}));
        watch.observe("grad/fc1/w", view_of(it.gradients[0].data(), {8, 4}));
        watch.observe("first_loss", 220.0);
        watch.observe("second_loss", 150 + 10 * std::sin(static_cast<double>(i)));
        for (finding const& each : watch.end()) {
            if (each.reason == "gradients are next to nothing beside weights and loss") { named = each.tensor; }
        }
    }
    CHECK(named == "first_loss");
}

TEST_CASE("cause: where gradients have nothing to gain the rate is not too small") {
    auto const saturated = [](shown_step& it, std::uint64_t) {
        it.loss = 220;
        for (auto& each : it.gradients) {
            for (float& value : each) { value *= 1e-9F; }
        }
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 150, {.rate = 1e-4}, saturated));
    CHECK((it.rule == "vanishing_gradient" && it.detail.find("nothing to gain") != it.detail.npos));
    // Weights that began small pass nothing on: a layer's outputs are small, and not saturated.
    reported_finding const faint =
        first_alarm(story_of(packs::supervised, 150, {.rate = 1e-4, .weight_size = 0.03}, saturated));
    CHECK((faint.rule == "poor_weight_initialization" && faint.reason == "weights begin next to zero"));
    // A tiny rate under gradients that pull.
    reported_finding const small = first_alarm(story_of(packs::supervised, 150, {.rate = 1e-4}, flat));
    CHECK(small.rule == "learning_rate_too_small");
}

TEST_CASE("cause: names that pair with nothing, and one name for two weights, are noted once") {
    auto const notes = [](char const* gradient, char const* second) {
        hook watch{plan{}, packs::supervised};
        std::vector<std::string> all;
        std::vector<float> w(12, 0.5F), other(12, 0.25F), g(12, 0.01F);
        for (std::uint64_t i = 0; i < 60; ++i) {
            watch.begin(train(i));
            watch.scalar("loss", 2.0 - 0.01 * static_cast<double>(i));
            watch.observe("fc1/w", view_of(w, {3, 4}), role::weight);
            watch.observe(second, view_of(other, {3, 4}), role::weight);
            watch.observe(gradient, view_of(g, {3, 4}), role::gradient);
            watch.observe("grad/fc2/w", view_of(g, {3, 4}), role::gradient);
            for (finding const& each : watch.end()) {
                bool const is_of_names = each.reason.find(" name ") != std::string_view::npos ||
                                         each.reason.find("twice") != std::string_view::npos;
                if (is_of_names) { all.push_back(std::string{each.tensor} + ": " + std::string{each.reason}); }
                CHECK((!is_of_names || (each.severity == severity::note && each.step == train(19))));
            }
            for (std::size_t k = 0; k < 12; ++k) { w[k] -= 0.01F, other[k] -= 0.005F; }
        }
        return all;
    };
    using strings = std::vector<std::string>;
    CHECK(notes("grad/fc1/w", "fc2/w") == strings{});
    CHECK(notes("first_gradient", "fc2/w") == strings{"first_gradient: a gradient has the name of no weight"});
    CHECK(notes("grad/fc1/w", "fc1/w") == strings{"fc1/w: seen twice in a step, with other values"});
}

// The first alarm of a run of three classes whose loss falls; it guesses, in training or in evaluation.
struct guessing_run {
    bool dead = false;              // all units of the layer are
    bool learns = false;            // in training
    bool rests = false;             // the loss, after a fall at the first step
    double evaluated_share = -0.1;  // the loss of evaluation falls by this share an epoch
    bool flat = false;              // the loss, from the start
    double update = 1e-3;           // share of its weight
    std::uint64_t steps = 500;

    [[nodiscard]] std::string first_alarm() const {
        hook watch{plan{}, packs::supervised};
        std::mt19937 random{1};
        std::vector<float> w(24, 0.5F), logits(64 * 3), act(64 * 8);
        std::vector<std::int32_t> labels(64);
        auto const show = [&](double loss, bool knows) {
            for (std::size_t k = 0; k < 64; ++k) {
                labels[k] = static_cast<std::int32_t>(random() % 3);
                for (std::size_t c = 0; c < 3; ++c) { logits[3 * k + c] = static_cast<float>(random() % 1000) / 1000; }
                if (knows) { logits[3 * k + static_cast<std::size_t>(labels[k])] += 1; }
            }
            watch.scalar("loss", loss);
            watch.observe("labels", view_of(labels, {64}));
            watch.observe("logits", view_of(logits, {64, 3}), flag::logits);
        };
        std::string first;
        auto const look = [&](step_alarm const& found) {
            for (finding const& each : found) {
                if (first.empty() && each.severity >= severity::warning) {
                    first = std::string{each.rule} + ": " + std::string{each.reason};
                }
            }
        };
        for (std::uint64_t i = 0; i < steps; ++i) {
            for (float& each : w) { each += static_cast<float>(update * static_cast<double>(random() % 1000) * 1e-3); }
            for (float& each : act) { each = dead ? 0 : static_cast<float>(random() % 7); }
            watch.begin(train(i));
            double const noise = 0.01 * static_cast<double>(random() % 7);
            double const falling = 5 * std::exp(-0.003 * static_cast<double>(i));
            show(flat ? 1.1 + noise : rests ? (i == 0 ? 5 : 2.3 + noise) : falling, learns && i >= 20);
            watch.observe("fc1/w", view_of(w, {8, 3}), role::weight);
            watch.observe("act/fc1", view_of(act, {64, 8}));
            look(watch.end());
            if (i % 20 != 19) { continue; }
            watch.begin(eval(i));
            show(flat ? 1.1 : 3 * std::exp(-evaluated_share * static_cast<double>(i) / 20), false);
            look(watch.end());
        }
        return first;
    }
};

TEST_CASE("cause: guesses are an outcome, though the loss falls, with a dead layer or in evaluation alone") {
    CHECK(guessing_run{.evaluated_share = 0.05}.first_alarm().empty());
    CHECK(guessing_run{.dead = true, .evaluated_share = 0.05}.first_alarm().empty());  // the loss still falls
    CHECK(guessing_run{.dead = true, .rests = true, .evaluated_share = 0.05}.first_alarm() ==
          "all_zero: all values are zero");
    // A loss that comes down from a bad start to that of guesses has learned nothing.
    std::string const at_rest = guessing_run{.rests = true, .evaluated_share = 0.05}.first_alarm();
    CHECK(at_rest.starts_with("no_better_than_guessing"));
    CHECK(guessing_run{.evaluated_share = 0.05, .steps = 800}.first_alarm().empty());    // the loss still falls
    CHECK(guessing_run{.learns = true, .evaluated_share = 0.05}.first_alarm().empty());  // that of evaluation, too
    CHECK(guessing_run{.learns = true, .evaluated_share = 0.001}.first_alarm() ==
          "no_better_than_guessing: better than guessing in training, but not in evaluation");
    std::string const reversed = guessing_run{.learns = true, .evaluated_share = -0.02}.first_alarm();
    CHECK((reversed.starts_with("no_better_than_guessing") || reversed == "overfit: eval loss rises from the start"));
}

TEST_CASE("cause: a net guesses because all updates together have hardly moved it") {
    CHECK(guessing_run{.flat = true, .update = 1e-4}.first_alarm() ==
          "learning_rate_too_small: weights are hardly away from where they began");
    CHECK(guessing_run{.flat = true}.first_alarm().starts_with("no_better_than_guessing: "));
    // Where much was gained, the rate is no reason.
    CHECK_FALSE(guessing_run{.rests = true, .update = 1e-4}.first_alarm().starts_with("learning_rate_too_small"));
}

TEST_CASE("cause: a loss that changes its meaning begins anew, and that is noted once") {
    struct answer {
        std::vector<std::string> notes;
        std::uint64_t alarms = 0, first_at = 0;
    };
    auto const answer_to = [](double factor, float update, std::uint64_t steps = 400) {
        answer all;
        hook watch{plan{}, packs::supervised};
        std::vector<float> w(12, 0.5F), g(12, 0.01F);
        for (std::uint64_t i = 0; i < steps; ++i) {
            double const of_one = 2.3 - 0.002 * static_cast<double>(i) + 0.05 * static_cast<double>(i % 3);
            double const times = std::pow(factor, i < 150 ? 0 : i < 300 ? 1 : i < 450 ? 2 : 3);
            watch.begin(train(i));
            watch.scalar("loss", of_one * times);
            watch.observe("fc1/w", view_of(w, {3, 4}), role::weight);
            watch.observe("grad/fc1/w", view_of(g, {3, 4}), role::gradient);
            for (finding const& each : watch.end()) {
                if (each.severity >= severity::warning) { ++all.alarms; }
                if (each.reason != "the loss changed its level under small updates") { continue; }
                all.notes.emplace_back(each.tensor), all.first_at = each.step.index;
                CHECK(each.severity == severity::note);
            }
            for (float& each : w) { each -= i == 149 ? update : 0.001F; }
        }
        return all;
    };
    for (double const factor : {32.0, 1.0 / 32}) {
        answer const small = answer_to(factor, 0.001F);
        CHECK((small.notes == std::vector<std::string>{"loss"} && small.first_at == 159 && small.alarms == 0));
    }
    CHECK(answer_to(1, 0.001F).notes.empty());
    CHECK(answer_to(32, 0.001F, 600).alarms > 0);  // not a third time
    answer const large = answer_to(32, -0.3F);     // an update that may have done it
    CHECK(large.alarms > 0);
}

TEST_CASE("cause: a critic that runs away while returns fall") {
    hook watch{plan{}, packs::rl};
    std::vector<std::string> all;
    std::string tensor;
    for (std::uint64_t i = 0; i < 800; ++i) {
        double const up = std::exp(0.01 * static_cast<double>(i)), turn = static_cast<double>(i % 7);
        for (finding const& each :
             watch.step(train(i), "critic_loss"_t = up, "metric/return"_t = i < 100 ? 20 + turn : 9 + 0.1 * turn)) {
            if (each.severity >= severity::warning) { all.emplace_back(each.reason), tensor = each.tensor; }
        }
    }
    CHECK(all == std::vector<std::string>{"the loss of a critic runs away, and returns fall"});
    CHECK(tensor == "critic_loss");
}

TEST_CASE("cause: a critic that runs away beside returns that do not rise; one that climbs") {
    auto const reasons = [](double growth, double returns, float direction) {
        hook watch{plan{}, packs::rl};
        std::vector<std::string> all;
        std::vector<float> w(12, 0.5F), g(12);
        for (std::uint64_t i = 0; i < 400; ++i) {
            auto const at = static_cast<double>(i);
            for (std::size_t k = 0; k < 12; ++k) { g[k] = 0.1F * std::sin(static_cast<float>(i + 3 * k)); }
            watch.begin(train(i));
            watch.scalar("critic_loss", std::exp(growth * at));
            watch.scalar("metric/return", 20 + static_cast<double>(i % 7) + returns * at);
            watch.observe("critic/w", view_of(w, {3, 4}), role::weight);
            watch.observe("grad/critic/w", view_of(g, {3, 4}), role::gradient);
            for (finding const& each : watch.end()) {
                if (each.severity >= severity::warning) { all.emplace_back(each.reason); }
            }
            for (std::size_t k = 0; k < 12; ++k) { w[k] += 0.1F * direction * g[k]; }
        }
        return all;
    };
    using strings = std::vector<std::string>;
    CHECK(reasons(0.03, 0, -1) == strings{"the loss of a critic runs away, and returns do not rise"});
    CHECK(reasons(0.03, 0.1, -1) == strings{});
    strings const climbs = reasons(0.005, 0, 1);
    CHECK((!climbs.empty() && climbs[0] == "the optimizer ascends"));
    CHECK(reasons(-0.005, 0, 1) == strings{});
    CHECK(reasons(0.005, 0.1, 1) == strings{});  // a critic's loss may rise with the returns
}

TEST_CASE("cause: positions in metres are no cause by themselves") {
    hook watch{plan{}, packs::rl};
    std::vector<float> far_off(512, 1.0F);
    for (std::size_t i = 0; i < 20; ++i) { far_off[i] = 10.4F; }
    for (std::uint64_t i = 0; i < 20; ++i) {
        for (finding const& each : watch.step(train(i), "input"_t = view_of(far_off.data(), {128, 4}))) {
            CHECK(each.severity == severity::info);
        }
    }
}

TEST_CASE("cause: observations that leave their range while returns fall did not make them fall") {
    auto const first = [](std::uint64_t out_from) {
        hook watch{plan{}, packs::rl};
        std::vector<float> seen(512, 1.0F);
        std::string alarm;
        for (std::uint64_t i = 0; i < 1500 && alarm.empty(); ++i) {
            for (std::size_t k = 0; k < 60; ++k) { seen[k] = i >= out_from ? 12.0F : 1.0F; }
            double const turn = static_cast<double>(i % 7);
            alarm = alarm_in(watch.step(train(i), "obs"_t = view_of(seen.data(), {128, 4}),
                                        "metric/return"_t = i < 400 ? 20 + turn : 9 + 0.1 * turn));
        }
        return alarm;
    };
    CHECK(first(600) == "loss_not_decreasing: returns fall");
    CHECK(first(0).starts_with("rl_observation_range: "));
}

TEST_CASE("cause: a loss on classes is not below zero") {
    auto const of = [](auto const& labels) {
        hook watch{plan{}, packs::supervised};
        std::vector<std::string> all;
        for (std::uint64_t i = 0; i < 30; ++i) {
            watch.begin(train(i));
            watch.observe("loss", -2.3 - 0.1 * static_cast<double>(i));
            watch.observe("labels", view_of(labels.data(), {labels.size()}));
            for (finding const& each : watch.end()) {
                if (each.severity >= severity::warning) {
                    all.push_back(std::to_string(i) + ' ' + std::string{each.reason});
                }
            }
        }
        return all;
    };
    CHECK(of(std::array<std::int64_t, 4>{0, 1, 2, 1}) ==
          std::vector<std::string>{"9 a loss on class labels is below zero"});
    CHECK(of(std::array<float, 4>{0.5F, 1, 2, 1}).empty());  // a likelihood may be
}

TEST_CASE("cause: labels below zero, where the loss falls below zero on them later") {
    auto const of = [](auto const& labels) {
        hook watch{plan{}, packs::supervised};
        std::vector<std::string> all;
        for (std::uint64_t i = 0; i < 200; ++i) {
            watch.begin(train(i));
            watch.observe("loss", 0.7 - 0.014 * static_cast<double>(i));
            watch.observe("labels", view_of(labels.data(), {labels.size()}));
            for (finding const& each : watch.end()) {
                if (each.severity >= severity::warning) { all.push_back(std::string{each.rule}); }
            }
        }
        return all;
    };
    CHECK(of(std::array<std::int64_t, 4>{-1, 1, 1, -1}) == std::vector<std::string>{"output_mismatch"});
    CHECK(of(std::array<std::int64_t, 4>{0, 1, 1, 0}).empty());
}

TEST_CASE("cause: a rate that has decayed to nothing is no parameter that was left out") {
    std::vector<std::vector<float>> kept;
    auto const decayed = [&](shown_step& it, std::uint64_t i) {
        flat(it, i);
        if (i == 60) { kept.assign(std::begin(it.weights), std::end(it.weights)); }
        for (std::size_t k = 0; i > 60 && k < kept.size(); ++k) { it.weights[k] = kept[k]; }
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 200, {}, decayed));
    CHECK((it.rule == "learning_rate_zero" && it.reason == "no weight moves any more"));
    // Where no gradient arrives any more, it is not the rate that has decayed.
    auto const killed = [&](shown_step& shown, std::uint64_t i) {
        decayed(shown, i);
        for (std::size_t k = 0; i >= 60 && k < 2; ++k) { shown.gradients[k].assign(shown.gradients[k].size(), 0.0F); }
    };
    CHECK(first_alarm(story_of(packs::supervised, 900, {}, killed)).reason == "every gradient is zero");
}

TEST_CASE("cause: a rate that has decayed below what float32 resolves, of weights in float64") {
    // The first alarm; the rate or the gradients decay.
    auto const first = [](bool rate_decays) {
        hook watch{plan{}, packs::supervised};
        std::mt19937 random{3};
        std::normal_distribution<double> normal;
        std::vector<double> weight(64), gradient(64);
        for (double& each : weight) { each = 0.4 * normal(random); }
        for (std::uint64_t i = 0; i < 400; ++i) {
            double const at = static_cast<double>(i), decay = std::pow(0.9, at);
            for (double& each : gradient) { each = normal(random) * (rate_decays ? 1 : decay); }
            watch.begin(train(i));
            watch.observe("fc1/w", view_of(weight.data(), {8, 8}));
            watch.observe("grad/fc1/w", view_of(gradient.data(), {8, 8}));
            for (std::size_t k = 0; k < 64; ++k) { weight[k] -= 1e-3 * (rate_decays ? decay : 1) * gradient[k]; }
            double const loss = 0.5 + 1.8 * std::exp(-0.1 * at) + 0.01 * normal(random);
            std::string const found = alarm_in(watch.end("loss"_t = loss));
            if (!found.empty()) { return std::to_string(i / 100) + " " + found; }
        }
        return std::string{};
    };
    CHECK(first(true) == "2 learning_rate_zero: no weight moves any more");
    CHECK(first(false).empty());  // it has converged
}

TEST_CASE("cause: a rate has faded where one parameter rests, and all weights move by next to nothing") {
    auto const first = [](double least) {  // the least update of a weight
        hook watch{plan{}, packs::supervised};
        std::vector<double> weight(32, 0.5), gradient(32), bias(8, 0.5);
        for (std::uint64_t i = 0; i < 300; ++i) {
            for (std::size_t k = 0; k < 32; ++k) {
                weight[k] -= (i < 60 ? 1e-3 : least) * gradient[k];
                if (k < 8 && i < 60) { bias[k] -= 1e-3 * gradient[k]; }
                gradient[k] = std::sin(static_cast<double>(i * i * 7 + k * 3));
            }
            watch.begin(train(i));
            watch.observe("fc1/w", view_of(weight.data(), {8, 4}));
            watch.observe("fc1/b", view_of(bias.data(), {8}));
            watch.observe("grad/fc1/w", view_of(gradient.data(), {8, 4}));
            watch.observe("grad/fc1/b", view_of(gradient.data(), {8}));
            watch.observe("loss", std::exp(-0.01 * static_cast<double>(i)));
            for (finding const& each : watch.end()) {
                if (each.severity >= severity::warning) { return std::string{each.rule}; }
            }
        }
        return std::string{};
    };
    CHECK(first(1e-8) == "learning_rate_zero");
    CHECK(first(1e-5) == "dead_update_path");  // the weight still moves: only the bias rests
}

TEST_CASE("cause: no gradient arrives at an agent whose returns do not rise") {
    auto const first_at = [](std::uint64_t steps, double gain) {
        hook watch{plan{}, packs::rl};
        std::vector<float> const weight(32, 0.3F), gradient(32, 0.0F);
        for (std::uint64_t i = 0; i < steps; ++i) {
            watch.begin(train(i));
            watch.observe("fc1/w", view_of(weight.data(), {8, 4}));
            watch.observe("grad/fc1/w", view_of(gradient.data(), {8, 4}));
            double const luck = 0.1 * static_cast<double>(i % 7);
            if (i % 10 == 0) { watch.observe("metric/episode_return", gain * static_cast<double>(i) + luck); }
            if (alarm_in(watch.end()) == "dead_update_path: every gradient is zero") { return i; }
        }
        return std::uint64_t{0};
    };
    CHECK(first_at(21'000, 0) >= 19'999);
    CHECK(first_at(19'000, 0) == 0);     // it may still gather experience
    CHECK(first_at(21'000, 1e-3) == 0);  // returns rise: gradients are shown after they were cleared
}

TEST_CASE("cause: weights come to rest, in a loop that shows no gradient") {
    auto const of = [](auto moves, bool is_learned) {
        hook watch{plan{}, packs::supervised};
        std::vector<std::string> all;
        std::vector<float> weight(32);
        for (std::uint64_t i = 0; i < 320; ++i) {
            for (std::size_t k = 0; moves(i) && k < 32; ++k) {
                weight[k] = std::sin(static_cast<float>(k) + 0.001F * static_cast<float>(i));
            }
            watch.begin(train(i));
            watch.observe("fc1/w", view_of(weight.data(), {8, 4}));
            watch.observe("loss", i > 200 && is_learned ? 0 : std::exp(-0.01 * static_cast<double>(i)));
            for (finding const& each : watch.end()) {
                if (each.severity < severity::warning) { continue; }
                all.push_back(std::to_string(i) + ' ' + std::string{each.rule} + ", " + std::string{each.reason});
            }
        }
        return all;
    };
    auto const soon_over = [](std::uint64_t i) { return i < 200; };
    CHECK(of(soon_over, false) == std::vector<std::string>{"299 learning_rate_zero, no weight moves any more"});
    CHECK(of(soon_over, true).empty());
    // Several steps make an update: 229 at rest are less than three times as many as before.
    CHECK(of([](std::uint64_t i) { return i < 10 || i == 90; }, false).empty());
}

TEST_CASE("cause: every gradient is zero, though the loss is not") {
    auto const dead = [](shown_step& it, std::uint64_t) {  // the loss falls by biases that are not shown
        for (auto& gradient : it.gradients) { gradient.assign(gradient.size(), 0.0F); }
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 80, {.rate = 1}, dead));
    CHECK((it.at == 49 && it.rule == "dead_update_path" && it.reason == "every gradient is zero"));
    // A decay moves the weights, as of a loss that is detached from the net.
    auto const decays = [&](shown_step& shown, std::uint64_t i) {
        dead(shown, i);
        for (auto& weight : shown.weights) {
            for (float& each : weight) { each *= 0.9995F; }
        }
    };
    reported_finding const detached = first_alarm(story_of(packs::supervised, 80, {.rate = 1}, decays));
    CHECK((detached.at == 49 && detached.rule == "dead_update_path"));
    // It lived before, and a large update killed it.
    auto const killed = [&](shown_step& shown, std::uint64_t i) {
        if (i == 8) {
            std::transform(shown.weights[0].begin(), shown.weights[0].end(), shown.weights[0].begin(),
                           [](float each) { return each - 0.3F; });
        }
        if (i >= 8) { dead(shown, i); }
    };
    CHECK(first_alarm(story_of(packs::supervised, 80, {.rate = 1}, killed)).rule == "learning_rate_too_large");
    // All is learned: a hinge loss is zero, and so are its gradients.
    auto const learned = [&](shown_step& shown, std::uint64_t i) {
        dead(shown, i);
        shown.loss = 0;
    };
    CHECK(alarms_of(story_of(packs::supervised, 80, {.rate = 1}, learned)).empty());
    // Gradients are shown after they were cleared: weights move.
    auto const cleared = [](shown_step& shown, std::uint64_t i) {
        for (auto& gradient : shown.gradients) { gradient.assign(gradient.size(), 0.0F); }
        for (auto& weight : shown.weights) { weight[0] += i % 2 == 0 ? 0.01F : -0.01F; }
    };
    CHECK(alarms_of(story_of(packs::supervised, 80, {.rate = 1}, cleared)).empty());
}

TEST_CASE("cause: a loss that rises while weights move one way has a wrong sign, however large their steps are") {
    // A weight that moves by most of its first size, one way or to and fro.
    auto const first_of = [](float begins, bool one_way) {
        hook watch{plan{}, packs::supervised};
        std::vector<float> weight(64);
        for (std::size_t e = 0; e < 64; ++e) { weight[e] = begins * (1 + 0.02F * static_cast<float>(e % 7)); }
        std::string first;
        for (std::uint64_t i = 0; i < 60 && first.empty(); ++i) {
            watch.begin(train(i));
            watch.observe("fc1/w", view_of(weight.data(), {8, 8}));
            for (float& each : weight) { each += one_way || i % 2 == 0 ? 0.3F : -0.5F; }
            double const at = static_cast<double>(i);
            first = alarm_in(watch.end("loss"_t = 20 - 18 * std::exp(-0.2 * at) + 2 * std::sin(3 * at)));
        }
        return first;
    };
    for (float const begins : {0.5F, 0.0F}) {
        CHECK(first_of(begins, true) == "update_direction: the loss rises while weights move one way");
        CHECK(first_of(begins, false).starts_with("learning_rate_too_large"));
    }
}

TEST_CASE("cause: weights that run away in one direction have a wrong sign, those that turn a rate too large") {
    // Each update multiplies a part of the weights; the loss is that of the largest.
    auto const first_of = [](float factor) {
        hook watch{plan{}, packs::supervised};
        std::vector<float> weight(64);
        for (std::size_t e = 0; e < 64; ++e) { weight[e] = 0.5F + 0.02F * static_cast<float>(e % 7); }
        std::string first;
        for (std::uint64_t i = 0; i < 40 && first.empty(); ++i) {
            watch.begin(train(i));
            watch.observe("fc1/w", view_of(weight.data(), {8, 8}));
            first = alarm_in(watch.end("loss"_t = double{weight[1]} * weight[1]));
            for (std::size_t e = 0; e < 64; e += 2) { weight[e + 1] *= factor; }
        }
        return first;
    };
    CHECK(first_of(3.0F) == "update_direction: the loss rises while weights move one way");
    CHECK(first_of(-3.0F).starts_with("learning_rate_too_large"));
    CHECK(first_of(-100.0F).starts_with("learning_rate_too_large"));  // nearly all of the next weight is the step
}

TEST_CASE("cause: where all weights began at zero, steps are judged by what they can change") {
    auto const of = [](double rate, auto const& loss) {
        auto const change = [&](shown_step& it, std::uint64_t i) {
            from_zero(it, i);
            it.loss = loss(static_cast<double>(i));
        };
        return first_alarm(story_of(packs::supervised, 600, {.rate = rate, .layers = 1}, change));
    };
    reported_finding const small = of(1, [](double at) { return 2.3 - 2e-6 * at + 0.02 * std::sin(3 * at); });
    CHECK((small.rule == "learning_rate_too_small" && small.reason == "all steps together cannot change the loss"));
    // A loss that is flat at once: no first step from zero is evidence of a large rate.
    CHECK(of(300, [](double) { return 2.3; }).rule != "learning_rate_too_large");
    CHECK(of(1, [](double at) { return 2.3 * std::exp(-0.01 * at); }).rule.empty());
}

TEST_CASE("cause: a loss that fell and rises again, in training and evaluation, was not learned by heart") {
    auto const first_of = [](double rises) {
        hook watch{plan{}, packs::supervised};
        std::string first;
        for (std::uint64_t i = 0; i < 3000 && first.empty(); ++i) {
            double const at = static_cast<double>(i), noise = 0.1 * std::sin(3 * at);
            double const loss = at < 100 ? 2.3 - 0.013 * at : 1 + rises * (at - 100);
            first = alarm_in(watch.step(train(i), "loss"_t = loss + noise));
            if (first.empty() && i % 50 == 49) { first = alarm_in(watch.step(eval(i), "loss"_t = loss + 0.004 * at)); }
        }
        return first;
    };
    CHECK(first_of(2e-3) == "loss_not_decreasing: eval loss rises from the start");
    CHECK(first_of(-3e-4).starts_with("overfit"));
}

TEST_CASE("cause: a mean update of next to nothing, where little was learned in 500 of them") {
    auto const slowly = [](double part) {
        return [=](shown_step& it, std::uint64_t i) { it.loss = 2.3 - 2.3 * part * static_cast<double>(i) / 600; };
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 600, {.rate = 4e-3}, slowly(0.2)));
    CHECK((it.at == 500 && it.rule == "learning_rate_too_small"));
    CHECK(alarms_of(story_of(packs::supervised, 600, {.rate = 4e-3}, slowly(0.8))).empty());
    CHECK(alarms_of(story_of(packs::supervised, 600, {.rate = 6e-3}, slowly(0.2))).empty());
    // A table that began at zero moves by more than itself, and says nothing of the rate.
    auto const beside_zero = [](shown_step& shown, std::uint64_t i) {
        flat(shown, i);
        shown.weights[1].assign(24, 1e-3F * static_cast<float>(i));
    };
    CHECK(first_alarm(story_of(packs::supervised, 520, {.rate = 3e-3}, beside_zero)).rule == "learning_rate_too_small");
}

TEST_CASE("cause: small updates, where the loss falls evenly for 800 steps and has gained little") {
    auto const falling = [](auto fall) {
        return [=](shown_step& it, std::uint64_t i) { it.loss = 2.3 - fall(static_cast<double>(i) / 1000); };
    };
    auto const evenly = falling([](double t) { return 0.3 * t; });
    // 0.2 % of a weight times 0.1, which is 2e-4.
    reported_finding const it = first_alarm(story_of(packs::supervised, 1300, {.rate = 0.1}, evenly));
    CHECK((it.at >= 800 && it.at <= 900 && it.rule == "learning_rate_too_small"));
    CHECK(it.detail.find("hardly anything moves") != it.detail.npos);
    auto const silent = [](double rate, auto&& loss) {
        return alarms_of(story_of(packs::supervised, 1300, {.rate = rate}, loss)).empty();
    };
    CHECK(silent(0.2, evenly));                                                          // usual updates
    CHECK(silent(0.1, falling([](double t) { return 1.2 * t; })));                       // much is gained
    CHECK(silent(0.1, falling([](double t) { return 0.5 * t * t; })));                   // a rate that warms up
    CHECK(silent(0.1, falling([](double t) { return 0.3 * (1 - std::exp(-4 * t)); })));  // it falls ever slower
}

TEST_CASE("cause: small updates on average, where nothing is learned, or beside a weight of small scale") {
    auto const loud = [](shown_step& it, std::uint64_t i) {  // its gradients could change the loss
        flat(it, i);
        for (auto& gradient : it.gradients) {
            for (float& each : gradient) { each *= 100; }
        }
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 520, {.rate = 0.03}, loud));
    CHECK((it.rule == "learning_rate_too_small" && it.detail.find("takes the rate times") != it.detail.npos));
    CHECK(first_alarm(story_of(packs::supervised, 520, {.rate = 0.5}, loud)).rule == "loss_not_decreasing");
    // 2e-6 of the first weight at each step, and 2e-5 of the second, whose scale is 0.04.
    auto const small_output = [first = std::vector<float>{}](shown_step& shown, std::uint64_t i) mutable {
        if (i == 0) { first = shown.weights[1]; }
        for (std::size_t k = 0; k < 24; ++k) {
            shown.weights[1][k] = first[k] * (0.02F + 4e-7F * static_cast<float>(i));
        }
        shown.loss = 2.3 - 0.1 * (1 - std::exp(-0.02 * static_cast<double>(i)));
    };
    reported_finding const beside = first_alarm(story_of(packs::supervised, 700, {.rate = 1e-3}, small_output));
    CHECK((beside.rule == "learning_rate_too_small" && beside.at >= 500));
}

TEST_CASE("cause: small updates are the cause of an evaluation that learns nothing, after a hundred of them") {
    auto const first = [](float update) {
        return alarm_beside_flat_evaluation(update, 1, 450, 30, [](double at) { return 1.6 - 5e-4 * at; });
    };
    CHECK(first(3.5e-5F).starts_with("learning_rate_too_small: "));
    CHECK(first(5e-4F).starts_with("overfit: "));
}

TEST_CASE("cause: all weights begin next to zero") {
    auto const scaled = [](float first, float second) {
        return [=](shown_step& shown, std::uint64_t i) {
            for (float& each : shown.weights[0]) { each *= i == 0 ? first : 1; }
            for (float& each : shown.weights[1]) { each *= i == 0 ? second : 1; }
        };
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 30, {}, scaled(1e-6F, 1e-6F)));
    CHECK((it.at == 0 && it.rule == "poor_weight_initialization" && it.reason == "weights begin next to zero"));
    CHECK(alarms_of(story_of(packs::supervised, 30, {}, scaled(1, 1e-6F))).empty());  // the last layer
    CHECK(alarms_of(story_of(packs::supervised, 30, {}, scaled(0.01F, 0.01F))).empty());
    CHECK(alarms_of(story_of(packs::supervised, 30, {.layers = 1}, scaled(1e-6F, 1))).empty());
}

TEST_CASE("cause: gradients that hold those before them are reported however the run does, unless weights rest") {
    auto const piling = [](double rate) {
        std::mt19937 random{1};
        std::vector<float> kept(32, 0.0F);
        return story_of(packs::supervised, 100, {.rate = rate}, [=](shown_step& it, std::uint64_t) mutable {
            for (std::size_t k = 0; k < kept.size(); ++k) {
                kept[k] += 0.01F + 0.01F * (static_cast<float>(random()) / 2147483648.0F - 1);
            }
            it.gradients[0] = kept;
            it.gradients[1].assign(kept.begin(), kept.begin() + 24);
        });
    };
    reported_finding const it = first_alarm(piling(1));
    CHECK((it.rule == "gradient_not_cleared" && it.at >= 39 && it.at < 60 && it.level == severity::warning));
    CHECK(it.reason == "each gradient holds those before it");
    for (reported_finding const& each : piling(0)) { CHECK((each.rule != it.rule || each.level == severity::info)); }
}

TEST_CASE("what comes again as often as epochs do is no alarm, a few batches in turn are") {
    auto const of = [](std::uint64_t batches) {
        std::vector<std::vector<float>> kept(batches);
        return story_of(packs::supervised, 120, {}, [=](shown_step& it, std::uint64_t i) mutable {
            std::vector<float>& mine = kept[i % batches];
            if (mine.empty()) { mine = it.input; }
            it.input = mine;
        });
    };
    CHECK(alarms_of(of(10)).empty());
    CHECK_FALSE(of(10).empty());  // a note
    CHECK(alarms_of(of(3)) == std::vector<std::string>{"63 constant_batch"});
    CHECK(alarms_of(of(1)) == std::vector<std::string>{"3 constant_batch"});
    // Dead units beside it are no cause of that.
    auto const dead = [](shown_step& it, std::uint64_t i) {
        for (std::size_t k = 0; k < it.act.size(); ++k) { it.act[k] = k % 8 < 6 ? 0 : it.act[k]; }
        std::fill(it.input.begin(), it.input.end(), static_cast<float>(i % 3));
    };
    CHECK(first_alarm(story_of(packs::supervised, 120, {}, dead)).rule == "constant_batch");
}

TEST_CASE("cause: a value that is no number, while the loss has not risen, is no large rate") {
    // Updates of 0.3 of the weights at first; the loss falls, or rises. At step 8 the loss and a gradient are NaN.
    float const no_number = std::bit_cast<float>(0x7FC00000U);
    auto const first = [=](double growth) {
        hook watch{plan{}, packs::supervised};
        std::mt19937 random{3};
        std::normal_distribution<double> normal;
        std::vector<float> weight(64), gradient(64);
        for (float& each : weight) { each = static_cast<float>(normal(random)); }
        for (std::uint64_t i = 0; i < 9; ++i) {
            for (float& each : gradient) { each = static_cast<float>(normal(random)); }
            double loss = std::exp(growth * static_cast<double>(i));
            if (i == 8) { loss = no_number, std::fill(gradient.begin(), gradient.end(), no_number); }
            watch.begin(train(i));
            watch.observe("fc1/w", view_of(weight.data(), {8, 8}));
            watch.observe("grad/fc1/w", view_of(gradient.data(), {8, 8}));
            for (std::size_t k = 0; k < 64; ++k) { weight[k] -= 0.3F * gradient[k]; }
            std::string const found = alarm_in(watch.end("loss"_t = loss));
            if (!found.empty()) { return found; }
        }
        return std::string{};
    };
    CHECK(first(-0.05).starts_with("non_finite: "));
    CHECK(first(0.5).starts_with("learning_rate_too_large: "));
}

TEST_CASE("what follows a value that is no number follows from it") {
    auto const all = story_of(packs::supervised, 90, {}, [](shown_step& it, std::uint64_t i) {
        if (i == 20) { it.gradients[0][3] = std::bit_cast<float>(0x7FC00000U); }
        if (i >= 21) { std::fill(it.input.begin(), it.input.end(), 0.25F), it.loss = 50; }
    });
    CHECK(alarms_of(all) == std::vector<std::string>{"20 non_finite"});
}

TEST_CASE("a value that is no number in an evaluation silences nothing of the training") {
    hook watch{plan{}, packs::supervised};
    float const nan = std::bit_cast<float>(0x7FC00000U);
    CHECK(static_cast<bool>(watch.step(eval(0), "loss"_t = nan)));
    std::vector<float> gradient(8, 0.1F);
    for (std::uint64_t i = 0; i < 30; ++i) {
        gradient[0] = 0.1F * static_cast<float>(i % 7);
        gradient[3] = i == 20 ? nan : 0.1F;
        step_alarm const found = watch.step(train(i), "loss"_t = 2.0 - 0.01 * static_cast<double>(i),
                                            "grad/fc/w"_t = view_of(gradient.data(), {2, 4}));
        CHECK(static_cast<bool>(found) == (i == 20));
    }
}

TEST_CASE("large gradients of a policy are reported by what they do to its weights") {
    auto const large = [](shown_step& it, std::uint64_t) {
        for (auto& each : it.gradients) {
            for (float& value : each) { value *= 1e5F; }
        }
    };
    CHECK(alarms_of(story_of(packs::rl, 60, {}, large)).empty());
    CHECK_FALSE(alarms_of(story_of(packs::rl, 60, {.rate = 100}, large)).empty());
}

TEST_CASE("cause: a table of values that is filled in as they are met says nothing of a rate or a scale") {
    // 40 of 4096 values change in an update, each by `step`; shown after the update, as after a game.
    auto const first = [](float start, float step, std::size_t columns, std::size_t touched) {
        hook watch{plan{}, options{.instant = instant::after_update}, packs::rl};
        std::mt19937 random{3};
        std::vector<float> values(4096);
        for (float& each : values) { each = start * (0.5F + static_cast<float>(random() % 8) / 8); }
        for (std::uint64_t i = 0; i < 300; ++i) {
            for (std::size_t k = 0; k < touched; ++k) {
                values[random() % 4096] += step * static_cast<float>(random() % 3);
            }
            watch.begin(train(i));
            for (char const* name : {"t0/w", "t1/w"}) {
                watch.observe(name, view_of(values.data(), {4096 / columns, columns}));
            }
            watch.observe("metric/episode_return", static_cast<double>(i));
            std::string const found = alarm_in(watch.end("loss/td"_t = 100.0 + static_cast<double>(i % 7)));
            if (!found.empty()) { return found; }
        }
        return std::string{};
    };
    CHECK(first(0, 10, 1, 40).empty());
    CHECK(first(0, 10, 64, 40).empty());
    CHECK(first(2000, 10, 1, 40).empty());
    // What multiplies changes as a whole.
    CHECK(first(2000, 10, 64, 8192) ==
          "initial_weights_too_large: weights begin too large for what flows through them");
    CHECK(first(1, 10, 64, 8192).starts_with("learning_rate_too_large: "));
}

TEST_CASE("cause: weights began with one value, however well the run does") {
    for (bool const shows_loss : {true, false}) {
        reported_finding const it = first_alarm(story_of(packs::supervised, 30, {.shows_loss = shows_loss}, one_value));
        CHECK((it.at == 10 && it.rule == "poor_weight_initialization" && it.reason == "weights began with one value"));
        CHECK(it.detail == "for: weights alike");
    }
}

TEST_CASE("cause: weights began with one value, which is first shown after an update") {
    // Two tables of factors: a row has one value where they began alike, and gets the same update in all its columns.
    auto const first_of = [](float apart, bool rest = false) {
        hook watch{plan{}, packs::supervised, options{.instant = instant::after_update}};
        std::vector<float> user(32), item(24);
        std::string first;
        for (std::uint64_t i = 0; i < 30 && first.empty(); ++i) {
            for (std::size_t k = 0; k < 32; ++k) {
                auto const moves = static_cast<float>(rest ? 0 : i);
                float const row = 0.1F + 0.003F * moves + 0.01F * static_cast<float>(k / 4 * 5 % 7);
                user[k] = row + apart * static_cast<float>(k % 4);
                if (k < 24) { item[k] = 1 - row + apart * static_cast<float>(k % 4); }
            }
            watch.begin(train(i));
            watch.observe("user/w", view_of(user.data(), {8, 4}));
            watch.observe("item/w", view_of(item.data(), {6, 4}));
            watch.observe("loss", std::exp(-0.01 * static_cast<double>(i)));
            for (finding const& each : watch.end()) {
                if (each.severity >= severity::warning && first.empty()) { first = each.measure; }
            }
        }
        return first;
    };
    CHECK(first_of(0) == "spread within a row or a column");
    CHECK(first_of(1e-3F).empty());
    // A grid that no update changes says nothing: it may be alike on purpose.
    CHECK(first_of(0, true) == "observations without a change");
}

TEST_CASE("tables and convex models may begin with one value, whenever a loss is shown, without a report") {
    for (float const value : {0.0F, 40.0F}) {
        auto const tables = [=](shown_step& it, std::uint64_t i) {  // a few of their elements change at a step
            for (auto& weight : it.weights) { i == 0 ? weight.assign(weight.size(), value) : void(); }
            for (auto& gradient : it.gradients) {
                for (std::size_t k = 0; k < gradient.size(); ++k) { gradient[k] *= (k + i) % 5 == 0 ? 1.0F : 0.0F; }
            }
        };
        CHECK(alarms_of(story_of(packs::supervised, 1000, {}, tables)).empty());
        CHECK(alarms_of(story_of(packs::supervised, 1000, {.shows_loss = false}, tables)).empty());
    }
    // A convex model has no symmetry to break; one layer of two, as residual blocks begin.
    CHECK(story_of(packs::supervised, 1000, {.layers = 1}, from_zero).empty());
    CHECK(story_of(packs::supervised, 1000, {.layers = 1, .shows_loss = false}, from_zero).empty());
    CHECK(alarms_of(story_of(packs::supervised, 1000, {}, from_zero)).empty());
}

TEST_CASE("that nothing shows an outcome is known after some closes: a loss may come late") {
    auto const alarms = [](std::uint64_t every) {
        hook watch{plan{}, packs::supervised};
        std::vector<std::uint64_t> at;
        std::mt19937 random{1};
        std::vector<float> input(64);  // off centre, far beyond the limit of that rule
        for (std::uint64_t i = 1; i < 100; ++i) {
            for (float& each : input) { each = 10 + static_cast<float>(random()) / 4294967296.0F; }
            watch.begin(train(i));
            if (i % every == 0) { watch.observe("loss", 2 * std::exp(-0.05 * static_cast<double>(i))); }
            watch.observe("input", view_of(input.data(), {16, 4}));
            if (watch.end()) { at.push_back(i); }
        }
        return at;
    };
    for (std::uint64_t const every : {1U, 2U, 10U}) { CHECK(alarms(every).empty()); }
    CHECK(alarms(1000) == std::vector<std::uint64_t>{31});
}

TEST_CASE("cause: raw inputs are reported however the run does, wide and tiny ones once it does badly") {
    reported_finding const raw = first_alarm(story_of(packs::supervised, 100, {.input_size = 255}, as_it_is));
    CHECK((raw.at == 1 && raw.rule == "input_not_normalized" && raw.tensor == "input"));
    auto const wide = story_of(packs::supervised, 500, {.input_size = 30}, as_it_is);
    CHECK((alarms_of(wide).empty() && !wide.empty() && wide[0].rule == "input_not_normalized"));
    CHECK(alarms_of(story_of(packs::supervised, 520, {.input_size = 30}, flat)).front() == "503 input_not_normalized");
    CHECK(alarms_of(story_of(packs::supervised, 500, {.input_size = 1e-4}, as_it_is)).empty());
    CHECK(alarms_of(story_of(packs::supervised, 520, {.input_size = 1e-4}, flat)).front() ==
          "503 input_not_normalized");
    CHECK(alarms_of(story_of(packs::supervised, 520, {.input_size = 0.01}, flat)).front() == "503 loss_not_decreasing");
    // 1.5 where one is allowed explains nothing.
    CHECK(alarms_of(story_of(packs::supervised, 520, {.input_size = 8}, flat)).front() == "503 loss_not_decreasing");
}

TEST_CASE("cause: weights begin too large for what flows through them") {
    reported_finding const it = first_alarm(story_of(packs::supervised, 30, {.weight_size = 20}, as_it_is));
    CHECK((it.at == 0 && it.rule == "initial_weights_too_large" && it.tensor == "fc1/w"));
    // It is not piled up.
    CHECK(alarms_of(story_of(packs::supervised, 30, {.weight_size = 20, .layers = 1}, as_it_is)).empty());
    // One of two, far beyond any usual initialisation; and as a table may begin.
    auto const second = [](float times) {
        return [=](shown_step& shown, std::uint64_t i) {
            for (float& each : shown.weights[1]) { each *= i == 0 ? times : 1; }
        };
    };
    reported_finding const one = first_alarm(story_of(packs::supervised, 30, {}, second(100)));
    CHECK((one.at == 0 && one.rule == "initial_weights_too_large" && one.tensor == "fc2/w"));
    CHECK(alarms_of(story_of(packs::supervised, 30, {}, second(5))).empty());
    // The first loss is that of a guess among three classes: signals are not multiplied.
    auto const of_classes = [](double first_loss) {
        hook watch{plan{}, packs::supervised};
        std::vector<std::uint8_t> const label{0, 2, 1, 1};
        shown_program program{{.weight_size = 6}};
        watch.begin(train(0));
        watch.observe("fc1/w", view_of(program.at(0).weights[0].data(), {8, 4}));
        watch.observe("fc2/w", view_of(program.at(0).weights[1].data(), {3, 8}));
        watch.observe("labels", view_of(label.data(), {4}));
        return alarm_in(watch.end("loss"_t = first_loss));
    };
    CHECK(of_classes(1.1).empty());
    CHECK(of_classes(5).starts_with("initial_weights_too_large"));
    CHECK(of_classes(0.2).starts_with("initial_weights_too_large"));
    // What is first shown after an update shows how it began only where the next updates are small.
    auto const found_at = [](double rate) {
        hook watch{plan{}, packs::supervised, options{.instant = instant::after_update}};
        std::uint64_t found = 0;
        auto const as_shown = [](shown_step&, std::uint64_t) {};
        show_run(watch, 100, {.rate = rate, .weight_size = 100}, as_shown, [&](std::uint64_t at, step_alarm const& of) {
            for (finding const& each : of) { found += each.rule == "initial_weights_too_large" ? at : 0; }
        });
        return found;
    };
    CHECK(found_at(1) == 5);
    CHECK(found_at(100) == 0);
}

TEST_CASE("cause: a parameter that the optimizer does not hold, with its gradient and without") {
    auto const left_out = [first = std::vector<float>{}](shown_step& it, std::uint64_t i) mutable {
        if (i == 0) { first = it.weights[0]; }
        it.weights[0] = first;
    };
    reported_finding const unseen =
        first_alarm(story_of(packs::supervised, 40, {.shows_first_gradient = false}, left_out));
    CHECK((unseen.at == 20 && unseen.rule == "dead_update_path" && unseen.reason == "it never changes"));
    reported_finding const seen = first_alarm(story_of(packs::supervised, 40, {}, left_out));
    CHECK((seen.at == 10 && seen.rule == "dead_update_path" && seen.reason == "updates do not change it" &&
           seen.tensor == "fc1/w"));
}

TEST_CASE("cause: weights that are set back to their first values") {
    auto const set_back = [first = std::vector<std::vector<float>>{}](shown_step& it, std::uint64_t i) mutable {
        if (i == 0) { first.assign(std::begin(it.weights), std::end(it.weights)); }
        for (std::size_t k = 0; k < first.size() && i % 20 == 0; ++k) { it.weights[k] = first[k]; }
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 100, {}, set_back));
    CHECK((it.at == 60 && it.rule == "dead_update_path" && it.reason == "it has its first values again"));
}

TEST_CASE("cause: where nothing explains it, the loss itself") {
    reported_finding const still = first_alarm(story_of(packs::supervised, 520, {}, flat));
    CHECK((still.at == 503 && still.rule == "loss_not_decreasing" && still.reason == "loss is flat"));
    CHECK((still.tensor == "loss" && still.level == severity::warning));
    auto const without_bottom = [](shown_step& it, std::uint64_t i) {
        it.loss = -std::exp(0.05 * static_cast<double>(i));
    };
    reported_finding const falls = first_alarm(story_of(packs::supervised, 200, {}, without_bottom));
    CHECK((falls.rule == "loss_not_decreasing" && falls.reason == "loss falls without bound" &&
           falls.level == severity::error));
    // A policy's loss is no objective.
    CHECK(story_of(packs::rl, 500, {}, flat).empty());
}

TEST_CASE("cause: the loss that is reported is the one that says so, by the comparison that was made") {
    // Of two losses the second rises, and none of the weights moves by much.
    hook watch{plan{}, packs::supervised};
    std::vector<std::string> all;
    for (std::uint64_t i = 0; i < 60; ++i) {
        watch.begin(train(i));
        watch.observe("first_loss", 1.0 + 0.01 * static_cast<double>(i % 5));
        watch.observe("second_loss", std::exp(0.1 * static_cast<double>(i)));
        step_alarm const found = watch.end();
        check_as_printed(found);
        for (finding const& each : found) { all.push_back(std::string{each.reason} + ' ' + std::string{each.tensor}); }
    }
    REQUIRE_FALSE(all.empty());
    CHECK(all[0] == "loss rises second_loss");
    // Begun above zero, it falls without bound, which is no rise.
    reported_finding const it = first_alarm(story_of(packs::supervised, 200, {}, [](shown_step& step, std::uint64_t i) {
        step.loss = 2.3 - 10 * static_cast<double>(i);
    }));
    CHECK((it.rule == "loss_not_decreasing" && it.reason == "loss falls without bound"));
}

TEST_CASE("cause: a batch that is always the same, and a value that is no number, wait for nothing") {
    auto const same = [first = std::vector<float>{}](shown_step& it, std::uint64_t i) mutable {
        if (i == 0) { first = it.input; }
        it.input = first;
    };
    CHECK(first_alarm(story_of(packs::supervised, 30, {}, same)).rule == "constant_batch");
    auto const spoiled = [](shown_step& it, std::uint64_t i) {
        if (i >= 100) { it.gradients[1][3] = std::bit_cast<float>(0x7FC00000U); }
    };
    reported_finding const it = first_alarm(story_of(packs::supervised, 110, {}, spoiled));
    CHECK((it.at == 100 && it.rule == "non_finite" && it.tensor == "grad/fc2/w" && it.level == severity::error));
}

TEST_CASE(
    "where a value is no number is never renamed, whatever else is seen: its data, a gradient alone, one element") {
    float const nan = std::bit_cast<float>(0x7FC00000U);
    struct place {
        std::string_view tensor;
        void (*spoil)(shown_step&, float);
    };
    constexpr place places[] = {
        {"input", [](shown_step& it, float bad) { it.input.assign(it.input.size(), bad); }},
        {"labels", [](shown_step& it, float bad) { it.label[2] = bad; }},
        {"grad/fc1/w", [](shown_step& it, float bad) { it.gradients[0].assign(it.gradients[0].size(), bad); }},
        {"fc1/w", [](shown_step& it, float bad) { it.weights[0][3] = bad; }},
        {"act/fc1", [](shown_step& it, float bad) { it.act[5] = bad; }},
    };
    for (place const& each : places) {
        // Its first steps leapt, its weights climb, its loss rises: each would explain a NaN.
        for (double const rate : {500.0, -1.0}) {
            INFO(each.tensor << ", rate " << rate);
            auto const all = story_of(packs::supervised, 20, {.rate = rate}, [&](shown_step& step, auto i) {
                step.loss = 2.3 + 0.01 * static_cast<double>(i);
                if (i >= 10) { each.spoil(step, nan); }
            });
            reported_finding const it = first_alarm(all);
            CHECK((it.at == 10 && it.rule == "non_finite" && it.tensor == each.tensor));
            // What may have led to it stands behind.
            auto const leads = [](reported_finding const& one) {
                return one.at == 10 && one.rule == "learning_rate_too_large" && one.level == severity::info;
            };
            CHECK(std::any_of(all.begin(), all.end(), leads) == (rate > 1));
        }
    }
}

TEST_CASE("a value that is no number is reported as such in a run that learns, whatever else is noted of it") {
    auto const spoiled = [](shown_step& it, std::uint64_t i) {
        if (i >= 100) { it.gradients[1][3] = std::bit_cast<float>(0x7FC00000U); }
    };
    for (double const rate : {-1.0, 400.0}) {  // it keeps minus the gradient; its steps are long
        auto const all = story_of(packs::supervised, 110, {.rate = rate}, spoiled);
        CHECK(all.front().level == severity::info);
        CHECK(alarms_of(all) == std::vector<std::string>{"100 non_finite"});
    }
}
