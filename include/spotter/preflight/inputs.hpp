// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: the inputs and labels of the batch, and whether the loss depends on them.
#pragma once

#include <spotter/preflight/batch.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Checks the input values; takes no pass. Raw inputs: a mean beyond 20 or a deviation above 50, the limits at which
// rule input_not_normalized is certain. Equal samples are certain by themselves.
void look_at_inputs(examiner& all);

// Checks that the loss changes when all samples become the first; equal to the last bit, it ignores the inputs. Then
// compares a pass that follows a pass on other inputs with the same pass alone: where the losses agree to a millionth,
// gradients must agree to a thousandth. State from an earlier batch caused .05 and more.
void examine_inputs(examiner& all);

// The same for labels; also compares whole-number labels with the number of classes in the outputs. libtorch ignores
// the label -100.
void examine_labels(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/inputs.ipp>
#endif
