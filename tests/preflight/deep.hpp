// SPDX-License-Identifier: Apache-2.0
// A residual net of any number of layers, so of any number of tensors; by hand, and right. For what an examination
// costs.
#pragma once

#include <spotter/core/tensor_ref.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace preflight_test {

enum class activation { smooth, kinked };  // tanh, ReLU

template <class Real>
struct deep_net {
    static constexpr std::size_t samples = 16, units = 12;
    struct layer {
        std::size_t out = 0;
        std::vector<Real> w{}, b{}, grad_w{}, grad_b{};
    };

    std::uint64_t state;
    activation how;
    std::vector<layer> layers{};
    Real share;  // of a layer's own part: the sum of all is as large in a net of any depth
    std::vector<Real> x{}, y{};

    deep_net(std::size_t depth, activation kind, std::uint64_t seed)
        : state{seed * 7919 + 1}, how{kind}, share{static_cast<Real>(1.0 / static_cast<double>(depth))} {
        for (std::size_t l = 0; l < depth; ++l) {
            layer made;
            made.out = l + 1 == depth ? 1 : units;
            made.w.resize(units * made.out), made.b.resize(made.out);
            double const deviation = std::sqrt((kind == activation::kinked ? 6.0 : 3.0) / double(units));
            for (Real& each : made.w) { each = static_cast<Real>(deviation * draw()); }
            made.grad_w.resize(made.w.size()), made.grad_b.resize(made.b.size());
            layers.push_back(std::move(made));
        }
        x.resize(samples * units), y.resize(samples);
        for (Real& each : x) { each = static_cast<Real>(1.7 * draw()); }
        for (std::size_t i = 0; i < samples; ++i) {
            y[i] = static_cast<Real>(std::sin(3 * double(x[i * units])) + double(x[i * units + 1]));
        }
    }

    double forward_backward() {
        std::size_t const depth = layers.size();
        std::vector<std::vector<Real>> h(depth + 1), z(depth);
        h[0] = x;
        for (std::size_t l = 0; l < depth; ++l) {
            layer& it = layers[l];
            z[l].resize(samples * it.out);
            for (std::size_t i = 0; i < samples; ++i) {
                for (std::size_t j = 0; j < it.out; ++j) {
                    Real sum = it.b[j];
                    for (std::size_t k = 0; k < units; ++k) { sum += h[l][i * units + k] * it.w[k * it.out + j]; }
                    z[l][i * it.out + j] = sum;
                }
            }
            h[l + 1] = z[l];
            for (std::size_t i = 0; l + 1 < depth && i < z[l].size(); ++i) {
                h[l + 1][i] = h[l][i] + share * (how == activation::smooth ? std::tanh(z[l][i])
                                                 : z[l][i] > 0             ? z[l][i]
                                                                           : Real(0));
            }
        }
        double loss = 0;
        std::vector<Real> slope(samples);
        for (std::size_t i = 0; i < samples; ++i) {
            Real const gap = h[depth][i] - y[i];
            loss += double(gap) * double(gap) / 2 / samples;
            slope[i] = gap / static_cast<Real>(samples);
        }
        for (std::size_t l = depth; l-- > 0;) { slope = backward(l, h[l], z[l], slope); }
        return loss;
    }
    void update() {
        for (layer& each : layers) {
            for (std::size_t i = 0; i < each.w.size(); ++i) { each.w[i] -= Real(0.02) * each.grad_w[i]; }
            for (std::size_t i = 0; i < each.b.size(); ++i) { each.b[i] -= Real(0.02) * each.grad_b[i]; }
        }
    }

private:
    [[nodiscard]] double draw() noexcept {  // from -1 to 1
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<double>(state >> 11U) * 0x1p-52 - 1;
    }
    [[nodiscard]] std::vector<Real> backward(std::size_t l, std::vector<Real> const& below, std::vector<Real> const& z,
                                             std::vector<Real> const& above) {
        layer& it = layers[l];
        bool const last = l + 1 == layers.size();
        std::vector<Real> own = above, made(samples * units);
        for (std::size_t i = 0; !last && i < own.size(); ++i) {
            Real const t = std::tanh(z[i]);
            own[i] *= share * (how == activation::smooth ? 1 - t * t : z[i] > 0 ? Real(1) : Real(0));
        }
        it.grad_w.assign(it.w.size(), 0), it.grad_b.assign(it.b.size(), 0);
        for (std::size_t i = 0; i < samples; ++i) {
            for (std::size_t j = 0; j < it.out; ++j) {
                it.grad_b[j] += own[i * it.out + j];
                for (std::size_t k = 0; k < units; ++k) {
                    it.grad_w[k * it.out + j] += below[i * units + k] * own[i * it.out + j];
                    made[i * units + k] += own[i * it.out + j] * it.w[k * it.out + j];
                }
            }
        }
        for (std::size_t i = 0; !last && i < made.size(); ++i) { made[i] += above[i]; }
        return made;
    }
};

template <class Real, class Visit>
void visit_tensors(deep_net<Real> const& it, Visit visit) {
    for (std::size_t l = 0; l < it.layers.size(); ++l) {
        auto const& each = it.layers[l];
        std::string const name = "layer" + std::to_string(l);
        spotter::extents const shape{deep_net<Real>::units, each.out};
        visit(name + "/w", spotter::view_of(each.w.data(), shape)), visit(name + "/b", each.b);
        visit("grad/" + name + "/w", spotter::view_of(each.grad_w.data(), shape)),
            visit("grad/" + name + "/b", each.grad_b);
    }
}

}  // namespace preflight_test
