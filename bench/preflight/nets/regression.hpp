// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net for development: regression in double by one hidden layer of softplus; squares.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class softplus_regression : public net_base<Real> {
public:
    static constexpr char const* name = "regression, double";
    static constexpr double rate = 0.02;
    static bool can(fault what) {
        return is_general(what) ? what != fault::swapped && what != fault::transposed
                                : what == fault::slope_missing || what == fault::inputs_constant ||
                                      what == fault::inputs_raw || what == fault::labels_ignored;
    }
    static bool can(habit what) { return what != habit::dropout; }

    softplus_regression(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed), n_(what.is(habit::small_batch) ? 4 : 40) {
        auto& p = this->weights_;
        p.emplace_back("hidden/w", in, units), p.emplace_back("hidden/b", 1, units), p.emplace_back("out/w", units, 2),
            p.emplace_back("out/b", 1, 2);
        p[0].draw(random_, std::sqrt(1.0 / in)), p[2].draw(random_, std::sqrt(1.0 / units));
        x_.resize(n_ * in), y_.resize(2 * n_);
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t j = 0; j < in; ++j) { x_[i * in + j] = static_cast<Real>(random_.normal()); }
            Real const a = x_[i * in], b = x_[i * in + 1];
            y_[2 * i] = std::sin(2 * a) + b, y_[2 * i + 1] = a * b;
        }
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        multiply(x_, p[0].w, a_, n_, in, units), add_rows(a_, p[1].w);
        values<Real> h = a_;
        for (Real& each : h) { each = each > 0 ? each + std::log1p(std::exp(-each)) : std::log1p(std::exp(each)); }
        multiply(h, p[2].w, out_, n_, units, 2), add_rows(out_, p[3].w);
        values<Real> slope(out_.size()), back;
        Real loss = 0;
        for (std::size_t i = 0; i < out_.size(); ++i) {
            Real const gap = out_[i] - (how.is(fault::labels_ignored) ? Real(0.5) : y_[i]);
            loss += gap * gap / static_cast<Real>(n_), slope[i] = 2 * gap / static_cast<Real>(n_);
        }
        add_outer(h, slope, p[2].g, n_, units, 2), sum_rows(slope, p[3].g);
        multiply_back(slope, p[2].w, back, n_, 2, units);
        for (std::size_t i = 0; i < back.size(); ++i) {
            Real const s = 1 / (1 + std::exp(-a_[i]));
            back[i] *= how.is(fault::slope_missing) ? s * (1 - s) : s;  // that of a sigmoid
        }
        add_outer(how.is(fault::stale_input) ? kept_ : x_, back, p[0].g, n_, in, units), sum_rows(back, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 5, units = 20;
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, y_, a_, out_;
};

}  // namespace preflight_bench
