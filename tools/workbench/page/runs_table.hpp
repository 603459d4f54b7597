// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the table of a sweep, of stories that were read already.
#pragma once

#include "page/story.hpp"

#include <spotter/workbench/runs_table.hpp>

namespace spotter::inline SPOTTER_ABI::html {

// The same of what was read already.
[[nodiscard]] runs_table table_of(std::vector<run_story> const& runs);

// What a tensor was set to; nothing where it is no setting.
[[nodiscard]] std::optional<std::string> setting_of(tensor_story const& it);

}  // namespace spotter::inline SPOTTER_ABI::html
