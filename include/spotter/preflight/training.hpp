// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment, on request: trains a copy on the one batch.
#pragma once

#include <spotter/preflight/batch.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

struct training_limits {
    static constexpr int updates = 200;
    static constexpr double learned = 0.999;  // times the first loss
    // Labels: by how many deviations the loss of samples that were not trained on must be better than with exchanged
    // labels. In seven nets, a small sample, related and shifted labels gave 4.4 to 15.6, exchanged ones -2.5 to 1.4.
    static constexpr double related = 3;
    static constexpr std::size_t least_samples = 64;
    static constexpr int exchanges = 5;
};

// First: 200 updates must lower the loss of their own batch. Then, if the caller gave inputs and labels of 64 samples
// or more: trains on half of the batch, with its labels as they are and five times exchanged, and computes the loss of
// the other half. This is statistics, no proof, and the finding says so.
void examine_training(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/training.ipp>
#endif
