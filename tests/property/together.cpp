// SPDX-License-Identifier: Apache-2.0
// Rules side by side, even two of a kind, find what each finds alone. One rule's recorded features serve another only
// if it would have extracted the same.
#include <tests/property/both_ways.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr auto hide = only{every{3}};
constexpr auto no_values = payload_from(~std::uint64_t{0});
constexpr options quick{.drain = drain::poll, .ring_bytes = 256 << 10};

template <class Rule>
std::vector<plain_finding> alone(stream const& all, Rule const& rule) {
    temporary_folder const folder;
    hook watch{folder / "run", no_values, quick, rule};
    (void)run_hostile(watch, all, clock_is::still);
    trial const run = open(watch.path());
    return plain_list(run.findings());
}
std::vector<plain_finding> only_of(std::vector<plain_finding> all, std::string_view rule) {
    std::erase_if(all, [&](plain_finding const& each) { return std::get<1>(each) != rule; });
    return all;
}

// Checks that two rules do not use each other's features, in both orders; returns whether any fired.
template <class One, class Two>
std::size_t check_pair(std::uint64_t seed, One const& first, Two const& second) {
    INFO("stream " << seed);
    auto const one = first | named{"one"};
    auto const two = second | named{"two"};
    stream const all = hostile_maker{seed}.make(60);
    std::vector<plain_finding> const says_one = alone(all, one), says_two = alone(all, two);
    temporary_folder const folder;
    hook watch{folder / "run", no_values, quick, one, two};
    hook turned{folder / "turned", no_values, quick, two, one};
    (void)run_hostile(watch, all, clock_is::still);
    (void)run_hostile(turned, all, clock_is::still);
    for (auto const path : {watch.path(), turned.path()}) {
        trial const run = open(path);
        compare_findings(says_one, only_of(plain_list(run.findings()), "one"));
        compare_findings(says_two, only_of(plain_list(run.findings()), "two"));
        replay_report const again = replay(run, two);
        CHECK(again.whole);
        compare_findings(says_two, plain_list(again.findings));
    }
    return says_one.size() + says_two.size();
}

}  // namespace

TEST_CASE("two rules that extract from memory do not take what the other extracted") {
    std::size_t reported = 0;
    for (std::uint64_t run = 0; run < property_runs(3); ++run) {
        unchanged_tensor const unchanged{.num_steps = 2, .rtol = 0.5};
        reported += check_pair(run, unchanged | hide, unchanged);
        update_direction const direction{.warmup = 1, .window = 2, .share = 0.3};
        reported += check_pair(run + 10, direction | hide, direction);
        poor_weight_initialization const beginning{.distribution_range = 0.9, .steps = 9, .conjunct = false};
        reported += check_pair(run + 20, beginning | only{from{30}}, beginning);
        auto late = beginning;
        late.select = "grad/fc1/*";
        reported += check_pair(run + 30, late, beginning);
    }
    CHECK(reported > 50);
}

TEST_CASE("what is a label to one rule and a prediction to the other is extracted for each") {
    std::size_t reported = 0;
    for (std::uint64_t run = 0; run < property_runs(3); ++run) {
        class_imbalance const rule{.threshold_imbalance = 1.5, .samples = 20, .argmax = true, .min_accuracy = 0};
        class_imbalance turned = rule;
        turned.select = role::prediction, turned.predictions = role::label;
        reported += check_pair(run, rule, turned);
        output_collapse const flat{.warmup = 1, .patience = 1, .coefficient = 0.5, .samples = 9};
        output_collapse other = flat;
        other.select = role::label, other.labels = role::prediction;
        reported += check_pair(run + 10, flat, other);
    }
    CHECK(reported > 20);
}

TEST_CASE(
    "of a rule that was limited in the loop the record is not enough for one that is not, and the replay says so") {
    update_direction const rule{.warmup = 1, .window = 2, .share = 0.3};
    stream const all = hostile_maker{5}.make(60);
    temporary_folder const folder;
    hook watch{folder / "run", no_values, quick, rule};
    hook limited{folder / "limited", no_values, quick, rule | hide};
    (void)run_hostile(watch, all, clock_is::still);
    (void)run_hostile(limited, all, clock_is::still);
    CHECK(replay(open(watch.path()), rule).whole);
    CHECK(replay(open(limited.path()), rule | hide).whole);
    CHECK_FALSE(replay(open(watch.path()), rule | hide).whole);
    CHECK_FALSE(replay(open(limited.path()), rule).whole);
}
