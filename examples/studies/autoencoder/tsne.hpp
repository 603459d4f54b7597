// SPDX-License-Identifier: Apache-2.0
// Maps points of many dimensions to a plane, with neighbours near each other.
#pragma once

#include "../common/torch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace autoencoder {

// The affinities of points: rows [n, n] that sum to 1, from Gaussians whose widths give each row an effective number of
// `perplexity` neighbours; then made symmetric.
[[nodiscard]] inline torch::Tensor neighbourhoods(torch::Tensor const& points, double perplexity) {
    std::int64_t const count = points.size(0);
    torch::Tensor const distance = torch::cdist(points, points).pow(2);
    torch::Tensor const self = torch::eye(count, torch::TensorOptions{}.dtype(torch::kBool));
    torch::Tensor low = torch::zeros({count, 1}), high = torch::full({count, 1}, INFINITY),
                  precision = torch::ones({count, 1});
    torch::Tensor near;
    for (int i = 0; i < 50; ++i) {  // finds each row's precision by bisection on its entropy
        near = torch::softmax((-distance * precision).masked_fill(self, -INFINITY), 1);
        torch::Tensor const entropy = -(near * near.clamp_min(1e-12).log()).sum(1, true);
        torch::Tensor const wide = entropy > std::log(perplexity);
        low = torch::where(wide, precision, low);
        high = torch::where(wide, high, precision);
        precision = torch::where(high.isinf(), precision * 2, (low + high) / 2);
    }
    return (near + near.t()) / (2 * count);
}

// t-SNE, exact (van der Maaten and Hinton 2008, Journal of Machine Learning Research 9): [n, dimensions] to [n, 2],
// beginning at `start`.
[[nodiscard]] inline torch::Tensor tsne(torch::Tensor const& points, torch::Tensor const& start,
                                        double perplexity = 30) {
    constexpr int rounds = 400, exaggerated = 100;
    torch::NoGradGuard const no_gradients;
    torch::Tensor const wanted = neighbourhoods(points, perplexity);
    torch::Tensor const self = torch::eye(points.size(0), torch::TensorOptions{}.dtype(torch::kBool));
    torch::Tensor plane = start.clone(), velocity = torch::zeros_like(plane), gain = torch::ones_like(plane);
    double const rate = std::max(50.0, static_cast<double>(points.size(0)) / 12 / 4);
    for (int i = 0; i < rounds; ++i) {
        torch::Tensor const kernel = (1 + torch::cdist(plane, plane).pow(2)).reciprocal().masked_fill(self, 0);
        torch::Tensor const pull = ((i < exaggerated ? 12 * wanted : wanted) - kernel / kernel.sum()) * kernel;
        torch::Tensor const slope = 4 * (pull.sum(1, true) * plane - pull.matmul(plane));
        gain = torch::where(slope * velocity < 0, gain + 0.2, gain * 0.8).clamp_min(0.01);
        velocity = (i < exaggerated ? 0.5 : 0.8) * velocity - rate * gain * slope;
        plane = plane + velocity;
        plane = plane - plane.mean(0);
    }
    return plane;
}

}  // namespace autoencoder
