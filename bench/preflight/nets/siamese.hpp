// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that came last: one embedding for both of a pair, the contrastive loss of their distance
// (Hadsell, Chopra and LeCun 2006).
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class siamese : public net_base<Real> {
public:
    static constexpr char const* name = "siamese net, pairs";
    static constexpr double rate = 0.2;
    static bool can(fault what) {
        return is_general(what) ? what != fault::transposed && what != fault::swapped && what != fault::bias_missing
                                : what == fault::slope_missing || what == fault::inputs_constant ||
                                      what == fault::inputs_raw || what == fault::labels_ignored;
    }
    static bool can(habit what) { return what != habit::dropout && what != habit::zero_head; }

    siamese(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 1300), pairs_(what.is(habit::small_batch) ? 4 : 20) {
        auto& p = this->weights_;
        p.emplace_back("e1/w", in, units), p.emplace_back("e1/b", 1, units), p.emplace_back("e2/w", units, out),
            p.emplace_back("e2/b", 1, out);
        p[0].draw(random_, std::sqrt(1.5 / in)), p[2].draw(random_, std::sqrt(1.0 / units));
        x_.resize(2 * pairs_ * in), same_.resize(pairs_);
        for (std::size_t i = 0; i < pairs_; ++i) {
            same_[i] = static_cast<int>(i % 2);
            for (std::size_t j = 0; j < in; ++j) {
                double const a = random_.normal();
                x_[2 * i * in + j] = static_cast<Real>(a);
                x_[(2 * i + 1) * in + j] =
                    static_cast<Real>(same_[i] == 1 ? a + 0.3 * random_.normal() : random_.normal());
            }
        }
        spoil_inputs(x_, 2 * in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        std::size_t const n = 2 * pairs_;
        values<Real> h;
        multiply(x_, p[0].w, h, n, in, units), add_rows(h, p[1].w);
        for (Real& each : h) { each = each > 0 ? each : Real(0.2) * each; }
        multiply(h, p[2].w, z_, n, units, out), add_rows(z_, p[3].w);
        values<Real> slope(z_.size(), Real(0)), back;
        Real loss = 0;
        Real const mean = Real(1) / static_cast<Real>(pairs_);
        for (std::size_t i = 0; i < pairs_; ++i) {
            Real square = Real(1e-6);
            for (std::size_t j = 0; j < out; ++j) {
                Real const d = z_[2 * i * out + j] - z_[(2 * i + 1) * out + j];
                square += d * d;
            }
            Real const distance = std::sqrt(square), gap = 2 - distance;
            bool const same = how.is(fault::labels_ignored) ? i % 3 == 0 : same_[i] == 1;
            loss += mean * (same ? square : gap > 0 ? gap * gap : Real(0));
            Real const by = mean * (same ? Real(2) : gap > 0 ? -2 * gap / distance : Real(0));
            for (std::size_t j = 0; j < out; ++j) {
                Real const d = z_[2 * i * out + j] - z_[(2 * i + 1) * out + j];
                slope[2 * i * out + j] = by * d, slope[(2 * i + 1) * out + j] = -by * d;
            }
        }
        add_outer(h, slope, p[2].g, n, units, out), sum_rows(slope, p[3].g);
        multiply_back(slope, p[2].w, back, n, out, units);
        for (std::size_t i = 0; i < back.size(); ++i) {
            back[i] *= h[i] > 0 || how.is(fault::slope_missing) ? Real(1) : Real(0.2);
        }
        add_outer(how.is(fault::stale_input) ? kept_ : x_, back, p[0].g, n, in, units), sum_rows(back, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return pairs_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return same_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return z_; }

private:
    static constexpr std::size_t in = 7, units = 16, out = 3;
    prng random_;
    std::size_t pairs_;
    values<Real> x_, kept_, z_;
    std::vector<int> same_;
};

}  // namespace preflight_bench
