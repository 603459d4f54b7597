// SPDX-License-Identifier: Apache-2.0
// The library's law: findings of the loop and findings of its record are the same, one by one and in every field [S64].
#include <tests/property/stream.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

// A rule as a user may write it: it names tensors by their partners, and reads the values themselves.
struct curious {
    using kind = rule_kind;
    static constexpr std::string_view name = "curious";
    static constexpr std::string_view remedy = "none";
    struct state {
        violation found{};
        std::uint64_t tied = 0;
        bool seen = false;
    };
    [[nodiscard]] static stats_mask needs(tensor_info const& tensor) {
        return tensor.role == role::weight ? stats_mask::payload | stats_mask::hash : stats_mask::none;
    }
    static void observe(state& now, observation const& it) {
        now.seen = true;
        now.tied += it.tensor.partner != no_tensor ? 1 : 0;
        if (it.view.absent()) { return; }
        double first = 0;
        visit_values(it.view, [&](auto values) { first = values.empty() ? 0 : detail::see(values[0]).value; });
        if (it.stats.hash % 5 == 0) { now.found.blame(it, is_finite(first) ? first : -1); }
    }
    [[nodiscard]] static truth close(state& now, step_id, findings& out) {
        violation const found = std::exchange(now.found, {});
        if (!std::exchange(now.seen, false)) { return truth::undecided; }
        if (found.count == 0) { return truth::no; }
        out.push(found.as_finding("first value", relation::greater, static_cast<double>(now.tied), severity::info));
        return truth::yes;
    }
};

struct width {
    static constexpr stats_mask needs = stats_mask::range;
    static constexpr std::string_view name = "spread";
    double operator()(summary const& of) const { return of.maximum - of.minimum; }
};

// Groups of rules with their own parameters. Together they hold every built-in rule, quantifier, adaptor and compound.
template <class Use>
void with_rules(std::uint64_t group, random_source& random, Use&& use) {
    auto const small = [&] { return 1 + random.below(4); };
    double const limit = random.unit() * 2;
    switch (group % 7) {
        case 0:
            return use(any("*", l2 > limit * 20), all("grad/*", mean_abs < limit) | for_steps{small()},
                       any("*", nonfinite > 0), fraction("*", zero_fraction > 0.3) > limit / 3,
                       any(role::loss, maximum > limit) | cooldown{small()});
        case 1:
            return use(vanishing_gradient{.threshold = limit, .patience = small()},
                       exploding_gradient{.max_mean_abs = limit, .patience = small()}, non_finite{},
                       loss_not_decreasing{.num_steps = small(), .smoothing = small(), .patience = small()},
                       all_zero{.threshold = 0.6, .patience = small()});
        case 2:
            return use(dead_relu{.threshold_layer = 0.1, .samples = 8 * small()},
                       update_ratio_band{
                           .low = limit, .high = limit * 2, .smoothing = 3, .warmup = small(), .patience = small()},
                       dead_relu{.threshold_inactivity = 0.6, .threshold_layer = limit / 4, .samples = 16}, curious{});
        case 3:
            return use(stalled("*", mean, {.window = 4, .by = limit}),
                       rising(role::loss, mean, {.window = 3, .by = limit}),
                       unchanged("*", l2, {.window = 2}) | for_steps{2},
                       spike("*", of_abs(maximum), {.window = 5, .deviations = limit}),
                       (ratio_of(latest("x", l2), latest("fc1/w", l2)) > limit) ||
                           (gap_of(latest("loss", mean, mode::eval), latest("loss", mean, mode::train)) > limit));
        case 6:
            return use((any("x", stddev > limit) && all("act/*", maximum > 0.1)) ||
                           !any("fc1/*", of_abs(maximum) > limit * 25),
                       (any("*", width{} > limit) | only{during{mode::eval}}) && !(any("loss", mean > 0.0) | once),
                       (any(names{"x", "empty"}, product > 0.0 || sum <= limit) | rearm{small()} | named{"mine"}) ||
                           (vanishing_gradient{} | severity::error),
                       on(any(glob{"*w"} && !glob{"grad/*"}, variance < limit), stop) | only{every{small()}});
        case 4:
            return use(any("*", (l1 > limit && zeros < 3.0) || nan_count > 0) | for_steps{2} | cooldown{3},
                       all("*", pos_inf < 1.0),
                       any("*", of_abs(minimum) >= limit) &&
                           any([](std::string_view name) { return name.size() > 4; }, neg_inf >= 0.0),
                       on(exploding_gradient{.select = "grad/*", .max_mean_abs = limit}, skip_update) | rearm{2},
                       loss_not_decreasing::sagemaker_defaults() | severity::info);
        default:  // more findings than an alarm can hold
            return use(any("*", sum > 0.0), any("*", sum > 1.0), any("*", l2 > 0.0) | severity::error,
                       any("x", l2 > 0.0) | severity::info, any("loss", l2 > 0.0), non_finite{},
                       any("grad/*", l2 > 0.0) || any("act/*", l2 > 0.0) || any("fc1/*", l2 > 0.0),
                       any("*", sum > 2.0) | named{"two"}, any("*", maximum > 0.5), all_zero{.patience = 1});
    }
}

