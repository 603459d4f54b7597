// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net for development: convolution of 3 x 3, ReLU, max pooling of 2 x 2, a second convolution, a
// dense layer, softmax.
#pragma once

#include "../net.hpp"

#include <algorithm>

namespace preflight_bench {

template <class Real>
class convolution : public net_base<Real> {
public:
    static constexpr char const* name = "convolution, max pooling";
    static constexpr double rate = 0.1;
    static bool can(fault what) {
        return what != fault::norm_terms_missing && what != fault::short_history &&
               what != fault::wrong_embedding_row && what != fault::dropout_backward && what != fault::transposed &&
               what != fault::swapped && what != fault::batch_mixed;
    }
    static bool can(habit what) { return what != habit::dropout; }

    convolution(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed), n_(what.is(habit::small_batch) ? 4 : 12) {
        auto& p = this->weights_;
        p.emplace_back("conv1/w", first, 9), p.emplace_back("conv1/b", 1, first);
        p.emplace_back("conv2/w", second, first * 9), p.emplace_back("conv2/b", 1, second);
        p.emplace_back("fc/w", flat, classes), p.emplace_back("fc/b", 1, classes);
        p[0].draw(random_, std::sqrt(2.0 / 9)), p[2].draw(random_, std::sqrt(2.0 / (9 * first))),
            p[4].draw(random_, std::sqrt(1.0 / flat));
        draw_classes(random_, x_, labels_, n_, side * side, classes, what);
        if (what.is(fault::dead_units)) { std::fill(p[1].w.begin(), p[1].w.end(), Real(-100)); }
        spoil_inputs(x_, side * side, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        convolve(x_, p[0].w, p[1].w, c1_, 1, first, side);
        pool();
        convolve(pooled_, p[2].w, p[3].w, c2_, first, second, half);
        values<Real> h = c2_;
        for (Real& each : h) { each = each > 0 ? each : 0; }
        multiply(h, p[4].w, out_, n_, flat, classes), add_rows(out_, p[5].w);
        values<Real> slope, back, before, to_first(c1_.size(), Real(0));
        Real const loss = softmax_loss(out_, labels_, n_, classes, how, shown_, slope);

        add_outer(h, slope, p[4].g, n_, flat, classes), sum_rows(slope, p[5].g);
        multiply_back(slope, p[4].w, back, n_, classes, flat);
        for (std::size_t i = 0; i < back.size(); ++i) { back[i] = c2_[i] > 0 ? back[i] : 0; }
        convolve_back(pooled_, p[2].w, back, p[2].g, p[3].g, &before, first, second, half, how.is(fault::wrong_matrix));
        for (std::size_t i = 0; i < before.size(); ++i) { to_first[winner_[i]] += before[i]; }
        for (std::size_t i = 0; i < to_first.size(); ++i) {
            if (!how.is(fault::slope_missing)) { to_first[i] = c1_[i] > 0 ? to_first[i] : 0; }
        }
        convolve_back(how.is(fault::stale_input) ? kept_ : x_, p[0].w, to_first, p[0].g, p[1].g, nullptr, 1, first,
                      side, false);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return labels_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return shown_; }

private:
    static constexpr std::size_t side = 8, half = 4, first = 4, second = 6, flat = second * half * half, classes = 4;

    // 3 x 3 with a border of zeros; channels before rows and columns.
    void convolve(values<Real> const& x, values<Real> const& w, values<Real> const& b, values<Real>& out,
                  std::size_t from, std::size_t to, std::size_t s) {
        out.assign(n_ * to * s * s, Real(0));
        each_tap(from, to, s, [&](std::size_t o, std::size_t i, std::size_t k, std::size_t) { out[o] += x[i] * w[k]; });
        for (std::size_t i = 0; i < out.size(); ++i) { out[i] += b[i / (s * s) % to]; }
    }
    void convolve_back(values<Real> const& x, values<Real> const& w, values<Real> const& slope, values<Real>& gw,
                       values<Real>& gb, values<Real>* before, std::size_t from, std::size_t to, std::size_t s,
                       bool flipped) {
        if (before != nullptr) { before->assign(n_ * from * s * s, Real(0)); }
        each_tap(from, to, s, [&](std::size_t o, std::size_t i, std::size_t k, std::size_t turned) {
            gw[k] += slope[o] * x[i];
            if (before != nullptr) { (*before)[i] += slope[o] * w[flipped ? turned : k]; }
        });
        for (std::size_t i = 0; i < slope.size(); ++i) { gb[i / (s * s) % to] += slope[i]; }
    }
    template <class Use>
    void each_tap(std::size_t from, std::size_t to, std::size_t s, Use use) const {
        for (std::size_t n = 0; n < n_; ++n) {
            for (std::size_t t = 0; t < to; ++t) {
                for (std::size_t f = 0; f < from; ++f) {
                    for (std::size_t r = 0; r < s; ++r) {
                        for (std::size_t c = 0; c < s; ++c) {
                            for (std::size_t a = 0; a < 3; ++a) {
                                for (std::size_t b = 0; b < 3; ++b) {
                                    std::size_t const y = r + a, x = c + b;  // one beyond
                                    if (y < 1 || y > s || x < 1 || x > s) { continue; }
                                    std::size_t const w = (t * from + f) * 9;
                                    use(((n * to + t) * s + r) * s + c, ((n * from + f) * s + y - 1) * s + x - 1,
                                        w + a * 3 + b, w + 8 - (a * 3 + b));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    void pool() {
        pooled_.assign(n_ * first * half * half, Real(0));
        winner_.assign(pooled_.size(), 0);
        for (std::size_t i = 0; i < pooled_.size(); ++i) {
            std::size_t const plane = i / (half * half), r = i / half % half, c = i % half;
            std::size_t best = plane * side * side + 2 * r * side + 2 * c;
            for (std::size_t k = 1; k < 4; ++k) {
                std::size_t const at = plane * side * side + (2 * r + k / 2) * side + 2 * c + k % 2;
                best = c1_[at] > c1_[best] ? at : best;
            }
            winner_[i] = best;
            pooled_[i] = c1_[best] > 0 ? c1_[best] : 0;
        }
    }

    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, c1_, pooled_, c2_, out_, shown_;
    std::vector<std::size_t> winner_;
    std::vector<int> labels_;
};

}  // namespace preflight_bench
