// SPDX-License-Identifier: Apache-2.0
// Report (L5), for html.hpp: samples as points of a plane, over the steps: how a latent space forms, or does not.
#pragma once

#include <spotter/report/html/classes.hpp>
#include <spotter/report/html/section.hpp>

namespace spotter::inline SPOTTER_ABI::html {

// Of every tensor [samples, 2] called `embedding/...` with kept values; coloured by the labels of the same step, where
// there are as many.
[[nodiscard]] section embeddings_section(run_story const& story, value_source& from);

}  // namespace spotter::inline SPOTTER_ABI::html

#if SPOTTER_BODIES
#include <spotter/report/html/embeddings.ipp>
#endif
