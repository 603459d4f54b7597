// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net for development: tables of words, two words predict the third (Bengio et al. 2003), tanh,
// softmax.
#pragma once

#include "../net.hpp"

#include <algorithm>

namespace preflight_bench {

template <class Real>
class language_model : public net_base<Real> {
public:
    static constexpr char const* name = "embedding and softmax";
    static constexpr double rate = 0.2;
    static bool can(fault what) {
        return is_general(what) ? what != fault::swapped && what != fault::transposed && what != fault::bias_missing
                                : what == fault::slope_missing || what == fault::wrong_embedding_row ||
                                      what == fault::label_too_high || what == fault::softmax_twice ||
                                      what == fault::labels_ignored || what == fault::softmax_over_batch;
    }
    static bool can(habit what) { return what != habit::dropout; }

    language_model(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed), n_(what.is(habit::small_batch) ? 4 : 32) {
        auto& p = this->weights_;
        p.emplace_back("emb/w", words, wide);
        p.emplace_back("fc/w", 2 * wide, units), p.emplace_back("fc/b", 1, units);
        p.emplace_back("out/w", units, words), p.emplace_back("out/b", 1, words);
        p[0].draw(random_, 0.5), p[1].draw(random_, std::sqrt(0.5 / wide)), p[3].draw(random_, std::sqrt(1.0 / units));
        tokens_.resize(2 * n_), labels_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            tokens_[2 * i] = static_cast<int>(random_.below(words)),
                        tokens_[2 * i + 1] = static_cast<int>(random_.below(words));
            labels_[i] = (tokens_[2 * i] + tokens_[2 * i + 1]) % static_cast<int>(words);
            if (what.is(fault::label_too_high)) { labels_[i] = i == 0 ? static_cast<int>(words) : labels_[i] + 1; }
        }
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = tokens_; }
        x_.resize(n_ * 2 * wide);
        for (std::size_t i = 0; i < 2 * n_; ++i) {
            std::copy_n(p[0].w.begin() + tokens_[i] * std::ptrdiff_t(wide), wide,
                        x_.begin() + static_cast<std::ptrdiff_t>(i * wide));
        }
        multiply(x_, p[1].w, h_, n_, 2 * wide, units), add_rows(h_, p[2].w);
        for (Real& each : h_) { each = std::tanh(each); }
        multiply(h_, p[3].w, out_, n_, units, words), add_rows(out_, p[4].w);
        values<Real> slope, back;
        Real const loss = softmax_loss(out_, labels_, n_, words, how, shown_, slope);

        add_outer(h_, slope, p[3].g, n_, units, words), sum_rows(slope, p[4].g);
        multiply_back(slope, p[3].w, back, n_, words, units);
        for (std::size_t i = 0; i < back.size(); ++i) {
            back[i] *= how.is(fault::slope_missing) ? 1 : 1 - h_[i] * h_[i];
        }
        add_outer(x_, back, p[1].g, n_, 2 * wide, units), sum_rows(back, p[2].g);
        multiply_back(back, p[1].w, slope, n_, units, 2 * wide);
        for (std::size_t i = 0; i < 2 * n_; ++i) {
            int const word = how.is(fault::stale_input) ? kept_[i] : tokens_[i];
            std::size_t const row =
                (static_cast<std::size_t>(word) + (how.is(fault::wrong_embedding_row) ? 1 : 0)) % words;
            for (std::size_t j = 0; j < wide; ++j) { p[0].g[row * wide + j] += slope[i * wide + j]; }
        }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<int>& inputs() noexcept { return tokens_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return labels_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return shown_; }

private:
    static constexpr std::size_t words = 20, wide = 6, units = 16;
    prng random_;
    std::size_t n_;
    std::vector<int> tokens_, kept_, labels_;
    values<Real> x_, h_, out_, shown_;
};

}  // namespace preflight_bench
