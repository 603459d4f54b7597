// SPDX-License-Identifier: Apache-2.0
// Format (L1): looks at a sample of a byte plane and says how to compress it.
#pragma once

#include <spotter/format/shuffle.hpp>

#include <algorithm>
#include <array>

namespace spotter::inline SPOTTER_ABI {

// raw      neither bytes nor sequences of them are more frequent than others: mantissas
// huffman  some bytes are more frequent, sequences are not: signs and exponents
// matches  sequences of bytes come back: zeros, labels, counters, copies
enum class plane_codec : std::uint8_t { raw, huffman, matches };

namespace detail {

inline constexpr std::size_t sample_windows = 16;
inline constexpr std::size_t window_values = 64;
inline constexpr std::size_t sample_bytes = sample_windows * window_values;  // of each plane

// n times its binary logarithm, in 1024ths, for every count that a sample can have.
[[nodiscard]] consteval std::array<std::uint32_t, sample_bytes + 1> make_count_bits() noexcept {
    std::array<std::uint32_t, sample_bytes + 1> table{};
    for (std::size_t count = 2; count <= sample_bytes; ++count) {
        double rest = static_cast<double>(count), bits = 0, weight = 1;
        for (; rest >= 2; rest /= 2) { bits += 1; }
        for (int digit = 0; digit < 24; ++digit) {  // squaring moves the next binary digit of the logarithm up
            rest *= rest;
            weight /= 2;
            if (rest >= 2) { rest /= 2, bits += weight; }
        }
        table[count] = static_cast<std::uint32_t>(static_cast<double>(count) * bits * 1024 + 0.5);
    }
    return table;
}
inline constexpr auto count_bits = make_count_bits();

// Whether the `Length` bytes at `anchor` come again elsewhere in `part`, which holds them.
template <std::size_t Length>
[[nodiscard]] inline bool comes_again(std::byte const* anchor, byte_view part) noexcept {
    int seen = 0;  // the anchor itself is seen once
    std::size_t i = 0;
#if defined(__GNUC__) || defined(__clang__)
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
        found += comes_again<Length>(window.data(), window) ? 1 : 0;
    }
    return windows == 0 ? 0 : found * 16 / windows;
}
// Of how many out of two windows the first bytes come again anywhere (rows that are the same).
template <std::size_t Length>
[[nodiscard]] inline std::size_t repeats_anywhere(byte_view sample) noexcept {
    std::size_t found = 0;
    for (std::size_t at = 0; at + window_values <= sample.size(); at += 8 * window_values) {
        found += comes_again<Length>(sample.data() + at, sample) ? 1 : 0;
    }
    return found;
}

// `sample` is at most sample_bytes long.
[[nodiscard]] inline plane_codec choose_codec(byte_view sample) noexcept {
    constexpr float too_many_bits = 7.2F;  // a byte: Huffman codes would save a tenth at most
    if (sample.size() < 64) { return plane_codec::matches; }
    std::array<std::array<std::uint16_t, 256>, 2>
        counts{};  // two, since equal bytes in a row would wait for each other
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
    // A sample shows fewer bits than there are; this is what it lacks on average (Miller 1955).
    float const bits = shown + static_cast<float>(kinds - 1) / size * 0.7213F;
    if (bits >= too_many_bits) {
        bool const again = repeats_nearby<4>(sample) > 0 || repeats_anywhere<4>(sample) > 0;
        return again ? plane_codec::matches : plane_codec::raw;
    }
    // Huffman codes have no less than one bit a byte. Above that, a few runs are not worth a search that takes three times as long.
    if (largest * 5 > sample.size() * 4) { return plane_codec::matches; }
    bool const again = repeats_nearby<8>(sample) >= 4 || repeats_anywhere<8>(sample) == 2;
    return again ? plane_codec::matches : plane_codec::huffman;
}

}  // namespace detail

// The codec of each of the `planes` (1 to 8) of a block that still stands as values. Looks at 1024 values in sixteen places, so the
// same block has the same answer always.
[[nodiscard]] inline std::array<plane_codec, 8> choose_codecs(byte_view block, std::size_t planes) noexcept {
    std::byte samples[8][detail::sample_bytes];
    std::size_t const count = block.size() / planes;
    std::size_t const taken = (std::min)(count, detail::sample_bytes);
    for (std::size_t done = 0; done < taken; done += detail::window_values) {
        std::size_t const values = (std::min)(detail::window_values, taken - done);
        // Spread over all of them, not quite evenly: an even step could be in step with the data.
        std::size_t const window = done / detail::window_values;
        std::size_t const step = taken < detail::sample_bytes ? 0 : (count - taken) / (detail::sample_windows - 1);
        std::size_t const from = done + step * window - window * 0x9E3779B1U / 64 % (step / 2 + 1);
        std::byte* into[8]{};
        for (std::size_t plane = 0; plane < 8; ++plane) { into[plane] = samples[plane] + done; }
        split_planes(block.data() + from * planes, values, planes, into);
    }
    std::array<plane_codec, 8> codecs{};
    for (std::size_t plane = 0; plane < planes; ++plane) {
        codecs[plane] = detail::choose_codec({samples[plane], taken});
    }
    return codecs;
}

}  // namespace spotter::inline SPOTTER_ABI
