// SPDX-License-Identifier: Apache-2.0
// Workbench: which parts of an input made a net give its output, from the recorded tensors of a step. Link
// spotter::workbench.
#pragma once

#include <spotter/trial/trial.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// The names of recorded tensors. For each layer X with a bias: `bias/X`, [channels], and `grad/X`, the gradient of
// `output` with respect to the layer's result, bias included and before its activation, [samples, channels, ...]. A
// batch normalisation in evaluation is such a layer with the bias beta - mean * gamma / sqrt(variance + epsilon).
// docs/trial.md has a loop that records it.
struct saliency_names {
    std::string_view input = "input";  // [samples, height, width] or [samples, channels, height, width]
    // [samples]: each sample's score. The gradient is that of their sum.
    std::string_view output = "explained";
};

// One map for each sample.
struct saliency_maps {
    std::size_t samples = 0, height = 0, width = 0;  // of the input
    // [samples, height, width], from 0 to 1 in each sample; all 0 where no part contributes.
    std::vector<float> values{};
    std::vector<double> output{};  // [samples], as recorded
    // [samples]: the sum of all contributions, which equals the output of a piecewise linear net.
    std::vector<double> parts{};

    // The map of one sample, row by row; a view into this object.
    [[nodiscard]] std::span<float const> of(std::size_t sample) const noexcept {
        return std::span{values}.subspan(sample * height * width, height * width);
    }
    // |parts - output| over |output|, the largest of all samples. If it is above rounding error: a bias was not
    // recorded, an activation is not piecewise linear (ELU, sigmoid), or the recorded input is not the net's input.
    [[nodiscard]] double incompleteness() const noexcept;
};

// FullGrad (Srinivas and Fleuret 2019, NeurIPS, "Full-Gradient Representation for Neural Network Visualization",
// equations 3 and 5): the output is the sum over the input of input times gradient, plus the sum over all biases of
// bias times gradient. A map is |input * gradient|, plus |bias * gradient| of each layer with two spatial axes. Each is
// scaled to 0 to 1 within the sample, summed over channels and enlarged to the size of the input (bilinear, aligned at
// pixel centres); the sum is scaled to 0 to 1 again. Layers without spatial axes only count in `parts`. Values that are
// not finite count as 0. errc: no_such_name, no_payload and the like for what is missing; no_shape where sizes do not
// fit.
[[nodiscard]] result<saliency_maps> full_gradients(trial const& run, step_id step, saliency_names const& names = {});

}  // namespace spotter::inline SPOTTER_ABI
