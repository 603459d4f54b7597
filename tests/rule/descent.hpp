// SPDX-License-Identifier: Apache-2.0
// A weight that goes along its gradient or against it.
#pragma once

#include <spotter/rule/builtin/update_direction.hpp>
#include <tests/rule/features.hpp>

namespace stage {

// A weight that moves by `rate` times its gradient, the weight seen first or last.
struct descent {
    float rate = -0.1F;
    bool weight_first = true;
    flag flags = flag::none;  // of the gradient
    std::vector<double> weight{0.5, -0.25}, gradient{};

    template <rule Rule>
    void declare(run<Rule>& it) const {
        it.declare({.name = "fc/w", .role = role::weight, .type = dtype::f64, .shape = {1, 2}});
        it.declare({.name = "grad/fc/w",
                    .role = role::gradient,
                    .partner_role = role::weight,
                    .partner = 0,
                    .flags = flags,
                    .type = dtype::f64,
                    .shape = {1, 2}});
    }
    template <rule Rule>
    void see(run<Rule>& it, step_id at) {
        if (at.index == 0) { declare(it); }
        gradient = {at.index % 2 == 0 ? 1.0 : 0.5, -0.25};
        if (weight_first) { it.see(at, "fc/w", view_of(weight.data(), {1, 2})); }
        it.see(at, "grad/fc/w", view_of(gradient.data(), {1, 2}));
        if (!weight_first) { it.see(at, "fc/w", view_of(weight.data(), {1, 2})); }
        update();
    }
    void update() {
        for (std::size_t i = 0; i < 2; ++i) { weight[i] += static_cast<double>(rate) * gradient[i]; }
    }
};
inline indices directions(descent net, std::uint64_t steps = 62, update_direction const& rule = {}) {
    return fired(rule, steps, [&](auto& it, step_id at) { net.see(it, at); });
}

}  // namespace stage
