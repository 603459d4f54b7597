// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: central differences of the loss along random directions, beside what the gradient predicts.
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Some of the parameters, by number.
using tensor_group = std::vector<std::size_t>;

// Along one direction of random signs, each tensor by a step of its own. Predictions are the gradient times the
// difference of the weights as they were rounded, for each tensor of the group, and what other things would have
// predicted: the weights (of a gradient that holds a decay), their signs.
struct difference {
    double change = 0;  // of the loss, from one end to the other
    // Both losses less twice that between them: no gradient is in it, but rounding, kinks and bends are.
    double bend = 0;
    double_list predictions{}, by_weights{}, by_signs{};
    double_list units{};  // of each tensor: the root mean square of its prediction, over all signs

    [[nodiscard]] double prediction() const noexcept;  // of all tensors
    [[nodiscard]] double residual() const noexcept { return change - prediction(); }
};

// Differences of one group along several directions, which have successive numbers.
struct difference_sample {
    std::vector<difference> differences{};
    std::uint64_t first_direction = 0;
    double times = 1;  // how much longer than those of the probe steps are

    [[nodiscard]] double_list residuals() const;
    [[nodiscard]] bool finite() const noexcept;
    // Root mean square. No median: the error of one element shows in those directions alone that move it far.
    [[nodiscard]] double residual() const { return rms_of(residuals()); }
    // The standard deviation of the bends: a kink on one side, and the rounding of a loss, change the residual and the
    // bend by the same.
    [[nodiscard]] double roughness() const;
    // What the tensor at `place` of the group predicts, over all signs.
    [[nodiscard]] double unit(std::size_t place) const noexcept;
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

// Steps so long that rounding makes `share` of what each tensor predicts: |gradient| times twice the step stands
// against the noise of two losses. Within 1e-4 (of double 1e-6, of bf16 half a spacing) and 1e-2 of the weights' size:
// below that roundings of weights matter, above it bends of the loss do.
void choose_steps(examiner& all, probe& at, double share);

// Both ends of one tensor, in a direction known by its number: each element moves by a random sign times a tenth of the
// step, or nearly twice it, so that a kink is met in some directions only and shows in how their bends differ. Ends lie
// symmetric, on numbers of the tensor's type.
void move_ends(examiner const& all, probe const& at, std::size_t tensor, double times, std::uint64_t direction,
               double_list& up, double_list& down);

// Measures along a direction; steps are those of the probe, `times` as long. `from` and `to`, where given, cut the one
// tensor of the group to these elements.
[[nodiscard]] difference difference_along(examiner& all, probe const& at, tensor_group const& group, double times,
                                          std::uint64_t direction, std::size_t from = 0,
                                          std::size_t to = static_cast<std::size_t>(-1));

// The loss changed by `kappa` times the prediction, as closely as can be had. Root mean squares: of the prediction, of
// the change, and of what the factor does not explain.
struct multiple {
    double kappa = 0, predicted = 0, left = 0, changed = 0;
};
[[nodiscard]] multiple multiple_of(difference_sample const& sample);

// A multiple of the weights, or of their signs, in the gradients of all tensors or of matrices alone.
struct decay_form {
    double lambda = 0;
    bool by_signs = false, of_matrices = false;
};
// The one that explains most of the residuals: residual = -lambda * (what the weights predict), and two thirds of them
// at least, which chance does in one of thousands. Of the form that is known, where one is; 0: none.
[[nodiscard]] decay_form find_decay(std::vector<parameter> const& tensors, tensor_group const& group,
                                    difference_sample const& sample, decay_form const& known);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/differences.ipp>
#endif
