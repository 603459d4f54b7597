// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), experiments: does an equal pass give an equal loss, how much does rounding change the loss, and does
// a pass begin with empty gradients?
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

// Fills gradients with random signs before a pass, and compares the result with `gradient`, from a pass that began with
// zeros. A filling that is still there was added to: a share above 5 % (rounding and random passes left 2 % at most;
// otherwise it is about 1). If the update clears such gradients, this is reported as a note, otherwise as an error.
// From here on, the gradient of such a tensor is the difference that a pass makes.
void examine_clearing(examiner& all, double_list const& gradient);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
namespace spotter::inline SPOTTER_ABI::detail {

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

// The filling: random signs, several times the size of a gradient.
[[nodiscard]] inline double_list filling_for(examiner& all, double_list const& gradient) {
    double_list filling(gradient.size());
    double const times = all.is_random ? 100 : 4;  // makes the differences between random passes small relative to it
    double const general = rms_of(gradient) > 0 ? rms_of(gradient) : 1e-3;
    for (parameter const& each : all.loop.parameters()) {
        double const size = rms_of(each.of(gradient));
        for (double& value : each.of(filling)) { value = all.random.sign() * times * (size > 0 ? size : general); }
    }
    return filling;
}

// Makes a pass that begins with filled gradients.
inline void fill_and_pass(subject& loop, double_list const& filling) {
    loop.go_to(loop.start());
    loop.prepare();
    if (!loop.has_gradients()) { (void)loop.bare_pass(); }
    loop.write_gradients(filling);
    (void)loop.bare_pass();
}

// For each tensor: the share of its filling that is left after a pass. Marks the tensors that a pass adds to; empty
// where there are none.
[[nodiscard]] inline double_list shares_kept(examiner& all, double_list const& gradient, double_list const& filling) {
    subject& loop = all.loop;
    fill_and_pass(loop, filling);
    if (loop.over()) { return {}; }
    double_list filled, shares;
    loop.read_gradients(filled);
    bool adds = false;
    for (parameter& each : loop.parameters()) {
        double along = 0;
        for (std::size_t i = each.first; i < each.first + each.count; ++i) {
            along += (filled[i] - gradient[i]) * filling[i];
        }
        shares.push_back(along / dot_of(each.of(filling), each.of(filling)));
        each.accumulates = shares.back() > 0.05;  // a momentum in the gradient keeps a part of it
        adds = adds || (each.accumulates && !each.gathered && !each.frozen);
    }
    return adds ? shares : double_list{};
}

SPOTTER_BODY void examine_clearing(examiner& all, double_list const& gradient) {
    subject& loop = all.loop;
    loop.begin_experiment("clearing of gradients");
    double_list const filling = filling_for(all, gradient), shares = shares_kept(all, gradient, filling);
    if (shares.empty()) { return; }
    double_list after = filling;
    if (loop.given().update) {
        fill_and_pass(loop, filling);
        loop.update();
        if (loop.over()) { return; }
        loop.read_gradients(after);
    }
    // Counts gradients that the update does not clear: an optimizer clears those that it holds.
    std::size_t staying = 0, judged = 0, first = 0;
    for (std::size_t t = 0; t < loop.parameters().size(); ++t) {
        parameter const& each = loop.parameters()[t];
        if (each.gathered || each.frozen) { continue; }
        ++judged;
        bool const is_cleared = norm_of(each.of(after)) <= 1e-6 * norm_of(each.of(filling));
        if (each.accumulates && !is_cleared && staying++ == 0) { first = t; }
    }
    if (staying == 0) {
        all.cleared_by_update = true;
        all.tell(preflight_cause::cleared_by_update, "gradients");
        return;
    }
    bool const every = staying == judged;
    draft& found = all.tell(preflight_cause::gradient_not_cleared,
                            every ? std::string_view{"gradients"} : loop.parameters()[first].name);
    found.measure = "share of the earlier gradient that is still in it", found.measured = shares[first];
    found.how = relation::greater, found.threshold = 0.05;
    found.others = static_cast<std::uint32_t>(every ? 0 : staying - 1);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
