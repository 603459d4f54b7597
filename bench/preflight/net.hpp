// SPDX-License-Identifier: Apache-2.0
// What the nets of the bench share: weights with their gradients, random numbers, and products of matrices.
#pragma once

#include "arm.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace preflight_bench {

class prng {
public:
    explicit prng(std::uint64_t seed = 1) noexcept : state_(seed * 0xD1342543DE82EF95U + 0x632BE59BD9B4E019U) {}
    [[nodiscard]] std::uint64_t next() noexcept {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31U);
    }
    [[nodiscard]] double uniform() noexcept { return static_cast<double>(next() >> 11U) * 0x1p-53; }
    [[nodiscard]] double normal() noexcept {
        return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(6.283185307179586 * uniform());
    }
    [[nodiscard]] std::size_t below(std::size_t count) noexcept { return static_cast<std::size_t>(next() % count); }

private:
    std::uint64_t state_;
};

// A weight of rows x cols, or a bias (one row), with its gradient.
template <class Real>
struct param {
    std::string name;
    std::size_t rows = 0, cols = 0;
    std::vector<Real> w{}, g{};

    param(std::string title, std::size_t r, std::size_t c)
        : name(std::move(title)), rows(r), cols(c), w(r * c), g(r * c) {}
    [[nodiscard]] bool is_bias() const noexcept { return rows == 1 && name.back() == 'b'; }
    void draw(prng& random, double deviation) {
        for (Real& each : w) { each = static_cast<Real>(deviation * random.normal()); }
    }
    [[nodiscard]] Real& operator()(std::size_t r, std::size_t c) noexcept { return w[r * cols + c]; }
    [[nodiscard]] Real& grad(std::size_t r, std::size_t c) noexcept { return g[r * cols + c]; }
};

template <class Real>
using values = std::vector<Real>;

// What every net has; a net adds forward_backward(), which adds to the gradients and returns the mean loss.
template <class Real>
class net_base {
public:
    using real = Real;

    [[nodiscard]] std::vector<param<Real>>& parameters() noexcept { return weights_; }
    [[nodiscard]] std::vector<param<Real>> const& parameters() const noexcept { return weights_; }
    [[nodiscard]] std::vector<Real> const& shown(param<Real> const& it) const noexcept { return it.w; }
    void move(std::size_t k, std::size_t i, double by) {
        weights_[k].w[i] = static_cast<Real>(double(weights_[k].w[i]) + by);
    }

protected:
    explicit net_base(arm const& what) : how_(what) {}
    arm how_;
    std::vector<param<Real>> weights_{};
};

// Faults of a loop, whatever its net.
[[nodiscard]] constexpr bool is_general(fault what) noexcept {
    return what > fault::none && what <= fault::decay_grows;
}

// out[n, m] = a[n, k] b[k, m]
template <class Real>
void multiply(values<Real> const& a, values<Real> const& b, values<Real>& out, std::size_t n, std::size_t k,
              std::size_t m) {
    out.assign(n * m, Real(0));
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t l = 0; l < k; ++l) {
            Real const x = a[i * k + l];
            for (std::size_t j = 0; j < m; ++j) { out[i * m + j] += x * b[l * m + j]; }
        }
    }
}
// out[k, m] += a[n, k]^T b[n, m]
template <class Real>
void add_outer(values<Real> const& a, values<Real> const& b, values<Real>& out, std::size_t n, std::size_t k,
               std::size_t m) {
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t l = 0; l < k; ++l) {
            Real const x = a[i * k + l];
            for (std::size_t j = 0; j < m; ++j) { out[l * m + j] += x * b[i * m + j]; }
        }
    }
}
// out[n, k] = a[n, m] b[k, m]^T; where `plain` and b is square, by b itself: a mistake.
template <class Real>
void multiply_back(values<Real> const& a, values<Real> const& b, values<Real>& out, std::size_t n, std::size_t m,
                   std::size_t k, bool plain = false) {
    out.assign(n * k, Real(0));
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t l = 0; l < k; ++l) {
            Real sum = 0;
            for (std::size_t j = 0; j < m; ++j) { sum += a[i * m + j] * (plain ? b[j * m + l] : b[l * m + j]); }
            out[i * k + l] = sum;
        }
    }
}
template <class Real>
void add_rows(values<Real>& a, values<Real> const& bias) {
    for (std::size_t i = 0; i < a.size(); ++i) { a[i] += bias[i % bias.size()]; }
}
template <class Real>
void sum_rows(values<Real> const& a, values<Real>& bias_gradient) {
    for (std::size_t i = 0; i < a.size(); ++i) { bias_gradient[i % bias_gradient.size()] += a[i]; }
}

