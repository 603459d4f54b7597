// SPDX-License-Identifier: Apache-2.0
// Plan (L2): collections for most training loops, by role. The role of a tensor is given or guessed from its name.
#pragma once

#include <spotter/plan/plan.hpp>

namespace spotter::inline SPOTTER_ABI {

// Losses and metrics are tiny and always kept completely, regardless of a plan's fallback: a rule needs every step of
// them. The others keep the values of every 500th step unless the plan has a fallback. Gradients and optimizer state
// exist only in training; `collection{"gradients", role::gradient, every{10}}` keeps them in every mode.
namespace defaults {

// Every 500th step, unless a fallback applies.
inline constexpr auto seldom = by_default{every{500}};

// Losses, completely, at every step of every mode.
inline constexpr collection losses{"losses", role::loss, always{}, payload};
// Metrics, likewise.
inline constexpr collection metrics{"metrics", role::metric, always{}, payload};
// Weights: their values, seldom.
inline constexpr collection weights{"weights", role::weight, seldom};
// Biases: their values, seldom.
inline constexpr collection biases{"biases", role::bias, seldom};
// Gradients: their values, seldom, in training.
inline constexpr collection gradients{"gradients", role::gradient, seldom&& during{mode::train}};
// The optimizer's state: its values, seldom, in training.
inline constexpr collection optimizer{"optimizer", role::optimizer, seldom&& during{mode::train}};
// Inputs: their values, seldom.
inline constexpr collection inputs{"inputs", role::input, seldom};
// Predictions: their values, seldom.
inline constexpr collection outputs{"outputs", role::prediction, seldom};
// Every tensor, whatever its role: its values, seldom.
inline constexpr collection all{"all", "*", seldom};

// The outputs of boosted trees. Metrics are named <set>-<metric>, and kept at every step. Losses are those metrics
// whose lower value is better: not auc, aucpr, map and their @k forms. The rest is kept at every tenth step.
namespace boosted {

// Every tenth step, unless a fallback applies.
inline constexpr auto tenth = by_default{every{10}};
// Losses, and metrics of a set whose lower value is better.
inline constexpr auto falling =
    of_role{role::loss} || (of_role{role::metric} && glob{"*-*"} && !glob{"{*/*,*-{auc,aucpr,map}{,-,@*}}"});

// The metrics of each set, at every step.
inline constexpr collection metrics{"metrics", role::metric, always{}, payload};
// The metrics whose lower value is better, at every step.
inline constexpr collection losses{"losses", falling, always{}, payload};
// The use of each feature.
inline constexpr collection feature_importance{"feature_importance", role::importance, tenth};
// The mean of each feature's SHAP values, without the bias.
inline constexpr collection average_shap{"average_shap", of_role{role::average_shap} && !glob{"{*/bias,bias}"}, tenth};
// The SHAP values of each sample.
inline constexpr collection full_shap{"full_shap", role::full_shap, tenth};
// The trees.
inline constexpr collection trees{"trees", role::tree, tenth};
// The booster's settings.
inline constexpr collection hyperparameters{"hyperparameters", role::hyperparameter, tenth};
// The booster's predictions.
inline constexpr collection predictions{"predictions", role::prediction, tenth};
// The true values.
inline constexpr collection labels{"labels", role::label, tenth};

}  // namespace boosted

// All of them, as a plan: `hook{"runs/trees", defaults::boosting, rules...}`.
inline constexpr plan boosting{boosted::metrics,         boosted::losses,      boosted::feature_importance,
                               boosted::average_shap,    boosted::full_shap,   boosted::trees,
                               boosted::hyperparameters, boosted::predictions, boosted::labels};

}  // namespace defaults

}  // namespace spotter::inline SPOTTER_ABI
