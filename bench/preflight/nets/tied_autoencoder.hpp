// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net for development: an autoencoder whose decoder is its encoder transposed; its input is its
// target.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class tied_autoencoder : public net_base<Real> {
public:
    static constexpr char const* name = "autoencoder, tied weights";
    static constexpr double rate = 0.05;
    static bool can(fault what) {
        return is_general(what)
                   ? what != fault::swapped && what != fault::transposed && what != fault::detached &&
                         what != fault::zero_start && what != fault::sum_for_mean
                   : what == fault::slope_missing || what == fault::inputs_constant || what == fault::inputs_raw;
    }
    static bool can(habit what) {
        return what != habit::dropout && what != habit::zero_head && what != habit::frozen_first;
    }

    tied_autoencoder(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed), n_(what.is(habit::small_batch) ? 4 : 25) {
        auto& p = this->weights_;
        p.emplace_back("tied/w", in, units), p.emplace_back("code/b", 1, units), p.emplace_back("out/b", 1, in);
        p[0].draw(random_, std::sqrt(1.0 / in));
        x_.resize(n_ * in);
        for (std::size_t i = 0; i < n_; ++i) {
            double const a = random_.normal(), b = random_.normal();
            for (std::size_t j = 0; j < in; ++j) {
                x_[i * in + j] =
                    static_cast<Real>(std::sin(a + double(j)) + 0.5 * b * std::cos(double(j)) + 0.1 * random_.normal());
            }
        }
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        multiply(x_, p[0].w, h_, n_, in, units), add_rows(h_, p[1].w);
        for (Real& each : h_) { each = std::tanh(each); }
        multiply_back(h_, p[0].w, out_, n_, units, in), add_rows(out_, p[2].w);
        values<Real> slope(out_.size()), back;
        Real loss = 0;
        Real const scale = Real(1) / static_cast<Real>(n_ * in);
        for (std::size_t i = 0; i < out_.size(); ++i) {
            Real const gap = out_[i] - x_[i];
            loss += scale * gap * gap, slope[i] = 2 * scale * gap;
        }
        sum_rows(slope, p[2].g);
        add_outer(slope, h_, p[0].g, n_, in, units);  // of the decoder
        multiply(slope, p[0].w, back, n_, in, units);
        for (std::size_t i = 0; i < back.size(); ++i) {
            back[i] *= how.is(fault::slope_missing) ? 1 - std::abs(h_[i]) : 1 - h_[i] * h_[i];
        }
        add_outer(how.is(fault::stale_input) ? kept_ : x_, back, p[0].g, n_, in, units);  // and of the encoder
        sum_rows(back, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 16, units = 7;
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, h_, out_;
};

}  // namespace preflight_bench
