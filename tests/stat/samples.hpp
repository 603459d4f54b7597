// SPDX-License-Identifier: Apache-2.0
// Values for the tests of statistics: the same on every machine. Special values are made from bits (fast-math deletes
// NAN).
#pragma once

#include <spotter/core/tensor_access.hpp>
#include <spotter/stat/statistic.hpp>
#include <spotter/stat/summarize.hpp>

#include <cstring>
#include <vector>

namespace samples {

using namespace spotter;

class splitmix {
public:
    explicit splitmix(std::uint64_t seed) : state_{seed} {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
        return z ^ (z >> 31);
    }
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
    std::uint64_t state_;
};

inline std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }
inline double from_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }
inline double const nan_d = from_bits(0x7FF8000000000000U);
inline double const pos_infinity = from_bits(0x7FF0000000000000U);
inline double const neg_infinity = from_bits(0xFFF0000000000000U);
inline float const nan_f = std::bit_cast<float>(0x7FC00000U);
inline float const pos_infinity_f = std::bit_cast<float>(0x7F800000U);
inline float const neg_infinity_f = std::bit_cast<float>(0xFF800000U);

inline constexpr stats_mask all_terms = pass_terms;

template <class Value>
summary summary_of(std::vector<Value> const& values, stats_mask wanted = all_terms) {
    return summarize(as_tensor(values), wanted);
}

// The definition (docs/internals/stat.md), block by block, for any type.
template <class Value>
summary by_definition(std::vector<Value> const& values, stats_mask wanted) {
    gathered into;
    into.result.count = values.size();
    for (std::size_t start = 0; start < values.size(); start += block_size) {
        std::size_t const size = values.size() - start < block_size ? values.size() - start : block_size;
        gather_block(element_view<Value>{values.data() + start, size}, start, wanted, into);
    }
    return into.finish(wanted);
}

// Whether two summaries have the same terms with the same bits.
inline bool same_bits(summary const& a, summary const& b) {
    auto const same = [](double x, double y) { return bits_of(x) == bits_of(y); };
    bool equal = a.has == b.has && a.count == b.count && a.nan == b.nan && a.pos_inf == b.pos_inf &&
                 a.neg_inf == b.neg_inf && a.first_bad == b.first_bad;
    if (has(a.has, stats_mask::zeros)) { equal = equal && a.zeros == b.zeros; }
    if (has(a.has, stats_mask::range)) { equal = equal && same(a.minimum, b.minimum) && same(a.maximum, b.maximum); }
    if (has(a.has, stats_mask::abs_range)) {
        equal = equal && same(a.abs_minimum, b.abs_minimum) && same(a.abs_maximum, b.abs_maximum);
    }
    if (has(a.has, stats_mask::sum)) { equal = equal && same(a.sum, b.sum); }
    if (has(a.has, stats_mask::sum_abs)) { equal = equal && same(a.sum_abs, b.sum_abs); }
    if (has(a.has, stats_mask::sum_squares)) { equal = equal && same(a.sum_squares, b.sum_squares); }
    if (has(a.has, stats_mask::variance)) { equal = equal && same(a.moment2, b.moment2); }
    if (has(a.has, stats_mask::product)) { equal = equal && same(a.product, b.product); }
    return equal;
}

}  // namespace samples
