// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: compares the descriptions in two records: library, plan, rules, workers, and scalars recorded
// between steps.
#pragma once

#include <spotter/trial/trial.hpp>
#include <spotter/workbench/diff.hpp>

#include <map>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

using settings_list = std::map<std::string, std::string>;

[[nodiscard]] settings_list settings_of(trial const& run);

}  // namespace detail

// Sorted by name. Rules are only known once a run has ended.
[[nodiscard]] std::vector<setting_difference> compare_settings(trial const& a, trial const& b);

}  // namespace spotter::inline SPOTTER_ABI
