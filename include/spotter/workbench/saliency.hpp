// SPDX-License-Identifier: Apache-2.0
// Workbench: which parts of an input made a net say what it said, out of what was recorded of a step. Link
// spotter::workbench.
#pragma once

#include <spotter/trial/trial.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// How the step was recorded. Of each layer X with a bias: `bias/X`, [channels], and `grad/X`, the gradient of `output`
// to what the layer makes, bias included and before its activation, [samples, channels, ...]. A batch normalisation in
// evaluation is such a layer with the bias beta - mean * gamma / sqrt(variance + epsilon). docs/trial.md has a loop
// that records it.
struct saliency_names {
    std::string_view input = "input";  // [samples, height, width] or [samples, channels, height, width]
    // [samples]: of each sample the score whose gradient was taken, as that of their sum.
    std::string_view output = "explained";
};

// One map a sample.
struct saliency_maps {
    std::size_t samples = 0, height = 0, width = 0;  // of the input
    // [samples, height, width], from 0 to 1 in each sample; all 0 where no part says anything.
    std::vector<float> values{};
    std::vector<double> output{};  // [samples], as recorded
    // [samples]: the sum of all parts, which is the output of a net that is linear between its kinks.
    std::vector<double> parts{};

    // The map of one sample, row by row; lives with this.
    [[nodiscard]] std::span<float const> of(std::size_t sample) const noexcept {
        return std::span{values}.subspan(sample * height * width, height * width);
    }
    // |parts - output| over |output|, the largest of all samples. Above rounding: a bias was not recorded, an
    // activation is not piecewise linear (ELU, sigmoid), or what was taken as input is not what the net was given.
    [[nodiscard]] double incompleteness() const noexcept;
};

// FullGrad (Srinivas and Fleuret 2019, NeurIPS, "Full-Gradient Representation for Neural Network Visualization",
// equations 3 and 5): the output is the sum over the input of input times gradient, and over all biases of bias times
// gradient. A map is |input * gradient|, and for each layer with two axes of places |bias * gradient|, each from 0 to 1
// within the sample, summed over channels, enlarged to the size of the input (bilinear, as between the middles of
// pixels), all together, from 0 to 1 again. Layers without places count in `parts` alone. Values that are not finite
// count as 0. errc: no_such_name, no_payload and the like of what is missing; no_shape where sizes do not fit.
[[nodiscard]] result<saliency_maps> full_gradients(trial const& run, step_id step, saliency_names const& names = {});

}  // namespace spotter::inline SPOTTER_ABI
