// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that came last: a mixture of three experts behind a softmax gate (Jacobs et al. 1991),
// regression.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class experts : public net_base<Real> {
public:
    static constexpr char const* name = "mixture of experts";
    static constexpr double rate = 0.1;
    static bool can(fault what) {
        return is_general(what) ? what != fault::transposed
                                : what == fault::slope_missing || what == fault::inputs_constant ||
                                      what == fault::inputs_raw || what == fault::labels_ignored;
    }
    static bool can(habit what) { return what != habit::dropout; }

    experts(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 1400), n_(what.is(habit::small_batch) ? 4 : 36) {
        auto& p = this->weights_;
        p.emplace_back("gate/w", in, count), p.emplace_back("gate/b", 1, count);
        for (std::size_t e = 0; e < count; ++e) {
            std::string const title = "expert" + std::to_string(e);
            p.emplace_back(title + "/1/w", in, units), p.emplace_back(title + "/1/b", 1, units),
                p.emplace_back(title + "/2/w", units, 1);
        }
        p[0].draw(random_, std::sqrt(1.0 / in));
        for (std::size_t e = 0; e < count; ++e) {
            p[2 + 3 * e].draw(random_, std::sqrt(1.0 / in)), p[4 + 3 * e].draw(random_, std::sqrt(1.0 / units));
        }
        x_.resize(n_ * in), y_.resize(n_);
        for (Real& each : x_) { each = static_cast<Real>(random_.normal()); }
        for (std::size_t i = 0; i < n_; ++i) {
            y_[i] = x_[i * in] > 0 ? std::sin(2 * x_[i * in + 1]) : Real(0.5) * x_[i * in + 2] - 1;
        }
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        values<Real> const& seen = how.is(fault::stale_input) ? kept_ : x_;
        values<Real> g, h[count], y[count];
        multiply(x_, p[0].w, g, n_, in, count), add_rows(g, p[1].w);
        for (std::size_t i = 0; i < n_; ++i) {
            Real sum = 0;
            for (std::size_t e = 0; e < count; ++e) { sum += g[i * count + e] = std::exp(g[i * count + e]); }
            for (std::size_t e = 0; e < count; ++e) { g[i * count + e] /= sum; }
        }
        out_.assign(n_, Real(0));
        for (std::size_t e = 0; e < count; ++e) {
            multiply(x_, p[2 + 3 * e].w, h[e], n_, in, units), add_rows(h[e], p[3 + 3 * e].w);
            for (Real& each : h[e]) { each = std::tanh(each); }
            multiply(h[e], p[4 + 3 * e].w, y[e], n_, units, 1);
            for (std::size_t i = 0; i < n_; ++i) { out_[i] += g[i * count + e] * y[e][i]; }
        }
        values<Real> slope(n_), to_gate(n_ * count), back;
        Real loss = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            Real const gap = out_[i] - (how.is(fault::labels_ignored) ? Real(0) : y_[i]);
            loss += gap * gap / static_cast<Real>(n_), slope[i] = 2 * gap / static_cast<Real>(n_);
            for (std::size_t e = 0; e < count; ++e) {
                to_gate[i * count + e] = slope[i] * g[i * count + e] * (y[e][i] - out_[i]);
            }
        }
        add_outer(seen, to_gate, p[0].g, n_, in, count), sum_rows(to_gate, p[1].g);
        for (std::size_t e = 0; e < count; ++e) {
            values<Real> d = slope;
            for (std::size_t i = 0; i < n_; ++i) { d[i] *= g[i * count + e]; }
            add_outer(h[e], d, p[4 + 3 * e].g, n_, units, 1);
            multiply_back(d, p[4 + 3 * e].w, back, n_, 1, units);
            for (std::size_t i = 0; i < back.size(); ++i) {
                back[i] *= how.is(fault::slope_missing) && e == 1 ? Real(1) : 1 - h[e][i] * h[e][i];
            }
            add_outer(seen, back, p[2 + 3 * e].g, n_, in, units), sum_rows(back, p[3 + 3 * e].g);
        }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 5, units = 8, count = 3;
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, y_, out_;
};

}  // namespace preflight_bench
