// SPDX-License-Identifier: Apache-2.0
// Several runs, or the workers of one, side by side: steps are matched by id and tensors by name, each once.
#include <tests/trial/runs.hpp>

#include <spotter/replay/side_by_side.hpp>
#include <spotter/rule/builtin/replica_divergence.hpp>
#include <spotter/rule/builtin/similar_across_runs.hpp>
#include <spotter/rule/builtin/straggler.hpp>
#include <spotter/rules.hpp>

#include <cmath>

using namespace spotter;
using namespace spotter_test;

namespace {

// The events of a step, as a rule receives them.
struct diary {
    using kind = rule_kind;
    static constexpr std::string_view name = "diary";
    std::string* page;
    struct state {};
    [[nodiscard]] static stats_mask needs(tensor_info const&) { return stats_mask::sum; }
    void observe(state&, observation const& it) const {
        *page += std::string{it.tensor.name} + std::to_string(it.stream) + "=" +
                 std::to_string(static_cast<int>(it.stats.sum)) + " ";
    }
    truth close(state&, step_id step, findings&) const {
        *page += std::string{name_of(step.mode)} + std::to_string(step.index) + "; ";
        return truth::no;
    }
};

// Records two weights, equal in every run except w2 of a run with `differs`, from step 4 on.
trial recorded(std::string const& path, bool differs, stats_mask what, bool with_rule = false) {
    options const choices{.drain = drain::poll};
    auto const keep = plan{collection{"all", "*", always{}, what}};
    auto const loop = [&](auto& watch) {
        for (std::uint64_t i = 0; i < 8; ++i) {
            std::vector<float> w1(6, static_cast<float>(i)), w2(6, 1.0F / static_cast<float>(i + 1));
            if (differs && i >= 4) { w2[3] *= 1.25F; }
            (void)watch.step(train(i), "w1"_t = w1, "w2"_t = w2);
        }
        watch.finish();
    };
    if (with_rule) {
        hook watch{path, keep, choices, similar_across_runs{}};
        loop(watch);
    } else {
        hook watch{path, keep, choices};
        loop(watch);
    }
    return open(path);
}
ids steps_found(replay_report const& report) {
    ids list;
    for (finding const& each : report.findings) { list.push_back(each.step); }
    return list;
}
template <class Body>
void as_worker(std::string const& path, std::uint32_t number, Body const& body) {
    hook watch{path, everything, options{.drain = drain::poll, .worker = number}};
    body(watch);
}

}  // namespace

TEST_CASE("two runs, equal to step 3, of which w2 differs at 4: similar_across_runs fires at 4, tensor w2") {
    temporary_folder const folder;
    trial const first = recorded(folder / "a", false, payload);
    trial const same = recorded(folder / "b", false, payload);
    trial const other = recorded(folder / "c", true, payload);
    side_by_side_report const equal = replay_side_by_side({first, same}, similar_across_runs{});
    CHECK((equal.findings.empty() && equal.whole && equal.steps == 8 && equal.streams == 2));
    CHECK(equal.coverages[0].judged == 8);
    side_by_side_report const report = replay_side_by_side({first, other}, similar_across_runs{});
    CHECK(steps_found(report) == trains(4, 8));
    CHECK(steps_found(replay_side_by_side({first, other}, similar_across_runs::sagemaker_defaults())) == trains(4, 8));
    CHECK(report.findings[0].tensor == "w2");
    CHECK(report.findings[0].worker == 1);
    CHECK((report.unpaired_names.empty() && report.unpaired_steps.empty()));
    CHECK(steps_found(replay_side_by_side({first, other}, similar_across_runs{.rtol = 0.2})) == trains(4, 8));
    CHECK(replay_side_by_side({first, other}, similar_across_runs{.rtol = 0.26}).fired == 0);
    CHECK(steps_found(replay_side_by_side({first, same, other}, similar_across_runs{}, every{3})) == ids{train(6)});
    CHECK(replay_side_by_side({first, other}, similar_across_runs{.select = "w1"}).coverages[0].judged == 8);
    similar_across_runs const unlike{.select = "w2", .expect = similar_across_runs::different};
    CHECK(steps_found(replay_side_by_side({first, other}, unlike)) == trains(0, 4));
}

TEST_CASE(
    "with the rule in the loops the hashes are recorded, and no value is needed; without either it could not run") {
    temporary_folder const folder;
    trial const first = recorded(folder / "a", false, stats(l2), true),
                other = recorded(folder / "b", true, stats(l2), true);
    side_by_side_report const report = replay_side_by_side({first, other}, similar_across_runs{});
    CHECK((report.whole && steps_found(report) == trains(4, 8)));
    side_by_side_report const values = replay_side_by_side({first, other}, similar_across_runs{.atol = 0.1});
    CHECK(values.coverages[0].reason == "payload not recorded");
    CHECK(values.trouble.code == errc::no_payload);
    CHECK(values.trouble.what.view().starts_with("stream 0: "));
    CHECK(!values.whole);
    trial const bare = recorded(folder / "c", true, stats(l2));
    CHECK(!replay_side_by_side({first, bare}, similar_across_runs{}).coverages[0].could_run());
}

