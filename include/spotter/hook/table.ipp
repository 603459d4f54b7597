// SPDX-License-Identifier: Apache-2.0
// The bodies of table.hpp.
#pragma once

#include <spotter/hook/table.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool tensor_table::resize(std::string_view name, extents const& shape) noexcept {
    bool found = false;
    for (row& each : rows_) {
        if (each.name == name) { each.shape = shape, found = true; }
    }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI
