// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: central differences of the loss along random directions, and what the gradient predicts for
// them.
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Indices of parameters.
using tensor_group = std::vector<std::size_t>;

// A point on the path between both ends of a difference: `at` goes from -1 to 1. The slope is that of the loss along
// the path, by the gradient there; NaN where none was computed.
struct path_point {
    double at = 0, loss = 0, slope = 0;
};

// One direction of random signs, in which each tensor moves by its own step. A prediction is the product of the
// gradient and the difference of the weights as they were rounded, one for each tensor of the group. `by_weights` and
// `by_signs` are the same for the weights (a gradient that includes a decay) and their signs.
struct difference {
    double change = 0;  // of the loss, between both ends
    // The sum of both losses less twice the one in the middle: it contains rounding, kinks and curvature, and no
    // gradient.
    double bend = 0;
    double_list predictions{}, by_weights{}, by_signs{};
    double_list units{};             // for each tensor: the root mean square of its prediction over all signs
    std::vector<path_point> path{};  // from one end to the other
    double bent = 0;                 // what the gradients along the path predict beyond the gradient in the middle

    [[nodiscard]] double prediction() const noexcept;  // sum over all tensors
    // Sets `bent`: the integral of the slopes, by trapezoids, less that of the slope in the middle.
    void follow_path() noexcept;
    // The variance that kinks between two points of the path add to the residual. A kink changes the slope, anywhere
    // between both; two may cancel in the slope, and leave a rest above `least`.
    [[nodiscard]] double kink_variance(std::size_t part, double least) const noexcept;
    // The variance of the residual, from the parts of the path: kinks and rounding.
    [[nodiscard]] double path_variance() const noexcept;
    [[nodiscard]] double residual() const noexcept { return change - prediction(); }
};

// Differences of one group along several directions with successive numbers.
struct difference_sample {
    std::vector<difference> differences{};
    std::uint64_t first_direction = 0;
    double times = 1;      // length of the steps, relative to those of the probe; below one: the shorter ones
    bool by_path = false;  // predictions are integrals along the paths

    [[nodiscard]] double_list residuals() const;
    [[nodiscard]] bool finite() const noexcept;
    // Root mean square of the residuals. Not the median: the error of one element shows only in directions that move it
    // far.
    [[nodiscard]] double residual() const { return rms_of(residuals()); }
    // The standard deviation of the bends: a kink on one side, or rounding of a loss, changes the residual and the bend
    // by the same amount. Along paths, that of the residuals.
    [[nodiscard]] double roughness() const;
    // Root mean square of the prediction of the tensor at index `place` of the group, over all signs.
    [[nodiscard]] double unit(std::size_t place) const noexcept;
};

// A decay that gradients include: `lambda` times the weights, or their signs; in all tensors, or in matrices alone.
struct decay_form {
    double lambda = 0;
    bool by_signs = false, of_matrices = false;
};

// A point in the space of weights, with the loss and gradient there.
struct probe {
    double_list weights{}, gradient{};
    double loss = 0;
    double noise = 0;             // rounding noise of one loss
    double_list steps{};          // for each parameter: how far it is moved
    double_list shorter_steps{};  // likewise for shorter steps: a quarter, or what keeps the share above four times the
                                  // rounding
    decay_form decay{};           // was subtracted from the gradient
    // Gradient elements of this size were clipped to it; their weights are not moved.
    double clipped = std::numeric_limits<double>::infinity();

    // The step of a tensor, `times` as long; where that is below one, the shorter step.
    [[nodiscard]] double step(std::size_t tensor, double times) const noexcept {
        return times < 1 ? shorter_steps[tensor] : steps[tensor] * times;
    }
    // The noise of a difference of two losses.
    [[nodiscard]] double pair_noise() const noexcept { return 1.4142135623730951 * noise; }
};

// Finds whether gradient elements were clipped to one largest size. In gradients without clipping, at most two elements
// share the largest size (a softmax of two classes), and it is no round number.
void find_clipping(probe& at);

// Chooses steps for which rounding is `share` of what each tensor predicts, |gradient| times twice the step. Steps are
// at most 1e-2 of the weights' size, as curvature of the loss matters above; and at least 1e-4 of it (double 1e-6, bf16
// half a spacing), as rounding of weights matters below.
void choose_steps(examiner& all, probe& at, double share);

// Writes both ends of one tensor for a direction, known by its number. Each element moves by a random sign times 0.1 or
// 1.9 of the step. A kink then lies in some directions only, and shows as a difference between bends. Ends are
// symmetric, and numbers of the tensor's type.
void move_ends(examiner const& all, probe const& at, std::size_t tensor, double times, std::uint64_t direction,
               double_list& up, double_list& down);

// Measures along a direction, with steps `times` as long as those of the probe. `from` and `to`, where given, restrict
// the only tensor of the group to these elements.
[[nodiscard]] difference difference_along(examiner& all, probe const& at, tensor_group const& group, double times,
                                          std::uint64_t direction, std::size_t from = 0,
                                          std::size_t to = static_cast<std::size_t>(-1));

// Adds a point to the path of a difference of this group, direction and length: one pass with its gradient.
void add_point(examiner& all, probe const& at, tensor_group const& group, double times, std::uint64_t direction,
               double place, difference& into);

// Subtracts a decay from a gradient at these weights.
void take_off(std::vector<parameter> const& tensors, decay_form const& it, double_list const& weights,
              double_list& gradient);

// The best fit of change = `kappa` * prediction. Root mean squares: `predicted`, `changed`, and `left`, which the
// factor does not explain.
struct multiple {
    double kappa = 0, predicted = 0, left = 0, changed = 0;
};
[[nodiscard]] multiple multiple_of(difference_sample const& sample);

// The decay that explains most of the residuals: residual = -lambda * (what the weights predict). It explains at least
// two thirds, which chance does once in thousands. Has the form of `known`, where that is known; lambda 0: none.
[[nodiscard]] decay_form find_decay(std::vector<parameter> const& tensors, tensor_group const& group,
                                    difference_sample const& sample, decay_form const& known);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/differences.ipp>
#endif