// A plan with random patterns, policies and contents.
auto make_plan(random_source& random) {
    constexpr stats_mask contents[] = {payload, stats(l2, maximum), payload | stats(mean), stats(stddev, product),
                                       stats_mask::none | stats_mask::nonfinite};
    constexpr char const* patterns[] = {"*", "grad/*", "*w", "x", "nothing"};
    auto const content = [&] { return contents[random.below(5)]; };
    auto const pattern = [&] { return glob{patterns[random.below(5)]}; };
    // A rule that reads values needs them recorded; one that asks for statistics does not.
    return plan{collection{"read", role::weight, always{}, payload},
                collection{"a", pattern(), every{1 + random.below(5)}, content()},
                collection{"b", pattern(), from{random.below(30)} && during{mode::train}, content()},
                collection{"c", role::loss, !before{random.below(20)}, content()}};
}
options make_options(random_source& random) {
    options choices{.drain = random.one_in(3) ? drain::poll : drain::thread, .segment_bytes = 4096};
    choices.segment_bytes = random.one_in(2) ? 4096 : 1 << 20;
    choices.ring_bytes = random.one_in(2) ? 64 << 10 : 1 << 20;
    return choices;
}

// Compares two lists of alarms and shows the first difference.
void compare(alarms const& inside, alarms const& outside) {
    for (std::size_t i = 0; i < inside.size() && i < outside.size(); ++i) {
        if (inside[i] == outside[i]) { continue; }
        auto const show = [](plain_alarm const& it) {
            std::string text;
            for (auto const& each : it.findings) {
                text += std::get<0>(each) + " " + std::get<1>(each) + " " + std::get<2>(each) + " " +
                        std::get<3>(each) + " " + std::get<6>(each) + " " +
                        std::to_string(std::bit_cast<double>(std::get<7>(each))) + " +" +
                        std::to_string(std::get<13>(each)) + "; ";
            }
            return text;
        };
        FAIL("alarm " << i << ": inline " << show(inside[i]) << " replay " << show(outside[i]));
    }
    CHECK(inside.size() == outside.size());
}

}  // namespace

TEST_CASE("verdicts and coverage in the loop equal those of replay, for random streams, rules and plans [S64]") {
    std::uint64_t findings = 0;
    for (std::uint64_t run = 0; run < property_runs(48); ++run) {
        INFO("stream " << run);
        random_source random{run * 7919 + 1};
        stream const all = make_stream(run, 60);
        with_rules(run, random, [&](auto const&... rules) {
            temporary_folder const folder;
            options const choices = make_options(random);
            hook watch{folder / "run", make_plan(random), choices, rules...};
            alarms const inside = run_through(watch, all);
            watch.finish();
            REQUIRE(watch.health().good());
            trial const record = open(watch.path());
            replayed const again = play(record, rules...);
            CHECK(again.report.trouble.code == errc::none);
            CHECK(again.report.whole);
            compare(inside, again.found);
            std::vector<plain_coverage> expected = coverage_of(watch);
            CHECK(expected == again.coverages);
            std::size_t reported = 0;
            for (auto const& each : inside) { reported += each.findings.size(); }
            CHECK(record.findings().size() ==
                  reported);  // the record also holds the findings made while it was recorded
            for (std::size_t i = 0, k = 0; i < inside.size(); ++i) {
                for (auto const& each : inside[i].findings) { CHECK(plain(record.findings()[k++]) == each); }
            }
            findings += reported;
        });
    }
    CHECK(findings > 300);
}

