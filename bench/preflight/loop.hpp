// SPDX-License-Identifier: Apache-2.0
// A training loop around any net of the bench: clearing, clipping, optimizers, and the faults that are not the net's
// own.
#pragma once

#include "net.hpp"

#include <spotter/core/role.hpp>
#include <spotter/core/tensor_access.hpp>

#include <algorithm>
#include <limits>

namespace preflight_bench {

template <class Net>
struct loop {
    using real = typename Net::real;

    arm how;
    Net net;
    double rate;
    std::vector<std::vector<double>> first_moments{}, second_moments{};
    int steps = 0;

    loop(arm const& what, std::uint64_t seed) : how(what), net(what, seed), rate(Net::rate) {
        rate *= how.is(fault::rate_times_1000) ? 1000
                : how.is(fault::rate_tiny)     ? 1e-7
                : how.is(fault::rate_zero)     ? 0
                                               : 1;
        rate *= how.is(habit::rate_small) ? 0.01 : how.is(habit::rate_large) ? 3 : 1;
        auto& p = net.parameters();
        for (auto& each : p) {
            first_moments.emplace_back(each.w.size());
            second_moments.emplace_back(each.w.size());
            if (how.is(fault::zero_start)) { std::fill(each.w.begin(), each.w.end(), real(0)); }
            if (how.is(habit::small_start)) {
                for (real& w : each.w) { w *= real(0.3); }
            }
        }
        if (how.is(fault::nan_start)) { p[p.size() / 2].w[0] = std::numeric_limits<real>::quiet_NaN(); }
        if (how.is(habit::zero_head)) { std::fill(p[head()].w.begin(), p[head()].w.end(), real(0)); }
    }

    // The last weight that is no bias; the first one.
    [[nodiscard]] std::size_t head() {
        auto& p = net.parameters();
        std::size_t at = p.size() - 1;
        while (at > 0 && p[at].rows == 1) { --at; }
        return at;
    }
    // A weight in the middle, where faults of one tensor are planted; and a bias.
    [[nodiscard]] std::size_t middle() {
        auto& p = net.parameters();
        for (std::size_t k = p.size() / 2; k < p.size(); ++k) {
            if (p[k].rows > 1) { return k; }
        }
        return head();
    }
    [[nodiscard]] std::size_t a_bias() {
        auto& p = net.parameters();
        for (std::size_t k = p.size(); k-- > 0;) {
            if (p[k].is_bias()) { return k; }
        }
        return p.size();
    }
    // The name of the one tensor whose gradient a fault spoils; empty for other faults.
    [[nodiscard]] std::string place() {
        auto& p = net.parameters();
        switch (how.broken) {
            case fault::weight_missing:
            case fault::one_negated:
            case fault::row_missing:
            case fault::row_shifted:
            case fault::one_not_cleared:
            case fault::adds_one:
            case fault::left_out:
                return p[middle()].name;
            case fault::bias_missing:
                return p[a_bias()].name;
            case fault::transposed:
                return p[a_square()].name;
            default:
                return {};
        }
    }
    // Two tensors of one size; none: both the same.
    [[nodiscard]] std::pair<std::size_t, std::size_t> twins() {
        auto& p = net.parameters();
        for (std::size_t a = 0; a < p.size(); ++a) {
            for (std::size_t b = a + 1; b < p.size(); ++b) {
                if (p[a].w.size() == p[b].w.size() && p[a].rows > 1) { return {a, b}; }
            }
        }
        return {0, 0};
    }
    [[nodiscard]] std::size_t a_square() {
        auto& p = net.parameters();
        for (std::size_t k = 0; k < p.size(); ++k) {
            if (p[k].rows == p[k].cols && p[k].rows > 1) { return k; }
        }
        return p.size();
    }

