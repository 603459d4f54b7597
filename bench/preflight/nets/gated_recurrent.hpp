// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that was left out of development: a gated recurrent unit (Cho et al. 2014) over six steps
// that predicts the next value of a series.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class gated_recurrent : public net_base<Real> {
public:
    static constexpr char const* name = "gated recurrent net";
    static constexpr double rate = 0.1;
    static bool can(fault what) {
        return is_general(what) || what == fault::slope_missing || what == fault::short_history ||
               what == fault::wrong_matrix || what == fault::inputs_constant || what == fault::inputs_raw ||
               what == fault::labels_ignored;
    }
    static bool can(habit what) { return what != habit::dropout; }

    gated_recurrent(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 400), n_(what.is(habit::small_batch) ? 4 : 18) {
        auto& p = this->weights_;
        for (char const* gate : {"z", "r", "c"}) {
            p.emplace_back(std::string("gru/") + gate + "/w", in, units), p.back().draw(random_, std::sqrt(1.0 / in));
            p.emplace_back(std::string("gru/") + gate + "/u", units, units),
                p.back().draw(random_, std::sqrt(1.0 / units));
            p.emplace_back(std::string("gru/") + gate + "/b", 1, units);
        }
        p.emplace_back("out/w", units, in), p.back().draw(random_, std::sqrt(1.0 / units));
        p.emplace_back("out/b", 1, in);
        x_.resize(n_ * steps * in), y_.resize(n_ * in);
        for (std::size_t i = 0; i < n_; ++i) {
            double const phase = 6 * random_.uniform(), speed = 0.3 + random_.uniform();
            for (std::size_t t = 0; t <= steps; ++t) {
                for (std::size_t j = 0; j < in; ++j) {
                    Real const v =
                        static_cast<Real>(std::sin(phase + speed * double(t) + double(j)) + 0.05 * random_.normal());
                    (t < steps ? x_[(i * steps + t) * in + j] : y_[i * in + j]) = v;
                }
            }
        }
        spoil_inputs(x_, steps * in, what);
    }

    // h' = (1 - z) h + z c, c = tanh(w x + u (r h) + b)
    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        std::size_t const all = n_ * units;
        std::vector<values<Real>> h(steps + 1, values<Real>(all)), z(steps), r(steps), c(steps), rh(steps);
        for (std::size_t t = 0; t < steps; ++t) {
            values<Real> const x = at(x_, t);
            z[t] = gate(x, h[t], 0, false), r[t] = gate(x, h[t], 3, false);
            rh[t] = h[t];
            for (std::size_t i = 0; i < all; ++i) { rh[t][i] *= r[t][i]; }
            c[t] = gate(x, rh[t], 6, true);
            for (std::size_t i = 0; i < all; ++i) { h[t + 1][i] = (1 - z[t][i]) * h[t][i] + z[t][i] * c[t][i]; }
        }
        multiply(h[steps], p[9].w, out_, n_, units, in), add_rows(out_, p[10].w);
        values<Real> slope(out_.size()), back, part;
        Real loss = 0;
        for (std::size_t i = 0; i < out_.size(); ++i) {
            Real const gap = out_[i] - (how.is(fault::labels_ignored) ? Real(0.3) : y_[i]);
            loss += gap * gap / static_cast<Real>(n_), slope[i] = 2 * gap / static_cast<Real>(n_);
        }
        add_outer(h[steps], slope, p[9].g, n_, units, in), sum_rows(slope, p[10].g);
        multiply_back(slope, p[9].w, back, n_, in, units);
        std::size_t const stop = how.is(fault::short_history) ? 1 : 0;
        for (std::size_t t = steps; t-- > stop;) {
            values<Real> const x = at(how.is(fault::stale_input) ? kept_ : x_, t);
            values<Real> dz(all), dc(all), dr(all), before(all);
            for (std::size_t i = 0; i < all; ++i) {
                dz[i] = back[i] * (c[t][i] - h[t][i]) * z[t][i] * (1 - z[t][i]);
                dc[i] = back[i] * z[t][i] * (how.is(fault::slope_missing) ? 1 : 1 - c[t][i] * c[t][i]);
                before[i] = back[i] * (1 - z[t][i]);
            }
            add_outer(x, dc, p[6].g, n_, in, units), add_outer(rh[t], dc, p[7].g, n_, units, units),
                sum_rows(dc, p[8].g);
            multiply_back(dc, p[7].w, part, n_, units, units, how.is(fault::wrong_matrix));
            for (std::size_t i = 0; i < all; ++i) {
                dr[i] = part[i] * h[t][i] * r[t][i] * (1 - r[t][i]);
                before[i] += part[i] * r[t][i];
            }
            add_outer(x, dz, p[0].g, n_, in, units), add_outer(h[t], dz, p[1].g, n_, units, units),
                sum_rows(dz, p[2].g);
            add_outer(x, dr, p[3].g, n_, in, units), add_outer(h[t], dr, p[4].g, n_, units, units),
                sum_rows(dr, p[5].g);
            for (std::size_t const k : {1U, 4U}) {
                multiply_back(k == 1 ? dz : dr, p[k].w, part, n_, units, units);
                for (std::size_t i = 0; i < all; ++i) { before[i] += part[i]; }
            }
            back = before;
        }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 3, units = 10, steps = 6;
    [[nodiscard]] values<Real> at(values<Real> const& x, std::size_t t) const {
        values<Real> made(n_ * in);
        for (std::size_t i = 0; i < made.size(); ++i) { made[i] = x[(i / in * steps + t) * in + i % in]; }
        return made;
    }
    [[nodiscard]] values<Real> gate(values<Real> const& x, values<Real> const& h, std::size_t k, bool is_tanh) const {
        auto const& p = this->weights_;
        values<Real> a, b;
        multiply(x, p[k].w, a, n_, in, units), multiply(h, p[k + 1].w, b, n_, units, units);
        for (std::size_t i = 0; i < a.size(); ++i) {
            Real const sum = a[i] + b[i] + p[k + 2].w[i % units];
            a[i] = is_tanh ? std::tanh(sum) : 1 / (1 + std::exp(-sum));
        }
        return a;
    }

    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, y_, out_;
};

}  // namespace preflight_bench
