// SPDX-License-Identifier: Apache-2.0
// Drift: inputs and outputs of a net in service, compared with windowed means learned on its reference data.
#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>
#include <spotter/replay/envelope.hpp>
#include <spotter/replay/envelope_file.hpp>
#include <spotter/rule/builtin/drift.hpp>
#include <spotter/rule/builtin/outside_envelope.hpp>

#include <functional>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan served_statistics{collection{"all", "*", always{}, stats(mean, stddev)}};

// Records "x" as given, once a step.
trial served(std::string const& path, std::uint64_t steps, std::function<double(std::uint64_t)> const& x,
             mode in = mode::predict) {
    hook watch{path, served_statistics};
    for (std::uint64_t i = 0; i < steps; ++i) { (void)watch.step(step_id{in, i}, "x"_t = x(i)); }
    watch.finish();
    return open(watch.path());
}
double noise(std::uint64_t i) {  // -0.5 to 0.5, the same on every machine
    i = (i + 1) * 0x9E3779B97F4A7C15U;
    i ^= i >> 31U;
    i *= 0xBF58476D1CE4E5B9U;
    return static_cast<double>(i >> 11U) / 9007199254740992.0 - 0.5;
}
envelope one_to_three(std::uint64_t window) {
    return envelope{{{"x", mode::predict, mean, {{1, 3, 100}}}, {"x", mode::predict, stddev, {{0, 0, 100}}}}, window};
}
std::vector<std::uint64_t> steps_fired(replay_report const& report) {
    std::vector<std::uint64_t> found;
    for (finding const& each : report.findings) { found.push_back(each.step.index); }
    return found;
}

}  // namespace

TEST_CASE("a mean over a window is the plain mean at first, then newer values weigh 1 / window") {
    recent_mean it;
    for (double const each : {1.0, 2.0, 6.0}) { it.add(each, 3); }
    CHECK(it.value == 3);
    CHECK(it.full(3));
    CHECK_FALSE(it.full(4));
    it.add(9, 3);
    CHECK(it.value == 5);  // 3 + (9 - 3) / 3
}

TEST_CASE("an envelope with a window holds ranges of means, from where the window is full") {
    temporary_folder const folder;
    trial const run = served(folder / "a", 6, [](std::uint64_t i) { return static_cast<double>(i); });
    envelope const learned = learn_envelope(run, {mean}, {.low = 0, .high = 1, .window = 3});
    CHECK(learned.window == 3);
    REQUIRE(learned.entries().size() == 1);
    // The means: 1 of (0, 1, 2); then 1 + 2/3, and so on.
    CHECK(learned.entries()[0].phases[0].count == 4);
    CHECK(learned.entries()[0].phases[0].low == 1);
    CHECK(learn_envelope(run, {mean}, {.window = 7}).empty());
    CHECK(learn_envelope(run, {mean}, {.window = 0}) == learn_envelope(run, {mean}));
}

TEST_CASE("a net that predicts has one phase, however long it serves") {
    CHECK(phase_of(predict(1'000'000)) == 0);
    CHECK(phase_of(train(64)) == 1);
    temporary_folder const folder;
    trial const run = served(folder / "a", 300, [](std::uint64_t i) { return noise(i); });
    CHECK(learn_envelope(run, {mean}).entries().at(0).phases.size() == 1);
}

TEST_CASE("drift: the mean over the window leaves the range by more than margin widths") {
    temporary_folder const folder;
    envelope const healthy = one_to_three(4);
    auto const fired = [&](double value, drift rule = {}) {
        static int number = 0;
        rule.healthy = &healthy;
        trial const run = served(folder / std::to_string(++number), 8, [&](std::uint64_t) { return value; });
        return steps_fired(replay(run, rule));
    };
    // The range 1 to 3 with margin 1.5: fires above 6 and below -2, from the fourth observation on.
    CHECK(fired(6).empty());
    CHECK(fired(6.01) == std::vector<std::uint64_t>{3, 4, 5, 6, 7});
    CHECK(fired(-2).empty());
    CHECK(fired(-2.01).size() == 5);
    CHECK(fired(3.01, {.margin = 0}).size() == 5);
    CHECK(fired(3, {.margin = 0}).empty());
    CHECK(fired(100, {.select = "y"}).empty());

    trial const run = served(folder / "reported", 8, [](std::uint64_t i) { return i < 4 ? 2.0 : 10.0; });
    replay_report const report = replay(run, drift{.healthy = &healthy, .margin = 1} | once);
    finding const found = report.findings.at(0);
    CHECK(found.step == predict(5));  // 2, then 2 + 8 / 4 = 4, then 4 + 6 / 4 = 5.5
    CHECK(found.tensor == "x");
    CHECK(found.measure == "mean");
    CHECK((found.measured == 5.5 && found.threshold == 5 && found.how == relation::greater));
    CHECK(found.reason == "above what it was made for");
    CHECK(found.detail.view() == "mean over 4 observations; healthy: 1 to 3");
}

TEST_CASE("drift of several statistics names the one that is furthest beyond its range") {
    envelope const healthy{{{"x", mode::predict, mean, {{1, 3, 9}}}, {"x", mode::predict, maximum, {{1, 1.5, 9}}}}, 2};
    hook watch{plan{}, drift{.healthy = &healthy}};
    (void)watch.step(predict(0), "x"_t = 7.0);
    auto const alarm = watch.step(predict(1), "x"_t = 7.0);
    REQUIRE(alarm.size() == 1);
    CHECK(alarm[0].measure == "maximum");
}

