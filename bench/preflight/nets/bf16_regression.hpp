// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that was left out of development: regression whose weights are bf16, with a copy in float
// that the update keeps (Micikevicius et al. 2018); tanh.
#pragma once

#include "../net.hpp"

#include <spotter/core/narrow.hpp>

namespace preflight_bench {

template <class Real>
class bf16_regression : public net_base<Real> {
public:
    static constexpr char const* name = "regression, bf16 with a master copy";
    static constexpr double rate = 0.1;
    static bool can(fault what) {
        return is_general(what) ? what != fault::swapped && what != fault::transposed && what != fault::decay_grows &&
                                      what != fault::rate_tiny
                                : what == fault::slope_missing || what == fault::inputs_constant ||
                                      what == fault::inputs_raw || what == fault::labels_ignored;
    }
    static bool can(habit what) { return what != habit::dropout && what != habit::rate_small; }
    using low_values = std::vector<spotter::bf16>;

    bf16_regression(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 1000), n_(what.is(habit::small_batch) ? 4 : 36) {
        auto& p = this->weights_;
        p.emplace_back("h1/w", in, units), p.emplace_back("h1/b", 1, units), p.emplace_back("h2/w", units, half),
            p.emplace_back("h2/b", 1, half);
        p.emplace_back("out/w", half, 1), p.emplace_back("out/b", 1, 1);
        p[0].draw(random_, std::sqrt(1.0 / in)), p[2].draw(random_, std::sqrt(1.0 / units)),
            p[4].draw(random_, std::sqrt(1.0 / half));
        x_.resize(n_ * in), y_.resize(n_);
        for (Real& each : x_) { each = static_cast<Real>(random_.normal()); }
        for (std::size_t i = 0; i < n_; ++i) {
            y_[i] = std::tanh(x_[i * in] + x_[i * in + 1]) - Real(0.5) * x_[i * in + 2];
        }
        spoil_inputs(x_, in, what);
    }

    [[nodiscard]] low_values const& shown(param<Real> const& it) const {
        if (low_.empty()) {
            low_.resize(this->weights_.size());
            for (std::size_t k = 0; k < low_.size(); ++k) { lower(k); }
        }
        return low_[static_cast<std::size_t>(&it - this->weights_.data())];
    }
    void move(std::size_t k, std::size_t i, double by) {  // the copy is moved, the weight follows
        auto& master = this->weights_[k].w;
        master[i] = static_cast<Real>(double(master[i]) + by);
        if (i + 1 == master.size()) { lower(k); }
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        (void)shown(p[0]);
        std::vector<values<Real>> w(p.size());
        for (std::size_t k = 0; k < p.size(); ++k) {
            for (std::size_t i = 0; i < p[k].w.size(); ++i) {
                w[k].push_back(std::is_same_v<Real, float> ? static_cast<Real>(to_float(low_[k][i])) : p[k].w[i]);
            }
        }
        values<Real> a, b;
        multiply(x_, w[0], a, n_, in, units), add_rows(a, w[1]);
        for (Real& each : a) { each = std::tanh(each); }
        multiply(a, w[2], b, n_, units, half), add_rows(b, w[3]);
        for (Real& each : b) { each = std::tanh(each); }
        multiply(b, w[4], out_, n_, half, 1), add_rows(out_, w[5]);
        values<Real> slope(n_), back;
        Real loss = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            Real const gap = out_[i] - (how.is(fault::labels_ignored) ? Real(0.1) : y_[i]);
            loss += gap * gap / static_cast<Real>(n_), slope[i] = 2 * gap / static_cast<Real>(n_);
        }
        add_outer(b, slope, p[4].g, n_, half, 1), sum_rows(slope, p[5].g);
        multiply_back(slope, w[4], back, n_, 1, half);
        for (std::size_t i = 0; i < back.size(); ++i) { back[i] *= 1 - b[i] * b[i]; }
        add_outer(a, back, p[2].g, n_, units, half), sum_rows(back, p[3].g);
        multiply_back(back, w[2], slope, n_, half, units);
        for (std::size_t i = 0; i < slope.size(); ++i) {
            slope[i] *= how.is(fault::slope_missing) ? 1 - std::abs(a[i]) : 1 - a[i] * a[i];
        }
        add_outer(how.is(fault::stale_input) ? kept_ : x_, slope, p[0].g, n_, in, units), sum_rows(slope, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 7, units = 18, half = 9;
    void lower(std::size_t k) const {
        low_[k].clear();
        for (Real w : this->weights_[k].w) { low_[k].push_back(spotter::detail::to_bf16(static_cast<float>(w))); }
    }
    prng random_;
    std::size_t n_;
    mutable std::vector<low_values> low_;
    values<Real> x_, kept_, y_, out_;
};

}  // namespace preflight_bench
