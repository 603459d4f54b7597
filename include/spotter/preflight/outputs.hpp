// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: do outputs match labels and loss, and are samples independent?
#pragma once

#include <spotter/preflight/batch.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Softmax over the wrong axis: outputs are positive and sum to one within 1e-3 along the batch, and not along the
// classes. Softmax twice: within 1e-4, the loss is the cross-entropy of probabilities that are taken for logits, and
// not that of the logits. Where the loss is neither, the last layer's weights are multiplied by 1000 and 4000. The loss
// of a sample then differs more and more between its best label and another, but by exactly one if it sees
// probabilities. First loss: a cross-entropy is reported at four times the logarithm of the number of classes.
void examine_outputs(examiner& all);

struct coupling_limits {
    // Relative to the outputs' size. Without coupling 4e-7 at most (rounding); samples mixed by a reshape .1 and more.
    static constexpr double influence = 1e-4, none = 1e-5, exchanged = 1e-3;
};
// Checks samples for coupling, only where the caller gave .inputs and .outputs. Otherwise it is unknown whether the
// first axis counts samples; it may count the words of a text.
void examine_coupling(examiner& all);

// Checks that evaluation does not depend on random numbers, only where the caller gave .training.
void examine_evaluation(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/coupling.ipp>
#include <spotter/preflight/outputs.ipp>
#endif
