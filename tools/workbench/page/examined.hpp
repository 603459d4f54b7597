// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the results of examinations of the loop, before the training and after alarms.
#pragma once
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// For one run; empty where its loop was not examined.
[[nodiscard]] section examined_section(run_story const& story);

}  // namespace spotter::inline SPOTTER_ABI::html
