// SPDX-License-Identifier: Apache-2.0
// Rules on reinforcement learning: each example of the catalogue, exactly.
#include <spotter/rule/builtin/dead_update_path.hpp>
#include <spotter/rule/builtin/rl_clip_fraction.hpp>
#include <spotter/rule/builtin/rl_constant_reward.hpp>
#include <spotter/rule/builtin/rl_entropy_collapse.hpp>
#include <spotter/rule/builtin/rl_explained_variance.hpp>
#include <spotter/rule/builtin/rl_kl.hpp>
#include <spotter/rule/builtin/rl_observation_range.hpp>
#include <spotter/rule/builtin/rl_policy_ascends.hpp>
#include <spotter/rule/builtin/rl_repeated_states.hpp>
#include <spotter/rule/builtin/rl_target_network.hpp>
#include <tests/rule/features.hpp>
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <cmath>

using namespace spotter;
using namespace stage;

namespace {

constexpr std::uint64_t first_of(auto const& rule, std::string_view name, float value) {
    run it{rule};
    for (std::uint64_t i = 0; i < 200; ++i) {
        if (it.step(train(i), name, {value}) == truth::yes) { return i; }
    }
    return no_index;
}
static_assert(first_of(rl_kl{}, "metric/approx_kl", 0.05F) == 2);
static_assert(first_of(rl_kl{}, "metric/approx_kl", 0.04F) == no_index);
static_assert(first_of(rl_explained_variance{}, "metric/explained_variance", -0.1F) == 29);
static_assert(first_of(rl_entropy_collapse::of_actions(4), "metric/entropy", 0.1F) == 4);
static_assert(first_of(rl_clip_fraction{}, "metric/clip_fraction", 0.6F) == 4);
static_assert(first_of(rl_constant_reward{}, "metric/episode_return", 0) == 19);

static_assert(rl_target_network::is_target_of("target/fc/w", "fc/w"));
static_assert(rl_target_network::is_target_of("target/fc/w", "online/fc/w"));
static_assert(rl_target_network::is_target_of("critic_target/fc/w", "critic/fc/w"));
static_assert(rl_target_network::is_target_of("target_critic/fc/w", "critic/fc/w"));
static_assert(rl_target_network::is_target_of("agent.target.fc.weight", "agent.fc.weight"));
static_assert(rl_target_network::is_target_of("agent/target/fc/w", "agent/online/fc/w"));
static_assert(!rl_target_network::is_target_of("target/fc/w", "fc/b"));
static_assert(!rl_target_network::is_target_of("target/fc/w", "other/fc/w"));
static_assert(!rl_target_network::is_target_of("fc/w", "fc/w"));

// What each of the rules on a metric has in common: it leaves out eval steps, closes without the metric and NaN, and
// counts a step once.
template <rule Rule>
void check_common(Rule const& rule, std::string_view name, float bad, float good, std::uint64_t first) {
    CHECK(first_of(rule, name, good) == no_index);
    run gaps{rule};
    for (std::uint64_t i = 0; i < first; ++i) {
        CHECK(gaps.step(train(i), name, {bad}) != truth::yes);
        CHECK(gaps.close(train(i)) == truth::undecided);
        CHECK(gaps.step(eval(i), name, {bad}) == truth::undecided);
    }
    gaps.see(train(first), name, {nan_f});
    CHECK(gaps.close(train(first)) != truth::no);           // undecided, or an error
    CHECK(gaps.step(train(0), name, {bad}) == truth::yes);  // after a rewind
    CHECK(gaps.step(train(1), name, {good}) == truth::no);
    CHECK(gaps.step(train(2), name, {bad}) == truth::no);
    run twice{rule};
    for (std::uint64_t i = 0; i < first; ++i) {
        twice.see(train(i), name, {bad});
        CHECK(twice.step(train(i), name, {bad}) != truth::yes);
    }
    CHECK(twice.step(train(first), name, {bad}) == truth::yes);
    run eval_only{rule};
    CHECK(eval_only.step(eval(0), name, {bad}) == truth::undecided);
    CHECK(eval_only.covered().reason == "matched, but never in mode train");
}

}  // namespace

