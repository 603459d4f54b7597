// SPDX-License-Identifier: Apache-2.0
// The rules of cartpole, and what it keeps.
#pragma once

#include "physics.hpp"

#include <spotter/packs.hpp>
#include <spotter/rule/builtin/rl_entropy_collapse.hpp>
#include <spotter/rule/builtin/update_ratio_band.hpp>
#include <spotter/spotter.hpp>

namespace cartpole {

namespace sp = spotter;

// The whole pack for reinforcement learning, and the entropy of a policy with two actions.
inline constexpr auto rules = sp::packs::rl || sp::rl_entropy_collapse::of_actions(action_count);

// A learning rate that is far too large does its damage in three updates: in the first updates this rule must react
// faster than in the pack.
inline constexpr auto early =
    sp::update_ratio_band{.smoothing = 1, .warmup = 0, .patience = 2} | sp::only{sp::before{20}};

inline constexpr auto gradients_kept = sp::every{10} && sp::during{sp::mode::train};
inline constexpr sp::plan keep{
    sp::collection{"losses", "*loss", sp::always{}, sp::payload},
    sp::collection{"metrics", "metric/*", sp::always{}, sp::payload},
    sp::collection{"weights", sp::role::weight, sp::every{100}, sp::payload},
    sp::collection{"gradients", "grad/*", gradients_kept, sp::stats(sp::l2, sp::mean_abs)},
    sp::collection{"activations", "act/*", sp::every{100}, sp::stats(sp::zero_fraction, sp::mean, sp::stddev)},
};

}  // namespace cartpole
