// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: what of the gradients of a loss that is random can be told.
#pragma once

#include <spotter/preflight/gradients.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// That the loss rises against its gradient: 16 pairs of losses along the mean of eight gradients, by a step that
// foresees a tenth of the loss; told where the mean is five of its standard errors below zero. Nothing else is proven.
void examine_random_gradients(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/random_gradients.ipp>
#endif
