// SPDX-License-Identifier: Apache-2.0
// label_noise: labels at random among sure predictions are found; what is hard, early, tied or learned is not.
#include <spotter/rule/builtin/label_noise.hpp>
#include <tests/rule/features.hpp>

#include <tests/catch.hpp>

#include <cmath>
#include <functional>
#include <random>

using namespace spotter;
using namespace stage;

namespace {

// A classifier: each score is a normal number, that of the true class is higher by `distance`. As sharp as it should
// be, the scores times `distance` are logits.
struct classifier {
    std::size_t classes = 10;
    float distance = 4;
    float wrong = 0;  // share of the labels that are another class

    std::mt19937 random{1};
    std::normal_distribution<float> normal{};
    std::vector<std::int32_t> labels{};
    std::vector<float> scores{};

    float uniform() { return static_cast<float>(random() >> 8U) / 16777216.0F; }
    void draw(std::size_t samples) {
        labels.clear(), scores.clear();
        for (std::size_t i = 0; i < samples; ++i) {
            std::size_t const is = random() % classes;
            std::size_t const other = (is + 1 + random() % (classes - 1)) % classes;
            labels.push_back(static_cast<std::int32_t>(uniform() < wrong ? other : is));
            for (std::size_t k = 0; k < classes; ++k) {
                scores.push_back(distance * (normal(random) + (k == is ? distance : 0)));
            }
        }
    }
    [[nodiscard]] float* row(std::size_t i) { return scores.data() + i * classes; }
};
using change = std::function<void(classifier&)>;

template <class Run>
truth show(Run& it, step_id at, classifier const& of) {
    it.see(at, "labels", view_of(of.labels.data(), {of.labels.size()}));
    it.see(at, "logits", of.scores, {of.labels.size(), of.classes});
    return it.close(at);
}
// The closes, of 100 with 50 samples each, at which the rule says yes; `changed` alters what each shows.
indices found_in(classifier of, change const& changed = {}, label_noise const& rule = {}) {
    return fired(rule, 100, [&](auto& it, step_id at) {
        of.draw(50);
        if (changed) { changed(of); }
        it.see(at, "labels", view_of(of.labels.data(), {of.labels.size()}));
        it.see(at, "logits", of.scores, {of.labels.size(), of.classes});
    });
}
bool silent(classifier const& of, change const& changed = {}) { return found_in(of, changed).empty(); }
// From the third window of 1000 pairs on.
bool from_third_window(indices const& at) { return at.size() == 41 && at[0] == 59; }

void each_row(classifier& of, float (*change_one)(float best, float total, float it)) {
    for (std::size_t i = 0; i < of.labels.size(); ++i) {
        float* const row = of.row(i);
        float const best = *std::max_element(row, row + of.classes);
        float total = 0;
        for (std::size_t k = 0; k < of.classes; ++k) { total += std::exp(row[k] - best); }
        for (std::size_t k = 0; k < of.classes; ++k) { row[k] = change_one(best, total, row[k]); }
    }
}

}  // namespace

TEST_CASE("label_noise: two labels in five at random are found in the third window, and stay found", "[label_noise]") {
    classifier of{.wrong = 0.4F};
    run it{label_noise{}};
    for (std::uint64_t i = 0; i < 59; ++i) {
        of.draw(50);
        CHECK(show(it, train(i), of) == (i < 19 ? truth::undecided : truth::no));
    }
    of.draw(50);
    CHECK(show(it, train(59), of) == truth::yes);
    REQUIRE(it.found.size() == 1);
    finding const found = it.found[0];
    CHECK((found.rule == "label_noise" && found.tensor == "labels" && found.severity == severity::warning));
    CHECK(found.reason == "labels contradict the surest predictions");
    CHECK((found.measured > 0.33 && found.measured < 0.47 && found.threshold >= 0.2 && found.threshold < 0.25));
    CHECK(!found.remedy.empty());
    of.wrong = 0;  // memorised: the labels are no better for it
    for (std::uint64_t i = 60; i < 120; ++i) {
        of.draw(50);
        CHECK(show(it, train(i), of) == truth::yes);
    }
    CHECK(it.found[0].measured == found.measured);
}

TEST_CASE("label_noise: of three to a hundred classes", "[label_noise]") {
    for (std::size_t const classes : {3U, 4U, 5U, 10U, 100U}) {
        CAPTURE(classes);
        CHECK(from_third_window(found_in({.classes = classes, .distance = 5, .wrong = 0.4F})));
    }
    CHECK(from_third_window(found_in({.classes = 2, .distance = 5, .wrong = 0.3F})));
    // Of two classes four in ten at random leave little to learn: a skill of a fifth.
    CHECK(silent({.classes = 2, .distance = 5, .wrong = 0.4F}));
}

