// SPDX-License-Identifier: Apache-2.0
// Envelopes: ranges learned from healthy runs, stored in a file, and a rule that compares another run with them.
#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>
#include <spotter/replay/envelope.hpp>
#include <spotter/replay/envelope_file.hpp>
#include <spotter/rule/builtin/outside_envelope.hpp>

#include <examples/common/regression.hpp>

#include <functional>

using namespace spotter;
using namespace spotter_test;

namespace {

using example::regression;
using fault = std::function<void(regression&, std::uint64_t)>;

constexpr plan statistics{collection{"all", "*", always{}, stats(l2, mean_abs, maximum, zero_fraction)}};
std::vector<statistic> const usual{l2, mean_abs, maximum, zero_fraction};

template <class Hook>
std::size_t train_with(Hook& watch, std::uint64_t seed, std::uint64_t steps, fault const& harm = {}) {
    regression net{seed};
    std::size_t found = 0;
    for (std::uint64_t i = 0; i < steps; ++i) {
        float const loss = net.forward_backward();
        if (harm) { harm(net, i); }
        found += watch.step(train(i), "loss"_t = loss, net).size();
        net.update();
    }
    watch.finish();
    return found;
}
trial trained(std::string const& path, std::uint64_t seed, std::uint64_t steps = 1500, fault const& harm = {}) {
    hook watch{path, statistics};
    (void)train_with(watch, seed, steps, harm);
    return open(watch.path());
}
// Records "x" as given, and some values as "y".
trial series(std::string const& path, std::uint64_t steps, std::function<double(std::uint64_t)> const& x) {
    hook watch{path, everything};
    for (std::uint64_t i = 0; i < steps; ++i) { (void)watch.step(train(i), "x"_t = x(i), "y"_t = 1.0); }
    watch.finish();
    return open(watch.path());
}
// A program compiled with -ffast-math reads subnormals as zero.
#ifdef __FAST_MATH__
constexpr double small = 1e-300, smallest = 3e-308;
#else
constexpr double small = 1e-310, smallest = 5e-324;
#endif
envelope learned_by_hand() {
    return envelope{{{"a\\b\n w", mode::eval, mean_abs, {{}, {-1.5, 0.1, 7}, {}, {small, 1e300, 1}}},
                     {"fc1/w", mode::train, l2, {{1.0 / 3, 2.0 / 3, 1ULL << 60}}},
                     {"fc1/w", mode::predict, of_abs(stddev), {{0, 0, 1}, {-0.0, smallest, 2}}},
                     {"", mode::train, nonfinite, {{0, 0, 1}}}}};
}
error load_text(temporary_folder const& folder, std::string const& text) {
    write_file(folder / "text", {text.begin(), text.end()});
    return load_envelope(folder / "text").error();
}

}  // namespace

TEST_CASE("phases double: 0 to 63, 64 to 127, 128 to 255, and so on to the last index there is") {
    for (std::size_t phase = 0; phase < phase_count; ++phase) {
        CHECK(phase_of(first_step_of(phase)) == phase);
        if (phase > 0) { CHECK(phase_of(first_step_of(phase) - 1) == phase - 1); }
    }
    CHECK(first_step_of(1) == 64);
    CHECK(phase_of(~std::uint64_t{0}) == phase_count - 1);
}

TEST_CASE("ranges are quantiles by nearest rank of a phase's values, of all runs together") {
    temporary_folder const folder;
    trial const a = series(folder / "a", 64 + 400, [](std::uint64_t i) { return static_cast<double>(i); });
    trial const b = series(folder / "b", 10, [](std::uint64_t) { return -5.0; });
    envelope const one = learn_envelope(a, {mean});
    REQUIRE(one.entries().size() == 2);
    CHECK(one.entries()[0].tensor == "x");
    REQUIRE(one.entries()[0].phases.size() == 4);
    CHECK(one.entries()[0].phases[0] == healthy_range{0, 63, 64});
    CHECK(one.entries()[0].phases[2] == healthy_range{128, 255, 128});
    CHECK(one.entries()[0].phases[3] == healthy_range{257, 462, 208});  // elements 2 and 207 of 208
    envelope const both = learn_envelope({a, b}, {mean}, {.low = 0, .high = 0.5});
    CHECK(both.entries()[0].phases[0] == healthy_range{-5, 26, 74});  // ten of -5, then 0 to 26: 37 of 74 values
    CHECK(learn_envelope(a, {}).empty());
}

