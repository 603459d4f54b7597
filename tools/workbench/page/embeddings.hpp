// SPDX-License-Identifier: Apache-2.0
// Workbench, page: samples as points of a plane, over the steps: how a latent space develops.
#pragma once
#include "page/classes.hpp"
#include "page/section.hpp"

namespace spotter::inline SPOTTER_ABI::html {

// For every tensor [samples, 2] named `embedding/...` with recorded values; coloured by the labels of the same step, if
// there are as many.
[[nodiscard]] section embeddings_section(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html
