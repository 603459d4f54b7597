// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: which weights does an update move, and in which direction?
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The first update that moves a weight.
struct first_step {
    double_list step{}, gradient{};  // from weights of zero
    double_list whole{};             // the step of the first update from the initial weights, including a decay
    double growth = 1;               // growth of later steps, relative to that of their gradients: momentum, a warm-up
    std::size_t at = 0;              // index of this update
    bool known = false;
};

struct update_limits {
    static constexpr int most_updates = 5;
    static constexpr int updates_of_a_copy = 200;  // for an update that keeps a copy of the weights in higher precision
    // Cosine of a tensor's step and its negative gradient. Plain descent has 1; Adam's first step, the signs, had .53
    // to .78; an optimizer that adds has -1.
    static constexpr double against = -0.05;
    static constexpr double decay = 0.9;  // least cosine of the weights and the part of the step that a decay adds
};

// Sets weights to zero before an update, so that the new weights are the step to the last bit, whatever the rate, and a
// decay has no effect. The same from the initial weights shows the decay. Makes a second update only where some weights
// did not move; five at most.
void examine_update(examiner& all, first_step& first);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/update.ipp>
#endif
