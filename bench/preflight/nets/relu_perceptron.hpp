// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net for development: perceptron of three layers with ReLU and softmax, dropout as a habit.
#pragma once

#include "../net.hpp"

#include <algorithm>

namespace preflight_bench {

template <class Real>
class relu_perceptron : public net_base<Real> {
public:
    static constexpr char const* name = "perceptron, ReLU";
    static constexpr double rate = 0.1;
    static bool can(fault what) {
        return what != fault::norm_terms_missing && what != fault::short_history &&
               what != fault::wrong_embedding_row && what != fault::swapped;
    }
    static bool can(habit) { return true; }

    relu_perceptron(arm const& what, std::uint64_t seed) : net_base<Real>(what), random_(seed) {
        n_ = what.is(habit::small_batch) ? 4 : what.is(fault::batch_mixed) ? 16 : 32;
        auto& p = this->weights_;
        p.emplace_back("fc1/w", in, units), p.emplace_back("fc1/b", 1, units);
        p.emplace_back("fc2/w", units, units), p.emplace_back("fc2/b", 1, units);
        p.emplace_back("fc3/w", units, classes), p.emplace_back("fc3/b", 1, classes);
        p[0].draw(random_, std::sqrt(2.0 / in)), p[2].draw(random_, std::sqrt(2.0 / units)),
            p[4].draw(random_, std::sqrt(1.0 / units));
        draw_classes(random_, x_, labels_, n_, in, classes, what);
        if (what.is(fault::dead_units)) { std::fill(p[1].w.begin(), p[1].w.end(), Real(-100)); }
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        values<Real> const x = how.is(fault::batch_mixed) ? mixed(x_, n_, in) : x_;
        multiply(x, p[0].w, a1_, n_, in, units), add_rows(a1_, p[1].w);
        h1_ = a1_;
        for (Real& each : h1_) { each = each > 0 ? each : 0; }
        mask_.assign(h1_.size(), Real(1));
        if (how.is(habit::dropout) || how.is(fault::dropout_backward)) {
            for (std::size_t i = 0; i < h1_.size(); ++i) {
                h1_[i] *= mask_[i] = random_.uniform() < 0.2 ? Real(0) : Real(1.25);
            }
        }
        multiply(h1_, p[2].w, a2_, n_, units, units), add_rows(a2_, p[3].w);
        h2_ = a2_;
        for (Real& each : h2_) { each = each > 0 ? each : 0; }
        multiply(h2_, p[4].w, out_, n_, units, classes), add_rows(out_, p[5].w);
        values<Real> slope, back;
        Real const loss = softmax_loss(out_, labels_, n_, classes, how, shown_, slope);

        add_outer(h2_, slope, p[4].g, n_, units, classes), sum_rows(slope, p[5].g);
        multiply_back(slope, p[4].w, back, n_, classes, units);
        for (std::size_t i = 0; i < back.size(); ++i) { back[i] = a2_[i] > 0 ? back[i] : 0; }
        add_outer(h1_, back, p[2].g, n_, units, units), sum_rows(back, p[3].g);
        multiply_back(back, p[2].w, slope, n_, units, units, how.is(fault::wrong_matrix));
        for (std::size_t i = 0; i < slope.size(); ++i) {
            if (!how.is(fault::slope_missing)) { slope[i] = a1_[i] > 0 ? slope[i] : 0; }
            if (!how.is(fault::dropout_backward)) { slope[i] *= mask_[i]; }
        }
        add_outer(how.is(fault::stale_input) ? kept_ : x, slope, p[0].g, n_, in, units), sum_rows(slope, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return labels_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return shown_; }
    void seed(std::uint64_t number) { random_ = prng{number}; }

private:
    static constexpr std::size_t in = 12, units = 24, classes = 5;
    prng random_;
    std::size_t n_ = 32;
    values<Real> x_, kept_, a1_, h1_, mask_, a2_, h2_, out_, shown_;
    std::vector<int> labels_;
};

}  // namespace preflight_bench
