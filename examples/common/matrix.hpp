// SPDX-License-Identifier: Apache-2.0
// A row-major matrix of floats and the few operations that a small dense network needs.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace example {

// Rows x columns, row major. data(), size() and shape() suffice for an observer.
struct matrix {
    std::vector<float> values{};
    std::size_t rows = 0;
    std::size_t cols = 0;

    matrix() = default;
    matrix(std::size_t row_count, std::size_t col_count)
        : values(row_count * col_count), rows(row_count), cols(col_count) {}

    // Changes the shape and sets all values to zero; reuses the memory if it is large enough.
    void reset(std::size_t row_count, std::size_t col_count) {
        values.assign(row_count * col_count, 0.0F);
        rows = row_count;
        cols = col_count;
    }

    [[nodiscard]] float const* data() const noexcept { return values.data(); }
    [[nodiscard]] std::size_t size() const noexcept { return values.size(); }
    [[nodiscard]] std::array<std::size_t, 2> shape() const noexcept { return {rows, cols}; }

    [[nodiscard]] float* row(std::size_t r) noexcept { return values.data() + r * cols; }
    [[nodiscard]] float const* row(std::size_t r) const noexcept { return values.data() + r * cols; }
    [[nodiscard]] float& operator()(std::size_t r, std::size_t c) noexcept { return values[r * cols + c]; }
    [[nodiscard]] float operator()(std::size_t r, std::size_t c) const noexcept { return values[r * cols + c]; }
};

// Rows become columns.
[[nodiscard]] inline matrix transposed(matrix const& a) {
    matrix result{a.cols, a.rows};
    for (std::size_t r = 0; r < a.rows; ++r) {
        for (std::size_t c = 0; c < a.cols; ++c) { result(c, r) = a(r, c); }
    }
    return result;
}

// out = a · b. Columns are processed in blocks of 16 whose sums stay in registers; additions keep the textbook's order.
inline void multiply(matrix const& a, matrix const& b, matrix& out) {
    constexpr std::size_t width = 16;
    out.reset(a.rows, b.cols);
    for (std::size_t first = 0; first < b.cols; first += width) {
        std::size_t const used = b.cols - first < width ? b.cols - first : width;
        for (std::size_t r = 0; r < a.rows; ++r) {
            std::array<float, width> sums{};
            for (std::size_t k = 0; k < a.cols; ++k) {
                float const factor = a(r, k);
                float const* const source = b.row(k) + first;
                if (used == width) {
                    for (std::size_t lane = 0; lane < width; ++lane) { sums[lane] += factor * source[lane]; }
                } else {
                    for (std::size_t lane = 0; lane < used; ++lane) { sums[lane] += factor * source[lane]; }
                }
            }
            for (std::size_t lane = 0; lane < used; ++lane) { out(r, first + lane) = sums[lane]; }
        }
    }
}

// Adds one row to every row.
inline void add_to_rows(matrix& a, std::vector<float> const& row) {
    for (std::size_t r = 0; r < a.rows; ++r) {
        for (std::size_t c = 0; c < a.cols; ++c) { a(r, c) += row[c]; }
    }
}

// sums[c] = the sum of column c.
inline void sum_of_rows(matrix const& a, std::vector<float>& sums) {
    sums.assign(a.cols, 0.0F);
    for (std::size_t r = 0; r < a.rows; ++r) {
        for (std::size_t c = 0; c < a.cols; ++c) { sums[c] += a(r, c); }
    }
}

}  // namespace example
