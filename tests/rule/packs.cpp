// SPDX-License-Identifier: Apache-2.0
// Packs: many rules as one say what `||` of them says.
#include <tests/rule/stage.hpp>

#include <spotter/rule/rule_pack.hpp>

#include <tests/catch.hpp>

using namespace spotter;
using namespace stage;

namespace {

constexpr auto first = any("grad/*", l2 > 1.0);
constexpr auto second = all_zero{.patience = 1};
constexpr auto third = any("loss", mean > 2.0) | only{every{2}};
constexpr auto chained = first || second || third;
constexpr auto packed = together(first, second, third);

template <rule Rule>
std::vector<std::string> story(Rule const& rule) {
    run it{rule};
    std::vector<std::string> lines;
    for (std::uint64_t i = 0; i < 12; ++i) {
        step_id const at = i % 5 == 4 ? eval(i) : train(i);
        if (i % 3 != 0) { it.see(at, "grad/fc/w", {static_cast<float>(i) / 4, i % 4 == 1 ? nan_f : 0.5F}); }
        if (i % 4 != 1) { it.see(at, "fc/w", {i % 3 == 1 ? 1.0F : 0.0F, 0}); }
        if (i > 3) { it.see(at, "loss", {static_cast<float>(i) / 3}); }
        std::string line = std::to_string(static_cast<int>(it.close(at)));
        for (finding const& each : it.found) { line += ' ' + std::string{each.rule} + ' ' + std::string{each.tensor}; }
        lines.push_back(line);
    }
    it.inside().report([&](coverage const& each) {
        lines.push_back(std::string{each.rule} + ' ' + std::to_string(each.judged) + ' ' + std::to_string(each.fired));
    });
    return lines;
}

constexpr bool runs_in_a_constant() {
    run it{together(first, second)};
    return it.step(train(0), "grad/fc/w", {3.0F}) == truth::yes && it.found.size() == 1;
}
static_assert(runs_in_a_constant());

}  // namespace

TEST_CASE("a pack says what its rules say side by side") {
    CHECK(story(packed) == story(chained));
    CHECK(story(together(packed, packed))[1] == story(packed || packed)[1]);
    CHECK(story(packed | rearm{2} | cooldown{3}) == story(chained | rearm{2} | cooldown{3}));
    CHECK(story(!packed) == story(!chained));
    CHECK(story(packed && third) == story(chained && third));
}

TEST_CASE("a pack asks of a tensor what its rules ask, and names the one that is malformed") {
    run it{packed};
    it.see(train(0), "grad/fc/w", {1});
    it.see(train(0), "act/x", {1});
    it.see(train(0), "other", {1});
    CHECK(has(it.wanted("grad/fc/w"), terms::sum_squares));
    CHECK(it.wanted("act/x") == needs_of(zeros));
    CHECK(it.wanted("other") == terms::none);
    CHECK(machine{together(first, any("[a", l2 > 0.0))}.malformed() == "[a");
}

TEST_CASE("the packs tell a dead layer before the gradients that vanish behind it") {
    auto const story_of = [](auto const& pack) {
        run it{pack};
        std::vector<std::string> told;
        for (std::uint64_t i = 0; i < 3; ++i) {
            it.see(train(i), "act/fc", {0, 0, 0});
            it.see(train(i), "grad/fc/w", {0, 0, 0});
            it.close(train(i));
            for (finding const& each : it.found) { told.push_back(std::to_string(i) + ' ' + std::string{each.rule}); }
        }
        return told;
    };
    std::vector<std::string> const expected{"2 all_zero", "2 vanishing_gradient"};
    CHECK(story_of(packs::supervised) == expected);
    CHECK(story_of(packs::rl) == expected);
}
