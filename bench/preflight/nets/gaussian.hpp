// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that came last: a mean and a logarithm of the deviation for each sample, the likelihood of
// a normal target: a loss that may be below zero; double, dropout as a habit.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class gaussian : public net_base<Real> {
public:
    static constexpr char const* name = "normal likelihood, double";
    static constexpr double rate = 0.003;
    static bool can(fault what) {
        return is_general(what)
                   ? what != fault::transposed && what != fault::swapped
                   : what == fault::slope_missing || what == fault::inputs_constant || what == fault::inputs_raw ||
                         what == fault::labels_ignored || what == fault::dropout_backward;
    }
    static bool can(habit) { return true; }

    gaussian(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 1700), n_(what.is(habit::small_batch) ? 4 : 30) {
        auto& p = this->weights_;
        p.emplace_back("h/w", in, units), p.emplace_back("h/b", 1, units), p.emplace_back("out/w", units, 2),
            p.emplace_back("out/b", 1, 2);
        p[0].draw(random_, std::sqrt(1.0 / in)), p[2].draw(random_, std::sqrt(0.3 / units));
        p[3].w[1] = Real(-0.5);
        x_.resize(n_ * in), y_.resize(n_);
        for (Real& each : x_) { each = static_cast<Real>(random_.normal()); }
        for (std::size_t i = 0; i < n_; ++i) {
            y_[i] = static_cast<Real>(0.3 * std::sin(double(x_[i * in])) +
                                      0.2 * std::exp(0.3 * double(x_[i * in + 1])) * random_.normal());
        }
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        values<Real> h, kept;
        multiply(x_, p[0].w, h, n_, in, units), add_rows(h, p[1].w);
        for (Real& each : h) { each = std::tanh(each); }
        values<Real> mask(h.size(), Real(1)), dropped = h;
        if (how.is(habit::dropout) || how.is(fault::dropout_backward)) {
            for (std::size_t i = 0; i < h.size(); ++i) {
                dropped[i] *= mask[i] = random_.uniform() < 0.25 ? Real(0) : Real(1 / 0.75);
            }
        }
        multiply(dropped, p[2].w, out_, n_, units, 2), add_rows(out_, p[3].w);
        values<Real> slope(out_.size()), back;
        Real loss = 0;
        Real const mean = Real(1) / static_cast<Real>(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            Real const gap = (how.is(fault::labels_ignored) ? Real(0.1) : y_[i]) - out_[2 * i], s = out_[2 * i + 1],
                       precision = std::exp(-2 * s);
            loss += mean * (s + gap * gap * precision / 2);
            slope[2 * i] = -mean * gap * precision, slope[2 * i + 1] = mean * (1 - gap * gap * precision);
        }
        add_outer(dropped, slope, p[2].g, n_, units, 2), sum_rows(slope, p[3].g);
        multiply_back(slope, p[2].w, back, n_, 2, units);
        for (std::size_t i = 0; i < back.size(); ++i) {
            back[i] *= (how.is(fault::slope_missing) ? 1 - std::abs(h[i]) : 1 - h[i] * h[i]) *
                       (how.is(fault::dropout_backward) ? Real(1) : mask[i]);
        }
        add_outer(how.is(fault::stale_input) ? kept_ : x_, back, p[0].g, n_, in, units), sum_rows(back, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 4, units = 14;
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, y_, out_;
};

}  // namespace preflight_bench
