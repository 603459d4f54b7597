// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment, on request: a copy is trained on the one batch.
#pragma once

#include <spotter/preflight/batch.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

struct training_limits {
    static constexpr int updates = 200;
    static constexpr double learned = 0.999;  // of the first loss
    // Labels: deviations by which the loss of what was not trained on is better than with labels exchanged. Of seven
    // nets, related and shifted labels gave 4.4 to 15.6, exchanged ones -2.5 to 1.4: a small sample.
    static constexpr double related = 3;
    static constexpr std::size_t least_samples = 64;
    static constexpr int exchanges = 5;
};

// 200 updates lower the loss of their own batch, or something is stuck. Then, of inputs and labels that were handed
// over, of 64 samples or more: half of the batch is learned, its labels as they are and five times exchanged, and the
// other half asked. That is statistics, no proof, and is said so.
void examine_training(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/training.ipp>
#endif
