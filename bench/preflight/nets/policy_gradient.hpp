// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that was left out of development: a policy and its baseline (Sutton et al. 1999) on
// gathered experience, a common layer, the loss -log pi(a|s) (R - v(s)) with an entropy bonus, and the squares of the
// baseline's errors. The advantage is taken as a constant, as it is held.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class policy_gradient : public net_base<Real> {
public:
    static constexpr char const* name = "policy gradient, baseline";
    static constexpr double rate = 0.1;
    static bool can(fault what) {
        return is_general(what)
                   ? what != fault::swapped && what != fault::transposed
                   : what == fault::slope_missing || what == fault::inputs_constant || what == fault::inputs_raw;
    }
    static bool can(habit what) { return what != habit::dropout; }

    policy_gradient(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 900), n_(what.is(habit::small_batch) ? 4 : 40) {
        auto& p = this->weights_;
        p.emplace_back("body/w", in, units), p.emplace_back("body/b", 1, units);
        p.emplace_back("value/w", units, 1), p.emplace_back("value/b", 1, 1);
        p.emplace_back("actor/w", units, actions), p.emplace_back("actor/b", 1, actions);
        p[0].draw(random_, std::sqrt(1.0 / in)), p[2].draw(random_, std::sqrt(1.0 / units)),
            p[4].draw(random_, std::sqrt(0.5 / units));
        x_.resize(n_ * in), action_.resize(n_), return_.resize(n_), advantage_.resize(n_);
        for (Real& each : x_) { each = static_cast<Real>(random_.normal()); }
        for (std::size_t i = 0; i < n_; ++i) {
            action_[i] = static_cast<int>(random_.below(actions));
            return_[i] =
                static_cast<Real>((action_[i] == (x_[i * in] > 0 ? 1 : 2) ? 1.0 : -0.5) + 0.5 * double(x_[i * in + 1]));
            advantage_[i] = return_[i] - static_cast<Real>(0.2 * random_.normal());  // by the baseline that gathered it
        }
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        values<Real> h, v;
        multiply(x_, p[0].w, h, n_, in, units), add_rows(h, p[1].w);
        for (Real& each : h) { each = std::tanh(each); }
        multiply(h, p[2].w, v, n_, units, 1), add_rows(v, p[3].w);
        multiply(h, p[4].w, out_, n_, units, actions), add_rows(out_, p[5].w);
        Real loss = 0;
        Real const mean = Real(1) / static_cast<Real>(n_), bonus = Real(0.01);
        values<Real> to_actor(out_.size()), to_value(n_), back, part;
        for (std::size_t i = 0; i < n_; ++i) {
            Real top = out_[i * actions], sum = 0, entropy = 0;
            for (std::size_t j = 1; j < actions; ++j) {
                top = out_[i * actions + j] > top ? out_[i * actions + j] : top;
            }
            for (std::size_t j = 0; j < actions; ++j) { sum += std::exp(out_[i * actions + j] - top); }
            Real const log_sum = top + std::log(sum);
            for (std::size_t j = 0; j < actions; ++j) {
                Real const l = out_[i * actions + j] - log_sum;
                entropy -= std::exp(l) * l;
            }
            auto const a = static_cast<std::size_t>(action_[i]);
            Real const gap = v[i] - return_[i];
            loss += mean * (-advantage_[i] * (out_[i * actions + a] - log_sum) - bonus * entropy + gap * gap / 2);
            to_value[i] = mean * gap;
            for (std::size_t j = 0; j < actions; ++j) {
                Real const l = out_[i * actions + j] - log_sum, pi = std::exp(l);
                to_actor[i * actions + j] =
                    mean * (advantage_[i] * (pi - (j == a ? Real(1) : Real(0))) + bonus * pi * (l + entropy));
            }
        }
        add_outer(h, to_actor, p[4].g, n_, units, actions), sum_rows(to_actor, p[5].g);
        add_outer(h, to_value, p[2].g, n_, units, 1), sum_rows(to_value, p[3].g);
        multiply_back(to_actor, p[4].w, back, n_, actions, units), multiply_back(to_value, p[2].w, part, n_, 1, units);
        for (std::size_t i = 0; i < back.size(); ++i) {
            back[i] = (back[i] + part[i]) * (how.is(fault::slope_missing) ? 1 : 1 - h[i] * h[i]);
        }
        add_outer(how.is(fault::stale_input) ? kept_ : x_, back, p[0].g, n_, in, units), sum_rows(back, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 6, units = 16, actions = 3;
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, out_, return_, advantage_;
    std::vector<int> action_;
};

}  // namespace preflight_bench
