// SPDX-License-Identifier: Apache-2.0
// Adaptors: the one table of adapt.hpp, per mode, with undecided closes in between.
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <algorithm>
#include <string>

#include <spotter/rule/rule_pack.hpp>

using namespace spotter;
using namespace stage;

namespace {

constexpr auto ill = any("x", maximum > 0);

// Plays a script to `ill | adaptor`: `y` and `n` decide it in train, `Y` and `N` in eval, `.` is a close without x.
// Returns what came out: the letter of a yes, `-` for no, `.` for undecided.
template <rule Rule>
std::string play(Rule const& rule, std::string_view script) {
    run it{rule};
    std::string out;
    std::uint64_t index = 0;
    for (char letter : script) {
        bool const in_eval = letter == 'Y' || letter == 'N';
        step_id const at = in_eval ? eval(index++) : train(index++);
        if (letter != '.') { it.see(at, "x", {letter == 'y' || letter == 'Y' ? 1.0F : -1.0F}); }
        truth const answer = it.close(at);
        CHECK(it.found.size() == (answer == truth::yes ? 1U : 0U));
        out += answer == truth::yes ? letter : answer == truth::no ? '-' : '.';
    }
    return out;
}

}  // namespace

TEST_CASE("for_steps: yes once it held at n decided closes of the mode in a row [A47]", "[A47]") {
    CHECK(play(ill | for_steps{3}, "yyyyny.yyny.y.y") == "--yy--.-y--.-.y");
    CHECK(play(ill | for_steps{2}, "yYyYNy") == "--yY-y");
    CHECK(play(ill | for_steps{1}, "yny.") == "y-y.");
    CHECK(play(ill | for_steps{0}, "yny.") == "y-y.");
}

TEST_CASE("cooldown: silent for n - 1 further decided closes of the mode [A47] [S68]", "[A47][S68]") {
    CHECK(play(ill | cooldown{3}, "yyyyyyy") == "y--y--y");
    CHECK(play(ill | cooldown{3}, "y.y.y.y") == "y.-.-.y");
    CHECK(play(ill | cooldown{3}, "ynnyy") == "y--y-");
    CHECK(play(ill | cooldown{3}, "yYyYyYyY") == "yY----yY");
    CHECK(play(ill | cooldown{1}, "yyy") == "yyy");
}

TEST_CASE("rearm: one yes an episode, which ends after n healthy closes in a row", "[A47]") {
    CHECK(play(ill | rearm{2}, "yyynyynnyy") == "y-------y-");
    CHECK(play(ill | rearm{2}, "yn.ny") == "y-.-y");
    CHECK(play(ill | rearm{1}, "yYnyY") == "yY-y-");
    CHECK(play(ill | rearm{1}, "y.y") == "y.-");
}

TEST_CASE("once: one yes a run [S68]", "[A47][S68]") { CHECK(play(ill | once, "nyyYn.y") == "-y---.-"); }

TEST_CASE("100 violations: 100 verdicts, 2 with cooldown{50}, 1 with once [S68]", "[S68]") {
    std::string const script(100, 'y');
    auto const count = [&](auto const& rule) {
        std::string const out = play(rule, script);
        return std::count(out.begin(), out.end(), 'y');
    };
    CHECK(count(ill) == 100);
    CHECK(count(ill | cooldown{50}) == 2);
    CHECK(count(ill | once) == 1);
    CHECK(count(ill | rearm{10} | cooldown{100}) == 1);
}

TEST_CASE("only: what is outside the policy does not exist [S70]", "[S70]") {
    CHECK(play(ill | only{during{mode::eval}}, "yYnNyY") == ".Y.-.Y");
    CHECK(play(ill | for_steps{2} | only{during{mode::eval}}, "YnnY") == "-..Y");
    CHECK(play((ill | only{every{2}}) | for_steps{2}, "ynyny") == "-.y.y");
    CHECK(play(ill | only{[](step_id at) { return at.index > 1; }}, "yyy") == "..y");
    run it{exploding_gradient{.patience = 2} | only{during{mode::train} && !before{100}}};
    CHECK(it.step(train(99), "grad/w", {11}) == truth::undecided);
    CHECK(it.step(train(100), "grad/w", {11}) == truth::no);
    CHECK(it.step(train(101), "grad/w", {11}) == truth::yes);
    CHECK((it.inside().due(train(100)) && !it.inside().due(train(99)) && !it.inside().due(eval(100))));
}

