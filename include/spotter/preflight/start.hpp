// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: the first pass, and the weights before it.
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Are weights, loss and gradients finite, and can the units of a layer become different? False where other experiments
// would show nothing. Units never differ where every matrix has one value and its gradient has equal rows, equal
// columns, or only zeros: then each update is the same for all units (Goodfellow, Bengio and Courville 2016, section
// 8.4). A softmax regression that begins at zero is not such a net.
[[nodiscard]] bool examine_start(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/start.ipp>
#endif
