// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that came last: a sum over the members of a set between two nets (Zaheer et al. 2017),
// ReLU; squares.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class deep_set : public net_base<Real> {
public:
    static constexpr char const* name = "deep set";
    static constexpr double rate = 0.002;
    static bool can(fault what) {
        return is_general(what) ? what != fault::transposed && what != fault::swapped
                                : what == fault::slope_missing || what == fault::inputs_constant ||
                                      what == fault::inputs_raw || what == fault::labels_ignored;
    }
    static bool can(habit what) { return what != habit::dropout; }

    deep_set(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 1600), n_(what.is(habit::small_batch) ? 4 : 16) {
        auto& p = this->weights_;
        p.emplace_back("phi1/w", in, units), p.emplace_back("phi1/b", 1, units), p.emplace_back("phi2/w", units, wide);
        p.emplace_back("rho1/w", wide, half), p.emplace_back("rho1/b", 1, half), p.emplace_back("rho2/w", half, 1),
            p.emplace_back("rho2/b", 1, 1);
        p[0].draw(random_, std::sqrt(2.0 / in)), p[2].draw(random_, std::sqrt(0.5 / units)),
            p[3].draw(random_, std::sqrt(1.0 / wide)), p[5].draw(random_, std::sqrt(1.0 / half));
        x_.resize(n_ * members * in), y_.resize(n_);
        for (Real& each : x_) { each = static_cast<Real>(random_.normal()); }
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t m = 0; m < members; ++m) { y_[i] += std::abs(x_[(i * members + m) * in]) / 2; }
            y_[i] -= 2;
        }
        std::size_t const d = members * in;
        spoil_inputs(x_, d, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        std::size_t const rows = n_ * members;
        values<Real> h, f, s(n_ * wide, Real(0)), r;
        multiply(x_, p[0].w, h, rows, in, units), add_rows(h, p[1].w);
        for (Real& each : h) { each = each > 0 ? each : 0; }
        multiply(h, p[2].w, f, rows, units, wide);
        for (std::size_t i = 0; i < f.size(); ++i) { s[i / (members * wide) * wide + i % wide] += f[i]; }
        multiply(s, p[3].w, r, n_, wide, half), add_rows(r, p[4].w);
        for (Real& each : r) { each = each > 0 ? each : 0; }
        multiply(r, p[5].w, out_, n_, half, 1), add_rows(out_, p[6].w);
        values<Real> slope(n_), back, to_s, to_f(f.size());
        Real loss = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            Real const gap = out_[i] - (how.is(fault::labels_ignored) ? Real(0) : y_[i]);
            loss += gap * gap / static_cast<Real>(n_), slope[i] = 2 * gap / static_cast<Real>(n_);
        }
        add_outer(r, slope, p[5].g, n_, half, 1), sum_rows(slope, p[6].g);
        multiply_back(slope, p[5].w, back, n_, 1, half);
        for (std::size_t i = 0; i < back.size(); ++i) { back[i] = r[i] > 0 ? back[i] : 0; }
        add_outer(s, back, p[3].g, n_, wide, half), sum_rows(back, p[4].g);
        multiply_back(back, p[3].w, to_s, n_, half, wide);
        for (std::size_t i = 0; i < to_f.size(); ++i) { to_f[i] = to_s[i / (members * wide) * wide + i % wide]; }
        add_outer(h, to_f, p[2].g, rows, units, wide);
        multiply_back(to_f, p[2].w, back, rows, wide, units);
        for (std::size_t i = 0; i < back.size(); ++i) {
            back[i] = h[i] > 0 || how.is(fault::slope_missing) ? back[i] : 0;
        }
        add_outer(how.is(fault::stale_input) ? kept_ : x_, back, p[0].g, rows, in, units), sum_rows(back, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 3, members = 6, units = 10, wide = 8, half = 7;
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, y_, out_;
};

}  // namespace preflight_bench
