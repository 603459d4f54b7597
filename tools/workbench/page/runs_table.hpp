// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the table of a sweep, from stories that were already read.
#pragma once

#include "page/story.hpp"

#include <spotter/workbench/runs_table.hpp>

namespace spotter::inline SPOTTER_ABI::html {

// The same from stories.
[[nodiscard]] runs_table table_of(std::vector<run_story> const& runs);

// How a run ended, in the word of the table: "stopped" if it heeded a request to stop.
[[nodiscard]] std::string_view ended_as(run_story const& run);

// The value of a setting; empty if the tensor is not one.
[[nodiscard]] std::optional<std::string> setting_of(tensor_story const& it);

}  // namespace spotter::inline SPOTTER_ABI::html
