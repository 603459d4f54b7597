// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net for development: perceptron with sigmoids and several labels a sample, binary
// cross-entropy.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class sigmoid_perceptron : public net_base<Real> {
public:
    static constexpr char const* name = "perceptron, sigmoid";
    static constexpr double rate = 0.5;
    static bool can(fault what) {
        return is_general(what)
                   ? what != fault::swapped
                   : what == fault::slope_missing || what == fault::inputs_constant || what == fault::inputs_raw ||
                         what == fault::labels_ignored || what == fault::batch_mixed || what == fault::wrong_matrix;
    }
    static bool can(habit what) { return what != habit::dropout; }

    sigmoid_perceptron(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed), n_(what.is(habit::small_batch) ? 4 : 24) {
        auto& p = this->weights_;
        p.emplace_back("in/w", in, units), p.emplace_back("in/b", 1, units);
        p.emplace_back("mid/w", units, units), p.emplace_back("mid/b", 1, units);
        p.emplace_back("out/w", units, tags), p.emplace_back("out/b", 1, tags);
        p[0].draw(random_, std::sqrt(1.0 / in)), p[2].draw(random_, 2 * std::sqrt(1.0 / units)),
            p[4].draw(random_, std::sqrt(1.0 / units));
        x_.resize(n_ * in), y_.resize(n_ * tags);
        values<double> truth(in * tags);
        for (double& each : truth) { each = random_.normal(); }
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t j = 0; j < in; ++j) { x_[i * in + j] = static_cast<Real>(random_.normal()); }
            for (std::size_t k = 0; k < tags; ++k) {
                double sum = 0;
                for (std::size_t j = 0; j < in; ++j) { sum += double(x_[i * in + j]) * truth[j * tags + k]; }
                y_[i * tags + k] = sum > 0 ? Real(1) : Real(0);
            }
        }
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        values<Real> const x = how.is(fault::batch_mixed) ? mixed(x_, n_, in) : x_;
        auto const squash = [](values<Real>& a) {
            for (Real& each : a) { each = Real(1) / (Real(1) + std::exp(-each)); }
        };
        multiply(x, p[0].w, h1_, n_, in, units), add_rows(h1_, p[1].w), squash(h1_);
        multiply(h1_, p[2].w, h2_, n_, units, units), add_rows(h2_, p[3].w), squash(h2_);
        multiply(h2_, p[4].w, out_, n_, units, tags), add_rows(out_, p[5].w), squash(out_);
        values<Real> slope(n_ * tags), back;
        Real loss = 0;
        Real const scale = Real(1) / static_cast<Real>(n_);
        for (std::size_t i = 0; i < out_.size(); ++i) {
            Real const y = how.is(fault::labels_ignored) ? Real(i % 2) : y_[i], q = out_[i];
            loss -= scale * (y * std::log(q + Real(1e-12)) + (1 - y) * std::log(1 - q + Real(1e-12)));
            slope[i] = scale * (q - y);
        }
        add_outer(h2_, slope, p[4].g, n_, units, tags), sum_rows(slope, p[5].g);
        multiply_back(slope, p[4].w, back, n_, tags, units);
        for (std::size_t i = 0; i < back.size(); ++i) { back[i] *= h2_[i] * (1 - h2_[i]); }
        add_outer(h1_, back, p[2].g, n_, units, units), sum_rows(back, p[3].g);
        multiply_back(back, p[2].w, slope, n_, units, units, how.is(fault::wrong_matrix));
        for (std::size_t i = 0; i < slope.size(); ++i) {
            slope[i] *= how.is(fault::slope_missing) ? h1_[i] : h1_[i] * (1 - h1_[i]);
        }
        add_outer(how.is(fault::stale_input) ? kept_ : x, slope, p[0].g, n_, in, units), sum_rows(slope, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 10, units = 16, tags = 6;
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, y_, h1_, h2_, out_;
};

}  // namespace preflight_bench
