// SPDX-License-Identifier: Apache-2.0
// expect: evaluate an expression
#include <spotter/hook.hpp>

#include <array>

namespace {

// A sum that computes an element on demand: it has a shape, and no memory.
struct lazy_sum {
    std::array<float, 2> left, right;
    [[nodiscard]] std::array<std::size_t, 1> shape() const { return {2}; }
    [[nodiscard]] std::size_t size() const { return 2; }
    [[nodiscard]] float operator()(std::size_t i) const { return left[i] + right[i]; }
    [[nodiscard]] std::array<float, 2> eval() const { return {left[0] + right[0], left[1] + right[1]}; }
};

}  // namespace

int main() {
    using spotter::operator""_t;
    std::array<float, 2> const a{1, 2}, b{3, 4};
    spotter::hook watch{spotter::plan{}};
#ifdef SPOTTER_CONTROL
    (void)watch.step(spotter::train(0), "a + b"_t = lazy_sum{a, b}.eval());
#else
    (void)watch.step(spotter::train(0), "a + b"_t = lazy_sum{a, b});
#endif
}
