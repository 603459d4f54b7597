// SPDX-License-Identifier: Apache-2.0
// The built-in catalogue, one file a rule, each explained in docs/rules.md; series and pairs for rules of your own.
#pragma once

#include <spotter/rule/builtin/all_zero.hpp>
#include <spotter/rule/builtin/dead_relu.hpp>
#include <spotter/rule/builtin/exploding_gradient.hpp>
#include <spotter/rule/builtin/feature_importance_overweight.hpp>
#include <spotter/rule/builtin/loss_not_decreasing.hpp>
#include <spotter/rule/builtin/low_feature_importance.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/rule/builtin/tree_depth.hpp>
#include <spotter/rule/builtin/update_ratio_band.hpp>
#include <spotter/rule/builtin/vanishing_gradient.hpp>
#include <spotter/rule/pair.hpp>
#include <spotter/rule/series.hpp>