TEST_CASE("outside_envelope: below, above, patience, other phases and modes; what it lacks is reported") {
    temporary_folder const folder;
    envelope const healthy{{{"x", mode::train, mean, {{1, 3, 10}, {}, {10, 20, 10}}}}};
    auto const fired_at = [&](double value, outside_envelope rule, std::uint64_t steps = 10) {
        static int number = 0;
        rule.healthy = &healthy;
        rule.select = "x";
        trial const run = series(folder / std::to_string(++number), steps, [=](std::uint64_t) { return value; });
        ids found;
        for (finding const& each : replay(run, rule).findings) { found.push_back(each.step); }
        return found;
    };
    // 1 to 3, widened by 0.5 * 3 at both ends.
    CHECK(fired_at(4.5, {.margin = 0.5, .patience = 3}).empty());
    CHECK(fired_at(4.51, {.margin = 0.5, .patience = 3}) == trains(2, 10));
    CHECK(fired_at(-0.5, {.margin = 0.5, .patience = 1}).empty());
    CHECK(fired_at(-0.51, {.margin = 0.5, .patience = 1}) == trains(0, 10));
    CHECK(fired_at(3, {.margin = 0, .patience = 1}).empty());
    ids both = trains(0, 64);  // the envelope has no values for 64 to 127, nor from 256 on
    for (step_id each : trains(128, 256)) { both.push_back(each); }
    CHECK(fired_at(100, {.margin = 0.5, .patience = 1}, 300) == both);

    trial const run = series(folder / "run", 10, [](std::uint64_t) { return 9.0; });
    outside_envelope const rule{.healthy = &healthy, .margin = 0.5, .patience = 1};
    replay_report const report = replay(run, rule);
    finding const found = report.findings.at(0);
    CHECK(found.tensor == "x");
    CHECK(found.measure == "mean");
    CHECK((found.measured == 9 && found.threshold == 4.5 && found.how == relation::greater));
    CHECK(found.reason == "above what healthy runs had");
    CHECK(found.detail.view() == "healthy: 1 to 3 from train(0) on");
    CHECK(report.coverages[0].judged == 10);
    CHECK(report.coverages[0].reason.starts_with("the envelope does not know some of the tensors"));
    CHECK(unknown_to(healthy, run) == names_list{"y"});
    CHECK(replay(run, outside_envelope{.select = "x", .healthy = &healthy}).coverages[0].reason.empty());
    CHECK(replay(run, outside_envelope{.select = "y", .healthy = &healthy}).coverages[0].reason.starts_with("the env"));
    CHECK(replay(run, outside_envelope{}).coverages[0].reason == "parameter healthy not set");
    envelope const elsewhere{{{"x", mode::eval, mean, {{1, 3, 10}}}}};
    CHECK(replay(run, outside_envelope{.select = "x", .healthy = &elsewhere}).coverages[0].reason ==
          "the envelope says nothing of the tensors at such steps");
}

TEST_CASE("a tensor without a finite element is not judged, but for counts") {
    envelope const healthy{{{"x", mode::train, l2, {{1, 3, 10}}}}};
    envelope const counts{{{"x", mode::train, nonfinite, {{0, 0, 10}}}}};
    auto const fires = [&](envelope const& which) {
        hook watch{plan{}, outside_envelope{.healthy = &which, .patience = 1}};
        return !watch.step(train(0), "x"_t = std::bit_cast<float>(0x7FC00000U)).empty();
    };
    CHECK(!fires(healthy));
    CHECK(fires(counts));
}

TEST_CASE(
    "learned from clean runs it accepts other clean seeds, and rejects planted faults, in a replay as in the loop") {
    temporary_folder const folder;
    std::vector<trial> clean;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) { clean.push_back(trained(folder / std::to_string(seed), seed)); }
    envelope const healthy = learn_envelope(clean, usual);
    outside_envelope const rule{.healthy = &healthy};
    for (std::uint64_t seed = 11; seed <= 22; ++seed) {
        INFO("seed " << seed);
        trial const run = trained(folder / ("clean" + std::to_string(seed)), seed);
        replay_report const report = replay(run, rule);
        for (finding const& each : report.findings) {
            UNSCOPED_INFO(each.tensor << " " << each.step.index << " " << each.measure << " " << each.measured << " "
                                      << each.threshold << " " << each.detail.view());
        }
        CHECK(report.fired == 0);
        CHECK((report.whole && report.coverages[0].judged == 1500 && report.coverages[0].reason.empty()));
    }
    std::pair<char const*, fault> const faults[] = {
        {"learning rate", [](regression& net, std::uint64_t i) { net.learning_rate = i < 300 ? 0.05F : 3.0F; }},
        {"dead units",
         [](regression& net, std::uint64_t i) {
             if (i == 300) { std::fill(net.w1.values.begin(), net.w1.values.end(), 0.0F); }
         }},
        {"gradients times 30",
         [](regression& net, std::uint64_t i) {
             for (float& each : net.grad_w1.values) { each *= i > 300 ? 30.0F : 1.0F; }
         }},
        {"no gradient",
         [](regression& net, std::uint64_t i) {
             for (float& each : net.grad_w2.values) { each *= i > 300 ? 1e-6F : 1.0F; }
         }},
    };
    for (auto const& [name, harm] : faults) {
        INFO(name);
        hook watch{folder / name, plan{}, rule};
        CHECK(train_with(watch, 11, 600, harm) > 0);
        trial const run = open(watch.path());
        replay_report const report = replay(run, rule);
        REQUIRE(report.fired > 0);
        CHECK(report.findings[0].step.index >= 300);
        CHECK(report.findings[0].step.index < 330);
        CHECK(run.findings().size() == report.findings.size());
    }
}