TEST_CASE("a record of values only, made without rules, replays to what the rules would have said in the loop") {
    for (std::uint64_t run = 0; run < property_runs(24); ++run) {
        INFO("stream " << run);
        random_source random{run * 104729 + 5};
        stream const all = make_stream(1000 + run, 50, false);
        std::uint64_t const interval = run % 2 == 0 ? 1 : 3;
        temporary_folder const folder;
        hook watch{folder / "run", plan{collection{"some", "*", every{interval}, payload}}, make_options(random)};
        (void)run_through(watch, all);
        watch.finish();
        trial const record = open(watch.path());
        with_rules(run, random, [&](auto const&... rules) {
            hook judge{plan{}, rules...};
            // Over the same subset of observations; scalars are always kept.
            alarms const inside = run_through(judge, all, [&](event const& each, step_id step) {
                bool const as_scalar = each.scalar && (each.like.type == dtype::f32 || each.like.type == dtype::f64);
                return as_scalar || step.index % interval == 0;
            });
            compare(inside, play(record, rules...).found);
        });
    }
}

TEST_CASE("several rules in one pass find what each finds alone") {
    for (std::uint64_t run = 0; run < property_runs(6); ++run) {
        random_source random{run + 77};
        stream const all = make_stream(2000 + run, 40);
        temporary_folder const folder;
        hook watch{folder / "run", everything};
        (void)run_through(watch, all);
        watch.finish();
        trial const record = open(watch.path());
        with_rules(run, random, [&](auto const&... rules) {
            std::vector<plain_finding> alone, together;
            // How a finding is reported depends on the others: equal conditions become one, and what a NaN explains is
            // marked as its consequence.
            auto const note = [](std::vector<plain_finding>& into, replay_report const& report) {
                for (finding each : report.findings) {
                    each.severity = severity::info, each.decision = decision::proceed, each.decision_is_set = false;
                    each.remedy = {}, each.detail = {};
                    into.push_back(plain(each));
                }
            };
            auto const put_in_order = [](std::vector<plain_finding>& reported) {
                std::sort(reported.begin(), reported.end());
                reported.erase(std::unique(reported.begin(), reported.end()), reported.end());
            };
            (note(alone, replay(record, rules)), ...);
            note(together, play(record, rules...).report);
            put_in_order(alone);
            put_in_order(together);
            if (run % 7 != 5) { CHECK(alone == together); }  // the last group overflows an alarm
        });
    }
}

TEST_CASE("a torn record replays the verdicts of its prefix") {
    stream const all = make_stream(4242, 60);
    auto const rule = any("*", sum > 0.0) | for_steps{2};
    auto const other = loss_not_decreasing::sagemaker_defaults();
    temporary_folder const folder;
    hook watch{folder / "run", everything, rule, other};
    alarms inside;
    std::vector<std::size_t> reported;  // findings up to each close
    for (stream_step const& step : all) {
        watch.begin(step.id);
        for (event const& each : step.events) { feed(watch, each); }
        keep(inside, watch.end());
        reported.push_back(inside.size());
        watch.flush();
    }
    watch.finish();
    auto const whole = read_file(folder / "run/000000.spot");
    std::uint64_t judged_at_last = 0;
    for (std::size_t cut = 100; cut < whole.size(); cut += whole.size() / 40) {
        write_file(folder / "run/000000.spot", {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)});
        trial const record = open(folder / "run");
        replayed const again = play(record, rule, other);
        std::size_t const closed = record.closed_steps();
        REQUIRE(closed <= reported.size());
        alarms const prefix{inside.begin(),
                            inside.begin() + static_cast<std::ptrdiff_t>(closed == 0 ? 0 : reported[closed - 1])};
        compare(prefix, again.found);
        judged_at_last = closed;
    }
    CHECK(judged_at_last > 50);
}
