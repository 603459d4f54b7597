// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: the loss at two places on either side of one, along a random direction, beside what the
// gradient says of it.
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Some of the parameters, by number.
using tensor_group = std::vector<std::size_t>;

// One shot along a direction of random signs, each tensor by a step of its own: `moved` is the difference of the losses
// at both ends, `foreseen` what the gradient makes of the difference of the weights as they were rounded. What is
// foreseen is kept for each tensor of the group, and what other things would have foreseen: the weights (of a gradient
// that holds a decay), their signs.
struct shot {
    double moved = 0;
    // Both losses less twice that between them: no gradient is in it, but rounding, kinks and bends are.
    double bend = 0;
    double_list foreseen{}, by_weights{}, by_signs{};
    double_list unit{};  // of each tensor: the root mean square of what it foresees, over all signs

    [[nodiscard]] double rest() const noexcept;  // what was not foreseen
};

// A place in the space of weights, with all that is known there.
struct probe {
    double_list weights{}, gradient{};
    double loss = 0;
    double noise = 0;     // of one loss
    double_list steps{};  // by parameter: how far it is moved
    // Elements of this size were cut to it, and are not moved.
    double clipped = std::numeric_limits<double>::infinity();

    // Of the difference of two losses.
    [[nodiscard]] double pair_noise() const noexcept { return 1.4142135623730951 * noise; }
};

// Whether elements were cut to one largest size: of other gradients no three have the largest one (two have it behind a
// softmax of two classes), and it is no round number.
void find_clipping(probe& at);

// Steps so long that rounding makes `share` of what each tensor foresees: |gradient| times twice the step stands
// against the noise of two losses. Within 1e-4 (of double 1e-6, of bf16 half a spacing) and 1e-2 of the weights' size:
// below that roundings of weights matter, above it bends of the loss do.
void choose_steps(examiner& all, probe& at, double share);

// The difference of the weights of one tensor at both ends, of a direction known by its number: of each element a
// random sign times a tenth of the step, or nearly twice it, so that a kink is met at some of the shots only and shows
// in how their bends differ. Ends lie symmetric, on numbers of the tensor's type.
void difference_of(examiner const& all, probe const& at, std::size_t tensor, double times, std::uint64_t direction,
                   double_list& up, double_list& down);

// Fires along a direction; steps are those of the probe, `times` as long. `from` and `to`, where given, cut the one
// tensor of the group to these elements.
[[nodiscard]] shot fire(examiner& all, probe const& at, tensor_group const& group, double times,
                        std::uint64_t direction, std::size_t from = 0, std::size_t to = static_cast<std::size_t>(-1));

// Fires along the gradient of one tensor: the derivative over the gradient, exactly, and what noise makes of it. As
// long a step as `fire` takes.
struct ratio_along {
    double ratio = 0, noise = 0;
};
[[nodiscard]] ratio_along fire_along(examiner& all, probe const& at, std::size_t tensor, double times);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/shots.ipp>
#endif