TEST_CASE("alone, in a loop or a replay, rules over several streams could not run: other run missing") {
    temporary_folder const folder;
    hook watch{folder / "a", everything, similar_across_runs{}, replica_divergence{}, straggler{}};
    for (std::uint64_t i = 0; i < 60; ++i) {
        CHECK(watch.step(train(i), "fc/w"_t = view_of(std::vector<float>(4).data(), {2, 2}), "time/step"_t = 0.1)
                  .empty());
    }
    watch.coverage_of_rules([](coverage const& each) { CHECK(each.reason.starts_with("other run missing")); });
    watch.finish();
    trial const run = open(folder / "a");
    for (replay_report const& report :
         {replay(run, similar_across_runs{}, replica_divergence{}, straggler{}),
          replay_report{replay_side_by_side(run, similar_across_runs{}, replica_divergence{}, straggler{})}}) {
        REQUIRE(report.coverages.size() == 3);
        for (coverage const& each : report.coverages) { CHECK(each.reason.starts_with("other run missing")); }
    }
}

TEST_CASE("two runs, one ten steps shorter: the common steps are judged, the ten are skipped and counted [S73]") {
    temporary_folder const folder;
    for (bool const longer : {false, true}) {
        hook watch{folder / (longer ? "b" : "a"), everything};
        for (std::uint64_t i = 0; i < (longer ? 30U : 20U); ++i) {
            (void)watch.step(train(i), "w"_t = static_cast<float>(longer && i == 25 ? 1 : i));
        }
        watch.finish();
    }
    trial const first = open(folder / "a"), second = open(folder / "b");
    std::size_t closed = 0;
    side_by_side_report const report = replay_side_by_side(
        {first, second}, similar_across_runs{}, [&](spotter::step_alarm const& found) { closed += found.size(); });
    CHECK(closed == 0);
    CHECK(report.unpaired_steps.size() == 10);
    CHECK(report.unpaired_steps.front() == train(20));
    CHECK(report.coverages[0].judged == 20);
}

TEST_CASE("rules that ask for the time get the latest of the streams, which does not run backwards") {
    temporary_folder const folder;
    static double now;
    auto const record = [&](std::string const& path, double start, double pause, bool whole) {
        now = start;
        hook watch{path, everything, options{.drain = drain::poll, .clock = []() noexcept { return now; }}};
        for (std::uint64_t i = 0; i < 8; ++i) {
            now += i == 4 ? pause : 1;
            if (whole || i != 6) { (void)watch.step(train(i), "x"_t = 1.0); }
            watch.flush();
        }
        watch.finish();
        return open(path);
    };
    trial const first = record(folder / "a", 1e6, 50, true), slow = record(folder / "b", 1e9, 200, false);
    CHECK(replay_side_by_side(first, stalled_training{.threshold = 100}).fired == 0);
    side_by_side_report const alone = replay_side_by_side(slow, stalled_training{.threshold = 100});
    CHECK(steps_found(alone) == ids{train(4)});
    side_by_side_report const report = replay_side_by_side({first, slow}, stalled_training{.threshold = 100});
    CHECK(steps_found(report) == ids{train(4)});
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].measured == 200);
}

TEST_CASE("steps and tensors are matched by name and id; what one stream has alone is listed") {
    temporary_folder const folder;
    std::string page;
    {
        hook a{folder / "a", everything}, b{folder / "b", everything};
        (void)a.step(train(0), "x"_t = 1, "y"_t = 2);
        (void)a.step(eval(0), "x"_t = 3);
        (void)a.step(train(2), "y"_t = 4, "x"_t = 5);
        (void)b.step(train(0), "y"_t = 20, "z"_t = 30);
        (void)b.step(train(1), "x"_t = 40);
        (void)b.step(train(2), "x"_t = 50, "y"_t = 60);
        (void)b.step(eval(0), "x"_t = 70);
        (void)b.step(train(3), "x"_t = 80);
    }
    trial const a = open(folder / "a"), b = open(folder / "b");
    side_by_side_report const report = replay_side_by_side({a, b}, diary{&page});
    CHECK(page == "x0=1 y0=2 y1=20 z1=30 train0; x1=40 train1; x0=3 x1=70 eval0; y0=4 x0=5 x1=50 y1=60 train2; "
                  "x1=80 train3; ");
    CHECK(report.unpaired_names == names_list{"z"});
    CHECK(report.unpaired_steps == ids{train(1), train(3)});
    CHECK(report.steps == 5);
}