TEST_CASE("rl_kl: 0.05 from 0 fires at 2, 0.04 does not, and NaN at once", "[rl_kl]") {
    check_common(rl_kl{}, "metric/approx_kl", 0.05F, 0.04F, 2);
    run it{rl_kl{.patience = 1}};
    CHECK(it.step(train(0), "metric/approx_kl", {0.25F}) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].measured == 0.25 && it.found[0].tensor == "metric/approx_kl"));
    CHECK(it.found[0].threshold == Approx(0.045));
    CHECK((it.found[0].severity == severity::warning && it.found[0].reason == "policy moves too far"));
    CHECK(it.found[0].remedy == "Stop the epoch early; lower the learning rate or the number of epochs per batch.");
    CHECK(it.step(train(1), "metric/approx_kl", {nan_f}) == truth::yes);
    CHECK((it.found[0].severity == severity::error && it.found[0].decision == decision::skip_update));
    CHECK(first_of(rl_kl::strict(), "metric/approx_kl", 0.02F) == 2);
    CHECK(first_of(rl_kl::strict(), "metric/approx_kl", 0.014F) == no_index);
}

TEST_CASE("rl_explained_variance: -0.1 from 0 fires at 29", "[rl_explained_variance]") {
    check_common(rl_explained_variance{}, "metric/explained_variance", -0.1F, 0, 29);
    run it{rl_explained_variance{.warmup = 0, .patience = 1}};
    CHECK(it.step(train(0), "metric/explained_variance", {-0.5F}) == truth::yes);
    CHECK((it.found[0].measured == -0.5 && it.found[0].severity == severity::warning));
    CHECK(it.found[0].remedy == "Check return scaling and the critic's learning rate.");
    // A critic that says one number explains nothing, and rounding makes that a little less.
    CHECK(first_of(rl_explained_variance{}, "metric/explained_variance", -1e-5F) == no_index);
    run nothing{rl_explained_variance{}};
    CHECK(nothing.step(train(0), "metric/explained_variance", {nan_f}) == truth::undecided);
    CHECK(nothing.covered().reason == "warm-up not reached: no more than `warmup` updates");
}

TEST_CASE("rl_entropy_collapse: 0.1 nats of ln 4 fire at 4, as info once it is late", "[rl_entropy_collapse]") {
    auto const of_four = rl_entropy_collapse::of_actions(4);
    CHECK(of_four.max_entropy == Approx(std::log(4.0)));
    check_common(of_four, "metric/entropy", 0.1F, 0.2F, 4);
    run it{of_four};
    for (std::uint64_t i = 0; i < 102; ++i) {
        truth const answer = it.step(train(i), "metric/entropy", {0.1F});
        CHECK(answer == truth_of(i >= 4));
        if (i == 4) { CHECK(it.found[0].measured == Approx(0.0721).epsilon(1e-3)); }
        if (i >= 4) { CHECK(it.found[0].severity == (i < 100 ? severity::warning : severity::info)); }
    }
    CHECK(it.found[0].remedy == "Raise the entropy coefficient.");
    run unset{rl_entropy_collapse{}};
    CHECK(unset.step(train(0), "metric/entropy", {0}) == truth::undecided);
    CHECK(unset.covered().reason == "parameter max_entropy not set");
}

TEST_CASE("rl_clip_fraction: 0.6 from 0 fires at 4", "[rl_clip_fraction]") {
    check_common(rl_clip_fraction{}, "metric/clip_fraction", 0.6F, 0.5F, 4);
    run it{rl_clip_fraction{.patience = 1}};
    CHECK(it.step(train(0), "metric/clip_fraction", {0.5F, 1, nan_f}) == truth::yes);  // one a worker
    CHECK((it.found[0].measured == 0.75 && it.found[0].threshold == 0.5 && it.found[0].severity == severity::warning));
}

