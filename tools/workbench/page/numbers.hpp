// SPDX-License-Identifier: Apache-2.0
// Workbench, page: recorded values as plain numbers, whatever their type.
#pragma once

#include <spotter/core/tensor_ref.hpp>

#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// Every element as a double, in row-major order; of complex numbers the real part; NaN where it is not finite.
[[nodiscard]] std::vector<double> row_major_values(tensor_ref const& view);

}  // namespace spotter::inline SPOTTER_ABI::detail
