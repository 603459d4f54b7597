// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that was left out of development: two dense layers, layer normalisation in front of a GELU
// (by tanh), softmax.
#pragma once

#include "../net.hpp"

#include <algorithm>

namespace preflight_bench {

template <class Real>
class layer_norm : public net_base<Real> {
public:
    static constexpr char const* name = "layer normalisation";
    static constexpr double rate = 0.1;
    static bool can(fault what) {
        return what != fault::short_history && what != fault::wrong_embedding_row && what != fault::dropout_backward &&
               what != fault::dead_units && what != fault::swapped && what != fault::transposed &&
               what != fault::wrong_matrix && what != fault::batch_mixed;
    }
    static bool can(habit what) { return what != habit::dropout; }

    layer_norm(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 500), n_(what.is(habit::small_batch) ? 4 : 28) {
        auto& p = this->weights_;
        p.emplace_back("fc1/w", in, units), p.emplace_back("fc1/b", 1, units), p.emplace_back("ln1/gain", 1, units),
            p.emplace_back("ln1/shift", 1, units);
        p.emplace_back("fc2/w", units, half), p.emplace_back("ln2/gain", 1, half), p.emplace_back("ln2/shift", 1, half);
        p.emplace_back("fc3/w", half, classes), p.emplace_back("fc3/b", 1, classes);
        p[0].draw(random_, std::sqrt(1.0 / in)), p[4].draw(random_, std::sqrt(1.0 / units)),
            p[7].draw(random_, std::sqrt(1.0 / half));
        std::fill(p[2].w.begin(), p[2].w.end(), Real(1)), std::fill(p[5].w.begin(), p[5].w.end(), Real(1));
        draw_classes(random_, x_, labels_, n_, in, classes, what);
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        values<Real> a, b, s1, s2, root1, root2, y1, y2, h1, h2;
        multiply(x_, p[0].w, a, n_, in, units), add_rows(a, p[1].w);
        normalise(a, units, p[2].w, p[3].w, s1, root1, y1);
        h1 = y1;
        for (Real& each : h1) { each = gelu(each); }
        multiply(h1, p[4].w, b, n_, units, half);
        normalise(b, half, p[5].w, p[6].w, s2, root2, y2);
        h2 = y2;
        for (Real& each : h2) { each = gelu(each); }
        multiply(h2, p[7].w, out_, n_, half, classes), add_rows(out_, p[8].w);
        values<Real> slope, back, next;
        Real const loss = softmax_loss(out_, labels_, n_, classes, how, shown_, slope);

        add_outer(h2, slope, p[7].g, n_, half, classes), sum_rows(slope, p[8].g);
        multiply_back(slope, p[7].w, back, n_, classes, half);
        for (std::size_t i = 0; i < back.size(); ++i) { back[i] *= gelu_slope(y2[i]); }
        normalise_back(s2, root2, half, p[5].w, back, p[5].g, p[6].g, next, false);
        add_outer(h1, next, p[4].g, n_, units, half);
        multiply_back(next, p[4].w, back, n_, half, units);
        for (std::size_t i = 0; i < back.size(); ++i) {
            back[i] *= how.is(fault::slope_missing) ? (y1[i] > 0 ? Real(1) : Real(0)) : gelu_slope(y1[i]);
        }
        normalise_back(s1, root1, units, p[2].w, back, p[2].g, p[3].g, next, how.is(fault::norm_terms_missing));
        add_outer(how.is(fault::stale_input) ? kept_ : x_, next, p[0].g, n_, in, units), sum_rows(next, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return labels_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return shown_; }

private:
    static constexpr std::size_t in = 11, units = 20, half = 12, classes = 5;
    [[nodiscard]] static Real gelu(Real x) {
        return x / 2 * (1 + std::tanh(Real(0.7978845608) * (x + Real(0.044715) * x * x * x)));
    }
    [[nodiscard]] static Real gelu_slope(Real x) {
        Real const t = std::tanh(Real(0.7978845608) * (x + Real(0.044715) * x * x * x));
        return (1 + t) / 2 + x / 2 * (1 - t * t) * Real(0.7978845608) * (1 + 3 * Real(0.044715) * x * x);
    }
    void normalise(values<Real> const& a, std::size_t wide, values<Real> const& gain, values<Real> const& shift,
                   values<Real>& s, values<Real>& root, values<Real>& y) {
        s.resize(a.size()), y.resize(a.size()), root.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            Real mean = 0, square = 0;
            for (std::size_t j = 0; j < wide; ++j) { mean += a[i * wide + j] / static_cast<Real>(wide); }
            for (std::size_t j = 0; j < wide; ++j) {
                square += (a[i * wide + j] - mean) * (a[i * wide + j] - mean) / static_cast<Real>(wide);
            }
            root[i] = 1 / std::sqrt(square + Real(1e-5));
            for (std::size_t j = 0; j < wide; ++j) {
                y[i * wide + j] = gain[j] * (s[i * wide + j] = (a[i * wide + j] - mean) * root[i]) + shift[j];
            }
        }
    }
    void normalise_back(values<Real> const& s, values<Real> const& root, std::size_t wide, values<Real> const& gain,
                        values<Real> const& slope, values<Real>& g_gain, values<Real>& g_shift, values<Real>& before,
                        bool without_terms) {
        before.resize(slope.size());
        for (std::size_t i = 0; i < n_; ++i) {
            Real sum = 0, along = 0;
            for (std::size_t j = 0; j < wide; ++j) {
                Real const d = slope[i * wide + j] * gain[j];
                g_gain[j] += slope[i * wide + j] * s[i * wide + j], g_shift[j] += slope[i * wide + j];
                sum += d / static_cast<Real>(wide), along += d * s[i * wide + j] / static_cast<Real>(wide);
            }
            for (std::size_t j = 0; j < wide; ++j) {
                Real const terms = without_terms ? Real(0) : sum + s[i * wide + j] * along;
                before[i * wide + j] = root[i] * (slope[i * wide + j] * gain[j] - terms);
            }
        }
    }

    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, out_, shown_;
    std::vector<int> labels_;
};

}  // namespace preflight_bench
