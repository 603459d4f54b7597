// SPDX-License-Identifier: Apache-2.0
// Bench of preflight, a net for development: two dense layers with batch normalisation and running statistics, ReLU,
// softmax.
#pragma once

#include "../net.hpp"

#include <algorithm>

namespace preflight_bench {

template <class Real>
class batch_norm : public net_base<Real> {
public:
    static constexpr char const* name = "batch normalisation";
    static constexpr double rate = 0.1;
    static bool can(fault what) {
        return what != fault::short_history && what != fault::wrong_embedding_row && what != fault::dropout_backward &&
               what != fault::dead_units && what != fault::batch_mixed && what != fault::inputs_constant &&
               what != fault::bias_missing && what != fault::swapped;
    }
    static bool can(habit what) { return what != habit::dropout && what != habit::small_batch; }
    static constexpr bool has_modes = true;

    batch_norm(arm const& what, std::uint64_t seed) : net_base<Real>(what), random_(seed) {
        auto& p = this->weights_;
        p.emplace_back("fc1/w", in, units), p.emplace_back("fc1/b", 1, units), p.emplace_back("bn1/gain", 1, units),
            p.emplace_back("bn1/shift", 1, units);
        p.emplace_back("fc2/w", units, units), p.emplace_back("bn2/gain", 1, units),
            p.emplace_back("bn2/shift", 1, units);
        p.emplace_back("fc3/w", units, classes), p.emplace_back("fc3/b", 1, classes);
        p[0].draw(random_, std::sqrt(2.0 / in)), p[4].draw(random_, std::sqrt(2.0 / units)),
            p[7].draw(random_, std::sqrt(1.0 / units));
        for (std::size_t const k : {2U, 5U}) { std::fill(p[k].w.begin(), p[k].w.end(), Real(1)); }
        draw_classes(random_, x_, labels_, n_, in, classes, what);
        spoil_inputs(x_, in, what);
        for (layer& each : norm_) { each.mean.assign(units, 0), each.variance.assign(units, 1); }
    }

    Real forward_backward() {
        auto& p = this->weights_;
        arm const& how = this->how_;
        if (how.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        multiply(x_, p[0].w, a1_, n_, in, units), add_rows(a1_, p[1].w);
        normalise(norm_[0], a1_, p[2].w, p[3].w, y1_);
        values<Real> h1 = y1_, h2;
        for (Real& each : h1) { each = each > 0 ? each : 0; }
        multiply(h1, p[4].w, a2_, n_, units, units);
        normalise(norm_[1], a2_, p[5].w, p[6].w, y2_);
        h2 = y2_;
        for (Real& each : h2) { each = each > 0 ? each : 0; }
        multiply(h2, p[7].w, out_, n_, units, classes), add_rows(out_, p[8].w);
        values<Real> slope, back, next;
        Real const loss = softmax_loss(out_, labels_, n_, classes, how, shown_, slope);

        add_outer(h2, slope, p[7].g, n_, units, classes), sum_rows(slope, p[8].g);
        multiply_back(slope, p[7].w, back, n_, classes, units);
        for (std::size_t i = 0; i < back.size(); ++i) { back[i] = y2_[i] > 0 ? back[i] : 0; }
        normalise_back(norm_[1], p[5].w, back, p[5].g, p[6].g, next);
        add_outer(h1, next, p[4].g, n_, units, units);
        multiply_back(next, p[4].w, back, n_, units, units, how.is(fault::wrong_matrix));
        for (std::size_t i = 0; i < back.size(); ++i) {
            if (!how.is(fault::slope_missing)) { back[i] = y1_[i] > 0 ? back[i] : 0; }
        }
        normalise_back(norm_[0], p[2].w, back, p[2].g, p[3].g, next);
        add_outer(how.is(fault::stale_input) ? kept_ : x_, next, p[0].g, n_, in, units), sum_rows(next, p[1].g);
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n_; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<int>& labels() noexcept { return labels_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return shown_; }
    void training(bool on) { training_ = on; }

private:
    static constexpr std::size_t in = 10, units = 18, classes = 4;
    struct layer {
        values<Real> mean, variance, scaled, root;
    };
    void normalise(layer& it, values<Real> const& a, values<Real> const& gain, values<Real> const& shift,
                   values<Real>& y) {
        it.scaled.assign(a.size(), 0), it.root.assign(units, 0), y.assign(a.size(), 0);
        for (std::size_t u = 0; u < units; ++u) {
            Real mean = 0, square = 0;
            for (std::size_t i = 0; i < n_; ++i) { mean += a[i * units + u] / static_cast<Real>(n_); }
            for (std::size_t i = 0; i < n_; ++i) {
                square += (a[i * units + u] - mean) * (a[i * units + u] - mean) / static_cast<Real>(n_);
            }
            if (training_) {
                it.mean[u] = Real(0.9) * it.mean[u] + Real(0.1) * mean,
                it.variance[u] = Real(0.9) * it.variance[u] + Real(0.1) * square;
            } else {
                mean = it.mean[u], square = it.variance[u];
            }
            it.root[u] = 1 / std::sqrt(square + Real(1e-5));
            for (std::size_t i = 0; i < n_; ++i) {
                Real const s = it.scaled[i * units + u] = (a[i * units + u] - mean) * it.root[u];
                y[i * units + u] = gain[u] * s + shift[u];
            }
        }
    }
    void normalise_back(layer const& it, values<Real> const& gain, values<Real> const& slope, values<Real>& g_gain,
                        values<Real>& g_shift, values<Real>& before) {
        before.assign(slope.size(), 0);
        Real const n = static_cast<Real>(n_);
        for (std::size_t u = 0; u < units; ++u) {
            Real sum = 0, along = 0;
            for (std::size_t i = 0; i < n_; ++i) {
                sum += slope[i * units + u], along += slope[i * units + u] * it.scaled[i * units + u];
            }
            g_gain[u] += along, g_shift[u] += sum;
            for (std::size_t i = 0; i < n_; ++i) {
                Real const terms =
                    this->how_.is(fault::norm_terms_missing) ? Real(0) : (sum + it.scaled[i * units + u] * along) / n;
                before[i * units + u] = gain[u] * it.root[u] * (slope[i * units + u] - (training_ ? terms : Real(0)));
            }
        }
    }

    prng random_;
    std::size_t n_ = 24;
    bool training_ = true;
    layer norm_[2];
    values<Real> x_, kept_, a1_, y1_, a2_, y2_, out_, shown_;
    std::vector<int> labels_;
};

}  // namespace preflight_bench
