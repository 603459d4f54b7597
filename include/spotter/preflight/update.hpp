// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: what does an update move, and where to?
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The first update that moves something.
struct first_step {
    double_list step{}, gradient{};  // from weights of zero
    double_list whole{};             // what the first update does to the weights as they are, decay and all
    double growth = 1;               // of later steps, over that of their gradients: momentum, a warm-up
    std::size_t at = 0;              // which of the updates it was
    bool known = false;
};

struct update_limits {
    static constexpr int most_updates = 5;
    static constexpr int updates_of_a_copy = 200;  // of an update that keeps a finer copy of the weights
    // Cosine of step and minus gradient, of a tensor. Plain descent 1; Adam's first step, the signs, was .53 to .78; an
    // optimizer that adds -1.
    static constexpr double against = -0.05;
    static constexpr double decay = 0.9;  // cosine of what a decay adds, and the weights
};

// Weights are set to zero before an update, so that the step is what it says to the last bit, whatever the rate, and a
// decay has nothing to take from; then they are put where they would be. The same from the weights themselves tells the
// decay. A second update only where not all moved, five at most.
void examine_update(examiner& all, first_step& first);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/update.ipp>
#endif
