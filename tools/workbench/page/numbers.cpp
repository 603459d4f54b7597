// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of numbers.hpp.
#include "page/numbers.hpp"

#include <spotter/stat/lanes.hpp>
#include <spotter/stat/summarize.hpp>
#include <spotter/trial/value.hpp>

#include <memory>

namespace spotter::inline SPOTTER_ABI::detail {

std::vector<double> row_major_values(tensor_ref const& view) {
    constexpr std::uint64_t not_a_number = 0x7FF8000000000000ULL;
    std::vector<double> numbers;
    numbers.reserve(static_cast<std::size_t>(view.count));
    visit_values(view, [&]<class Value>(element_view<Value> values) {
        auto const ordered = std::make_unique<Value[]>(values.size());
        copy_in_order(view, order::row_major, ordered.get());
        for (std::size_t i = 0; i < values.size(); ++i) {
            seen_element const seen = see(ordered[i]);
            numbers.push_back(seen.kind < number_class::pos_inf ? seen.value : 0);
            if (seen.kind >= number_class::pos_inf) { numbers.back() = std::bit_cast<double>(not_a_number); }
        }
    });
    return numbers;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
