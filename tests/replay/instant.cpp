// SPDX-License-Identifier: Apache-2.0
// Programs that show their tensors after the update, and declare it: rules compare an update with the gradient that
// caused it, in the loop and in a replay.
#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>
#include <spotter/replay/side_by_side.hpp>
#include <spotter/rule/builtin/update_direction.hpp>
#include <spotter/rule/builtin/updates_too_small.hpp>

#include <cmath>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr update_direction direction{.warmup = 0, .window = 4};
constexpr updates_too_small tiny{.share = 1, .patience = 2};

// Findings of each of the two rules, in the loop and in a replay of its record.
struct answers {
    std::size_t ascends = 0, small = 0;
    friend bool operator==(answers const&, answers const&) = default;
};
void count(answers& into, finding const& it) { (it.rule == "update_direction" ? into.ascends : into.small) += 1; }

// A weight that follows the negative gradient, whose sign changes at each step; shown after its update. From step 10 on
// only every second step has a gradient.
answers after_updates(instant said, float rate) {
    temporary_folder const folder;
    hook watch{folder / "run", everything, options{.instant = said}, direction, tiny};
    answers inside;
    std::vector<float> weight{0.5F, -0.25F};
    for (std::uint64_t i = 0; i < 20; ++i) {
        float const slope = i >= 10 && i % 2 == 1 ? 0.0F : (i % 2 == 0 ? 1.0F : -1.0F);
        std::vector<float> const gradient{slope, 0.5F * slope};
        for (std::size_t k = 0; k < 2; ++k) { weight[k] += rate * gradient[k]; }
        for (finding const& each : watch.step(train(i), "grad/fc/w"_t = view_of(gradient.data(), {1, 2}),
                                                        "fc/w"_t = view_of(weight.data(), {1, 2}))) {
            count(inside, each);
        }
    }
    watch.finish();
    answers outside;
    for (finding const& each : replay(open(watch.path()), direction, tiny).findings) { count(outside, each); }
    CHECK(inside == outside);
    answers beside;
    for (finding const& each : replay_side_by_side(open(watch.path()), direction, tiny).findings) {
        count(beside, each);
    }
    CHECK(inside == beside);
    CHECK(open(watch.path())["fc/w"].info().instant == said);
    return inside;
}

}  // namespace

TEST_CASE("options::instant: an update is held against the gradient that made it, where tensors are shown after it") {
    CHECK(after_updates(instant::after_update, -0.1F).ascends == 0);
    // The previous step's gradient has the opposite sign, and the next one does, too: that one made the update.
    CHECK(after_updates(instant::before_update, -0.1F).ascends == 0);
    CHECK(after_updates(instant::after_update, 0.1F).ascends > 0);
    // Without a gradient the weight rests. If the gradient is the update's own, that is not too small an update.
    CHECK(after_updates(instant::after_update, -0.1F).small == 0);
    CHECK(after_updates(instant::before_update, -0.1F).small > 0);
}

TEST_CASE("a run that is resumed with another instant is judged by each attempt's own, in a replay too") {
    temporary_folder const folder;
    answers inside, outside;
    std::vector<float> weight{0.5F, -0.25F};
    auto const loop = [&](auto& watch, std::uint64_t begin) {
        for (std::uint64_t i = begin; i < begin + 10; ++i) {
            std::vector<float> const gradient{i % 2 == 0 ? 1.0F : -1.0F, 2};
            weight[0] -= 0.1F * gradient[0];
            for (finding const& each : watch.step(train(i), "grad/fc/w"_t = view_of(gradient.data(), {1, 2}),
                                                            "fc/w"_t = view_of(weight.data(), {1, 2}))) {
                count(inside, each);
            }
        }
        watch.finish();
    };
    {
        hook watch{folder / "run", everything, options{.instant = instant::after_update}, direction};
        loop(watch, 0);
    }
    CHECK(inside.ascends == 0);
    options const other{.existing = existing::resume, .instant = instant::before_update};
    hook watch{folder / "run", everything, other, direction};
    loop(watch, 10);
    CHECK(inside.ascends > 0);
    for (finding const& each : replay(open(watch.path()), direction).findings) { count(outside, each); }
    CHECK(inside == outside);
}
