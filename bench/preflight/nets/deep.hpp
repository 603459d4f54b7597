// SPDX-License-Identifier: Apache-2.0
// Bench of preflight: nets of any depth with ReLU, so of any number of tensors. A plain perceptron, a residual one, and
// one with batch normalisation; squares of one output.
#pragma once

#include "../net.hpp"

#include <algorithm>

namespace preflight_bench {

enum class deep_form { plain, residual, normalised };

[[nodiscard]] constexpr char const* name_of_deep(deep_form form, std::size_t tensors) noexcept {
    constexpr char const* names[3][3] = {
        {"deep perceptron, 70 tensors", "deep perceptron, 130 tensors", "deep perceptron, 300 tensors"},
        {"residual, 70 tensors", "residual, 130 tensors", "residual, 298 tensors"},
        {"residual, normalised, 72 tensors", "residual, normalised, 132 tensors", "residual, normalised, 302 tensors"}};
    return names[static_cast<std::size_t>(form)][tensors < 100 ? 0 : tensors < 200 ? 1 : 2];
}

// Plain: layers of a weight and a bias, h = relu(h w + b). Otherwise blocks, h += c relu(h w + b) v + d, where a batch
// normalisation may stand before the ReLU; c is one over the root of their number. A head of one output follows. A
// plain net begins with a mean square of one behind each layer (Mishkin and Matas 2016).
template <class Real, deep_form Form, std::size_t Tensors>
class deep_net : public net_base<Real> {
public:
    static constexpr char const* name = name_of_deep(Form, Tensors);
    static constexpr double rate = 0.001;
    static constexpr bool is_plain = Form == deep_form::plain, normalises = Form == deep_form::normalised;
    static constexpr std::size_t per_layer = is_plain ? 2 : normalises ? 5 : 4, layers = (Tensors - 2) / per_layer;
    static bool can(fault what) {
        return (is_general(what) && what != fault::zero_start) || what == fault::slope_missing ||
               what == fault::wrong_matrix;
    }
    static bool can(habit what) { return what != habit::dropout && what != habit::small_batch; }

    deep_net(arm const& what, std::uint64_t seed) : net_base<Real>(what), random_(seed + 700) {
        auto& p = this->weights_;
        for (std::size_t l = 0; l < layers; ++l) {
            std::string const title = "layer" + std::to_string(l);
            p.emplace_back(title + "/w", units, units), p.back().draw(random_, std::sqrt(2.0 / units));
            if (normalises) { p.emplace_back(title + "/gain", 1, units), fill(p.back().w, 1); }
            p.emplace_back(title + "/b", 1, units);
            if (is_plain) { continue; }
            p.emplace_back(title + "/v", units, units), p.back().draw(random_, std::sqrt(1.0 / units));
            p.emplace_back(title + "/d", 1, units);
        }
        p.emplace_back("head/w", units, 1), p.back().draw(random_, std::sqrt(1.0 / units));
        p.emplace_back("head/b", 1, 1);
        x_.resize(n * units), y_.resize(n);
        for (Real& each : x_) { each = static_cast<Real>(random_.normal()); }
        for (std::size_t i = 0; i < n; ++i) {
            y_[i] = static_cast<Real>(std::sin(double(x_[i * units])) + double(x_[i * units + 1]));
        }
        h_.resize(layers + 1), a_.resize(layers), z_.resize(layers), r_.resize(layers), root_.resize(layers);
        if (is_plain) { bring_to_one(); }
    }

    Real forward_backward() {
        auto& p = this->weights_;
        if (this->how_.is(fault::stale_input) && kept_.empty()) { kept_ = x_; }
        h_[0] = x_;
        for (std::size_t l = 0; l < layers; ++l) { forward(l); }
        multiply(h_[layers], p[head].w, out_, n, units, 1), add_rows(out_, p[head + 1].w);
        values<Real> slope(n), back;
        Real loss = 0;
        for (std::size_t i = 0; i < n; ++i) {
            Real const gap = out_[i] - y_[i];
            loss += gap * gap / static_cast<Real>(2 * n), slope[i] = gap / static_cast<Real>(n);
        }
        add_outer(h_[layers], slope, p[head].g, n, units, 1), sum_rows(slope, p[head + 1].g);
        multiply_back(slope, p[head].w, back, n, 1, units);
        for (std::size_t l = layers; l-- > 0;) { back = backward(l, back); }
        return loss;
    }

    [[nodiscard]] std::size_t batch() const noexcept { return n; }
    [[nodiscard]] std::vector<Real>& inputs() noexcept { return x_; }
    [[nodiscard]] std::vector<Real>& outputs() noexcept { return out_; }

private:
    static constexpr std::size_t units = is_plain ? 48 : 16, n = 16, head = per_layer * layers;

