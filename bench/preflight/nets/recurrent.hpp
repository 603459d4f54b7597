// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net for development: a recurrent net with tanh over eight steps, softmax at its end; gradients
// through time.
#pragma once

#include "../net.hpp"

#include <algorithm>

namespace preflight_bench {

template <class Real>
class recurrent : public net_base<Real> {
public:
    static constexpr char const* name = "recurrent net";
    static constexpr double rate = 0.1;
    static bool can(fault what) {
        return what != fault::norm_terms_missing && what != fault::wrong_embedding_row &&
               what != fault::dropout_backward && what != fault::dead_units && what != fault::batch_mixed &&
               what != fault::swapped;
    }
    static bool can(habit what) { return what != habit::dropout; }

    recurrent(arm const& what, std::uint64_t seed)
        : net_base<Real>(what), random_(seed), n_(what.is(habit::small_batch) ? 4 : 16) {
        auto& p = this->weights_;
        p.emplace_back("rnn/wx", in, units), p.emplace_back("rnn/wh", units, units), p.emplace_back("rnn/b", 1, units);
        p.emplace_back("out/w", units, classes), p.emplace_back("out/b", 1, classes);
        p[0].draw(random_, std::sqrt(1.0 / in)), p[1].draw(random_, std::sqrt(1.0 / units)),
            p[3].draw(random_, std::sqrt(1.0 / units));
        draw_classes(random_, x_, labels_, n_, steps * in, classes, what);
        spoil_inputs(x_, steps * in, what);
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        std::vector<values<Real>> h(steps + 1, values<Real>(n_ * units));
        for (std::size_t t = 0; t < steps; ++t) {
            values<Real> a, b;
            multiply(at(x_, t), p[0].w, a, n_, in, units);
            multiply(h[t], p[1].w, b, n_, units, units);
            for (std::size_t i = 0; i < a.size(); ++i) { h[t + 1][i] = std::tanh(a[i] + b[i] + p[2].w[i % units]); }
        }
        multiply(h[steps], p[3].w, out_, n_, units, classes), add_rows(out_, p[4].w);
        values<Real> slope, back, next;
        Real const loss = softmax_loss(out_, labels_, n_, classes, how, shown_, slope);

        add_outer(h[steps], slope, p[3].g, n_, units, classes), sum_rows(slope, p[4].g);
        multiply_back(slope, p[3].w, back, n_, classes, units);
        std::size_t const stop = how.is(fault::short_history) ? 1 : 0;
        for (std::size_t t = steps; t-- > stop;) {
            for (std::size_t i = 0; i < back.size(); ++i) {
                Real const y = h[t + 1][i];
                back[i] *= how.is(fault::slope_missing) ? 1 - std::abs(y) : 1 - y * y;
            }
            add_outer(at(how.is(fault::stale_input) ? kept_ : x_, t), back, p[0].g, n_, in, units);
            add_outer(h[t], back, p[1].g, n_, units, units);
            sum_rows(back, p[2].g);
            multiply_back(back, p[1].w, next, n_, units, units, how.is(fault::wrong_matrix));
            back = next;
        }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return labels_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return shown_; }

private:
    static constexpr std::size_t in = 6, units = 14, classes = 4, steps = 8;
    [[nodiscard]] values<Real> at(values<Real> const& x, std::size_t t) const {
        values<Real> made(n_ * in);
        for (std::size_t i = 0; i < n_; ++i) {
            std::copy_n(x.begin() + static_cast<std::ptrdiff_t>((i * steps + t) * in), in,
                        made.begin() + static_cast<std::ptrdiff_t>(i * in));
        }
        return made;
    }

    prng random_;
    std::size_t n_;
    values<Real> x_, kept_, out_, shown_;
    std::vector<int> labels_;
};

}  // namespace preflight_bench
