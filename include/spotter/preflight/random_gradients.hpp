// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: the sign of the gradients of a random loss.
#pragma once

#include <spotter/preflight/gradients.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Checks whether the loss falls along its gradient, with 16 pairs of losses along the mean of eight gradients, by a
// step that predicts a tenth of the loss. Reported where the mean slope is five of its standard errors below zero.
// Nothing else can be proven for a random loss.
void examine_random_gradients(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/random_gradients.ipp>
#endif
