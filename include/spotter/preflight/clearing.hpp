// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), an experiment: does a pass begin with empty gradients?
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Fills gradients with random signs before a pass, and compares the result with `gradient`, from a pass that began with
// zeros. A filling that is still there was added to: a share above 5 % (rounding and random passes left 2 % at most;
// otherwise it is about 1). If the update clears such gradients, this is reported as a note, otherwise as an error.
// From here on, the gradient of such a tensor is the difference that a pass makes.
void examine_clearing(examiner& all, double_list const& gradient);

#if SPOTTER_BODIES

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

#endif

}  // namespace spotter::inline SPOTTER_ABI::detail