    double pass() {
        auto& p = net.parameters();
        double const sign = how.is(habit::negated_buffer) ? -1 : 1;
        if (!how.is(fault::never_cleared) && !how.is(habit::clears_in_update)) {
            for (std::size_t k = 0; k < p.size(); ++k) {
                if (how.is(fault::one_not_cleared) && k == middle()) { continue; }
                std::fill(p[k].g.begin(), p[k].g.end(), real(0));
            }
        }
        std::vector<std::vector<real>> before;
        for (auto& each : p) {
            before.push_back(each.g);
            std::fill(each.g.begin(), each.g.end(), real(0));
        }
        double loss = 0;
        int const parts = how.is(habit::micro_batches) ? 2 : 1;  // the same one twice
        for (int k = 0; k < parts; ++k) { loss += static_cast<double>(net.forward_backward()) / parts; }
        for (auto& each : p) {
            for (real& g : each.g) { g /= static_cast<real>(parts); }
        }
        double scale = how.is(fault::negated)        ? -1
                       : how.is(fault::half)         ? 0.5
                       : how.is(fault::sum_for_mean) ? double(net.batch())
                                                     : 1;
        scale *= how.is(fault::no_backward) ? 0 : 1;
        if (how.is(habit::sum_of_losses)) { scale *= double(net.batch()), loss *= double(net.batch()); }
        if (how.is(habit::tiny_loss)) { scale *= 1e-6, loss *= 1e-6; }
        for (std::size_t k = 0; k < p.size(); ++k) {
            for (real& g : p[k].g) { g *= static_cast<real>(scale); }
        }
        spoil();
        if (how.is(habit::decay_in_gradient) || how.is(habit::lasso_in_gradient)) {
            for (auto& each : p) {
                for (std::size_t i = 0; i < each.w.size(); ++i) {
                    real const w = each.w[i];
                    each.g[i] += how.is(habit::decay_in_gradient) ? real(0.01) * w
                                                                  : real(0.003) * (w > 0   ? real(1)
                                                                                   : w < 0 ? real(-1)
                                                                                           : real(0));
                }
            }
        }
        if (how.is(habit::clip_in_pass)) { clip(0.1); }
        if (how.is(habit::clip_values)) {
            real largest = 0;
            for (auto& each : p) {
                for (real g : each.g) { largest = std::max(largest, std::abs(g)); }
            }
            (void)largest;
            for (auto& each : p) {
                for (real& g : each.g) { g = std::clamp(g, real(-1), real(1)); }
            }
        }
        for (std::size_t k = 0; k < p.size(); ++k) {
            for (std::size_t i = 0; i < p[k].g.size(); ++i) {
                p[k].g[i] = static_cast<real>(sign) * p[k].g[i] + before[k][i];
            }
        }
        return loss;
    }

    void clip(double most) {
        double square = 0;
        for (auto& each : net.parameters()) {
            for (real g : each.g) { square += double(g) * double(g); }
        }
        double const norm = std::sqrt(square);
        if (norm <= most) { return; }
        for (auto& each : net.parameters()) {
            for (real& g : each.g) { g = static_cast<real>(double(g) * most / norm); }
        }
    }

    // Faults of single gradients.
    void spoil() {
        auto& p = net.parameters();
        auto& m = p[middle()];
        auto const zero = [](auto& it) { std::fill(it.g.begin(), it.g.end(), real(0)); };
        if (how.is(fault::weight_missing)) { zero(m); }
        if (how.is(fault::bias_missing)) { zero(p[a_bias()]); }
        if (how.is(fault::detached)) {
            for (std::size_t k = 0; k < middle(); ++k) { zero(p[k]); }
        }
        if (how.is(fault::one_negated)) {
            for (real& g : m.g) { g = -g; }
        }
        if (how.is(fault::row_missing)) {  // of the unit that learns most
            std::size_t row = 0;
            double most = -1;
            for (std::size_t r = 0; r < m.rows; ++r) {
                double sum = 0;
                for (std::size_t c = 0; c < m.cols; ++c) { sum += std::abs(double(m.g[r * m.cols + c])); }
                if (sum > most) { most = sum, row = r; }
            }
            std::fill_n(m.g.begin() + static_cast<std::ptrdiff_t>(row * m.cols), m.cols, real(0));
        }
        if (how.is(fault::row_shifted)) {
            std::rotate(m.g.begin(), m.g.begin() + static_cast<std::ptrdiff_t>(m.cols), m.g.end());
        }
        if (how.is(fault::transposed)) {
            auto& s = p[a_square()];
            std::vector<real> const g = s.g;
            for (std::size_t r = 0; r < s.rows; ++r) {
                for (std::size_t c = 0; c < s.cols; ++c) { s.g[r * s.cols + c] = g[c * s.rows + r]; }
            }
        }
        if (how.is(fault::swapped)) { std::swap(p[twins().first].g, p[twins().second].g); }
    }