TEST_CASE("an envelope is a value: copies and moves own what the rule reads") {
    envelope first = learned_by_hand();
    envelope const copy = first;
    CHECK(copy == first);
    CHECK(copy.series.data() != first.series.data());
    envelope const moved = std::move(first);
    CHECK(moved == copy);
    REQUIRE(moved.of("fc1/w").size() == 2);
    CHECK(moved.of("fc1/w")[0].phases[0].count == 1ULL << 60);
    CHECK(moved.of("fc1/x").empty());
    CHECK(envelope{}.of("x").empty());
    envelope again;
    again = copy;
    CHECK(again.of("").size() == 1);
    envelope const of_means{moved.entries(), 8};
    again = of_means;
    CHECK((again == of_means && again.window == 8 && envelope{again} == of_means));
}

TEST_CASE("saved and loaded it is the same to the bit") {
    temporary_folder const folder;
    envelope const made = learned_by_hand();
    REQUIRE(!save_envelope(made, folder / "healthy.envelope"));
    result<envelope> const back = load_envelope(folder / "healthy.envelope");
    REQUIRE(back);
    CHECK(*back == made);
    for (std::size_t i = 0; i < made.entries().size(); ++i) {
        for (std::size_t k = 0; k < made.entries()[i].phases.size(); ++k) {
            CHECK(same_bits(made.entries()[i].phases[k].low, back->entries()[i].phases[k].low));
            CHECK(same_bits(made.entries()[i].phases[k].high, back->entries()[i].phases[k].high));
        }
    }
    REQUIRE(!save_envelope(envelope{}, folder / "healthy.envelope"));
    CHECK(load_envelope(folder / "healthy.envelope").value().empty());
    CHECK(!std::filesystem::exists(folder / "healthy.envelope.new"));
    CHECK(save_envelope(made, folder / "missing/healthy.envelope"));
}

TEST_CASE("a malformed envelope file is a named error that says the line") {
    temporary_folder const folder;
    std::string const head = "spotter envelope 1\n", one = "series train l2 w\nphase 0 64 1 2\n";
    CHECK(!load_text(folder, head + one + "end 1\n"));
    CHECK(load_envelope(folder / "nothing").error().code == errc::io_error);
    CHECK(load_text(folder, "spotter envelope 2\n").code == errc::unknown_version);
    CHECK(load_text(folder, "").what.view().find("is not an envelope") != std::string_view::npos);
    for (std::string const& text : {std::string{},
                                    std::string{"{}"},
                                    head,
                                    head + "end 0",
                                    head + "end 1\n",
                                    head + one,
                                    head + one + "end 2\n",
                                    head + one + "end 1\nend 1\n",
                                    head + one + one + "end 2\n",
                                    head + "series train l2 w\nend 1\n",
                                    head + "phase 0 64 1 2\nend 0\n",
                                    head + "series test l2 w\nphase 0 64 1 2\nend 1\n",
                                    head + "series train l3 w\nphase 0 64 1 2\nend 1\n",
                                    head + "series train l2 w\\0\nphase 0 64 1 2\nend 1\n",
                                    head + "series train l2 w\nphase 0 64 2 1\nend 1\n",
                                    head + "series train l2 w\nphase 0 64 1 nan\nend 1\n",
                                    head + "series train l2 w\nphase 0 64 1 inf\nend 1\n",
                                    head + "series train l2 w\nphase 59 64 1 2\nend 1\n",
                                    head + "series train l2 w\nphase 0 0 1 2\nend 1\n",
                                    head + "series train l2 w\nphase 0 64 1\nend 1\n",
                                    head + "series train l2 w\nphase 0 64 1 2 3\nend 1\n",
                                    head + one + "phase 0 64 1 2\nend 1\n",
                                    head + "series train l2 w\nphase 0 -1 1 2\nend 1\n",
                                    head + "what\nend 0\n"}) {
        INFO(text);
        error const why = load_text(folder, text);
        CHECK(why.code == errc::corrupt);
        CHECK(why.what.view().starts_with("line "));
    }
    CHECK(load_text(folder, head + "series train l2 w\nphase 0 64 1\nend 1\n").what.view().starts_with("line 3 of \""));
    // Cut anywhere, or with a byte changed, it is loaded or refused with an error.
    std::string const whole = head + one + "phase 3 7 -1.5e-3 2e10\nseries eval mean loss\nphase 1 1 0 0\nend 2\n";
    for (std::size_t i = 0; i < whole.size(); ++i) {
        CHECK(load_text(folder, whole.substr(0, i)).code == errc::corrupt);
        for (char const letter : {'\n', ' ', '9', '-', '\\'}) {
            std::string changed = whole;
            changed[i] = letter;
            errc const code = load_text(folder, changed).code;
            CHECK((code == errc::none || code == errc::corrupt || code == errc::unknown_version));
        }
    }
}