    static void fill(values<Real>& into, double value) {
        std::fill(into.begin(), into.end(), static_cast<Real>(value));
    }
    [[nodiscard]] static Real share() noexcept { return static_cast<Real>(1 / std::sqrt(double(layers))); }
    void forward(std::size_t l) {
        auto& p = this->weights_;
        std::size_t const first = per_layer * l;
        multiply(h_[l], p[first].w, a_[l], n, units, units);
        if (normalises) {
            normalise(l);
        } else {
            z_[l] = a_[l], add_rows(z_[l], p[first + 1].w);
        }
        r_[l] = z_[l];
        for (Real& each : r_[l]) { each = each > 0 ? each : Real(0); }
        h_[l + 1] = r_[l];
        if (is_plain) { return; }
        multiply(r_[l], p[head_of_block(l)].w, h_[l + 1], n, units, units);
        add_rows(h_[l + 1], p[head_of_block(l) + 1].w);
        for (std::size_t i = 0; i < h_[l].size(); ++i) { h_[l + 1][i] = h_[l][i] + share() * h_[l + 1][i]; }
    }
    [[nodiscard]] static constexpr std::size_t head_of_block(std::size_t l) noexcept { return per_layer * (l + 1) - 2; }
    // a becomes scaled, z is with gain and shift.
    void normalise(std::size_t l) {
        auto& p = this->weights_;
        root_[l].assign(units, 0), z_[l] = a_[l];
        for (std::size_t u = 0; u < units; ++u) {
            double mean = 0, square = 0;
            for (std::size_t i = 0; i < n; ++i) { mean += double(a_[l][i * units + u]) / n; }
            for (std::size_t i = 0; i < n; ++i) {
                double const apart = double(a_[l][i * units + u]) - mean;
                square += apart * apart / n;
            }
            root_[l][u] = static_cast<Real>(1 / std::sqrt(square + 1e-5));
            for (std::size_t i = 0; i < n; ++i) {
                Real& a = a_[l][i * units + u];
                a = (a - static_cast<Real>(mean)) * root_[l][u];
                z_[l][i * units + u] = p[per_layer * l + 1].w[u] * a + p[per_layer * l + 2].w[u];
            }
        }
    }
    // The slope of the loss along the input of layer l, from that along its output.
    [[nodiscard]] values<Real> backward(std::size_t l, values<Real> const& above) {
        auto& p = this->weights_;
        arm const& how = this->how_;
        std::size_t const first = per_layer * l;
        values<Real> own = above, made;
        if (!is_plain) {
            for (Real& each : own) { each *= share(); }
            add_outer(r_[l], own, p[head_of_block(l)].g, n, units, units), sum_rows(own, p[head_of_block(l) + 1].g);
            multiply_back(values<Real>{own}, p[head_of_block(l)].w, own, n, units, units);
        }
        for (std::size_t i = 0; i < own.size(); ++i) {
            bool const passes = z_[l][i] > 0 || (how.is(fault::slope_missing) && l == layers / 2);
            own[i] = passes ? own[i] : Real(0);
        }
        if (normalises) {
            own = normalise_back(l, own);
        } else {
            sum_rows(own, p[first + 1].g);
        }
        add_outer(l == 0 && how.is(fault::stale_input) ? kept_ : h_[l], own, p[first].g, n, units, units);
        multiply_back(own, p[first].w, made, n, units, units, how.is(fault::wrong_matrix) && l == layers / 2);
        for (std::size_t i = 0; !is_plain && i < made.size(); ++i) { made[i] += above[i]; }
        return made;
    }
    [[nodiscard]] values<Real> normalise_back(std::size_t l, values<Real> const& slope) {
        auto& p = this->weights_;
        values<Real> made(slope.size());
        for (std::size_t u = 0; u < units; ++u) {
            Real sum = 0, along = 0;
            for (std::size_t i = 0; i < n; ++i) {
                sum += slope[i * units + u], along += slope[i * units + u] * a_[l][i * units + u];
            }
            p[per_layer * l + 1].g[u] += along, p[per_layer * l + 2].g[u] += sum;
            for (std::size_t i = 0; i < n; ++i) {
                made[i * units + u] = p[per_layer * l + 1].w[u] * root_[l][u] *
                                      (slope[i * units + u] - (sum + a_[l][i * units + u] * along) / Real(n));
            }
        }
        return made;
    }
    void bring_to_one() {
        h_[0] = x_;
        for (std::size_t l = 0; l < layers; ++l) {
            forward(l);
            double square = 0;
            for (Real const each : h_[l + 1]) { square += double(each) * double(each) / double(n * units); }
            for (Real& each : this->weights_[per_layer * l].w) { each /= static_cast<Real>(std::sqrt(square)); }
            forward(l);
        }
    }

    prng random_;
    values<Real> x_, kept_, y_, out_;
    std::vector<values<Real>> h_, a_, z_, r_,
        root_;  // of each layer: input, sums, before and behind the ReLU; deviations
};

}  // namespace preflight_bench