TEST_CASE(
    "of a step that was closed twice the last closings belong together; rules start afresh once with an attempt") {
    temporary_folder const folder;
    std::string page;
    for (bool const resumed : {false, true}) {
        std::string const path = folder / (resumed ? "b" : "a");
        for (int attempt = 0; attempt < (resumed ? 2 : 1); ++attempt) {
            hook watch{path, everything, options{.existing = existing::resume, .drain = drain::poll}};
            std::uint64_t const end = resumed && attempt == 0 ? 4 : 6;
            for (std::uint64_t i = resumed && attempt == 1 ? 2 : 0; i < end; ++i) {
                (void)watch.step(train(i), "x"_t = static_cast<int>(i) + 10 * attempt);
            }
        }
    }
    trial const a = open(folder / "a"), b = open(folder / "b");
    REQUIRE(b.attempts() == 2);
    side_by_side_report const report = replay_side_by_side({a, b}, diary{&page});
    CHECK(page == "x0=0 x1=0 train0; x0=1 x1=1 train1; x1=2 train2; x1=3 train3; x0=2 x1=12 train2; x0=3 x1=13 train3; "
                  "x0=4 x1=14 train4; x0=5 x1=15 train5; ");
    CHECK(report.unpaired_steps == ids{train(2), train(3)});
    CHECK(report.coverages[0].judged == 8);
    CHECK(replay_side_by_side({a, b}, any("x", sum >= 0.0) | for_steps{5}).fired == 0);  // four steps in each attempt
    CHECK(replay_side_by_side({a, b}, any("x", sum >= 0.0) | for_steps{4}).fired == 2);
}

TEST_CASE("workers of a run: three of four have the same weights: replica_divergence names the fourth, by its number") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    for (std::uint32_t const number : {0U, 1U, 2U, 10U}) {
        as_worker(path, number, [&](auto& watch) {
            for (std::uint64_t i = 0; i < 10; ++i) {
                std::vector<float> w(6, static_cast<float>(i));
                if (number == 10 && i >= 7) { w[5] = std::nextafter(w[5], 100.0F); }
                (void)watch.step(train(i), "fc/w"_t = view_of(w.data(), {2, 3}));
            }
        });
    }
    trial const run = open(path);
    REQUIRE(run.workers().size() == 4);
    replay_report const report =
        replay_side_by_side(run, replica_divergence{}, replica_divergence{.every = 4} | named{"seldom"});
    CHECK(steps_found(report) == ids{train(7), train(8), train(8), train(9)});
    CHECK(report.findings[0].worker == 10);
    CHECK(report.findings[0].detail.view() == "worker 10 of 4");
    CHECK(report.findings[0].decision == decision::stop);
}

TEST_CASE("workers of a run: medians .10, .10, .14: straggler names worker 2, whoever was recorded first") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    for (std::uint32_t const number : {2U, 0U, 1U}) {
        as_worker(path, number, [&](auto& watch) {
            for (std::uint64_t i = 0; i < 60; ++i) {
                watch.begin(train(i));
                watch.scalar("time/step", number == 2 ? 0.14 : 0.10);
                (void)watch.end();
            }
        });
    }
    replay_report const report = replay_side_by_side(open(path), straggler{});
    CHECK(steps_found(report) == trains(49, 60));
    CHECK(report.findings[0].worker == 2);
    CHECK(magnitude(report.findings[0].measured - 0.1 / 0.14) < 1e-9);
}

TEST_CASE("a role that only one run was given holds for both; another shape in the other run is a difference") {
    temporary_folder const folder;
    for (int which = 0; which < 2; ++which) {
        hook watch{folder / (which == 0 ? "a" : "b"), everything};
        std::vector<float> const w(6, 1.0F);
        for (std::uint64_t i = 0; i < 3; ++i) {
            watch.begin(train(i));
            if (which == 0) {
                watch.observe("kernels", view_of(w.data(), {2, 3}), role::weight);
            } else {
                watch.observe("kernels", view_of(w.data(), {6}));
            }
            (void)watch.end();
        }
    }
    trial const a = open(folder / "a"), b = open(folder / "b");
    CHECK(replay_side_by_side({a, b}, replica_divergence{}).fired == 3);
    replay_report const report = replay_side_by_side({a, b}, similar_across_runs{});
    CHECK(report.fired == 3);
    CHECK(report.findings[0].reason == "shapes differ");
}

TEST_CASE("a long pair of runs whose modes come in another order: each step meets its own") {
    temporary_folder const folder;
    for (int which = 0; which < 2; ++which) {
        hook watch{folder / (which == 0 ? "a" : "b"), everything, options{.segment_bytes = 1 << 16}};
        for (std::uint64_t i = 0; i < 6000; ++i) {
            (void)watch.step(train(i), "x"_t = static_cast<double>(i));
            if (which == 0 && i % 10 == 0) { (void)watch.step(eval(i / 10), "x"_t = static_cast<double>(i)); }
        }
        for (std::uint64_t i = 0; which == 1 && i < 600; ++i) {  // all evaluations at the end
            (void)watch.step(eval(i), "x"_t = static_cast<double>(10 * i));
        }
    }
    trial const a = open(folder / "a"), b = open(folder / "b");
    side_by_side_report const report = replay_side_by_side({a, b}, similar_across_runs{});
    CHECK(report.steps == 6600);
    CHECK((report.fired == 0 && report.whole && report.coverages[0].judged == 6600));
    CHECK(report.unpaired_steps.empty());
}