// Cross-entropy of logits [n, c], with what an arm does to it: the mean loss, and its slope in `slope`.
template <class Real>
[[nodiscard]] Real softmax_loss(values<Real> const& logits, std::vector<int> const& labels, std::size_t n,
                                std::size_t c, arm const& how, values<Real>& shown, values<Real>& slope) {
    Real loss = 0;
    slope.assign(n * c, Real(0));
    shown = logits;
    Real const scale = Real(1) / static_cast<Real>(n);
    auto const softmax = [](Real const* from, Real* to, std::size_t count, std::size_t step) {
        Real top = from[0], sum = 0;
        for (std::size_t j = 1; j < count; ++j) { top = from[j * step] > top ? from[j * step] : top; }
        for (std::size_t j = 0; j < count; ++j) { sum += to[j * step] = std::exp(from[j * step] - top); }
        for (std::size_t j = 0; j < count; ++j) { to[j * step] /= sum; }
    };
    if (how.is(fault::softmax_over_batch)) {  // consistent forward and backward, along the wrong axis
        values<Real> p(n * c);
        for (std::size_t j = 0; j < c; ++j) { softmax(&logits[j], &p[j], n, c); }
        shown = p;
        for (std::size_t i = 0; i < n; ++i) {
            auto const y = static_cast<std::size_t>(labels[i]);
            loss -= scale * std::log(p[i * c + y] + Real(1e-30));
            for (std::size_t r = 0; r < n; ++r) {
                slope[r * c + y] += scale * (p[r * c + y] - (r == i ? Real(1) : Real(0)));
            }
        }
        return loss;
    }
    values<Real> p(n * c), q(n * c);
    for (std::size_t i = 0; i < n; ++i) {
        softmax(&logits[i * c], &p[i * c], c, 1);
        // What lies beyond is read from somewhere.
        std::size_t const y = how.is(fault::labels_ignored) ? i % c : static_cast<std::size_t>(labels[i]) % c;
        if (how.is(fault::softmax_twice)) {
            softmax(&p[i * c], &q[i * c], c, 1);
            loss -= scale * std::log(q[i * c + y]);
            Real along = 0;
            for (std::size_t j = 0; j < c; ++j) {
                along += (q[i * c + j] - (j == y ? Real(1) : Real(0))) * p[i * c + j];
            }
            for (std::size_t j = 0; j < c; ++j) {
                slope[i * c + j] = scale * p[i * c + j] * (q[i * c + j] - (j == y ? Real(1) : Real(0)) - along);
            }
            continue;
        }
        loss -= scale * std::log(p[i * c + y] + Real(1e-30));
        for (std::size_t j = 0; j < c; ++j) {
            slope[i * c + j] = scale * (p[i * c + j] - (j == y ? Real(1) : Real(0)));
        }
    }
    return loss;
}

// Samples [n, d] drawn around as many centres as there are classes.
template <class Real>
void draw_classes(prng& random, values<Real>& x, std::vector<int>& labels, std::size_t n, std::size_t d,
                  std::size_t classes, arm const& how) {
    values<double> centres(classes * d);
    for (double& each : centres) { each = random.normal(); }
    x.resize(n * d);
    labels.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t const y = i < classes ? i : random.below(classes);
        labels[i] = static_cast<int>(y) + (how.is(fault::label_too_high) ? 1 : 0);
        for (std::size_t j = 0; j < d; ++j) {
            x[i * d + j] = static_cast<Real>(0.7 * centres[y * d + j] + 0.7 * random.normal());
        }
    }
}

// What an arm does to the inputs of a batch, so many features a sample.
template <class Real>
void spoil_inputs(values<Real>& x, std::size_t features, arm const& how) {
    for (std::size_t i = features; how.is(fault::inputs_constant) && i < x.size(); ++i) { x[i] = x[i - features]; }
    for (Real& each : x) { each *= how.is(fault::inputs_raw) ? Real(255) : Real(1); }
}

// Samples of a batch in columns taken for rows: what a reshape in place of a transposition does. Its own inverse only
// where n = d.
template <class Real>
[[nodiscard]] values<Real> mixed(values<Real> const& x, std::size_t n, std::size_t d) {
    values<Real> made(x.size());
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < d; ++j) { made[i * d + j] = x[j * n + i]; }
    }
    return made;
}

}  // namespace preflight_bench