TEST_CASE("the order of adaptors is the order of their effects") {
    CHECK(play(ill | for_steps{2} | once, "yyyy") == "-y--");
    CHECK(play(ill | once | for_steps{2}, "yyyy") == "----");
    CHECK(play(ill | cooldown{2} | for_steps{1}, "yyyy") == "y-y-");
}

TEST_CASE("named, severity and on change what findings carry, not when") {
    run it{on(ill | named{"my x"} | severity::error, skip_update)};
    CHECK(it.step(train(0), "x", {1}) == truth::yes);
    finding const& found = it.found[0];
    CHECK((found.rule == "my x" && found.severity == severity::error && found.decision == decision::skip_update &&
           found.decision_is_set));
    CHECK((found.tensor == "x" && found.measured == 1));
    CHECK(it.covered().rule == "my x");
    run outer{ill | named{"inner"} | named{"outer"}};
    CHECK(outer.step(train(0), "x", {1}) == truth::yes);
    CHECK(outer.found[0].rule == "outer");
    run milder{non_finite{} | severity::info};
    CHECK(milder.step(train(0), "x", {nan_f}) == truth::yes);
    CHECK((milder.found[0].severity == severity::info && milder.found[0].decision == decision::skip_update));
}

namespace {

constexpr auto other = any("y", maximum > 0);

// The severity of what held at each close without a finding: `.` nothing above info, `w` a warning, `e` an error. A
// letter of the script decides x: `y` and `n`; of the second script, y.
template <rule Rule>
std::string unreported(Rule const& rule, std::string_view of_x, std::string_view of_y = {}) {
    run it{rule};
    std::string out;
    for (std::size_t i = 0; i < of_x.size(); ++i) {
        it.see(train(i), "x", {of_x[i] == 'y' ? 1.0F : -1.0F});
        if (i < of_y.size() && of_y[i] != '.') { it.see(train(i), "y", {of_y[i] == 'y' ? 1.0F : -1.0F}); }
        it.close(train(i));
        out += it.found.held_back() == severity::info ? '.' : it.found.held_back() == severity::warning ? 'w' : 'e';
    }
    return out;
}

}  // namespace

TEST_CASE("what holds and is not reported again counts by the severity with which it would be reported") {
    CHECK(unreported(ill | rearm{2}, "yyny") == ".w.w");
    CHECK(unreported(ill | severity::error | rearm{2}, "yyny") == ".e.e");
    CHECK(unreported(ill | rearm{2} | severity::error, "yyny") == ".e.e");
    CHECK(unreported(ill | severity::error | rearm{2} | severity::info, "yyny") == "....");
    CHECK(unreported((ill | severity::info | once) || (other | rearm{2}), "yy", "yy") == ".w");
    CHECK(unreported(together(ill | once, other | severity::error | once) | severity::info, "yyy", "nyy") == "...");
    CHECK(unreported(ill | rearm{10} | cooldown{100} | named{"x"}, "yyn") == ".w.");
    CHECK(unreported((ill | once) || other | severity::info, "yy", "..") == ".w");
}

TEST_CASE("what is thinned counts where the whole rule would hold without the thinning") {
    CHECK(unreported((ill | once) && other, "yyyy", "nnyn") == "..w.");
    CHECK(unreported((ill | once) && other, "yy", "..") == "..");
    CHECK(unreported((ill | once) && (other | once | severity::error), "yyy", "yyn") == ".e.");
    CHECK(unreported(!(ill | once) | severity::info, "yyy") == "...");
    CHECK(unreported(!(ill | once) && other, "yyy", "nnn") == "...");
    CHECK(unreported(!(other || (ill | once)) | once, "yyn", "nnn") == "..w");
    CHECK(unreported(ill | once | for_steps{2}, "yyynyy") == ".ww..w");
    CHECK(unreported(ill | for_steps{2} | once, "yyynyy") == "..w..w");
    CHECK(unreported(together(ill | once, other) && !other, "yyy", "nyn") == "..w");
}
