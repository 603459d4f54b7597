// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that came last: a long short-term memory (Hochreiter and Schmidhuber 1997, with forget
// gates) over seven steps, softmax at its end.
#pragma once

#include "../net.hpp"

#include <algorithm>

namespace preflight_bench {

template <class Real>
class lstm : public net_base<Real> {
public:
    static constexpr char const* name = "long short-term memory";
    static constexpr double rate = 0.3;
    static bool can(fault what) {
        return what != fault::norm_terms_missing && what != fault::wrong_embedding_row &&
               what != fault::dropout_backward && what != fault::dead_units && what != fault::batch_mixed &&
               what != fault::transposed && what != fault::swapped && what != fault::wrong_matrix;
    }
    static bool can(habit what) { return what != habit::dropout; }

    lstm(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 1200), n_(what.is(habit::small_batch) ? 4 : 15) {
        auto& p = this->weights_;
        p.emplace_back("cell/w", in + units, 4 * units), p.emplace_back("cell/b", 1, 4 * units);
        p.emplace_back("out/w", units, classes), p.emplace_back("out/b", 1, classes);
        p[0].draw(random_, std::sqrt(1.0 / (in + units))), p[2].draw(random_, std::sqrt(1.0 / units));
        std::fill_n(p[1].w.begin() + units, units, Real(1));  // forget gates begin open
        draw_classes(random_, x_, labels_, n_, steps * in, classes, what);
        spoil_inputs(x_, steps * in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        std::size_t const all = n_ * units;
        std::vector<values<Real>> a(steps), gates(steps), c(steps + 1, values<Real>(all)),
            h(steps + 1, values<Real>(all));
        for (std::size_t t = 0; t < steps; ++t) {
            a[t] = joined(x_, h[t], t);
            multiply(a[t], p[0].w, gates[t], n_, in + units, 4 * units), add_rows(gates[t], p[1].w);
            for (std::size_t i = 0; i < all; ++i) {
                Real* const g = &gates[t][i / units * 4 * units + i % units];
                for (std::size_t k = 0; k < 4; ++k) {
                    g[k * units] = k == 3 ? std::tanh(g[k * units]) : 1 / (1 + std::exp(-g[k * units]));
                }
                c[t + 1][i] = g[units] * c[t][i] + g[0] * g[3 * units];
                h[t + 1][i] = g[2 * units] * std::tanh(c[t + 1][i]);
            }
        }
        multiply(h[steps], p[2].w, out_, n_, units, classes), add_rows(out_, p[3].w);
        values<Real> slope, dh, dc(all, Real(0)), back;
        Real const loss = softmax_loss(out_, labels_, n_, classes, how, shown_, slope);
        add_outer(h[steps], slope, p[2].g, n_, units, classes), sum_rows(slope, p[3].g);
        multiply_back(slope, p[2].w, dh, n_, classes, units);
        for (std::size_t t = steps; t-- > (how.is(fault::short_history) ? 1U : 0U);) {
            values<Real> d(n_ * 4 * units);
            for (std::size_t i = 0; i < all; ++i) {
                Real const* const g = &gates[t][i / units * 4 * units + i % units];
                Real* const to = &d[i / units * 4 * units + i % units];
                Real const y = std::tanh(c[t + 1][i]);
                dc[i] += dh[i] * g[2 * units] * (how.is(fault::slope_missing) ? 1 : 1 - y * y);
                to[0] = dc[i] * g[3 * units] * g[0] * (1 - g[0]);
                to[units] = dc[i] * c[t][i] * g[units] * (1 - g[units]);
                to[2 * units] = dh[i] * y * g[2 * units] * (1 - g[2 * units]);
                to[3 * units] = dc[i] * g[0] * (1 - g[3 * units] * g[3 * units]);
                dc[i] *= g[units];
            }
            add_outer(how.is(fault::stale_input) ? joined(kept_, h[t], t) : a[t], d, p[0].g, n_, in + units, 4 * units),
                sum_rows(d, p[1].g);
            multiply_back(d, p[0].w, back, n_, 4 * units, in + units);
            for (std::size_t i = 0; i < all; ++i) { dh[i] = back[i / units * (in + units) + in + i % units]; }
        }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return labels_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return shown_; }

private:
    static constexpr std::size_t in = 5, units = 9, classes = 3, steps = 7;
    [[nodiscard]] values<Real> joined(values<Real> const& x, values<Real> const& h, std::size_t t) const {
        values<Real> made(n_ * (in + units));
        for (std::size_t i = 0; i < made.size(); ++i) {
            std::size_t const r = i / (in + units), j = i % (in + units);
            made[i] = j < in ? x[(r * steps + t) * in + j] : h[r * units + j - in];
        }
        return made;
    }
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, out_, shown_;
    std::vector<int> labels_;
};

}  // namespace preflight_bench
