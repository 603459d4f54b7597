// SPDX-License-Identifier: Apache-2.0
// spotter::compiled: the bodies behind spotter/ext/json.hpp, and those of spotter/ext/xgboost.hpp that use
// nlohmann_json. What is included above implementation.hpp is only declared here.
#include <spotter/core/parse_number.hpp>
#include <spotter/print.hpp>
#include <spotter/replay.hpp>
#include <spotter/response.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <spotter/implementation.hpp>

#include <spotter/ext/json.hpp>
#include <spotter/ext/json/rules.hpp>
#include <spotter/ext/xgboost/readings.hpp>
#include <spotter/ext/xgboost/trees.hpp>
