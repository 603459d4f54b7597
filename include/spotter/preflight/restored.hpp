// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: is everything restored that passes and updates change?
#pragma once

#include <spotter/preflight/update.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Repeats the first pass and update after `restore` (for a net that is copied: on a new copy). The loss must agree
// within a millionth, and the step within a thousandth. Otherwise `restore` does not restore something, or copies share
// it: moments, a running mean, a place in the data.
void examine_restored(examiner& all, first_step const& first);

#if SPOTTER_BODIES

SPOTTER_BODY void examine_restored(examiner& all, first_step const& first) {
    subject& loop = all.loop;
    if (!loop.given().restore || all.is_random || loop.over()) { return; }
    loop.begin_experiment("what is restored");
    loop.go_to(loop.start());
    loop.prepare();
    if (loop.has_gradients()) { loop.write_gradients(double_list(loop.elements(), 0.0)); }
    double const loss = loop.bare_pass(), before = loop.first_loss();
    if (loop.over()) { return; }
    if (!(magnitude(loss - before) <= 1e-6 * magnitude(before) + 1e-12)) {
        draft& found = all.tell(preflight_cause::not_restored, "loss");
        found.measure = "difference of the losses", found.measured = magnitude(loss - before);
        found.how = relation::greater, found.threshold = 1e-6 * magnitude(before);
        return;
    }
    if (first.whole.empty()) { return; }
    loop.update();
    double_list now;
    loop.read_weights(now);
    double apart = 0;
    for (std::size_t i = 0; i < now.size() && i < first.whole.size(); ++i) {
        double const d = now[i] - loop.start()[i] - first.whole[i];
        apart += d * d;
    }
    double const share = norm_of(first.whole) > 0 ? std::sqrt(apart) / norm_of(first.whole) : 0;
    if (loop.over() || !(share > 1e-3)) { return; }
    draft& found = all.tell(preflight_cause::not_restored, "update");
    found.measure = "relative difference of the first step and the same step later", found.measured = share;
    found.how = relation::greater, found.threshold = 1e-3;
}

#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
