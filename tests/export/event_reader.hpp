// SPDX-License-Identifier: Apache-2.0
// Reads event files independently of the code that wrote them: records with bitwise checksums, and protocol buffer
// fields.
#pragma once

#include <tests/trial/runs.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace spotter_test {

// One field of a message: a number of any width as bits, or bytes.
struct read_field {
    std::uint32_t number = 0;
    std::uint64_t bits = 0;
    std::string bytes{};
};

inline std::vector<read_field> read_message(std::string_view bytes) {
    std::vector<read_field> found;
    auto const varint = [&] {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            REQUIRE(!bytes.empty());
            auto const byte = static_cast<unsigned char>(bytes.front());
            bytes.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) { return value; }
        }
    };
    while (!bytes.empty()) {
        std::uint64_t const tag = varint();
        read_field field{static_cast<std::uint32_t>(tag >> 3U), 0, {}};
        std::size_t const width = (tag & 7U) == 1 ? 8 : (tag & 7U) == 5 ? 4 : 0;
        if ((tag & 7U) == 0) {
            field.bits = varint();
        } else if (width > 0) {
            REQUIRE(bytes.size() >= width);
            std::memcpy(&field.bits, bytes.data(), width);
            bytes.remove_prefix(width);
        } else {
            REQUIRE((tag & 7U) == 2);
            auto const size = static_cast<std::size_t>(varint());
            REQUIRE(bytes.size() >= size);
            field.bytes = bytes.substr(0, size);
            bytes.remove_prefix(size);
        }
        found.push_back(std::move(field));
    }
    return found;
}
inline read_field field_of(std::string_view message, std::uint32_t number) {
    for (read_field const& each : read_message(message)) {
        if (each.number == number) { return each; }
    }
    return {};
}
inline double double_of(read_field const& it) { return std::bit_cast<double>(it.bits); }
inline float float_of(read_field const& it) { return std::bit_cast<float>(static_cast<std::uint32_t>(it.bits)); }

inline std::uint32_t slow_crc32c(std::string_view bytes) {
    std::uint32_t crc = ~0U;
    for (char const each : bytes) {
        crc ^= static_cast<unsigned char>(each);
        for (int bit = 0; bit < 8; ++bit) { crc = crc >> 1U ^ ((crc & 1U) != 0 ? 0x82F63B78U : 0U); }
    }
    return ~crc;
}

// The records of a TFRecord file. Fails on a wrong checksum or a cut record; if the file `grows`, a cut record at the
// end is left out.
inline std::vector<std::string> read_records(std::string const& path, bool grows = false) {
    std::vector<char> const file = read_file(path);
    std::string_view bytes{file.data(), file.size()};
    auto const checked = [&](std::size_t size) {
        REQUIRE(bytes.size() >= size + 4);
        std::string_view const part = bytes.substr(0, size);
        std::uint32_t masked = 0;
        std::memcpy(&masked, bytes.data() + size, 4);
        std::uint32_t const crc = slow_crc32c(part);
        CHECK(masked == static_cast<std::uint32_t>((crc >> 15U | crc << 17U) + 0xA282EAD8U));
        bytes.remove_prefix(size + 4);
        return part;
    };
    std::vector<std::string> found;
    while (!bytes.empty()) {
        std::uint64_t size = 0;
        if (grows && bytes.size() < 12) { break; }
        REQUIRE(bytes.size() >= 12);
        std::memcpy(&size, bytes.data(), 8);
        if (grows && bytes.size() < size + 16) { break; }
        (void)checked(8);
        found.emplace_back(checked(static_cast<std::size_t>(size)));
    }
    return found;
}

// One value of an event file.
struct read_value {
    std::uint64_t step = 0;
    double time = 0;
    std::string tag{};
    std::string message{};  // Summary.Value
    float scalar = 0;
    bool is_scalar = false, is_histogram = false;
};

// The path of the only event file in a folder.
inline std::string event_file_in(std::string const& folder) {
    std::string found;
    for (auto const& each : std::filesystem::directory_iterator{folder}) {
        CHECK(found.empty());
        found = each.path().string();
    }
    REQUIRE(found.find("events.out.tfevents.") != found.npos);
    return found;
}
// The values that TensorBoard would show. Where a run resumes at a step, earlier values of that step and of later ones
// are dropped.
inline std::vector<read_value> read_events(std::string const& folder, bool grows = false) {
    std::vector<std::string> const records = read_records(event_file_in(folder), grows);
    if (grows && records.empty()) { return {}; }
    REQUIRE(!records.empty());
    CHECK(field_of(records.front(), 3).bytes == "brain.Event:2");
    std::vector<read_value> found;
    for (std::string const& each : records) {
        std::uint64_t const step = field_of(each, 2).bits;
        if (std::string const session = field_of(each, 7).bytes; !session.empty()) {
            CHECK(field_of(session, 1).bits == 1);
            std::erase_if(found, [&](read_value const& it) { return it.step >= step; });
        }
        for (read_field const& value : read_message(field_of(each, 5).bytes)) {
            read_value it{step, double_of(field_of(each, 1)), field_of(value.bytes, 1).bytes, value.bytes};
            for (read_field const& part : read_message(value.bytes)) {
                it.is_scalar = it.is_scalar || part.number == 2;
                it.is_histogram = it.is_histogram || part.number == 5;
            }
            it.scalar = float_of(field_of(value.bytes, 2));
            found.push_back(std::move(it));
        }
    }
    return found;
}
inline std::vector<read_value> series_of(std::vector<read_value> const& all, std::string_view tag) {
    std::vector<read_value> found;
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](read_value const& it) { return it.tag == tag; });
    return found;
}

}  // namespace spotter_test
