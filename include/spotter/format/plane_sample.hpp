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
#include <spotter/format/count_bits.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

static_assert(sizeof count_bits / sizeof count_bits[0] == sample_bytes + 1);

// `sample` has at most sample_bytes.
[[nodiscard]] SPOTTER_BODY plane_codec choose_codec(byte_view sample) noexcept {
    constexpr float too_many_bits = 7.2F;  // a byte: Huffman codes would save at most a tenth
    if (sample.size() < 64) { return plane_codec::matches; }
    // Two tables, because increments for equal bytes in a row would wait for each other.
    std::array<std::array<std::uint16_t, 256>, 2> counts{};
    std::size_t i = 0;
    for (; i + 2 <= sample.size(); i += 2) {
        ++counts[0][static_cast<std::size_t>(sample[i])];
        ++counts[1][static_cast<std::size_t>(sample[i + 1])];
    }
    if (i < sample.size()) { ++counts[0][static_cast<std::size_t>(sample[i])]; }
    unsigned sum = 0, largest = 0, kinds = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
        unsigned const count = counts[0][byte] + unsigned{counts[1][byte]};
        sum += count_bits[count];
        largest = count > largest ? count : largest;
        kinds += count > 0 ? 1 : 0;
    }
    auto const size = static_cast<float>(sample.size());
    float const shown = static_cast<float>(count_bits[sample.size()] - sum) / 1024 / size;
    // A sample underestimates the entropy; this is the mean error (Miller 1955).
    float const bits = shown + static_cast<float>(kinds - 1) / size * 0.7213F;
    if (bits >= too_many_bits) {
        bool const again = repeats_nearby<4>(sample) > 0 || repeats_anywhere<4>(sample) > 0;
        return again ? plane_codec::matches : plane_codec::raw;
    }
    // Huffman codes take at least one bit for a byte. Above that, a few runs do not pay for a search that takes three
    // times as long.
    if (largest * 5 > sample.size() * 4) { return plane_codec::matches; }
    bool const again = repeats_nearby<8>(sample) >= 4 || repeats_anywhere<8>(sample) == 2;
    return again ? plane_codec::matches : plane_codec::huffman;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY block_choice choose_codecs(byte_view block, payload_form form) noexcept {
    std::byte samples[8][detail::sample_bytes];
    std::size_t const planes = form.planes(), count = block.size() / planes;
    std::size_t const taken = (std::min)(count, detail::sample_bytes);
    for (std::size_t done = 0; done < taken; done += detail::window_values) {
        std::size_t const values = (std::min)(detail::window_values, taken - done);
        // Spread over the block, not quite evenly: an even step could coincide with a period of the data.
        std::size_t const window = done / detail::window_values;
        std::size_t const step = taken < detail::sample_bytes ? 0 : (count - taken) / (detail::sample_windows - 1);
        std::size_t const from = done + step * window - window * 0x9E3779B1U / 64 % (step / 2 + 1);
        std::byte* into[8]{};
        for (std::size_t plane = 0; plane < 8; ++plane) { into[plane] = samples[plane] + done; }
        split_planes(block.data() + from * planes, values, form, into);
    }
    block_choice found{};
    if (form.masked()) {
        std::size_t zero = 0;
        for (std::size_t i = 0; i < taken; ++i) {
            std::byte any{0};
            for (std::size_t plane = 0; plane < planes; ++plane) { any |= samples[plane][i]; }
            zero += any == std::byte{0} ? 1 : 0;
        }
        found.sparse = mask_pays(zero, taken, planes);
        if (found.sparse) { return found; }
    }
    for (std::size_t plane = 0; plane < planes; ++plane) {
        found.codecs[plane] = detail::choose_codec({samples[plane], taken});
    }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
