// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: outputs beside labels and loss, and one sample's beside another's.
#pragma once

#include <spotter/preflight/batch.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Softmax over the wrong axis: outputs that are positive and sum to one within 1e-3 along the batch, and not along the
// classes. Softmax twice: the loss is within 1e-4 the cross-entropy of probabilities taken for logits, and not that of
// the logits. Where the loss is neither, by the last layer's weights times 1000 and 4000: then the loss of a sample
// differs between its best label and another by more and more, but by exactly one where it sees probabilities. The
// first loss: of a cross-entropy beside the logarithm of the number of classes; four times it is told.
void examine_outputs(examiner& all);

struct coupling_limits {
    // Of the outputs' size. Without coupling 4e-7 at most (rounding), samples mixed by a reshape .1 and more.
    static constexpr double influence = 1e-4, none = 1e-5, exchanged = 1e-3;
};
// Only where inputs and outputs were handed over by name: whether their first axis counts samples is otherwise not said
// (it may count the words of a text).
void examine_coupling(examiner& all);

// Only where .training was: evaluation must not depend on random numbers.
void examine_evaluation(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/coupling.ipp>
#include <spotter/preflight/outputs.ipp>
#endif