    void step() {
        auto& p = net.parameters();
        ++steps;
        double now = rate;
        if (how.is(habit::warm_up)) { now *= std::min(1.0, (steps - 1) / 100.0); }
        if (how.is(habit::clip_in_update)) { clip(0.1); }
        for (std::size_t k = 0; k < p.size(); ++k) {
            if (how.is(fault::left_out) && k == middle()) { continue; }
            if (how.is(habit::frozen_first) && k == 0) { continue; }
            for (std::size_t i = 0; i < p[k].w.size(); ++i) {
                double g = double(p[k].g[i]) * (how.is(habit::negated_buffer) ? -1 : 1);
                double const w = double(p[k].w[i]);
                double d = direction(k, i, g);
                if (how.is(fault::adds) || (how.is(fault::adds_one) && k == middle())) { d = -d; }
                double decay = 0;
                if (how.is(habit::decay_in_update) || how.is(habit::adamw)) { decay = now * 0.01 * w; }
                if (how.is(fault::decay_grows)) { decay = -now * 0.01 * w; }
                net.move(k, i, -(now * scale_of_rate() * d + decay));
            }
        }
        if (how.is(habit::clears_in_update)) {
            for (auto& each : p) { std::fill(each.g.begin(), each.g.end(), real(0)); }
        }
    }
    // Adaptive steps are of the size of the rate, whatever the gradient.
    [[nodiscard]] double scale_of_rate() const noexcept {
        bool const adaptive =
            how.is(habit::adam) || how.is(habit::adamw) || how.is(habit::rmsprop) || how.is(habit::adagrad);
        if (how.is(habit::sum_of_losses)) { return 1 / double(net.batch()); }
        if (how.is(habit::tiny_loss)) { return 1e6; }
        return adaptive ? 1e-3 / Net::rate : 1;
    }
    [[nodiscard]] double direction(std::size_t k, std::size_t i, double g) {
        double &m = first_moments[k][i], &v = second_moments[k][i];
        switch (how.how) {
            case habit::momentum:
                return m = 0.9 * m + g;
            case habit::nesterov:
                m = 0.9 * m + g;
                return g + 0.9 * m;
            case habit::adam:
            case habit::adamw:
                m = 0.9 * m + 0.1 * g, v = 0.999 * v + 0.001 * g * g;
                return m / (1 - std::pow(0.9, steps)) / (std::sqrt(v / (1 - std::pow(0.999, steps))) + 1e-8);
            case habit::adagrad:
                v += g * g;
                return g / (std::sqrt(v) + 1e-8);
            case habit::rmsprop:
                v = 0.99 * v + 0.01 * g * g;
                return g / (std::sqrt(v) + 1e-8);
            default:
                return g;
        }
    }
};

// Names as people give them; with `flat_names` extents are lost, as where a weight is one std::vector.
template <class Net, class Visit>
void visit_tensors(loop<Net> const& it, Visit visit) {
    auto const& net = it.net;
    bool first = true;
    for (auto const& each : net.parameters()) {
        spotter::flag flags = it.how.is(habit::frozen_first) && first ? spotter::flag::frozen : spotter::flag::none;
        first = false;
        if (each.rows == 1 || it.how.is(habit::flat_names)) {
            visit(each.name, net.shown(each), flags);
        } else {
            visit(each.name, spotter::view_of(net.shown(each), {each.rows, each.cols}), flags);
        }
    }
    for (auto const& each : net.parameters()) {
        spotter::flag const flags = it.how.is(habit::negated_buffer) ? spotter::flag::negated : spotter::flag::none;
        visit("grad/" + each.name, each.g, flags);
    }
}

}  // namespace preflight_bench
