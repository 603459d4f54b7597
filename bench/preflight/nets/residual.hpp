// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net for development: a residual net, eight blocks of two dense layers with ELU; squares of
// one-hot labels.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class residual : public net_base<Real> {
public:
    static constexpr char const* name = "residual net";
    static constexpr double rate = 0.01;
    static bool can(fault what) {
        return is_general(what) || what == fault::slope_missing || what == fault::wrong_matrix ||
               what == fault::inputs_constant || what == fault::inputs_raw || what == fault::labels_ignored ||
               what == fault::batch_mixed;
    }
    static bool can(habit what) { return what != habit::dropout; }

    residual(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed), n_(what.is(habit::small_batch)   ? 4
                                                  : what.is(fault::batch_mixed) ? 12
                                                                                : 20) {
        auto& p = this->weights_;
        p.emplace_back("stem/w", in, units);
        p.back().draw(random_, std::sqrt(1.0 / in));
        for (std::size_t b = 0; b < blocks; ++b) {
            std::string const title = "block" + std::to_string(b);
            p.emplace_back(title + "/a/w", units, units), p.back().draw(random_, std::sqrt(1.0 / units));
            p.emplace_back(title + "/a/b", 1, units);
            p.emplace_back(title + "/c/w", units, units), p.back().draw(random_, std::sqrt(0.1 / units));
        }
        p.emplace_back("head/w", units, classes), p.back().draw(random_, std::sqrt(1.0 / units));
        p.emplace_back("head/b", 1, classes);
        draw_classes(random_, x_, labels_, n_, in, classes, arm{});
        y_.assign(n_ * classes, 0);
        for (std::size_t i = 0; i < n_; ++i) { y_[i * classes + static_cast<std::size_t>(labels_[i])] = 1; }
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        values<Real> const x = how.is(fault::batch_mixed) ? mixed(x_, n_, in) : x_;
        std::vector<values<Real>> s(blocks + 1), a(blocks), h(blocks);
        multiply(x, p[0].w, s[0], n_, in, units);
        for (std::size_t b = 0; b < blocks; ++b) {
            multiply(s[b], p[1 + 3 * b].w, a[b], n_, units, units), add_rows(a[b], p[2 + 3 * b].w);
            h[b] = a[b];
            for (Real& each : h[b]) { each = each > 0 ? each : std::expm1(each); }
            multiply(h[b], p[3 + 3 * b].w, s[b + 1], n_, units, units);
            for (std::size_t i = 0; i < s[b].size(); ++i) { s[b + 1][i] += s[b][i]; }
        }
        std::size_t const head = 1 + 3 * blocks;
        multiply(s[blocks], p[head].w, out_, n_, units, classes), add_rows(out_, p[head + 1].w);
        values<Real> slope(out_.size()), back, through, next;
        Real loss = 0;
        for (std::size_t i = 0; i < out_.size(); ++i) {
            Real const gap = out_[i] - (how.is(fault::labels_ignored) ? Real(0.2) : y_[i]);
            loss += gap * gap / static_cast<Real>(n_), slope[i] = 2 * gap / static_cast<Real>(n_);
        }
        add_outer(s[blocks], slope, p[head].g, n_, units, classes), sum_rows(slope, p[head + 1].g);
        multiply_back(slope, p[head].w, back, n_, classes, units);
        for (std::size_t b = blocks; b-- > 0;) {
            add_outer(h[b], back, p[3 + 3 * b].g, n_, units, units);
            multiply_back(back, p[3 + 3 * b].w, through, n_, units, units, how.is(fault::wrong_matrix) && b == 4);
            for (std::size_t i = 0; i < through.size(); ++i) {
                bool const missing = how.is(fault::slope_missing) && b == 3;
                through[i] *= a[b][i] > 0 || missing ? 1 : h[b][i] + 1;
            }
            add_outer(s[b], through, p[1 + 3 * b].g, n_, units, units), sum_rows(through, p[2 + 3 * b].g);
            multiply_back(through, p[1 + 3 * b].w, next, n_, units, units);
            for (std::size_t i = 0; i < back.size(); ++i) { back[i] += next[i]; }
        }
        add_outer(how.is(fault::stale_input) ? kept_ : x, back, p[0].g, n_, in, units);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& labels() noexcept { return y_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t in = 9, units = 12, classes = 4, blocks = 8;
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, y_, out_;
    std::vector<int> labels_;
};

}  // namespace preflight_bench
