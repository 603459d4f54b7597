// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that was left out of development: words, one head of causal attention (Vaswani et al.
// 2017), a residual, softmax of the next word at the last place.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class attention : public net_base<Real> {
public:
    static constexpr char const* name = "attention block";
    static constexpr double rate = 0.2;
    static bool can(fault what) {
        return is_general(what) ? what != fault::bias_missing
                                : what == fault::slope_missing || what == fault::wrong_matrix ||
                                      what == fault::wrong_embedding_row || what == fault::label_too_high ||
                                      what == fault::softmax_twice || what == fault::labels_ignored;
    }
    static bool can(habit what) { return what != habit::dropout; }

    attention(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 600), n_(what.is(habit::small_batch) ? 4 : 24) {
        auto& p = this->weights_;
        p.emplace_back("emb/w", words, wide), p.emplace_back("place/w", length, wide);
        p.emplace_back("attn/q/w", wide, wide), p.emplace_back("attn/k/w", wide, wide),
            p.emplace_back("attn/v/w", wide, wide), p.emplace_back("attn/o/w", wide, wide);
        p.emplace_back("head/w", wide, words), p.emplace_back("head/b", 1, words);
        p[0].draw(random_, 0.7), p[1].draw(random_, 0.3);
        for (std::size_t k = 2; k < 7; ++k) { p[k].draw(random_, std::sqrt(1.0 / wide)); }
        tokens_.resize(n_ * length), labels_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            for (std::size_t t = 0; t < length; ++t) {
                tokens_[i * length + t] = static_cast<int>(random_.below(words));
            }
            labels_[i] = tokens_[i * length + 1];  // recall the second word
            if (what.is(fault::label_too_high)) { labels_[i] = i == 0 ? static_cast<int>(words) : labels_[i] + 1; }
        }
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = tokens_; }
        std::size_t const rows = n_ * length;
        values<Real> x(rows * wide), q, k, v, mix(rows * wide, Real(0)), o, last(n_ * wide);
        for (std::size_t i = 0; i < x.size(); ++i) {
            std::size_t const row = i / wide, j = i % wide;
            x[i] = p[0].w[static_cast<std::size_t>(tokens_[row]) * wide + j] + p[1].w[row % length * wide + j];
        }
        multiply(x, p[2].w, q, rows, wide, wide), multiply(x, p[3].w, k, rows, wide, wide),
            multiply(x, p[4].w, v, rows, wide, wide);
        values<Real> a(n_ * length * length, Real(0));
        Real const scale = 1 / std::sqrt(static_cast<Real>(wide));
        for (std::size_t i = 0; i < rows; ++i) {
            std::size_t const first = i / length * length;
            Real sum = 0;
            for (std::size_t s = first; s <= i; ++s) {
                Real dot = 0;
                for (std::size_t j = 0; j < wide; ++j) { dot += q[i * wide + j] * k[s * wide + j]; }
                sum += a[i * length + s - first] = std::exp(scale * dot);
            }
            for (std::size_t s = first; s <= i; ++s) {
                Real const share = a[i * length + s - first] /= sum;
                for (std::size_t j = 0; j < wide; ++j) { mix[i * wide + j] += share * v[s * wide + j]; }
            }
        }
        multiply(mix, p[5].w, o, rows, wide, wide);
        for (std::size_t i = 0; i < n_ * wide; ++i) {
            std::size_t const at = ((i / wide + 1) * length - 1) * wide + i % wide;
            last[i] = x[at] + o[at];
        }
        multiply(last, p[6].w, out_, n_, wide, words), add_rows(out_, p[7].w);
        values<Real> slope, back, to_mix, dx(x.size(), Real(0)), to_o(x.size(), Real(0)), dq(x.size(), Real(0)),
            dk(x.size(), Real(0)), dv(x.size(), Real(0)), part;
        Real const loss = softmax_loss(out_, labels_, n_, words, how, shown_, slope);

        add_outer(last, slope, p[6].g, n_, wide, words), sum_rows(slope, p[7].g);
        multiply_back(slope, p[6].w, back, n_, words, wide);
        for (std::size_t i = 0; i < back.size(); ++i) {
            std::size_t const at = ((i / wide + 1) * length - 1) * wide + i % wide;
            dx[at] += back[i], to_o[at] = back[i];
        }
        add_outer(mix, to_o, p[5].g, rows, wide, wide);
        multiply_back(to_o, p[5].w, to_mix, rows, wide, wide, how.is(fault::wrong_matrix));
        for (std::size_t i = 0; i < rows; ++i) {
            std::size_t const first = i / length * length;
            Real along = 0;
            values<Real> da(length, Real(0));
            for (std::size_t s = first; s <= i; ++s) {
                Real const share = a[i * length + s - first];
                for (std::size_t j = 0; j < wide; ++j) {
                    da[s - first] += to_mix[i * wide + j] * v[s * wide + j];
                    dv[s * wide + j] += share * to_mix[i * wide + j];
                }
                along += share * da[s - first];
            }
            for (std::size_t s = first; s <= i; ++s) {
                // The softmax's own slope.
                Real const d = scale * a[i * length + s - first] *
                               (da[s - first] - (how.is(fault::slope_missing) ? Real(0) : along));
                for (std::size_t j = 0; j < wide; ++j) {
                    dq[i * wide + j] += d * k[s * wide + j], dk[s * wide + j] += d * q[i * wide + j];
                }
            }
        }
        for (std::size_t m = 2; m < 5; ++m) {
            values<Real> const& d = m == 2 ? dq : m == 3 ? dk : dv;
            add_outer(x, d, p[m].g, rows, wide, wide);
            multiply_back(d, p[m].w, part, rows, wide, wide);
            for (std::size_t i = 0; i < dx.size(); ++i) { dx[i] += part[i]; }
        }
        for (std::size_t i = 0; i < dx.size(); ++i) {
            std::size_t const row = i / wide, j = i % wide;
            int const word = how.is(fault::stale_input) ? kept_[row] : tokens_[row];
            p[0].g[(static_cast<std::size_t>(word) + (how.is(fault::wrong_embedding_row) ? 1 : 0)) % words * wide +
                   j] += dx[i];
            p[1].g[row % length * wide + j] += dx[i];
        }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<int>& inputs() noexcept { return tokens_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return labels_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return shown_; }

private:
    static constexpr std::size_t words = 12, length = 6, wide = 8;
    prng random_;
    std::size_t n_;
    std::vector<int> tokens_, kept_, labels_;
    values<Real> out_, shown_;
};

}  // namespace preflight_bench
