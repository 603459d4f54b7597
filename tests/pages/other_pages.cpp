// SPDX-License-Identifier: Apache-2.0
// Code of the first pages after README.md: it compiles, and it runs on a record of README.md's loop.
#include <tests/catch.hpp>
#include <tests/pages/planted.hpp>

#include "preflight_includes.inc"
#include "read_includes.inc"
#include "response_includes.inc"

#include <spotter/packs.hpp>
#include <spotter/replay.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

#include <cstdlib>
#include <iostream>

namespace other_pages {

using namespace pages;
using namespace spotter;
using namespace spotter::literals;

namespace finds {
#include "finds.inc"
}  // namespace finds
namespace collections {
#include "plan.inc"
}  // namespace collections
namespace with_fallback {
#include "plan_fallback.inc"
}  // namespace with_fallback

namespace own_rule {
#include "rule_feature.inc"
}  // namespace own_rule

template <class Plan, class... Rules>
void train_a_little(Plan const& keep, Rules const&... rules) {
    planted_net net;
    hook watch{"runs/a", keep, rules...};
    watch.scalar("seed", std::uint64_t{7});
    for (std::uint64_t i = 0; i < 200; ++i) {
        float const loss = net.forward_backward();
        (void)watch.step(train(i), "loss"_t = loss, net);
        net.update();
    }
}

void respond() {
    constexpr auto const& keep = collections::keep;
#include "response.inc"
    CHECK_FALSE(flag.raised());
}

void choose() {
    constexpr auto const& keep = collections::keep;
#include "rules_chosen.inc"
    planted_net net;
    for (std::uint64_t i = 0; i < 3; ++i) {
        CHECK(watch.step(train(i), net, "loss"_t = net.forward_backward()).empty());
    }
}
decision wanted_of(step_alarm const& found) {
#include "rules_ignored.inc"
    return wanted;
}
template <class Hook>
void ask_for_names(Hook const& watch, std::uint64_t i) {
#include "names_seen.inc"
}

template <class Net>
int train_if_sound(Net& net) {
    namespace sp = spotter;
#include "preflight.inc"
    return found.first() == sp::preflight_cause::none ? 0 : 2;
}
preflight_result by_functions(planted_net& net) {
    namespace sp = spotter;
    planted_net kept = net;
#include "preflight_by_functions.inc"
    return sp::preflight(exam);
}

struct {
    [[nodiscard]] std::string path() const { return "runs/a"; }
} const watch;

void read() {
#include "read.inc"
    CHECK((w.shape(0) == 2 && w.shape(1) == 16 && flat.size() == 32));
}

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-result"
#endif
void ask(trial& run) {
#include "trial.inc"
}
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

}  // namespace other_pages

using namespace pages;

TEST_CASE("rules are composed as on the page of what is found, and say nothing of a net that is well") {
    somewhere_else const folder;
    other_pages::train_a_little(other_pages::collections::keep, other_pages::finds::unhealthy);
    CHECK(spotter::open_trial("runs/a").value().findings().empty());
}

TEST_CASE("a record is read as on the page about records, and queried as on trial's") {
    somewhere_else const folder;
    other_pages::train_a_little(other_pages::collections::keep, spotter::packs::supervised);
    std::string const printed = printed_by(other_pages::read);
    CHECK(count(printed, "runs/a: finished, 200 steps") == 1);
    spotter::trial run = spotter::open_trial("runs/a").value();
    other_pages::ask(run);
}

TEST_CASE("a record is read in Python as on the page about records") {
    if (std::system(SPOTTER_PYTHON3 " -c 'import numpy, zstandard' 2>/dev/null") != 0) {
        WARN("needs python3 with NumPy and zstandard");
        return;
    }
    somewhere_else const folder;
    other_pages::train_a_little(other_pages::collections::keep);
    std::string program = text_of(SPOTTER_BLOCKS "/read_in_python.inc");
    program += "assert len(steps) == len(loss) == 200 and weights.shape == (2, 16)\n";
    std::ofstream{"read.py"} << program;
    CHECK(std::system("PYTHONPATH=" SPOTTER_SOURCE_DIR "/tools/python " SPOTTER_PYTHON3 " read.py") == 0);
}

TEST_CASE("a loop is examined before it trains as on the page of it") {
    somewhere_else const folder;
    planted_net net;
    CHECK(printed_by([&] { CHECK(other_pages::train_if_sound(net) == 0); }).empty());
    auto const found = other_pages::by_functions(net);
    CHECK(!found);
    CHECK(found.count(spotter::gradient_proof::right) == 2);
    net.learning_rate = -net.learning_rate;
    std::string const printed = printed_by([&] { CHECK(other_pages::train_if_sound(net) == 1); });
    CHECK(count(printed, "error: update_direction") == 1);
}

TEST_CASE("plans and responses are written as on their pages") {
    somewhere_else const folder;
    other_pages::train_a_little(other_pages::with_fallback::keep);
    other_pages::respond();
    CHECK(spotter::open_trial("runs/a").value()["loss"].payload_steps().size() > 0);
}

TEST_CASE("rules are left out, and findings ignored, as on the page of rules") {
    somewhere_else const folder;
    other_pages::choose();
    spotter::step_alarm found;
    spotter::finding one;
    one.severity = spotter::severity::error, one.id = spotter::rule_id::constant_batch;
    found.add(one);
    CHECK(other_pages::wanted_of(found) == spotter::decision::proceed);
    one.id = spotter::rule_id::update_direction;
    found.add(one);
    CHECK(other_pages::wanted_of(found) == spotter::decision::stop);
}

TEST_CASE("a rule reads values as on the page about rules, and a replay needs none") {
    somewhere_else const folder;
    constexpr other_pages::own_rule::one_signed rule{.most = 0.7};
    {
        spotter::hook watch{"runs/a", spotter::plan{}, rule};
        for (std::uint64_t i = 0; i < 3; ++i) {
            std::vector<float> const up{1, 2, 3, 4, 5}, mixed{1, -2, 3, -4, 5};
            std::vector<double> const other(5, 1.0);
            watch.begin(spotter::train(i));
            watch.observe("grad/w", i == 1 ? up : mixed);
            watch.observe("grad/b", other);
            CHECK(watch.end().size() == (i == 1 ? 1 : 0));
        }
    }
    std::vector<spotter::step_id> found;
    spotter::trial const run = spotter::open_trial("runs/a").value();
    spotter::replay(run, rule, [&](spotter::step_alarm const& alarm) { found.push_back(alarm[0].step); });
    CHECK(found == std::vector{spotter::train(1)});
}

TEST_CASE("names are seen after the first step as on the page of names") {
    somewhere_else const folder;
    planted_net net;
    spotter::hook watch{spotter::plan{}, spotter::packs::supervised};
    using namespace spotter::literals;
    (void)watch.step(spotter::train(0), net, "loss"_t = net.forward_backward());
    std::string const printed = printed_by([&] { other_pages::ask_for_names(watch, 0); });
    CHECK(count(printed, "loss: loss, 0 axes") == 1);
    CHECK(count(printed, "vanishing_gradient judges 2 tensors") == 1);
}
