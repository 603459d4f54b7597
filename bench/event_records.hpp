// SPDX-License-Identifier: Apache-2.0
// Records in TensorBoard's format: length, its checksum, an event with a value, its checksum.
#pragma once

#include "background.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace bench::events {

using crc_tables = std::array<std::array<std::uint32_t, 256>, 8>;
constexpr crc_tables make_tables() {
    crc_tables made{};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit) { crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78U : 0); }
        made[0][i] = crc;
    }
    for (std::size_t k = 1; k < 8; ++k) {
        for (std::size_t i = 0; i < 256; ++i) { made[k][i] = (made[k - 1][i] >> 8) ^ made[0][made[k - 1][i] & 255]; }
    }
    return made;
}
inline constexpr crc_tables tables = make_tables();

// Masked CRC-32C (rotated and shifted, as TFRecord files require), computed eight bytes at a time.
inline std::uint32_t masked_crc(std::span<char const> bytes) noexcept {
    std::uint32_t crc = ~0U;
    auto const* at = reinterpret_cast<unsigned char const*>(bytes.data());
    std::size_t left = bytes.size();
    for (; left >= 8; left -= 8, at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, at, 8);
        word ^= crc;
        crc = 0;
        for (std::size_t k = 0; k < 8; ++k) { crc ^= tables[7 - k][(word >> (8 * k)) & 255]; }
    }
    for (; left > 0; --left, ++at) { crc = (crc >> 8) ^ tables[0][(crc ^ *at) & 255]; }
    crc = ~crc;
    return ((crc >> 15) | (crc << 17)) + 0xA282EAD8U;
}
inline void append(std::vector<char>& to, void const* from, std::size_t bytes) {
    auto const* const at = static_cast<char const*>(from);
    to.insert(to.end(), at, at + bytes);
}
inline void varint(std::vector<char>& to, std::uint64_t value) {
    for (; value > 127; value >>= 7) { to.push_back(static_cast<char>(value | 128)); }
    to.push_back(static_cast<char>(value));
}
inline void field(std::vector<char>& to, unsigned number, std::span<char const> bytes) {
    varint(to, number << 3 | 2);
    varint(to, bytes.size());
    append(to, bytes.data(), bytes.size());
}
// Event{wall_time = 1, step = 2, summary = 5{value = 1{tag = 1, simple_value = 2 or tensor = 8{dtype, shape,
// content}}}}.
inline std::vector<char> make(std::uint64_t step, std::vector<float> const& values) {
    std::vector<char> value, summary, event;
    field(value, 1, std::string_view{"loss"});
    if (values.size() == 1) {
        value.push_back(2 << 3 | 5);
        append(value, values.data(), 4);
    } else {
        std::vector<char> size, shape, tensor{1 << 3, 1};
        size.push_back(1 << 3);
        varint(size, values.size());
        field(shape, 2, size);
        field(tensor, 2, shape);
        field(tensor, 4, {reinterpret_cast<char const*>(values.data()), values.size() * sizeof(float)});
        field(value, 8, tensor);
    }
    field(summary, 1, value);
    double const now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    event.push_back(1 << 3 | 1);
    append(event, &now, 8);
    event.push_back(2 << 3);
    varint(event, step);
    field(event, 5, summary);
    return event;
}
inline void write(file& to, std::vector<char> const& event) {
    char head[12], tail[4];
    std::uint64_t const length = event.size();
    std::memcpy(head, &length, 8);
    std::uint32_t const of_length = masked_crc({head, 8}), of_event = masked_crc(event);
    std::memcpy(head + 8, &of_length, 4);
    std::memcpy(tail, &of_event, 4);
    to.write(head);
    to.write(event);
    to.write(tail);
}

}  // namespace bench::events
