// SPDX-License-Identifier: Apache-2.0
// Makes an entry of the catalogue of a net's template.
#pragma once

#include "catalogue.hpp"
#include "loop.hpp"
#include "trained.hpp"

#include <spotter/preflight.hpp>

namespace preflight_bench {

template <class Net>
[[nodiscard]] outcome examine_net(arm const& how, std::uint64_t seed, bool handles) {
    namespace sp = spotter;
    using loop_type = loop<Net>;
    loop_type it{how, seed};
    sp::preflight_options<loop_type> choices;
    choices.batch = it.net.batch();
    if (handles) {
        choices.inputs = [](loop_type& of) -> auto& { return of.net.inputs(); };
        choices.outputs = [](loop_type& of) -> auto& { return of.net.outputs(); };
        if constexpr (requires { it.net.labels(); }) {
            choices.labels = [](loop_type& of) -> auto& { return of.net.labels(); };
        }
        if constexpr (requires { it.net.training(true); }) {
            choices.training = [](loop_type& of, bool on) { of.net.training(on); };
        }
    }
    auto const found =
        sp::preflight(it, [](loop_type& of) { return of.pass(); }, [](loop_type& of) { of.step(); }, choices);
    outcome made;
    if (found.first() != sp::preflight_cause::none) {
        made.first = name_of(found.first());
        made.place = found.all()[0].finding.tensor;
        made.is_error = found.all()[0].finding.severity == sp::severity::error;
    }
    for (auto const& each : found.all()) {
        if (each.finding.severity >= sp::severity::warning) { made.all.emplace_back(name_of(each.cause)); }
    }
    for (auto const& each : found.all()) {
        sp::text<400> line;
        line << name_of(each.finding.severity) << ": " << each.finding.rule << " at " << each.finding.tensor << ": "
             << each.finding.measure << ' ' << each.finding.measured << " (" << each.finding.detail.view() << "), and "
             << each.finding.others << " more\n";
        made.words += line.view();
    }
    made.passes = found.passes();
    made.gradients = found.gradients().size();
    made.not_proven = found.count(sp::gradient_proof::not_proven);
    made.wrong = found.count(sp::gradient_proof::wrong);
    return made;
}

template <class Net>
[[nodiscard]] double own_error_of(arm const& how, std::uint64_t seed) {
    loop<Net> const start{how, seed};
    loop<Net> one = start;
    (void)one.pass();
    double worst = 0, largest = 0;
    for (auto const& each : one.net.parameters()) {
        for (auto const g : each.g) { largest = std::max(largest, std::abs(double(g))); }
    }
    for (std::size_t k = 0; k < one.net.parameters().size(); ++k) {
        std::size_t const count = one.net.parameters()[k].w.size();
        for (std::size_t i = 0; i < count; i += 1 + count / 40) {
            double losses[2];
            for (int side = 0; side < 2; ++side) {
                loop<Net> moved = start;
                moved.net.parameters()[k].w[i] += side == 0 ? 1e-6 : -1e-6;
                losses[side] = moved.pass();
            }
            double const derivative = (losses[0] - losses[1]) / 2e-6;
            worst = std::max(worst, std::abs(derivative - double(one.net.parameters()[k].g[i])) / largest);
        }
    }
    return worst;
}

template <template <class> class Net, class Real>
[[nodiscard]] net_entry entry_of(half of) {
    return {Net<Real>::name,
            of,
            [](fault what) { return Net<Real>::can(what); },
            [](habit what) { return Net<Real>::can(what); },
            &examine_net<Net<Real>>,
            &train_net<Net<Real>>,
            [](arm const& how, std::uint64_t seed) { return loop<Net<Real>>{how, seed}.place(); },
            &own_error_of<Net<double>>};
}

}  // namespace preflight_bench