TEST_CASE("drift: other modes, what is not finite, and ranges without a width") {
    envelope const healthy = one_to_three(2);
    hook watch{plan{}, drift{.select = "x", .healthy = &healthy, .margin = 1}};
    constexpr float nan = std::bit_cast<float>(0x7FC00000U);
    CHECK(watch.step(train(0), "x"_t = 100.0F).empty());
    CHECK(watch.step(eval(0), "x"_t = 100.0F).empty());
    CHECK(watch.step(predict(0), "x"_t = 2.0F).empty());
    CHECK(watch.step(predict(1), "x"_t = nan).empty());  // a NaN leaves the mean as it was
    CHECK(watch.step(predict(2), "x"_t = 6.0F).empty());
    CHECK(watch.step(predict(3), "x"_t = nan).empty());
    CHECK_FALSE(watch.step(predict(4), "x"_t = 8.0F).empty());

    // A spread that was zero throughout.
    envelope const flat{{{"v", mode::predict, stddev, {{0, 0, 9}}}, {"w", mode::predict, mean, {{8, 8, 9}}}}, 2};
    hook other{plan{}, drift{.healthy = &flat}};
    float const same[] = {8, 8}, off[] = {8, 8.1F};
    for (std::uint64_t i = 0; i < 3; ++i) { CHECK(other.step(predict(i), "v"_t = same, "w"_t = same).empty()); }
    auto const alarm = other.step(predict(3), "v"_t = off, "w"_t = same);
    REQUIRE(alarm.size() == 1);
    CHECK(alarm[0].tensor == "v");
    CHECK(other.step(predict(4), "v"_t = same, "w"_t = off).size() == 1);
}

TEST_CASE("drift says what it misses") {
    temporary_folder const folder;
    trial const run = served(folder / "a", 8, [](std::uint64_t) { return 2.0; });
    auto const gap = [&](drift const& rule) { return replay(run, rule).coverages.at(0).reason; };
    envelope const single = one_to_three(1), good = one_to_three(4), long_one = one_to_three(9);
    envelope const elsewhere{{{"x", mode::eval, mean, {{1, 3, 9}}}}, 4};
    CHECK(gap({}) == "parameter healthy not set");
    CHECK(gap({.healthy = &single}) == "the envelope is of single observations: learn it with a window");
    CHECK(gap({.healthy = &elsewhere}).starts_with("the envelope does not know some of the tensors"));
    CHECK(gap({.healthy = &long_one}).starts_with("warm-up not reached"));
    CHECK(gap({.healthy = &good}).empty());
    CHECK(replay(run, outside_envelope{.healthy = &good}).coverages.at(0).reason ==
          "the envelope is of means over a window, which the rule drift compares with");
}

TEST_CASE("learned on clean streams, drift is silent on others and finds a shift of twice the noise's spread") {
    temporary_folder const folder;
    auto const stream = [&](std::uint64_t number, double shift) {
        return served(folder / (std::to_string(number) + (shift > 0 ? "s" : "c")), 1000,
                      [=](std::uint64_t i) { return 10 + noise(number * 100'000 + i) + (i >= 500 ? shift : 0.0); });
    };
    std::vector<trial> clean;
    for (std::uint64_t i = 0; i < 4; ++i) { clean.push_back(stream(i, 0)); }
    envelope const healthy = learn_envelope(clean, {mean}, {.window = 32});
    REQUIRE(!save_envelope(healthy, folder / "healthy.envelope"));
    envelope const read = load_envelope(folder / "healthy.envelope").value();
    CHECK(read == healthy);
    CHECK(read.window == 32);
    drift const rule{.healthy = &read};
    for (std::uint64_t i = 4; i < 24; ++i) { CHECK(replay(stream(i, 0), rule).findings.empty()); }
    for (std::uint64_t i = 4; i < 8; ++i) {
        replay_report const report = replay(stream(i, 0.6), rule | once);
        REQUIRE(report.findings.size() == 1);
        CHECK(report.findings[0].step.index >= 500);
        CHECK(report.findings[0].step.index < 540);
    }
}

TEST_CASE("the line of an envelope's window stands second, once, and is at least 2") {
    temporary_folder const folder;
    auto const load = [&](std::string const& text) {
        write_file(folder / "text", {text.begin(), text.end()});
        return load_envelope(folder / "text");
    };
    std::string const head = "spotter envelope 1\n", one = "series predict mean x\nphase 0 64 1 2\n";
    CHECK(load(head + "window 8\n" + one + "end 1\n").value().window == 8);
    CHECK(load(head + one + "end 1\n").value().window == 1);
    for (char const* const line : {"window 1\n", "window\n", "window 8 8\n", "window x\n"}) {
        CHECK(load(head + line + one + "end 1\n").error().code == errc::corrupt);
    }
    CHECK(load(head + one + "window 8\nend 1\n").error().code == errc::corrupt);
    CHECK(load(head + "window 8\nwindow 8\n" + one + "end 1\n").error().code == errc::corrupt);
}
