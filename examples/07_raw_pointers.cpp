// SPDX-License-Identifier: Apache-2.0
// Parameters as offsets into one allocation, as in plain C programs: view_of(pointer, {sizes...}). Observing them wraps
// and copies nothing. A view that is not contiguous is refused and counted, never misread.
#include <spotter/hook.hpp>
#include <spotter/report.hpp>
#include <spotter/rules.hpp>

#include <cmath>
#include <vector>

namespace sp = spotter;

int main() {
    constexpr std::size_t rows = 8, cols = 4, pitch = 6;
    std::vector<double> memory(rows * cols + cols + rows * pitch);
    double* const weight = memory.data();       // 8 x 4, row major
    double* const bias = weight + rows * cols;  // 4
    double* const padded = bias + cols;         // 8 x 4 with 6 doubles between rows
    for (std::size_t i = 0; i < memory.size(); ++i) { memory[i] = std::sin(static_cast<double>(i)); }

    sp::hook watch{sp::plan{}, sp::non_finite{}, sp::any("*/w", sp::l2 > 100.0)};
    sp::tensor_handle const w = watch.tensor("fc/w");  // looked up once
    for (std::uint64_t i = 0; i < 5; ++i) {
        watch.begin(sp::train(i));
        watch.observe(w, sp::view_of(weight, {rows, cols}));
        watch.observe("fc/w_transposed", sp::view_of(weight, {cols, rows}, sp::order::column_major));
        watch.observe("fc/b", sp::view_of(bias, {cols}));
        std::int64_t const strides[] = {pitch, 1};
        watch.observe("padded", sp::view_of(padded, {rows, cols}, strides));
        if (i == 3) { weight[5] = std::log(-1.0); }
        weight[6] = watch.tap("fc/one", weight[6]);  // passes its argument on
        auto const found = watch.end();
        if (found) { fmt::print("{}\n", found); }
    }
    sp::health_report const health = watch.health();
    fmt::print("{} refused; {}\n", health.refused, health.first_error);
    return health.refused == 5 && health.first_error.code == sp::errc::not_contiguous ? 0 : 1;
}
