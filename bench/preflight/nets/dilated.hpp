// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that came last: two convolutions along time, the second with gaps of two, ReLU, the largest
// of all times, a logistic output.
#pragma once

#include "../net.hpp"

#include <algorithm>

namespace preflight_bench {

template <class Real>
class dilated : public net_base<Real> {
public:
    static constexpr char const* name = "convolution along time";
    static constexpr double rate = 0.2;
    static bool can(fault what) {
        return is_general(what)
                   ? what != fault::transposed && what != fault::swapped
                   : what == fault::slope_missing || what == fault::wrong_matrix || what == fault::inputs_constant ||
                         what == fault::inputs_raw || what == fault::labels_ignored || what == fault::dead_units;
    }
    static bool can(habit what) { return what != habit::dropout; }

    dilated(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 1500), n_(what.is(habit::small_batch) ? 4 : 20) {
        auto& p = this->weights_;
        p.emplace_back("t1/w", first, 3), p.emplace_back("t1/b", 1, first), p.emplace_back("t2/w", second, first * 3),
            p.emplace_back("t2/b", 1, second);
        p.emplace_back("out/w", second, 1), p.emplace_back("out/b", 1, 1);
        p[0].draw(random_, std::sqrt(2.0 / 3)), p[2].draw(random_, std::sqrt(2.0 / (3 * first))),
            p[4].draw(random_, std::sqrt(1.0 / second));
        if (what.is(fault::dead_units)) { std::fill(p[1].w.begin(), p[1].w.end(), Real(-100)); }
        x_.resize(n_ * length), y_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            y_[i] = static_cast<Real>(i % 2);
            std::size_t const at = 3 + random_.below(length - 6);
            for (std::size_t t = 0; t < length; ++t) {
                bool const bump = t + 2 >= at && t <= at + 2;
                x_[i * length + t] =
                    static_cast<Real>(0.5 * random_.normal() + (bump ? (y_[i] > 0 ? 1.5 : -1.0) : 0.0));
            }
        }
        spoil_inputs(x_, length, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        values<Real> a = along(x_, p[0].w, p[1].w, 1, first, 1), h = a;
        for (Real& each : h) { each = each > 0 ? each : 0; }
        values<Real> b = along(h, p[2].w, p[3].w, first, second, 2), top(n_ * second), z;
        std::vector<std::size_t> at(n_ * second);
        for (std::size_t i = 0; i < top.size(); ++i) {
            for (std::size_t t = 0; t < length; ++t) { at[i] = b[i * length + t] > b[i * length + at[i]] ? t : at[i]; }
            top[i] = b[i * length + at[i]];
        }
        multiply(top, p[4].w, z, n_, second, 1), add_rows(z, p[5].w);
        out_ = z;
        values<Real> slope(n_), back, to_b(b.size(), Real(0)), to_a(a.size(), Real(0));
        Real loss = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            Real const y = how.is(fault::labels_ignored) ? Real(1) : y_[i], q = out_[i] = 1 / (1 + std::exp(-z[i]));
            loss += ((z[i] > 0 ? z[i] : Real(0)) - z[i] * y + std::log1p(std::exp(-std::abs(z[i])))) /
                    static_cast<Real>(n_);
            slope[i] = (q - y) / static_cast<Real>(n_);
        }
        add_outer(top, slope, p[4].g, n_, second, 1), sum_rows(slope, p[5].g);
        multiply_back(slope, p[4].w, back, n_, 1, second);
        for (std::size_t i = 0; i < back.size(); ++i) { to_b[i * length + at[i]] = back[i]; }
        back_along(h, p[2].w, to_b, p[2].g, p[3].g, &to_a, first, second, 2, how.is(fault::wrong_matrix));
        for (std::size_t i = 0; i < to_a.size(); ++i) {
            to_a[i] = a[i] > 0 || how.is(fault::slope_missing) ? to_a[i] : 0;
        }
        back_along(how.is(fault::stale_input) ? kept_ : x_, p[0].w, to_a, p[0].g, p[1].g, nullptr, 1, first, 1, false);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t length = 18, first = 4, second = 5;
    template <class Use>
    void each_tap(std::size_t from, std::size_t to, std::size_t gap, Use use) const {
        for (std::size_t i = 0; i < n_ * to * length; ++i) {
            std::size_t const t = i % length, o = i / length % to, n = i / (length * to);
            for (std::size_t k = 0; k < 3 * from; ++k) {
                std::size_t const at = t + k % 3 * gap;
                if (at >= gap && at - gap < length) {
                    use(i, (n * from + k / 3) * length + at - gap, o * 3 * from + k,
                        o * 3 * from + k / 3 * 3 + 2 - k % 3);
                }
            }
        }
    }
    [[nodiscard]] values<Real> along(values<Real> const& x, values<Real> const& w, values<Real> const& bias,
                                     std::size_t from, std::size_t to, std::size_t gap) const {
        values<Real> made(n_ * to * length, Real(0));
        each_tap(from, to, gap,
                 [&](std::size_t i, std::size_t j, std::size_t k, std::size_t) { made[i] += x[j] * w[k]; });
        for (std::size_t i = 0; i < made.size(); ++i) { made[i] += bias[i / length % to]; }
        return made;
    }
    void back_along(values<Real> const& x, values<Real> const& w, values<Real> const& slope, values<Real>& gw,
                    values<Real>& gb, values<Real>* before, std::size_t from, std::size_t to, std::size_t gap,
                    bool flipped) const {
        each_tap(from, to, gap, [&](std::size_t i, std::size_t j, std::size_t k, std::size_t turned) {
            gw[k] += slope[i] * x[j];
            if (before != nullptr) { (*before)[j] += slope[i] * w[flipped ? turned : k]; }
        });
        for (std::size_t i = 0; i < slope.size(); ++i) { gb[i / length % to] += slope[i]; }
    }
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, y_, out_;
};

}  // namespace preflight_bench
