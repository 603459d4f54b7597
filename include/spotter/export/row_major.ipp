// SPDX-License-Identifier: Apache-2.0
// The bodies of row_major.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/export/row_major.hpp>
#include <spotter/stat/lanes.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::vector<std::byte> row_major_bytes(tensor_ref const& tensor) {
    std::vector<std::byte> bytes(as_size(tensor.bytes()));
    detail::in_row_major(tensor, [&](auto const* first) {
        if (!bytes.empty()) { std::memcpy(bytes.data(), first, bytes.size()); }
    });
    return bytes;
}

SPOTTER_BODY std::vector<double> row_major_numbers(tensor_ref const& tensor, std::uint64_t& replaced) {
    std::vector<double> numbers;
    numbers.reserve(static_cast<std::size_t>(tensor.count));
    detail::in_row_major(tensor, [&](auto const* first) {
        for (std::uint64_t i = 0; i < tensor.count; ++i) {
            seen_element const it = detail::see(first[i]);
            replaced += it.kind >= number_class::pos_inf ? 1 : 0;
            numbers.push_back(it.value);
        }
    });
    return numbers;
}

}  // namespace spotter::inline SPOTTER_ABI
