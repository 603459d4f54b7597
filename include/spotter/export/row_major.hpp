// SPDX-License-Identifier: Apache-2.0
// Export (L5): a tensor's values in row-major order, in their type or as doubles.
#pragma once

#include <spotter/trial/value.hpp>

#include <memory>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Calls use(pointer to the first value) with the values in row-major order.
template <class Use>
void in_row_major(tensor_ref const& tensor, Use&& use) {
    visit_values(tensor, [&](auto values) {
        using value_type = std::remove_const_t<typename decltype(values)::element_type>;
        if (tensor.layout == order::row_major || tensor.shape.rank < 2) { return use(values.data()); }
        auto const ordered = std::make_unique<value_type[]>(values.size());
        copy_in_order(tensor, order::row_major, ordered.get());
        use(static_cast<value_type const*>(ordered.get()));
    });
}

}  // namespace detail

[[nodiscard]] std::vector<std::byte> row_major_bytes(tensor_ref const& tensor);  // a copy in row-major order

// As doubles; of complex numbers the real part. Values that are not finite are 0, and counted in `replaced`.
[[nodiscard]] std::vector<double> row_major_numbers(tensor_ref const& tensor, std::uint64_t& replaced);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
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

#endif
