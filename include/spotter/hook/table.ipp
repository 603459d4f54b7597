// SPDX-License-Identifier: Apache-2.0
// The bodies of table.hpp.
#pragma once

#include <spotter/hook/table.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY tensor_table::tensor_table(tensor_table const& other) noexcept {
    for (std::size_t i = 0; i < other.count_; ++i) { add_row(other.rows_[i].name, other.rows_[i]); }
}

SPOTTER_BODY tensor_table& tensor_table::add_row(std::string_view name, row fresh) noexcept {
    if (!fresh.name.assign(name) || !rows_.grow(count_ + 1)) { return *this; }
    rows_[count_++] = std::move(fresh);
    return *this;
}

SPOTTER_BODY bool tensor_table::resize(std::string_view name, extents const& shape) noexcept {
    bool found = false;
    for (std::size_t i = 0; i < count_; ++i) {
        if (rows_[i].name.view() == name) { rows_[i].shape = shape, found = true; }
    }
    return found;
}

}  // namespace spotter::inline SPOTTER_ABI
