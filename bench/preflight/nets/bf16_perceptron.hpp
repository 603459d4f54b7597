// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net for development: a perceptron whose weights are bf16; sums in float, updates rounded at
// random so that small ones count.
#pragma once

#include "../net.hpp"

#include <spotter/core/narrow.hpp>

namespace preflight_bench {

template <class Real>
class bf16_perceptron : public net_base<Real> {
public:
    static constexpr char const* name = "perceptron, bf16 weights";
    static constexpr double rate = 0.2;
    static bool can(fault what) {
        return is_general(what) ? what != fault::swapped && what != fault::transposed && what != fault::decay_grows &&
                                      what != fault::rate_tiny
                                : what == fault::slope_missing || what == fault::inputs_constant ||
                                      what == fault::softmax_twice || what == fault::label_too_high;
    }
    static bool can(habit what) {
        return what != habit::dropout && what != habit::decay_in_update && what != habit::adamw;
    }
    using low_values = std::vector<spotter::bf16>;

    bf16_perceptron(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed), n_(what.is(habit::small_batch) ? 4 : 32) {
        auto& p = this->weights_;
        p.emplace_back("fc1/w", in, units), p.emplace_back("fc1/b", 1, units), p.emplace_back("fc2/w", units, classes),
            p.emplace_back("fc2/b", 1, classes);
        p[0].draw(random_, std::sqrt(2.0 / in)), p[2].draw(random_, std::sqrt(1.0 / units));
        draw_classes(random_, x_, labels_, n_, in, classes, what);
        spoil_inputs(x_, in, what);
    }

    [[nodiscard]] low_values const& shown(param<Real> const& it) const {
        if (low_.empty()) {  // what the loop did to the start
            for (auto const& each : this->weights_) {
                low_.emplace_back();
                for (Real w : each.w) { low_.back().push_back(spotter::detail::to_bf16(static_cast<float>(w))); }
            }
        }
        return low_[static_cast<std::size_t>(&it - this->weights_.data())];
    }
    void move(std::size_t k, std::size_t i, double by) {
        spotter::bf16& w = low_[k][i];
        float const exact = static_cast<float>(double(to_float(w)) + by);
        // Rounded up or down by chance, so that the mean is exact.
        std::uint32_t const bits =
            std::bit_cast<std::uint32_t>(exact) + static_cast<std::uint32_t>(random_.next() & 0xFFFFU);
        w.bits = static_cast<std::uint16_t>(bits >> 16U);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        (void)shown(p[0]);
        // In double the net is held against itself.
        for (std::size_t k = 0; std::is_same_v<Real, float> && k < p.size(); ++k) {
            for (std::size_t i = 0; i < p[k].w.size(); ++i) { p[k].w[i] = static_cast<Real>(to_float(low_[k][i])); }
        }
        multiply(x_, p[0].w, a_, n_, in, units), add_rows(a_, p[1].w);
        values<Real> h = a_;
        for (Real& each : h) { each = each > 0 ? each : 0; }
        multiply(h, p[2].w, out_, n_, units, classes), add_rows(out_, p[3].w);
        values<Real> slope, back;
        Real const loss = softmax_loss(out_, labels_, n_, classes, how, shown_outputs_, slope);
        add_outer(h, slope, p[2].g, n_, units, classes), sum_rows(slope, p[3].g);
        multiply_back(slope, p[2].w, back, n_, classes, units);
        for (std::size_t i = 0; i < back.size(); ++i) {
            back[i] = a_[i] > 0 || how.is(fault::slope_missing) ? back[i] : 0;
        }
        add_outer(how.is(fault::stale_input) ? kept_ : x_, back, p[0].g, n_, in, units), sum_rows(back, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return labels_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return shown_outputs_; }

private:
    static constexpr std::size_t in = 14, units = 28, classes = 5;
    prng random_;
    std::size_t n_;
    mutable std::vector<low_values> low_;
    values<Real> x_, kept_, a_, out_, shown_outputs_;
    std::vector<int> labels_;
};

}  // namespace preflight_bench
