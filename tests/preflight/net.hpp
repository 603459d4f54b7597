// SPDX-License-Identifier: Apache-2.0
// A perceptron with tanh and softmax that is right, for tests that spoil it in one place.
#pragma once

#include <spotter/preflight.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

namespace preflight_test {

// Numbers from -1 to 1, the same everywhere.
struct prng {
    std::uint64_t state = 7;
    [[nodiscard]] double next() noexcept {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<double>(state >> 11U) * 0x1p-52 - 1;
    }
};

// A row-major matrix, as people write it.
template <class Real>
struct matrix {
    std::size_t rows = 0, cols = 0;
    std::vector<Real> values{};

    matrix() = default;
    matrix(std::size_t r, std::size_t c) : rows(r), cols(c), values(r * c) {}
    [[nodiscard]] Real* data() noexcept { return values.data(); }
    [[nodiscard]] Real const* data() const noexcept { return values.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return values.size(); }
    [[nodiscard]] std::array<std::size_t, 2> shape() const noexcept { return {rows, cols}; }
    [[nodiscard]] Real& operator()(std::size_t r, std::size_t c) noexcept { return values[r * cols + c]; }
    [[nodiscard]] Real operator()(std::size_t r, std::size_t c) const noexcept { return values[r * cols + c]; }
};

// Three layers; `units` hidden ones each, so that the middle weight is square. Every member may be changed before it is
// examined.
template <class Real = float>
struct perceptron {
    static constexpr std::size_t in = 6, units = 8, classes = 3, samples = 16;

    matrix<Real> w1{in, units}, w2{units, units}, w3{units, classes}, g1{in, units}, g2{units, units},
        g3{units, classes};
    std::vector<Real> b1 = std::vector<Real>(units), b2 = b1, gb1 = b1, gb2 = b1;
    matrix<Real> x{samples, in}, logits{samples, classes};
    std::vector<int> y = std::vector<int>(samples);
    prng random{};
    Real rate = Real(0.1);
    bool clears = true, shows_batch = true;
    std::function<void(perceptron&)> before_loss{};  // behind the forward pass: what the loss is taken of
    std::function<void(perceptron&)> spoils{};       // behind the backward pass
    std::function<void(perceptron&)> updates{};      // in place of the update

    explicit perceptron(std::uint64_t seed = 1) {
        random.state += seed * 977;
        for (auto* const w : {&w1, &w2, &w3}) {
            for (Real& each : w->values) {
                each = static_cast<Real>(random.next() * 1.7 / std::sqrt(static_cast<double>(w->rows)));
            }
        }
        for (Real& each : x.values) { each = static_cast<Real>(random.next() * 1.5); }
        for (std::size_t i = 0; i < samples; ++i) { y[i] = x(i, 0) + x(i, 1) > Real(0.5) ? 2 : x(i, 2) > 0 ? 1 : 0; }
    }

    [[nodiscard]] std::vector<std::vector<Real>*> gradients() {
        return {&g1.values, &gb1, &g2.values, &gb2, &g3.values};
    }
    [[nodiscard]] std::vector<std::vector<Real>*> weights() { return {&w1.values, &b1, &w2.values, &b2, &w3.values}; }

