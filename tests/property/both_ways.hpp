// SPDX-License-Identifier: Apache-2.0
// The law for a list of rules and a stream: findings of the loop equal those of a replay, with and without recorded
// values.
#pragma once

#include <tests/property/hostile.hpp>

#include <tests/true_as_printed.hpp>

#include <map>

namespace spotter_test {

// Judged and fired counts by rule, so that a test can check that its rules did judge and fire.
using verdicts = std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>;  // judged, fired

inline double test_time = 1;  // never set back: a record's times do not decrease
inline double tell_test_time() noexcept { return test_time; }

inline spotter::options hostile_options(random_source& random) {
    spotter::options choices;
    choices.drain = random.one_in(2) ? spotter::drain::poll : spotter::drain::thread;
    choices.segment_bytes = random.one_in(2) ? 1 << 14 : 1 << 20;
    choices.ring_bytes = 256 << 10;
    choices.clock = &tell_test_time;
    return choices;
}
// Records values from step `from` on; if it is never reached, only what the rules ask for.
constexpr auto payload_from(std::uint64_t from) {
    return spotter::plan{spotter::collection{"values", "*", spotter::from{from}, spotter::payload}};
}

// Whether time passes. If so, every close is written before the next step: then a rule that uses time finds in the
// record what it saw in the loop.
enum class clock_is : std::uint8_t { still, going };
// Every finding has the step that is closed, or a step of another mode.
inline void check_dates(spotter::step_alarm const& said, spotter::step_id closed) {
    for (spotter::finding const& each : said) { CHECK((each.step == closed || each.step.mode != closed.mode)); }
}

template <class Hook>
alarms run_hostile(Hook& watch, stream const& all, clock_is clock) {
    alarms found;
    for (stream_step const& step : all) {
        watch.begin(step.id);
        for (event const& each : step.events) { feed_part(watch, each); }
        if (clock == clock_is::going) { test_time += step.id.index % 11 == 3 ? 6000 : 100; }
        spotter::step_alarm const said = watch.end();
        check_as_printed(said);
        check_dates(said, step.id);
        keep(found, said);
        if (clock == clock_is::going) { watch.flush(); }
    }
    watch.finish();
    return found;
}

inline std::string shown(plain_finding const& it) {
    auto const number = [](std::uint64_t bits) { return std::to_string(std::bit_cast<double>(bits)); };
    return std::get<0>(it) + " " + std::get<1>(it) + " \"" + std::get<3>(it) + "\" " + std::get<2>(it) + ", " +
           std::get<6>(it) + ", " + number(std::get<7>(it)) + " against " + number(std::get<8>(it)) + ", +" +
           std::to_string(std::get<13>(it));
}
inline std::string shown(plain_coverage const& it) {
    auto const& [rule, matched, judged, undecided, fired, reason] = it;
    return rule + ": matched " + std::to_string(matched) + ", judged " + std::to_string(judged) + ", undecided " +
           std::to_string(undecided) + ", fired " + std::to_string(fired) + " \"" + reason + "\"";
}
inline std::vector<plain_finding> plain_list(std::span<spotter::finding const> all) {
    std::vector<plain_finding> list;
    for (spotter::finding const& each : all) { list.push_back(plain(each)); }
    return list;
}
inline void compare_findings(std::vector<plain_finding> const& inside, std::vector<plain_finding> const& outside) {
    for (std::size_t i = 0; i < inside.size() && i < outside.size(); ++i) {
        if (inside[i] == outside[i]) { continue; }
        FAIL("finding " << i << ": in the loop " << shown(inside[i]) << "; in the replay " << shown(outside[i]));
    }
    CHECK(inside.size() == outside.size());
}

struct alarm_keeper {  // a struct, because a lambda's type would name every rule
    alarms* all;
    void operator()(spotter::step_alarm const& found) const { keep(*all, found); }
};

template <class... Rules>
void compare_with_replay(std::string_view path, alarms const& inside, std::vector<plain_finding> const& reported,
                         std::vector<plain_coverage> const& covered, Rules const&... rules) {
    alarms outside;
    spotter::trial const run = open(path);
    spotter::replay_report const report = spotter::replay(run, rules..., alarm_keeper{&outside});
    INFO(report.trouble.what.view());
    CHECK(report.trouble.code == spotter::errc::none);
    CHECK(report.whole);
    compare_findings(reported, plain_list(report.findings));
    CHECK(inside == outside);
    std::vector<plain_coverage> again;
    for (spotter::coverage const& each : report.coverages) { again.push_back(plain(each)); }
    for (std::size_t i = 0; i < covered.size() && i < again.size(); ++i) {
        INFO("in the loop " << shown(covered[i]) << "; in the replay " << shown(again[i]));
        CHECK(covered[i] == again[i]);
    }
    CHECK(covered.size() == again.size());
}

// Three records replay to the loop's findings in every field: one of features, one of features and values, and one of
// values that was made without rules.
template <class... Rules>
void check_both_ways(std::uint64_t seed, clock_is clock, verdicts& seen, Rules const&... rules) {
    random_source random{seed * 7919 + 11};
    stream const all = hostile_maker{seed}.make(120);
    temporary_folder const folder;
    alarms inside;
    std::vector<plain_finding> reported;
    std::vector<plain_coverage> covered;
    for (std::uint64_t const from : {~std::uint64_t{0}, std::uint64_t{0}}) {
        INFO((from == 0 ? "with the values recorded" : "without values"));
        spotter::hook watch{folder / (from == 0 ? "values" : "features"), payload_from(from), hostile_options(random),
                            rules...};
        inside = run_hostile(watch, all, clock);
        REQUIRE(watch.health().good());
        spotter::trial const run = open(watch.path());
        reported = plain_list(run.findings());
        covered.clear();
        watch.coverage_of_rules([&](spotter::coverage const& each) { covered.push_back(plain(each)); });
        compare_with_replay(watch.path(), inside, reported, covered, rules...);
    }
    for (plain_coverage const& each : covered) {
        auto& [judged, fired] = seen[std::get<0>(each)];
        judged += std::get<2>(each), fired += std::get<4>(each);
    }
    INFO("of values that were recorded without rules");
    spotter::hook record{folder / "bare", payload_from(0), hostile_options(random)};
    (void)run_hostile(record, all, clock);
    compare_with_replay(record.path(), inside, reported, covered, rules...);
}

}  // namespace spotter_test