TEST_CASE("rl_constant_reward: twenty zeros fire at 19, one different early never", "[rl_constant_reward]") {
    CHECK(fired(rl_constant_reward{}, 21, "metric/episode_return", {0}) == indices{19, 20});
    CHECK(fired(rl_constant_reward{}, 60, [](auto& it, step_id at) {
              it.see(at, "metric/episode_return", {at.index == 1 ? 1.0F : 0.0F});
          }).empty());
    run it{rl_constant_reward{.episodes = 3}};
    CHECK(it.step(train(0), "metric/episode_return", {-2, nan_f}) == truth::undecided);
    CHECK(it.step(eval(0), "metric/episode_return", {7}) == truth::undecided);
    CHECK(it.close(train(1)) == truth::undecided);
    CHECK(it.step(train(2), "metric/episode_return", {nan_f}) == truth::undecided);
    CHECK(it.covered().reason == "warm-up not reached: fewer than `episodes` episodes");
    CHECK(it.step(train(0), "metric/episode_return", {-2, -2}) == truth::yes);  // two episodes, after a rewind
    CHECK((it.found[0].measured == -2 && it.found[0].severity == severity::warning));
    CHECK(it.found[0].reason == "reward is constant");
    CHECK(it.step(train(3), "metric/episode_return", {-2, 1}) == truth::no);
    CHECK(it.step(train(4), "metric/episode_return", {-2}) == truth::no);
}

TEST_CASE("rl_observation_range: 2 of 100 at 11 fire, one does not, a NaN is an error", "[rl_observation_range]") {
    auto const of_hundred = [](std::size_t beyond, float size) {
        run it{rl_observation_range{}};
        std::vector<float> values(100, 1.0F);
        for (std::size_t i = 0; i < beyond; ++i) { values[i] = size; }
        it.see(train(0), "obs", values, {10, 10});
        return it.close(train(0));
    };
    CHECK(of_hundred(2, 11) == truth::yes);
    CHECK(of_hundred(2, -11) == truth::yes);
    CHECK(of_hundred(1, 11) == truth::no);
    CHECK(of_hundred(2, 10) == truth::no);
    run it{rl_observation_range{}};
    CHECK(it.step(train(0), "observation/joints", {11, 1, 1, 1}) == truth::yes);
    CHECK((it.found[0].measured == 0.25 && it.found[0].threshold == 0.01 && it.found[0].detail.view() == "limit 10"));
    CHECK((it.found[0].severity == severity::warning && it.found[0].tensor == "observation/joints"));
    CHECK(it.step(train(1), "input", {1, nan_f}) == truth::yes);
    CHECK((it.found[0].severity == severity::error && it.found[0].decision == decision::skip_update));
    CHECK(it.step(train(2), "input", {nan_f}) == truth::yes);
    CHECK(it.step(train(3), "input", {1}) == truth::no);
    CHECK(it.step(eval(0), "input", {nan_f, 99}) == truth::undecided);
    it.see(train(4), "input", std::vector<float>{}, {0});
    CHECK(it.close(train(4)) == truth::undecided);
    std::uint8_t const pixels[] = {255, 255};
    it.see(train(5), "obs/camera", view_of(pixels, {2}));
    it.see(train(5), "observer", {99});
    CHECK(it.close(train(5)) == truth::undecided);  // neither is watched
    CHECK(it.covered().matched == 2);
    CHECK(judges_without_values(rl_observation_range{}, "input",
                                {{1, 2}, {11, 2}, {nan_f, 99}, {pos_infinity_f}, {}, {-10.5F}}));
    CHECK(rl_observation_range{}.feature_key() == rl_observation_range{.share = 0.5}.feature_key());
    CHECK(rl_observation_range{}.feature_key() != rl_observation_range{.limit = 5}.feature_key());
}

