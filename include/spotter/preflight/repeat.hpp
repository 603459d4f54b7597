// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: does an equal pass give an equal loss, and how much does rounding change the loss?
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Repeats a pass from the same state, and computes .loss where there is one: each within a millionth, and both within a
// ten-thousandth of each other. `gradient`: what gradient buffers hold after a pass that began with zeros.
void examine_repeat(examiner& all, double_list& gradient);

// The standard deviation of the rounding noise of one loss. L(w + d) + L(w - d) - 2 L(w) for a random d contains
// neither the gradient, right or wrong, nor a curvature that matters: d is a tenth of the root of the weights' spacing,
// 3e-5 of their size in float. Nearer points repeat the same roundings (Moré and Wild 2011, who take differences of
// higher order, give the least distance). At least `least_noise`. For bf16 and f16, whose spacing is no small step, one
// weight in 64 moves, by one unit in its last place.
[[nodiscard]] double noise_at(examiner& all, double_list const& weights, double loss, int pairs);

#if SPOTTER_BODIES

// How far equal losses may differ: threads that add in any order change a loss by a few roundings, a new batch by
// percents.
[[nodiscard]] inline double slack_of(double loss) noexcept { return 1e-6 * magnitude(loss) + 1e-12; }

// The loss of an equal pass. Sets `rewinds` where passes differ unless `restore` is called before each.
[[nodiscard]] inline double repeated_loss(subject& loop, double_list& gradient, bool& rewinds) {
    loop.go_to(loop.start());
    loop.prepare();
    if (!loop.has_gradients()) { (void)loop.bare_pass(); }  // allocated in the first pass
    loop.write_gradients(double_list(loop.elements(), 0.0));
    double again = loop.bare_pass();
    loop.read_gradients(gradient);
    double const first = loop.first_loss(), slack = slack_of(first);
    // A second pass may draw the next batch: repeats it from the start.
    if (!(magnitude(again - first) <= slack)) {
        double_list unused;
        again = loop.pass(unused);
    }
    if (magnitude(again - first) <= slack && loop.given().restore && !loop.given().restore_each) {
        double const one = loop.loss(), two = loop.loss();  // without `restore`, as in the other experiments
        rewinds = !(magnitude(one - two) <= slack);
        again = rewinds ? first + (one - two) : again;
    }
    return again;
}

SPOTTER_BODY void examine_repeat(examiner& all, double_list& gradient) {
    subject& loop = all.loop;
    loop.begin_experiment("an equal pass");
    bool rewinds = false;
    double const again = repeated_loss(loop, gradient, rewinds), first = loop.first_loss(), slack = slack_of(first);
    if (loop.over()) { return; }
    if (!(magnitude(again - first) <= slack)) {
        all.is_random = true;
        bool const seeded = static_cast<bool>(loop.given().seed);
        draft& found = all.tell(preflight_cause::not_repeatable, "loss", seeded ? severity::warning : severity::info);
        if (rewinds) { found.detail = "restore rewinds it: .restore_each = true does so before each pass"; }
        found.measure = "difference of two losses", found.measured = magnitude(again - first);
        found.how = relation::greater, found.threshold = slack;
        return;
    }
    double const alone = loop.given().loss ? loop.loss() : first;
    if (!loop.over() && !(magnitude(alone - first) <= 1e-4 * magnitude(first) + 1e-12)) {
        draft& found = all.tell(preflight_cause::losses_differ, "loss");
        found.measure = "difference of both losses", found.measured = magnitude(alone - first);
        found.how = relation::greater, found.threshold = 1e-4 * magnitude(first);
    }
    if (loop.given().seed) {
        loop.use_seed(2);
        double const other = loop.loss();
        loop.use_seed(1);
        all.draws = is_finite(other) && magnitude(other - first) > slack;
    }
}

SPOTTER_BODY double noise_at(examiner& all, double_list const& weights, double loss, int pairs) {
    subject& loop = all.loop;
    double_list up, down, rests;
    for (int pair = 0; pair < pairs; ++pair) {
        up = down = weights;
        for (parameter const& each : loop.parameters()) {
            bool const coarse = is_coarse(each.type);
            double const scale = all.scale_of(each, weights), least = std::sqrt(spacing_of(each.type)) / 10 * scale;
            for (std::size_t i = each.first; i < each.first + each.count; ++i) {
                if (coarse && (all.random.next() & 63U) != 0) { continue; }
                double const step = coarse ? spacing_of(each.type) * (std::max)(magnitude(weights[i]), 0.1 * scale)
                                           : least,
                             sign = all.random.sign();
                up[i] = rounded_to(each.type, weights[i] + sign * step);
                down[i] = rounded_to(each.type, weights[i] - sign * step);
            }
        }
        loop.go_to(up);
        double const high = loop.loss();
        loop.go_to(down);
        double const low = loop.loss();
        if (loop.over()) { break; }
        if (is_finite(high) && is_finite(low)) { rests.push_back(high + low - 2 * loss); }
    }
    loop.go_to(weights);
    double const least = loop.least_noise() * magnitude(loss);
    return (std::max)(rms_of(rests) / std::sqrt(6.0), least);  // the variance of L + L - 2 L is 1 + 1 + 4
}

#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
