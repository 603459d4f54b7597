// SPDX-License-Identifier: Apache-2.0
// Format (L1): chooses the compression of a byte plane from a sample.
#pragma once

#include <spotter/format/fwd.hpp>
#include <spotter/format/shuffle.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

// raw      all bytes and sequences are equally frequent: mantissas
// huffman  some bytes are more frequent, but no sequences: signs and exponents
// matches  sequences of bytes repeat: zeros, labels, counters, copies
enum class plane_codec : std::uint8_t { raw, huffman, matches };

namespace detail {

inline constexpr std::size_t sample_windows = 16;
inline constexpr std::size_t window_values = 64;
inline constexpr std::size_t sample_bytes = sample_windows * window_values;  // of each plane

// Whether the `Length` bytes at `anchor`, which is inside of `part`, occur again in it.
template <std::size_t Length>
[[nodiscard]] inline bool comes_again(std::byte const* anchor, byte_view part) noexcept {
    int seen = 0;  // counts the anchor itself, too
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
        sum -= same;  // a match is -1; at most 64 rounds, so that no lane overflows
    }
    for (int lane = 0; lane < 16; ++lane) { seen += sum[lane]; }
#endif
    for (; i + Length <= part.size(); ++i) { seen += std::memcmp(part.data() + i, anchor, Length) == 0 ? 1 : 0; }
    return seen > 1;
}
// The share of windows whose first bytes occur again in them (runs, short patterns), in sixteenths.
template <std::size_t Length>
[[nodiscard]] inline std::size_t repeats_nearby(byte_view sample) noexcept {
    std::size_t found = 0, windows = 0;
    for (; windows < sample.size() / window_values; ++windows) {
        byte_view const window = sample.subspan(windows * window_values, window_values);
        found += comes_again<Length>(window.data(), window) ? 1U : 0U;
    }
    return windows == 0 ? 0 : found * 16 / windows;
}
// The number of windows, out of two, whose first bytes occur again anywhere (equal rows).
template <std::size_t Length>
[[nodiscard]] inline std::size_t repeats_anywhere(byte_view sample) noexcept {
    std::size_t found = 0;
    for (std::size_t at = 0; at + window_values <= sample.size(); at += 8 * window_values) {
        found += comes_again<Length>(sample.data() + at, sample) ? 1U : 0U;
    }
    return found;
}

}  // namespace detail

// Whether a mask pays for that many zero values of a width. With fewer zeros it would still make the frames smaller,
// but a masked block takes twice as long; for values of one byte Huffman codes alone save nearly as much.
[[nodiscard]] constexpr bool mask_pays(std::size_t zero, std::size_t all, std::size_t width) noexcept {
    return width == 1 ? zero * 5 > all * 2 : zero * 10 > all;
}

// The compression of a block.
struct block_choice {
    bool sparse = false;                  // a mask pays; the codecs of the masked planes are unknown
    std::array<plane_codec, 8> codecs{};  // for each plane, unless sparse
};
// The codec of each plane of a block that is not split yet. Samples 1024 values at sixteen fixed places: the same block
// always gives the same result. `sparse` only if the form has masks.
[[nodiscard]] block_choice choose_codecs(byte_view block, payload_form form) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/plane_sample.ipp>
#endif
