// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that was left out of development: seven layers with leaky ReLU, absolute errors smoothed at
// zero (Huber).
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class leaky_perceptron : public net_base<Real> {
public:
    static constexpr char const* name = "deep perceptron, leaky ReLU";
    static constexpr double rate = 0.05;
    static bool can(fault what) {
        return is_general(what) || what == fault::slope_missing || what == fault::wrong_matrix ||
               what == fault::inputs_constant || what == fault::inputs_raw || what == fault::labels_ignored ||
               what == fault::batch_mixed;
    }
    static bool can(habit what) { return what != habit::dropout; }

    leaky_perceptron(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 200), n_(what.is(habit::small_batch) ? 4 : 32) {
        auto& p = this->weights_;
        for (std::size_t l = 0; l < layers; ++l) {
            std::string const title = "dense" + std::to_string(l);
            p.emplace_back(title + "/w", extent(l), extent(l + 1)),
                p.back().draw(random_, std::sqrt((l + 1 < layers ? 1.9 : 1.0) / double(extent(l))));
            p.emplace_back(title + "/b", 1, extent(l + 1));
        }
        x_.resize(n_ * in), y_.resize(n_);
        for (Real& each : x_) { each = static_cast<Real>(random_.normal()); }
        for (std::size_t i = 0; i < n_; ++i) {
            y_[i] =
                static_cast<Real>(2 * std::sin(double(x_[i * in])) - double(x_[i * in + 1]) * double(x_[i * in + 2]));
        }
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        std::vector<values<Real>> a(layers + 1), h(layers + 1);
        h[0] = how.is(fault::batch_mixed) ? mixed(x_, n_, in) : x_;
        for (std::size_t l = 0; l < layers; ++l) {
            multiply(h[l], p[2 * l].w, a[l + 1], n_, extent(l), extent(l + 1)), add_rows(a[l + 1], p[2 * l + 1].w);
            h[l + 1] = a[l + 1];
            for (Real& each : h[l + 1]) { each *= each > 0 || l + 1 == layers ? Real(1) : Real(0.1); }
        }
        out_ = h[layers];
        values<Real> slope(n_), back;
        Real loss = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            Real const gap = out_[i] - (how.is(fault::labels_ignored) ? Real(1) : y_[i]), size = std::abs(gap);
            loss += (size < 1 ? gap * gap / 2 : size - Real(0.5)) / static_cast<Real>(n_);
            slope[i] = (size < 1 ? gap : gap > 0 ? Real(1) : Real(-1)) / static_cast<Real>(n_);
        }
        for (std::size_t l = layers; l-- > 0;) {
            add_outer(l == 0 && how.is(fault::stale_input) ? kept_ : h[l], slope, p[2 * l].g, n_, extent(l),
                      extent(l + 1)),
                sum_rows(slope, p[2 * l + 1].g);
            if (l == 0) { break; }
            multiply_back(slope, p[2 * l].w, back, n_, extent(l + 1), extent(l), how.is(fault::wrong_matrix) && l == 4);
            for (std::size_t i = 0; i < back.size(); ++i) {
                // That of a plain ReLU.
                Real const below = how.is(fault::slope_missing) && l == 3 ? Real(0) : Real(0.1);
                back[i] *= a[l][i] > 0 ? Real(1) : below;
            }
            slope = back;
        }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 8, units = 14, layers = 7;
    [[nodiscard]] static constexpr std::size_t extent(std::size_t l) noexcept {
        return l == 0 ? in : l == layers ? 1 : units;
    }
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, y_, out_;
};

}  // namespace preflight_bench