TEST_CASE("rl_repeated_states: ten equal states in each of two episodes", "[rl_repeated_states]") {
    // Episodes of 15 steps; in every `each`-th episode the last `still` steps show the same state.
    auto const of_episodes = [](std::uint64_t still, std::uint64_t each, bool twice) {
        return fired(rl_repeated_states{}, 45, [=](auto& it, step_id at) {
            std::uint64_t const step = at.index % 15, episode = at.index / 15;
            bool const stands = step >= 15 - still && episode % each == 0;
            for (int i = 0; i < (twice ? 2 : 1); ++i) {
                it.see(at, "obs", {static_cast<float>(stands ? 1000 : at.index)});
            }
            if (step == 14) { it.see(at, "metric/episode_return", {1}); }
        });
    };
    CHECK(of_episodes(10, 1, false) == indices{29, 44});
    CHECK(of_episodes(11, 1, true) == indices{28, 29, 43, 44});
    CHECK(of_episodes(9, 1, true).empty());
    CHECK(of_episodes(15, 2, false).empty());  // not in a row
    // Several states at once: an update takes each batch 15 times, or the environments stand still.
    auto const of_batches = [](bool still) {
        return fired(rl_repeated_states{}, 45, [=](auto& it, step_id at) {
            it.see(at, "obs", {still ? 0 : static_cast<float>(at.index / 15), 2}, {2, 1});
            if (at.index % 15 == 14) { it.see(at, "metric/episode_return", {1}); }
        });
    };
    CHECK(of_batches(false).empty());
    indices const stuck = of_batches(true);
    CHECK((stuck.size() == 15 && stuck.front() == 30));  // from the second end on
    run it{rl_repeated_states{.length = 2, .episodes = 1}};
    CHECK(it.step(train(0), "obs", {1}) == truth::no);
    CHECK(it.step(train(1), "obs", {nan_f}) == truth::undecided);
    CHECK(it.step(eval(0), "obs", {1}) == truth::undecided);
    it.see(train(2), "metric/episode_return", {0});
    CHECK(it.step(train(2), "obs", {1}) == truth::yes);
    CHECK((it.found[0].measured == 1 && it.found[0].tensor == "obs" && it.found[0].reason == "states repeat"));
    CHECK(it.found[0].severity == severity::warning);
    CHECK(it.step(train(3), "obs", {1}) == truth::no);  // the next episode
    run endless{rl_repeated_states{}};
    for (std::uint64_t i = 0; i < 50; ++i) { CHECK(endless.step(train(i), "obs", {1}) == truth::undecided); }
    CHECK(endless.covered().reason == "no episode ended: observe metric/episode_return where one does");
    CHECK(rl_repeated_states{.episode_end = "["}.malformed() == "[");
}

TEST_CASE("dead_update_path: a target network rests between copies, unless it has a gradient", "[dead_update_path]") {
    auto const fires = [](bool has_gradient) {
        run it{dead_update_path{}};
        truth last = truth::undecided;
        for (std::uint64_t i = 0; i < 60; ++i) {
            it.see(train(i), "q/w", {static_cast<float>(i)});
            it.see(train(i), "grad/q/w", {1});
            it.see(train(i), "target/q/w", {2});
            if (has_gradient) { it.see(train(i), "grad/target/q/w", {1}); }
            last = it.close(train(i));
        }
        return last == truth::yes;
    };
    CHECK_FALSE(fires(false));
    CHECK(fires(true));
}

TEST_CASE("rl_target_network: equal at 0 and 1 fires at 1, and a target that stays behind after 100 updates",
          "[rl_target_network]") {
    run it{rl_target_network{}};
    auto const sight = [&](step_id at, float target, float online) {
        it.see(at, "target/q/w", {target});
        it.see(at, "q/w", {online});
        return it.close(at);
    };
    CHECK(sight(train(0), 1, 1) == truth::no);
    CHECK(sight(train(1), 1, 1) == truth::undecided);  // no update
    CHECK(sight(train(1), 2, 2) == truth::yes);
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].tensor == "target/q/w" && it.found[0].measured == 2 && it.found[0].threshold == 1));
    CHECK((it.found[0].reason == "target equals online" && it.found[0].severity == severity::warning));
    CHECK(sight(train(2), 2, 3) == truth::no);
    for (float i = 1; i < 99; ++i) { CHECK(sight(train(3), 2, 3 + i) == truth::no); }
    CHECK(sight(train(3), 2, 102) == truth::yes);
    CHECK((it.found.size() == 1 && it.found[0].reason == "target does not follow" && it.found[0].measured == 100));
    CHECK(sight(train(4), nan_f, 103) == truth::undecided);
    CHECK(it.step(train(5), "q/w", {104}) == truth::undecided);
    CHECK(sight(eval(0), 1, 1) == truth::undecided);
    CHECK(sight(train(6), 3, 105) == truth::no);
    CHECK(it.covered().matched == 1);
    run alone{rl_target_network{}};
    CHECK(alone.step(train(0), "target/q/w", {1}) == truth::undecided);
    CHECK(alone.covered().reason == "no target was seen together with the online tensor of its name");
}

