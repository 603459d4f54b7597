// SPDX-License-Identifier: Apache-2.0
// Format (L1): looks at a sample of a byte plane and says how to compress it.
#pragma once

#include <spotter/format/fwd.hpp>
#include <spotter/format/shuffle.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

// raw      neither bytes nor sequences of them are more frequent than others: mantissas
// huffman  some bytes are more frequent, sequences are not: signs and exponents
// matches  sequences of bytes come back: zeros, labels, counters, copies
enum class plane_codec : std::uint8_t { raw, huffman, matches };

namespace detail {

inline constexpr std::size_t sample_windows = 16;
inline constexpr std::size_t window_values = 64;
inline constexpr std::size_t sample_bytes = sample_windows * window_values;  // of each plane

// Whether the `Length` bytes at `anchor` come again elsewhere in `part`, which holds them.
template <std::size_t Length>
[[nodiscard]] inline bool comes_again(std::byte const* anchor, byte_view part) noexcept {
    int seen = 0;  // the anchor itself is seen once
    std::size_t i = 0;
#if SPOTTER_GNU_VECTORS
    plane_lanes sum{};
    for (; i + 16 + Length <= part.size() + 1; i += 16) {
        plane_lanes same = ~plane_lanes{};
        SPOTTER_UNROLL
        for (std::size_t k = 0; k < Length; ++k) {
            plane_lanes bytes;
            std::memcpy(&bytes, part.data() + i + k, 16);
            same &= plane_lanes(bytes == static_cast<unsigned char>(anchor[k]));
        }
        sum -= same;  // all ones is less one; at most 64 rounds, so that a lane does not run over
    }
    for (int lane = 0; lane < 16; ++lane) { seen += sum[lane]; }
#endif
    for (; i + Length <= part.size(); ++i) { seen += std::memcmp(part.data() + i, anchor, Length) == 0 ? 1 : 0; }
    return seen > 1;
}
// Of how many windows the first bytes come again soon (runs, and patterns shorter than a window), as sixteenths of all.
template <std::size_t Length>
[[nodiscard]] inline std::size_t repeats_nearby(byte_view sample) noexcept {
    std::size_t found = 0, windows = 0;
    for (; windows < sample.size() / window_values; ++windows) {
        byte_view const window = sample.subspan(windows * window_values, window_values);
        found += comes_again<Length>(window.data(), window) ? 1U : 0U;
    }
    return windows == 0 ? 0 : found * 16 / windows;
}
// Of how many out of two windows the first bytes come again anywhere (rows that are the same).
template <std::size_t Length>
[[nodiscard]] inline std::size_t repeats_anywhere(byte_view sample) noexcept {
    std::size_t found = 0;
    for (std::size_t at = 0; at + window_values <= sample.size(); at += 8 * window_values) {
        found += comes_again<Length>(sample.data() + at, sample) ? 1U : 0U;
    }
    return found;
}

}  // namespace detail

// Whether a mask pays for so many zeros among so many values of a width. Fewer would still make the frames smaller, but
// a block with a mask takes twice as long; values of one byte come near it by Huffman codes alone.
[[nodiscard]] constexpr bool mask_pays(std::size_t zero, std::size_t all, std::size_t width) noexcept {
    return width == 1 ? zero * 5 > all * 2 : zero * 10 > all;
}

// How to compress a block.
struct block_choice {
    bool sparse = false;  // so many zeros that a mask pays; of the planes without them nothing is known yet
    std::array<plane_codec, 8> codecs{};  // of its planes, where it is not sparse
};
// The codec of each plane of a block that still stands as values. Looks at 1024 values in sixteen places, so the same
// block has the same answer always. `sparse` only where the form has masks.
[[nodiscard]] block_choice choose_codecs(byte_view block, payload_form form) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/plane_sample.ipp>
#endif