TEST_CASE("label_noise: a task that is hard is no noise, however hard and of however many classes", "[label_noise]") {
    for (std::size_t const classes : {2U, 3U, 5U, 10U, 100U}) {
        for (float const distance : {0.2F, 0.5F, 1.0F, 1.5F, 2.0F, 2.5F, 3.0F, 4.0F}) {
            CAPTURE(classes, distance);
            CHECK(silent({.classes = classes, .distance = distance}));
        }
    }
}

TEST_CASE("label_noise: what healthy trainings show", "[label_noise]") {
    CHECK(silent({.wrong = 0.1F}));
    CHECK(silent({.wrong = 0.19F}));                   // below `least`
    CHECK(silent({.distance = 0.3F, .wrong = 0.4F}));  // early: hardly better than chance
    CHECK(silent({}, [](classifier& of) {              // off by one: all are wrong
        for (auto& each : of.labels) { each = (each + 1) % 10; }
    }));
    CHECK(silent({.wrong = 0.4F}, [](classifier& of) {  // one class, surely
        for (std::size_t i = 0; i < of.labels.size(); ++i) { of.row(i)[0] += 100; }
    }));
    CHECK(silent({.distance = 1}, [](classifier& of) {  // nine in ten are of one class, and little is learned
        for (std::size_t i = 0; i < of.labels.size(); ++i) {
            if (of.random() % 10 > 0) { of.labels[i] = 0, of.row(i)[0] += 5; }
        }
    }));
    CHECK(silent({.distance = 5}, [](classifier& of) {  // 0 to 4 are learned, 5 to 9 not yet
        for (std::size_t i = 0; i < of.labels.size(); ++i) {
            if (of.labels[i] < 5) { continue; }
            for (std::size_t k = 0; k < of.classes; ++k) {
                of.row(i)[k] = (k < 5 ? 0.0F : 9.0F) + of.normal(of.random);
            }
        }
    }));
}

TEST_CASE("label_noise: a language: half of the words are certain, and the others are not", "[label_noise]") {
    CHECK(silent({.classes = 200, .distance = 5}, [](classifier& of) {
        for (std::size_t i = 0; i < of.labels.size(); ++i) {
            if (i % 2 == 0) { continue; }
            of.labels[i] = static_cast<std::int32_t>(of.random() % 20);  // one of twenty, no matter which
            for (std::size_t k = 0; k < of.classes; ++k) {
                of.row(i)[k] = (k < 20 ? 8.0F : 0.0F) + of.normal(of.random);
            }
        }
    }));
}

TEST_CASE("label_noise: only the order of scores counts", "[label_noise]") {
    classifier const noisy{.distance = 5, .wrong = 0.4F}, hard{.distance = 1.5F};
    change const as[] = {
        [](classifier& of) { each_row(of, [](float, float, float it) { return 1e-3F * it - 7; }); },
        [](classifier& of) { each_row(of, [](float, float, float it) { return 1e3F * it; }); },
        [](classifier& of) {
            each_row(of, [](float best, float total, float it) { return it - best - std::log(total); });
        },
        [](classifier& of) {
            each_row(of, [](float best, float, float it) { return it < best - 60 ? neg_infinity_f : it; });
        },
    };
    for (change const& each : as) {
        CHECK(from_third_window(found_in(noisy, each)));
        CHECK(silent(hard, each));
    }
    // Of probabilities the highest are alike: a net with labels at random is not that sure.
    change const share = [](classifier& of) {
        each_row(of, [](float best, float total, float it) { return std::exp(it - best) / total; });
    };
    CHECK(silent(hard, share));
    CHECK(from_third_window(found_in(noisy, [](classifier& of) {
        each_row(of, [](float best, float total, float it) { return std::exp((it - best) / 8) / total; });
    })));
}

TEST_CASE("label_noise: of equally sure predictions all count, or none", "[label_noise]") {
    // Saturated: of 1000 pairs all are equally sure, and the last three in ten are wrong.
    classifier const of{};
    auto const saturated = [](std::size_t tied) {
        return [tied, seen = std::size_t{0}](classifier& one) mutable {
            for (std::size_t i = 0; i < one.labels.size(); ++i, ++seen) {
                std::size_t const k = seen % 1000;
                float* const row = one.row(i);
                for (std::size_t c = 0; c < one.classes; ++c) { row[c] = 0; }
                row[one.labels[i]] = k < tied ? 1.0F : 0.5F - static_cast<float>(k) * 1e-4F;
                // Mistakes are the first of the ties, and half of the unsure.
                if (k < 100 || (k >= tied && k % 2 == 0)) { one.labels[i] = (one.labels[i] + 1) % 10; }
            }
        };
    };
    CHECK(silent(of, saturated(1000)));
    CHECK(silent(of, saturated(501)));
    CHECK(silent(of, saturated(500)));  // all of the 500 count: a fifth of them are wrong, not two fifths
}

