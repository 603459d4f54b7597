// SPDX-License-Identifier: Apache-2.0
// Stat (L1): one pass over a tensor computes the summary with the wanted terms.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/stat/any_values.hpp>
#include <spotter/stat/kernel.hpp>
#include <spotter/stat/widen.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

template <class Values>
constexpr void gather_plain(Values const& values, stats_mask wanted, gathered& into) noexcept {
    for (std::size_t start = 0; start < values.size(); start += block_size) {
        std::size_t const size = values.size() - start < block_size ? values.size() - start : block_size;
        gather_block(values.subspan(start, size), start, wanted, into);
    }
}

// For floats and doubles.
template <class Float>
inline void gather_direct(element_view<Float> values, stats_mask wanted, gathered& into) noexcept {
    // First the whole blocks, then the rest as one ragged block, like the definition.
    std::size_t const whole = values.size() / block_size * block_size;
    std::size_t const rest = values.size() - whole;
    std::size_t const fast = rest % lane_count == 0 ? values.size() : whole;
    std::size_t const done = fast == 0 ? 0 : gather_fast(values.data(), fast, 0, wanted, into);
    if (done < values.size()) { gather_block(values.subspan(done), done, wanted, into); }
}

// Types without their own kernels are widened block by block into a buffer that stays in the cache.
template <class Float>
inline void gather_widened(tensor_ref const& tensor, stats_mask wanted, gathered& into) noexcept {
    widened_blocks<Float> blocks{tensor};
    auto const count = as_size(tensor.count);
    for (std::size_t start = 0; start < count; start += block_size) {
        std::size_t const size = count - start < block_size ? count - start : block_size;
        Float const* const block = blocks.take(start, size);
        std::size_t const done = gather_fast(block, size, start, wanted, into);
        if (done < size) { gather_block(element_view<Float>{block + done, size - done}, start + done, wanted, into); }
    }
}

// A whole block without zero, subnormal or non-finite parts becomes three blocks of doubles: real parts, magnitudes,
// squares. Other blocks, and pairs of doubles, go by the definition.
inline void gather_complex(tensor_ref const& tensor, stats_mask wanted, gathered& into) noexcept {
    seen_values const values{tensor};
    if (tensor.type != dtype::c64) { return gather_plain(values, wanted, into); }
    complex_parts parts;
    for (std::size_t start = 0; start < values.size(); start += block_size) {
        std::size_t const size = values.size() - start < block_size ? values.size() - start : block_size;
        c64 const* const block = tensor.values.c64 + start;
        if (size % lane_count != 0 || has(wanted, stats_mask::product) ||
            !ordinary_block<float, 16>(reinterpret_cast<float const*>(block), 2 * size)) {
            gather_block(values.subspan(start, size), start, wanted, into);
            continue;
        }
        split_block(block, size, parts);
        gathered squares;
        (void)gather_fast(parts.real, size, start,
                          wanted & (stats_mask::sum | stats_mask::range | stats_mask::variance), into);
        (void)gather_fast(parts.size, size, start, wanted & (stats_mask::sum_abs | stats_mask::abs_range), into);
        if (has(wanted, stats_mask::sum_squares)) {
            (void)gather_fast(parts.square, size, start, stats_mask::sum, squares);
            into.sum_squares.add(squares.sum);
        }
    }
}

constexpr void gather(tensor_ref const& tensor, stats_mask wanted, gathered& into) noexcept {
    if (std::is_constant_evaluated()) {
        visit_seen(tensor, [&](auto const& values) { gather_plain(values, wanted, into); });
    } else if (tensor.type == dtype::f32) {
        gather_direct(element_view{tensor.values.f32, as_size(tensor.count)}, wanted, into);
    } else if (tensor.type == dtype::f64) {
        gather_direct(element_view{tensor.values.f64, as_size(tensor.count)}, wanted, into);
    } else if (is_complex(tensor.type)) {
        gather_complex(tensor, wanted, into);
    } else if (is_narrow(tensor.type)) {
        gather_widened<float>(tensor, wanted, into);
    } else {
        gather_widened<double>(tensor, wanted, into);
    }
}

// A 64-bit hash of the value bits: four independent multiply-and-rotate chains over 8-byte words, then one mix. Not a
// checksum.
SPOTTER_STRICT inline std::uint64_t hash_values(void const* values, std::size_t bytes) noexcept {
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15ULL;
    std::uint64_t const size = bytes;  // 64 bits even if std::size_t is smaller
    std::uint64_t chain[4] = {size * odd, ~size, size + odd, odd};
    auto const* from = static_cast<unsigned char const*>(values);
    auto const mix = [](std::uint64_t a, std::uint64_t word) { return std::rotl((a ^ word) * odd, 29); };
    std::size_t i = 0;
    for (; i + 32 <= bytes; i += 32) {
        SPOTTER_UNROLL
        for (std::size_t k = 0; k < 4; ++k) {
            std::uint64_t word;
            std::memcpy(&word, from + i + 8 * k, 8);
            chain[k] = mix(chain[k], word);
        }
    }
    for (; i < bytes; i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, from + i, bytes - i < 8 ? bytes - i : 8);
        chain[(i / 8) % 4] = mix(chain[(i / 8) % 4], word);
    }
    std::uint64_t hash = mix(mix(chain[0], chain[1]), mix(chain[2], chain[3]));
    hash ^= hash >> 32;
    hash *= 0xD6E8FEB86659FD93ULL;
    return hash ^ (hash >> 32);
}

}  // namespace detail

// Computes the terms of `wanted` that a pass over the values can give (not change, features or payload). Any of them
// includes the non-finite counts; if there are none, nothing is read. Constexpr without hash. O(n), no allocation;
// memory is read once for each block, and again from the cache. A text has no terms.
template <class = only_where_called>
[[nodiscard]] constexpr summary summarize(tensor_ref const& tensor, stats_mask wanted) noexcept {
    gathered into;
    into.result.count = tensor.count;
    if (std::is_constant_evaluated()) { wanted = without(wanted, stats_mask::hash); }
    bool const numbers = tensor.refused == refusal::none && tensor.type != dtype::text && tensor.type != dtype::none;
    if (!any(wanted & pass_terms) || !numbers) { return into.result; }
    detail::gather(tensor, wanted, into);
    summary result = into.finish(wanted);
    if (has(wanted, stats_mask::hash)) {
        result.hash = detail::hash_values(tensor.values.raw, as_size(tensor.bytes()));
    }
    return result;
}

}  // namespace spotter::inline SPOTTER_ABI
