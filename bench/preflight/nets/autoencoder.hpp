// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that was left out of development: an autoencoder of four layers, swish inside and sigmoid
// outside, on numbers from 0 to 1.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class autoencoder : public net_base<Real> {
public:
    static constexpr char const* name = "autoencoder";
    static constexpr double rate = 0.5;
    static bool can(fault what) {
        return is_general(what)
                   ? what != fault::transposed && what != fault::swapped
                   : what == fault::slope_missing || what == fault::inputs_constant || what == fault::inputs_raw;
    }
    static bool can(habit what) { return what != habit::dropout; }

    autoencoder(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 800), n_(what.is(habit::small_batch) ? 4 : 30) {
        auto& p = this->weights_;
        char const* const titles[] = {"enc1", "enc2", "dec1", "dec2"};
        for (std::size_t l = 0; l < 4; ++l) {
            p.emplace_back(std::string(titles[l]) + "/w", extent[l], extent[l + 1]),
                p.back().draw(random_, std::sqrt(1.5 / double(extent[l])));
            p.emplace_back(std::string(titles[l]) + "/b", 1, extent[l + 1]);
        }
        x_.resize(n_ * extent[0]);
        for (std::size_t i = 0; i < n_; ++i) {
            double const centre = 14 * random_.uniform(), width = 1 + 3 * random_.uniform();
            for (std::size_t j = 0; j < extent[0]; ++j) {
                x_[i * extent[0] + j] =
                    static_cast<Real>(std::exp(-(double(j) - centre) * (double(j) - centre) / width));
            }
        }
        spoil_inputs(x_, extent[0], what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        std::vector<values<Real>> a(5), h(5);
        h[0] = x_;
        auto const squash = [](Real v) { return 1 / (1 + std::exp(-v)); };
        for (std::size_t l = 0; l < 4; ++l) {
            multiply(h[l], p[2 * l].w, a[l + 1], n_, extent[l], extent[l + 1]), add_rows(a[l + 1], p[2 * l + 1].w);
            h[l + 1] = a[l + 1];
            for (Real& each : h[l + 1]) { each = l < 3 ? each * squash(each) : squash(each); }
        }
        out_ = h[4];
        values<Real> slope(out_.size()), back;
        Real loss = 0;
        for (std::size_t i = 0; i < out_.size(); ++i) {
            Real const gap = out_[i] - x_[i];
            loss += gap * gap / static_cast<Real>(n_),
                slope[i] = 2 * gap / static_cast<Real>(n_) * out_[i] * (1 - out_[i]);
        }
        for (std::size_t l = 4; l-- > 0;) {
            add_outer(l == 0 && how.is(fault::stale_input) ? kept_ : h[l], slope, p[2 * l].g, n_, extent[l],
                      extent[l + 1]),
                sum_rows(slope, p[2 * l + 1].g);
            if (l == 0) { break; }
            multiply_back(slope, p[2 * l].w, back, n_, extent[l + 1], extent[l]);
            for (std::size_t i = 0; i < back.size(); ++i) {
                Real const s = squash(a[l][i]);
                back[i] *= how.is(fault::slope_missing) && l == 2 ? s : s + a[l][i] * s * (1 - s);
            }
            slope = back;
        }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t extent[] = {14, 10, 4, 9, 14};
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, out_;
};

}  // namespace preflight_bench
