// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: what the batch holds, and whether the loss reads it.
#pragma once

#include <spotter/preflight/batch.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// What they are: no pass. Raw inputs: a mean beyond 20 or a deviation above 50, the limits by which rule
// input_not_normalized is certain. Equal samples are certain by themselves.
void look_at_inputs(examiner& all);

// A loss that does not change in a single bit when all samples become the first. And a pass behind one on other inputs,
// beside the same pass alone: where the losses agree to a millionth the gradients have to, to a thousandth; what an
// earlier batch left was .05 and more.
void examine_inputs(examiner& all);

// The same of labels; whole-number labels beside the classes that the outputs have. -100 is what libtorch leaves out.
void examine_labels(examiner& all);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/inputs.ipp>
#endif
