// SPDX-License-Identifier: Apache-2.0
// Format (L1): parses the numbers in the names of a run's files and folders.
#pragma once

#include <spotter/format/layout.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A 32-bit number of digits only, or -1.
[[nodiscard]] constexpr std::int64_t number_in(std::string_view digits) noexcept {
    if (digits.empty() || digits.size() > 10) { return -1; }
    std::int64_t number = 0;
    for (char letter : digits) {
        if (letter < '0' || letter > '9') { return -1; }
        number = number * 10 + (letter - '0');
    }
    return number > 0xFFFF'FFFFLL ? -1 : number;
}

}  // namespace detail

// The number in a segment's file name, in the form of `name_segment`, or -1.
[[nodiscard]] constexpr std::int64_t segment_number(std::string_view name, std::string_view suffix) noexcept {
    if (!name.ends_with(suffix)) { return -1; }
    name.remove_suffix(suffix.size());
    bool const padded = name.size() > 6 && name.front() == '0';
    return name.size() < 6 || padded ? -1 : detail::number_in(name);
}

// The number k of a folder `worker-k`; 0 for any other name (worker 0 has the run's folder itself).
[[nodiscard]] constexpr std::uint32_t worker_of_folder(std::string_view name) noexcept {
    constexpr std::string_view before = "worker-";
    if (!name.starts_with(before)) { return 0; }
    name.remove_prefix(before.size());
    if (name.starts_with('0')) { return 0; }
    std::int64_t const number = detail::number_in(name);
    return number < 0 ? 0 : static_cast<std::uint32_t>(number);
}

}  // namespace spotter::inline SPOTTER_ABI
