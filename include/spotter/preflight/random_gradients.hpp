// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: the sign of the gradients of a random loss.
#pragma once

#include <spotter/preflight/gradients.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Checks whether the loss falls along its gradient, with 16 pairs of losses along the mean of eight gradients, by a
// step that predicts a tenth of the loss. Reported where the mean slope is five of its standard errors below zero.
// Nothing else can be proven for a random loss.
void examine_random_gradients(examiner& all);

#if SPOTTER_BODIES

SPOTTER_BODY void examine_random_gradients(examiner& all) {
    subject& loop = all.loop;
    loop.begin_experiment("gradients of a random loss");
    all.gradients.assign(loop.parameters().size(), {});
    loop.go_to(all.displaced(gradient_limits::displacements[0]));
    double_list const weights = loop.place();
    double_list gradient, sum(loop.elements(), 0.0);
    double loss = 0;
    for (int i = 0; i < 8; ++i) {  // each with another mask or batch
        loss += loop.pass(gradient) / 8;
        for (std::size_t j = 0; j < sum.size(); ++j) { sum[j] += gradient[j] / 8; }
    }
    double const size = dot_of(sum, sum);
    if (loop.over() || !(size > 0) || !is_finite(loss)) { return; }
    double const step = 0.1 * (std::max)(magnitude(loss), 1e-12) / size;  // predicts a tenth of the loss
    double_list ratios, up = weights, down = weights;
    for (std::size_t j = 0; j < sum.size(); ++j) { up[j] += step * sum[j], down[j] -= step * sum[j]; }
    for (int i = 0; i < 16; ++i) {
        loop.go_to(up);
        double const high = loop.loss();
        loop.go_to(down);
        ratios.push_back((high - loop.loss()) / (2 * step * size));
    }
    loop.go_to(loop.start());
    if (loop.over() || !all_finite(ratios)) { return; }
    mean_and_deviation const of{ratios};
    double const mean = of.mean, error = of.deviation / std::sqrt(static_cast<double>(ratios.size()));
    if (mean + 5 * error < 0 && mean < -0.2) {
        draft& found = all.tell(preflight_cause::negated_gradient, "all");
        found.measure = "derivative along the gradient, over its own", found.measured = mean;
        found.how = relation::less, found.threshold = 0;
        found.detail << "by the mean of 16 random losses, within " << error;
    }
}

#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
