// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net that was left out of development: a perceptron of four layers with tanh and softmax.
#pragma once

#include "../net.hpp"

namespace preflight_bench {

template <class Real>
class tanh_perceptron : public net_base<Real> {
public:
    static constexpr char const* name = "perceptron, tanh";
    static constexpr double rate = 0.1;
    static bool can(fault what) {
        return what != fault::norm_terms_missing && what != fault::short_history &&
               what != fault::wrong_embedding_row && what != fault::dead_units;
    }
    static bool can(habit) { return true; }

    tanh_perceptron(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed + 100), n_(what.is(habit::small_batch) ? 4 : 20) {
        auto& p = this->weights_;
        std::size_t const wide[] = {in, units, units, units, classes};
        for (std::size_t l = 0; l < layers; ++l) {
            std::string const title = "layer" + std::to_string(l + 1);
            p.emplace_back(title + "/w", wide[l], wide[l + 1]);
            p.back().draw(random_, std::sqrt(1.0 / double(wide[l])));
            p.emplace_back(title + "/b", 1, wide[l + 1]);
        }
        draw_classes(random_, x_, labels_, n_, in, classes, what);
        spoil_inputs(x_, in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        std::size_t const wide[] = {in, units, units, units, classes};
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        std::vector<values<Real>> h(layers + 1);
        h[0] = how.is(fault::batch_mixed) ? mixed(x_, n_, in) : x_;
        values<Real> mask;
        for (std::size_t l = 0; l < layers; ++l) {
            multiply(h[l], p[2 * l].w, h[l + 1], n_, wide[l], wide[l + 1]), add_rows(h[l + 1], p[2 * l + 1].w);
            if (l + 1 == layers) { break; }
            for (Real& each : h[l + 1]) { each = std::tanh(each); }
        }
        values<Real> const clean = h[2];
        if (how.is(habit::dropout) || how.is(fault::dropout_backward)) {  // between the second layer and the third
            mask.resize(h[2].size());
            for (std::size_t i = 0; i < mask.size(); ++i) {
                h[2][i] *= mask[i] = random_.uniform() < 0.3 ? Real(0) : Real(1 / 0.7);
            }
            for (std::size_t l = 2; l < layers; ++l) {
                multiply(h[l], p[2 * l].w, h[l + 1], n_, wide[l], wide[l + 1]), add_rows(h[l + 1], p[2 * l + 1].w);
                if (l + 1 == layers) { break; }
                for (Real& each : h[l + 1]) { each = std::tanh(each); }
            }
        }
        values<Real> slope, back;
        Real const loss = softmax_loss(h[layers], labels_, n_, classes, how, shown_, slope);
        for (std::size_t l = layers; l-- > 0;) {
            add_outer(l == 0 && how.is(fault::stale_input) ? kept_ : h[l], slope, p[2 * l].g, n_, wide[l], wide[l + 1]),
                sum_rows(slope, p[2 * l + 1].g);
            if (l == 0) { break; }
            multiply_back(slope, p[2 * l].w, back, n_, wide[l + 1], wide[l], how.is(fault::wrong_matrix) && l == 2);
            for (std::size_t i = 0; i < back.size(); ++i) {
                if (l == 2 && !mask.empty() && !how.is(fault::dropout_backward)) { back[i] *= mask[i]; }
                Real const y = l == 2 ? clean[i] : h[l][i];
                back[i] *= how.is(fault::slope_missing) && l == 1 ? Real(1) - y : Real(1) - y * y;
            }
            slope = back;
        }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return labels_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return shown_; }

private:
    static constexpr std::size_t in = 10, units = 15, classes = 6, layers = 4;
    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, shown_;
    std::vector<int> labels_;
};

}  // namespace preflight_bench
