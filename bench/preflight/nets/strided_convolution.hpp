// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that was left out of development: a convolution of 3 x 3 with stride 2 on two channels,
// softsign, average pooling of all places, a dense layer, softmax.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class strided_convolution : public net_base<Real> {
public:
    static constexpr char const* name = "convolution, average pooling";
    static constexpr double rate = 0.3;
    static bool can(fault what) {
        return what != fault::norm_terms_missing && what != fault::short_history &&
               what != fault::wrong_embedding_row && what != fault::dropout_backward && what != fault::transposed &&
               what != fault::swapped && what != fault::batch_mixed && what != fault::dead_units;
    }
    static bool can(habit what) { return what != habit::dropout; }

    strided_convolution(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 300), n_(what.is(habit::small_batch) ? 4 : 16) {
        auto& p = this->weights_;
        p.emplace_back("c1/w", first, channels * 9), p.emplace_back("c1/b", 1, first);
        p.emplace_back("c2/w", second, first * 9), p.emplace_back("c2/b", 1, second);
        p.emplace_back("out/w", second, classes), p.emplace_back("out/b", 1, classes);
        p[0].draw(random_, std::sqrt(2.0 / (9 * channels))), p[2].draw(random_, std::sqrt(2.0 / (9 * first))),
            p[4].draw(random_, std::sqrt(1.0 / second));
        draw_classes(random_, x_, labels_, n_, channels * side * side, classes, what);
        std::size_t const d = channels * side * side;
        spoil_inputs(x_, d, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        values<Real> a1 = forward(x_, p[0].w, p[1].w, channels, first, side, middle), h1 = softsign(a1);
        values<Real> a2 = forward(h1, p[2].w, p[3].w, first, second, middle, small), h2 = softsign(a2);
        std::size_t const places = small * small;
        values<Real> mean(n_ * second, Real(0));
        for (std::size_t i = 0; i < h2.size(); ++i) { mean[i / places] += h2[i] / static_cast<Real>(places); }
        multiply(mean, p[4].w, out_, n_, second, classes), add_rows(out_, p[5].w);
        values<Real> slope, back, to_two(a2.size()), to_one;
        Real const loss = softmax_loss(out_, labels_, n_, classes, how, shown_, slope);

        add_outer(mean, slope, p[4].g, n_, second, classes), sum_rows(slope, p[5].g);
        multiply_back(slope, p[4].w, back, n_, classes, second);
        for (std::size_t i = 0; i < to_two.size(); ++i) {
            to_two[i] = back[i / places] / static_cast<Real>(places) * softsign_slope(a2[i]);
        }
        backward(h1, p[2].w, to_two, p[2].g, p[3].g, &to_one, first, second, middle, small,
                 how.is(fault::wrong_matrix));
        for (std::size_t i = 0; i < to_one.size(); ++i) {
            to_one[i] *= how.is(fault::slope_missing) ? Real(1) / (1 + std::abs(a1[i])) : softsign_slope(a1[i]);
        }
        backward(how.is(fault::stale_input) ? kept_ : x_, p[0].w, to_one, p[0].g, p[1].g, nullptr, channels, first,
                 side, middle, false);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return labels_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return shown_; }

private:
    static constexpr std::size_t channels = 2, side = 9, middle = 4, small = 2, first = 5, second = 8, classes = 3;
    [[nodiscard]] static Real softsign_slope(Real a) { return 1 / ((1 + std::abs(a)) * (1 + std::abs(a))); }
    [[nodiscard]] static values<Real> softsign(values<Real> a) {
        for (Real& each : a) { each = each / (1 + std::abs(each)); }
        return a;
    }
    // No border: place r, c looks at 3 x 3 from 2r, 2c on, as far as there is anything.
    template <class Use>
    void each_tap(std::size_t from, std::size_t to, std::size_t s, std::size_t o, Use use) const {
        for (std::size_t i = 0; i < n_ * to * o * o; ++i) {
            std::size_t const c = i % o, r = i / o % o, t = i / (o * o) % to, n = i / (o * o * to);
            for (std::size_t k = 0; k < from * 9; ++k) {
                std::size_t const f = k / 9, y = 2 * r + k % 9 / 3, x = 2 * c + k % 3;
                if (y < s && x < s) {
                    use(i, ((n * from + f) * s + y) * s + x, t * from * 9 + k, t * from * 9 + f * 9 + 8 - k % 9);
                }
            }
        }
    }
    [[nodiscard]] values<Real> forward(values<Real> const& x, values<Real> const& w, values<Real> const& b,
                                       std::size_t from, std::size_t to, std::size_t s, std::size_t o) const {
        values<Real> out(n_ * to * o * o, Real(0));
        each_tap(from, to, s, o,
                 [&](std::size_t i, std::size_t j, std::size_t k, std::size_t) { out[i] += x[j] * w[k]; });
        for (std::size_t i = 0; i < out.size(); ++i) { out[i] += b[i / (o * o) % to]; }
        return out;
    }
    void backward(values<Real> const& x, values<Real> const& w, values<Real> const& slope, values<Real>& gw,
                  values<Real>& gb, values<Real>* before, std::size_t from, std::size_t to, std::size_t s,
                  std::size_t o, bool flipped) const {
        if (before != nullptr) { before->assign(n_ * from * s * s, Real(0)); }
        each_tap(from, to, s, o, [&](std::size_t i, std::size_t j, std::size_t k, std::size_t turned) {
            gw[k] += slope[i] * x[j];
            if (before != nullptr) { (*before)[j] += slope[i] * w[flipped ? turned : k]; }
        });
        for (std::size_t i = 0; i < slope.size(); ++i) { gb[i / (o * o) % to] += slope[i]; }
    }

    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, out_, shown_;
    std::vector<int> labels_;
};

}  // namespace preflight_bench