    double forward_backward() {
        if (clears) { clear(); }
        matrix<Real> h1{samples, units}, h2{samples, units}, d1{samples, units}, d2{samples, units},
            d3{samples, classes};
        for (std::size_t i = 0; i < samples; ++i) {
            for (std::size_t j = 0; j < units; ++j) {
                Real sum = b1[j];
                for (std::size_t k = 0; k < in; ++k) { sum += x(i, k) * w1(k, j); }
                h1(i, j) = std::tanh(sum);
            }
            for (std::size_t j = 0; j < units; ++j) {
                Real sum = b2[j];
                for (std::size_t k = 0; k < units; ++k) { sum += h1(i, k) * w2(k, j); }
                h2(i, j) = std::tanh(sum);
            }
            for (std::size_t j = 0; j < classes; ++j) {
                Real sum = 0;
                for (std::size_t k = 0; k < units; ++k) { sum += h2(i, k) * w3(k, j); }
                logits(i, j) = sum;
            }
        }
        if (before_loss) { before_loss(*this); }
        double loss = 0;
        for (std::size_t i = 0; i < samples; ++i) {
            Real sum = 0;
            for (std::size_t j = 0; j < classes; ++j) { sum += std::exp(logits(i, j)); }
            // What lies beyond is read from somewhere.
            std::size_t const label = static_cast<std::size_t>(y[i]) % classes;
            loss -= static_cast<double>(logits(i, label) - std::log(sum)) / samples;
            for (std::size_t j = 0; j < classes; ++j) {
                d3(i, j) = (std::exp(logits(i, j)) / sum - (j == label ? Real(1) : Real(0))) / samples;
            }
            for (std::size_t k = 0; k < units; ++k) {
                Real back = 0;
                for (std::size_t j = 0; j < classes; ++j) {
                    g3(k, j) += h2(i, k) * d3(i, j);
                    back += d3(i, j) * w3(k, j);
                }
                d2(i, k) = back * (1 - h2(i, k) * h2(i, k));
                gb2[k] += d2(i, k);
            }
            for (std::size_t k = 0; k < units; ++k) {
                Real back = 0;
                for (std::size_t j = 0; j < units; ++j) {
                    g2(k, j) += h1(i, k) * d2(i, j);
                    back += d2(i, j) * w2(k, j);
                }
                d1(i, k) = back * (1 - h1(i, k) * h1(i, k));
                gb1[k] += d1(i, k);
            }
            for (std::size_t k = 0; k < in; ++k) {
                for (std::size_t j = 0; j < units; ++j) { g1(k, j) += x(i, k) * d1(i, j); }
            }
        }
        if (spoils) { spoils(*this); }
        return loss;
    }
    void clear() {
        for (auto* const g : gradients()) { g->assign(g->size(), Real(0)); }
    }
    void update() {
        if (updates) { return updates(*this); }
        auto const w = weights(), g = gradients();
        for (std::size_t k = 0; k < w.size(); ++k) {
            for (std::size_t i = 0; i < w[k]->size(); ++i) { (*w[k])[i] -= rate * (*g[k])[i]; }
        }
    }
};

template <class Real, class Visit>
void visit_tensors(perceptron<Real> const& it, Visit visit) {
    visit("fc1/w", it.w1), visit("fc1/b", it.b1), visit("fc2/w", it.w2), visit("fc2/b", it.b2), visit("fc3/w", it.w3);
    visit("grad/fc1/w", it.g1), visit("grad/fc1/b", it.gb1), visit("grad/fc2/w", it.g2), visit("grad/fc2/b", it.gb2),
        visit("grad/fc3/w", it.g3);
    if (it.shows_batch) { visit("input", it.x), visit("labels", it.y), visit("logits", it.logits); }
}

inline constexpr auto pass = [](auto& net) { return net.forward_backward(); };
inline constexpr auto step = [](auto& net) { net.update(); };

template <class Net>
[[nodiscard]] spotter::preflight_result examined(Net& net, spotter::preflight_options<Net> const& choices = {}) {
    return spotter::preflight(net, pass, step, choices);
}

// The verdict on one weight's gradient.
[[nodiscard]] inline spotter::gradient_verdict verdict_on(spotter::preflight_result const& found,
                                                          std::string_view name) {
    for (auto const& each : found.gradients()) {
        if (each.name == name) { return each; }
    }
    return {};
}

}  // namespace preflight_test

// For messages of tests that fail.
namespace spotter::inline SPOTTER_ABI {
inline std::ostream& operator<<(std::ostream& out, preflight_result const& it) {
    out << std::string{it.sentence().view()};
    for (auto const& each : it.all()) {
        out << "; " << std::string{each.finding.rule} << " at " << std::string{each.finding.tensor} << ", "
            << each.finding.measured;
    }
    return out;
}
inline std::ostream& operator<<(std::ostream& out, preflight_cause what) { return out << std::string{name_of(what)}; }
inline std::ostream& operator<<(std::ostream& out, gradient_proof what) { return out << std::string{name_of(what)}; }
}  // namespace spotter::inline SPOTTER_ABI
