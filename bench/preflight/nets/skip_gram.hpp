// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that came last: skip-grams with negative samples (Mikolov et al. 2013), two tables, fixed
// draws.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class skip_gram : public net_base<Real> {
public:
    static constexpr char const* name = "skip-gram, negative samples";
    static constexpr double rate = 0.5;
    static bool can(fault what) {
        return is_general(what) ? what != fault::transposed && what != fault::detached && what != fault::zero_start &&
                                      what != fault::bias_missing
                                : what == fault::wrong_embedding_row || what == fault::slope_missing;
    }
    static bool can(habit what) { return what != habit::dropout && what != habit::zero_head; }

    skip_gram(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 1800), n_(what.is(habit::small_batch) ? 4 : 40) {
        auto& p = this->weights_;
        p.emplace_back("in/w", words, wide), p.emplace_back("out/w", words, wide);
        p[0].draw(random_, 0.4), p[1].draw(random_, 0.4);
        tokens_.resize(n_ * taken);
        for (std::size_t i = 0; i < n_; ++i) {
            std::size_t const word = random_.below(words);
            tokens_[i * taken] = static_cast<int>(word),
                        tokens_[i * taken + 1] = static_cast<int>((word + 1 + random_.below(2)) % words);
            for (std::size_t k = 2; k < taken; ++k) { tokens_[i * taken + k] = static_cast<int>(random_.below(words)); }
        }
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = tokens_; }
        std::vector<int> const& to = how.is(fault::stale_input) ? kept_ : tokens_;
        Real loss = 0;
        Real const mean = Real(1) / static_cast<Real>(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            auto const word = static_cast<std::size_t>(tokens_[i * taken]),
                       to_word = static_cast<std::size_t>(to[i * taken]);
            for (std::size_t k = 1; k < taken; ++k) {
                auto const other = static_cast<std::size_t>(tokens_[i * taken + k]);
                auto const to_other =
                    (static_cast<std::size_t>(to[i * taken + k]) + (how.is(fault::wrong_embedding_row) ? 1 : 0)) %
                    words;
                Real z = 0;
                for (std::size_t j = 0; j < wide; ++j) { z += p[0](word, j) * p[1](other, j); }
                Real const y = k == 1 ? Real(1) : Real(0), q = 1 / (1 + std::exp(-z));
                loss += mean * ((z > 0 ? z : Real(0)) - z * y + std::log1p(std::exp(-std::abs(z))));
                // That of a square of sigmoids.
                Real const d = mean * (q - y) * (how.is(fault::slope_missing) ? q * (1 - q) : Real(1));
                for (std::size_t j = 0; j < wide; ++j) {
                    p[0].grad(to_word, j) += d * p[1](other, j), p[1].grad(to_other, j) += d * p[0](word, j);
                }
            }
        }
        out_.assign(n_, loss);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<int>& inputs() noexcept { return tokens_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t words = 15, wide = 7, taken = 5;
    prng random_;
    std::size_t n_;
    std::vector<int> tokens_, kept_;
    values<Real> out_;
};

}  // namespace preflight_bench
