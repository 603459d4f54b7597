// SPDX-License-Identifier: Apache-2.0
// The bodies of lost_end.hpp.
#pragma once

#include <spotter/format/names.hpp>
#include <spotter/trial/lost_end.hpp>

#include <algorithm>
#include <charconv>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY std::string lost_line(lost_end const& it, std::uint64_t run_id) {
    std::string line{std::string_view{it.file}.substr(it.file.rfind('/') + 1)};
    char digits[24];
    auto const put = [&](std::uint64_t value, int base) {
        auto const made = std::to_chars(digits, digits + sizeof digits, value, base);
        line += ' ' + std::string{digits, made.ptr};
    };
    put(it.offset, 10), put(it.bytes, 10), put(it.end_ordinal, 10), put(run_id, 16);
    return line + '\n';
}

SPOTTER_BODY bool read_lost_line(std::string_view line, lost_end& it, std::uint64_t& run_id) {
    auto const number = [&](std::uint64_t& into, int base) {
        auto const read = std::from_chars(line.data(), line.data() + line.size(), into, base);
        bool const good = read.ec == std::errc{} && (read.ptr == line.data() + line.size() || *read.ptr == ' ');
        line.remove_prefix(static_cast<std::size_t>(read.ptr - line.data()));
        if (!line.empty()) { line.remove_prefix(1); }
        return good;
    };
    std::size_t const name = (std::min)(line.find(' '), line.size());
    std::int64_t const segment = segment_number(line.substr(0, name), layout::data_suffix);
    if (segment < 0) { return false; }
    it.segment = static_cast<std::uint32_t>(segment);
    line.remove_prefix((std::min)(line.size(), name + 1));
    return number(it.offset, 10) && number(it.bytes, 10) && number(it.end_ordinal, 10) && number(run_id, 16);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
