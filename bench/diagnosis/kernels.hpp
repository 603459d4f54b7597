// SPDX-License-Identifier: Apache-2.0
// The three matrix operations that the programs need, in a fixed order of additions.
#pragma once

#include <cstddef>
#include <cstring>
#include <vector>

namespace diagnosis {

using values = std::vector<float>;

namespace detail {

typedef float quad __attribute__((vector_size(16)));

// Columns first .. first + 4 * Quads of out (rows x cols) = a (rows x inner) * b (inner x cols).
template <std::size_t Quads>
void multiply_strip(float const* a, float const* b, float* out, std::size_t rows, std::size_t inner, std::size_t cols,
                    std::size_t first) noexcept {
    for (std::size_t r = 0; r < rows; ++r) {
        quad sums[Quads]{};
        float const* source = b + first;
        for (std::size_t k = 0; k < inner; ++k, source += cols) {
            float const factor = a[r * inner + k];
            for (std::size_t q = 0; q < Quads; ++q) {
                quad part;
                std::memcpy(&part, source + 4 * q, sizeof part);
                sums[q] += part * factor;
            }
        }
        std::memcpy(out + r * cols + first, sums, sizeof sums);
    }
}

}  // namespace detail

// out (rows x cols) = a (rows x inner) * b (inner x cols).
inline void multiply(float const* a, float const* b, float* out, std::size_t rows, std::size_t inner,
                     std::size_t cols) noexcept {
    std::size_t first = 0;
    for (; first + 16 <= cols; first += 16) { detail::multiply_strip<4>(a, b, out, rows, inner, cols, first); }
    for (; first + 4 <= cols; first += 4) { detail::multiply_strip<1>(a, b, out, rows, inner, cols, first); }
    for (; first < cols; ++first) {
        for (std::size_t r = 0; r < rows; ++r) {
            float sum = 0;
            for (std::size_t k = 0; k < inner; ++k) { sum += a[r * inner + k] * b[k * cols + first]; }
            out[r * cols + first] = sum;
        }
    }
}

// out (cols x rows) = a (rows x cols), rows become columns.
inline void transpose(float const* a, values& out, std::size_t rows, std::size_t cols) {
    out.resize(rows * cols);
    for (std::size_t r = 0; r < rows; ++r) {
        for (std::size_t c = 0; c < cols; ++c) { out[c * rows + r] = a[r * cols + c]; }
    }
}

}  // namespace diagnosis