TEST_CASE("label_noise: masked labels are left out", "[label_noise]") {
    change const mask = [](classifier& of) {
        for (std::size_t i = 0; i < of.labels.size(); i += 2) { of.labels[i] = -100; }
    };
    CHECK(silent({}, mask));
    CHECK(found_in({.distance = 5, .wrong = 0.4F}, mask).empty());  // 2500 pairs are two windows
    CHECK(found_in({.distance = 5, .wrong = 0.4F}, mask, {.samples = 500}).size() == 41);
}

TEST_CASE("label_noise: scores that are not finite are not read", "[label_noise]") {
    change const spoil = [](classifier& of) {
        for (std::size_t i = 0; i < of.labels.size(); ++i) {
            float* const row = of.row(i);
            row[(static_cast<std::size_t>(of.labels[i]) + 5) % 10] = i % 2 == 0 ? nan_f : neg_infinity_f;
            if (i % 10 == 0) { std::fill(row, row + of.classes, nan_f); }
        }
    };
    CHECK(!found_in({.distance = 5, .wrong = 0.4F}, spoil).empty());
    CHECK(silent({.distance = 1.5F}, spoil));
}

TEST_CASE("label_noise: training alone, scores of two columns alone", "[label_noise]") {
    classifier of{.wrong = 0.4F};
    run evaluated{label_noise{}};
    run classes{label_noise{}}, column{label_noise{}};
    for (std::uint64_t i = 0; i < 80; ++i) {
        of.draw(50);
        CHECK(show(evaluated, eval(i), of) == truth::undecided);
        for (auto* const each : {&classes, &column}) { each->see(train(i), "labels", view_of(of.labels.data(), {50})); }
        classes.see(train(i), "preds", view_of(of.labels.data(), {50}));
        column.see(train(i), "preds", std::vector<float>(50, 0.5F), {50, 1});
        CHECK(classes.close(train(i)) == truth::undecided);
        CHECK(column.close(train(i)) == truth::undecided);
    }
    CHECK(!classes.covered().reason.empty());
    CHECK(label_noise{.predictions = "["}.malformed() == "[");
}

TEST_CASE("label_noise: of a large batch 64 samples are taken, at places of which the labels are known",
          "[label_noise]") {
    classifier of{.distance = 5, .wrong = 0.4F};
    for (std::size_t const batch : {64U, 65U, 1000U, 1001U, 3000U}) {
        CAPTURE(batch);
        run it{label_noise{}};
        std::uint64_t at = 0;
        for (truth answer = truth::no; answer != truth::yes && at < 200; ++at) {
            of.draw(batch);
            answer = show(it, train(at), of);
        }
        CHECK((at >= 48 && at <= 96));  // 32 to 64 pairs a step
    }
}

TEST_CASE("label_noise: where a sample has several labels, as a text and a picture have, they are left out",
          "[label_noise]") {
    auto const with_inputs = [](extents const& shape) {
        return fired(label_noise{}, 100,
                     [&, of = classifier{.distance = 5, .wrong = 0.4F}](auto& it, step_id at) mutable {
                         of.draw(48);
                         it.see(at, "input", std::vector<float>(shape.elements(), 0.5F), shape);
                         it.see(at, "labels", view_of(of.labels.data(), {of.labels.size()}));
                         it.see(at, "logits", of.scores, {of.labels.size(), of.classes});
                     });
    };
    CHECK(with_inputs({6, 8}).empty());
    CHECK(!with_inputs({48, 2}).empty());
}

TEST_CASE("label_noise: a record without values has all that it needs", "[label_noise]") {
    CHECK(judges_without_values(label_noise{.samples = 200}, [](auto& played, auto tell) {
        classifier of{.distance = 5, .wrong = 0.4F};
        for (std::uint64_t i = 0; i < 40; ++i) {
            of.draw(30);
            tell(show(played, train(i), of));
        }
    }));
    tensor_info info;
    info.name = "logits", info.role = role::prediction, info.type = dtype::f32, info.shape = {4, 3};
    for (std::vector<double> const& made : std::vector<std::vector<double>>{{},
                                                                            {4},
                                                                            {4, 0},
                                                                            {4, 1, 0},
                                                                            {4, 1, 0, 1, 2, 3},
                                                                            {4, 1, 0, 1e9, 1, -1, 7e4, 3, 0.5, 65535},
                                                                            {1e300, 1, 0, 0},
                                                                            {-1, 1}}) {
        for (truth const each : answers_to(label_noise{.samples = 1}, info, made)) { CHECK(each == truth::undecided); }
    }
}
