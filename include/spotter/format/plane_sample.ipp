// SPDX-License-Identifier: Apache-2.0
// The bodies of plane_sample.hpp.
#pragma once

#include <spotter/format/count_bits.hpp>
#include <spotter/format/plane_sample.hpp>

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
