// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that was left out of development: logistic regression that begins at zero.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class logistic : public net_base<Real> {
public:
    static constexpr char const* name = "logistic regression";
    static constexpr double rate = 0.5;
    static bool can(fault what) {
        return is_general(what)
                   ? what != fault::swapped && what != fault::transposed && what != fault::detached &&
                         what != fault::zero_start && what != fault::decay_grows && what != fault::row_shifted
                   : what == fault::inputs_constant || what == fault::inputs_raw || what == fault::labels_ignored;
    }
    static bool can(habit what) {
        return what != habit::dropout && what != habit::frozen_first && what != habit::zero_head;
    }

    logistic(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 700), n_(what.is(habit::small_batch) ? 4 : 50) {
        auto& p = this->weights_;
        p.emplace_back("w", in, 1), p.emplace_back("b", 1, 1);
        x_.resize(n_ * in), y_.resize(n_);
        for (Real& each : x_) { each = static_cast<Real>(random_.normal()); }
        for (std::size_t i = 0; i < n_; ++i) {
            double sum = 0.3 * random_.normal();
            for (std::size_t j = 0; j < in; ++j) { sum += double(x_[i * in + j]) * (j % 3 == 0 ? 1.0 : -0.5); }
            y_[i] = sum > 0 ? 1 : 0;
        }
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        values<Real> const& seen = how.is(fault::stale_input) ? kept_ : x_;
        Real loss = 0;
        out_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            Real z = p[1].w[0];
            for (std::size_t j = 0; j < in; ++j) { z += p[0].w[j] * x_[i * in + j]; }
            Real const q = out_[i] = 1 / (1 + std::exp(-z));
            Real const y = how.is(fault::labels_ignored) ? Real(i % 2) : static_cast<Real>(y_[i]);
            loss += ((z > 0 ? z : Real(0)) - z * y + std::log1p(std::exp(-std::abs(z)))) / static_cast<Real>(n_);
            Real const d = (q - y) / static_cast<Real>(n_);
            for (std::size_t j = 0; j < in; ++j) { p[0].g[j] += d * seen[i * in + j]; }
            p[1].g[0] += d;
        }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 15;
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, out_;
    std::vector<int> y_;
};

}  // namespace preflight_bench
