// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that was left out of development: a matrix of ratings as a product of two tables, with
// biases and a penalty in the loss; double.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class factorisation : public net_base<Real> {
public:
    static constexpr char const* name = "matrix factorisation, double";
    static constexpr double rate = 0.5;
    static bool can(fault what) {
        return is_general(what) ? what != fault::swapped && what != fault::transposed && what != fault::detached &&
                                      what != fault::zero_start
                                : what == fault::wrong_embedding_row || what == fault::labels_ignored;
    }
    static bool can(habit what) { return what != habit::dropout && what != habit::zero_head; }

    factorisation(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 1100), n_(what.is(habit::small_batch) ? 4 : 60) {
        auto& p = this->weights_;
        p.emplace_back("users/w", users, rank), p.emplace_back("items/w", items, rank),
            p.emplace_back("users/b", 1, users), p.emplace_back("items/b", 1, items);
        p[0].draw(random_, 0.3), p[1].draw(random_, 0.3);
        pairs_.resize(2 * n_), y_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            std::size_t const u = random_.below(users), v = random_.below(items);
            pairs_[2 * i] = static_cast<int>(u), pairs_[2 * i + 1] = static_cast<int>(v);
            y_[i] = static_cast<Real>(std::sin(double(u) * double(v)) + 0.2 * double(u % 3) + 0.1 * random_.normal());
        }
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = pairs_; }
        std::vector<int> const& to = how.is(fault::stale_input) ? kept_ : pairs_;
        Real loss = 0;
        Real const mean = Real(1) / static_cast<Real>(n_), penalty = Real(0.002);
        out_.resize(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            auto const u = static_cast<std::size_t>(pairs_[2 * i]), v = static_cast<std::size_t>(pairs_[2 * i + 1]);
            Real sum = p[2].w[u] + p[3].w[v];
            for (std::size_t j = 0; j < rank; ++j) { sum += p[0](u, j) * p[1](v, j); }
            out_[i] = sum;
            Real const gap = sum - (how.is(fault::labels_ignored) ? Real(0) : y_[i]), d = 2 * mean * gap;
            loss += mean * gap * gap;
            auto const to_u =
                           (static_cast<std::size_t>(to[2 * i]) + (how.is(fault::wrong_embedding_row) ? 1 : 0)) % users,
                       to_v = static_cast<std::size_t>(to[2 * i + 1]);
            for (std::size_t j = 0; j < rank; ++j) {
                p[0].grad(to_u, j) += d * p[1](v, j), p[1].grad(to_v, j) += d * p[0](u, j);
            }
            p[2].g[to_u] += d, p[3].g[to_v] += d;
        }
        for (auto& each : p) {  // in the loss and in the gradients
            for (std::size_t i = 0; i < each.w.size(); ++i) {
                loss += penalty * each.w[i] * each.w[i], each.g[i] += 2 * penalty * each.w[i];
            }
        }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<int>& inputs() noexcept { return pairs_; }
    [[nodiscard]] std::vector<Real>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t users = 12, items = 9, rank = 4;
    prng random_;
    std::size_t n_;
    std::vector<int> pairs_, kept_;
    values<Real> y_, out_;
};

}  // namespace preflight_bench