TEST_CASE("rl_policy_ascends: a loss that rises with the divergence within each batch fires at 95",
          "[rl_policy_ascends]") {
    // Eight updates a batch: the divergence grows, and the loss goes by `slope` of it, beside noise of a batch.
    auto const of_updates = [](float slope, std::uint64_t in_a_batch = 8) {
        return fired(rl_policy_ascends{}, 160, [=](auto& it, step_id at) {
            float const moved = 0.01F * static_cast<float>(at.index % in_a_batch);
            float const noise = 0.004F * static_cast<float>(at.index * 7 % 5);
            it.see(at, "actor/loss", {slope * moved + noise});
            it.see(at, "metric/approx_kl", {moved});
        });
    };
    CHECK(of_updates(1) == indices{95, 127, 159});
    CHECK(of_updates(-1).empty());
    CHECK(of_updates(0).empty());
    CHECK(of_updates(1, 1000).empty());  // both rise, and nobody begins anew
    run it{rl_policy_ascends{.patience = 1}};
    for (std::uint64_t i = 0; i < 64; ++i) {
        auto const moved = static_cast<float>(i % 4);
        it.see(train(i), "metric/approx_kl", {moved});
        CHECK(it.step(train(i), "policy_loss", {moved - 7}) == (i < 63 ? truth::undecided : truth::yes));
        CHECK(it.step(eval(i), "policy_loss", {0}) == truth::undecided);
        it.see(train(i), "metric/approx_kl", {nan_f});
        CHECK(it.step(train(i), "policy_loss", {0}) == truth::undecided);
    }
    it.see(train(64), "metric/approx_kl", {1});
    CHECK(it.step(train(64), "critic_loss", {1}) == truth::undecided);
    CHECK(it.covered().matched == 1);
    run ties{rl_policy_ascends{.patience = 1}};
    for (std::uint64_t i = 0; i < 64; ++i) {
        ties.see(train(i), "surrogate_loss", {1});
        ties.see(train(i), "metric/approx_kl", {static_cast<float>(i % 4)});
        CHECK(ties.close(train(i)) == (i < 63 ? truth::undecided : truth::no));
    }
    run alone{rl_policy_ascends{}};
    CHECK(alone.step(train(0), "policy_loss", {1}) == truth::undecided);
    CHECK(alone.covered().reason ==
          "a policy's loss and divergence were not seen together in 64 updates, several of them on each batch");
    CHECK(rl_policy_ascends{.divergence = "["}.malformed() == "[");
}

TEST_CASE("rl_policy_ascends says by which number", "[rl_policy_ascends]") {
    run it{rl_policy_ascends{.patience = 1}};
    for (std::uint64_t i = 0; i < 64; ++i) {
        it.see(train(i), "policy_loss", {static_cast<float>(i % 4)});
        it.see(train(i), "metric/approx_kl", {static_cast<float>(i % 4)});
        CHECK(it.close(train(i)) == (i < 63 ? truth::undecided : truth::yes));
    }
    REQUIRE(it.found.size() == 1);
    CHECK((it.found[0].tensor == "policy_loss" && it.found[0].measured == Approx(1) && it.found[0].threshold == 0.8));
    CHECK((it.found[0].severity == severity::error &&
           it.found[0].reason == "the policy's loss rises as the policy moves"));
}
