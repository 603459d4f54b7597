// SPDX-License-Identifier: Apache-2.0
// The bodies of features.hpp.
#pragma once

#include <spotter/hook/features.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool feature_list::add(std::uint64_t key, std::span<double const> numbers) noexcept {
    if (!pieces_.grow(count_ + 1) || !numbers_.grow(used_ + numbers.size())) { return false; }
    pieces_[count_++] = {key, used_, numbers.size(), {}};
    for (double const each : numbers) { numbers_[used_++] = each; }
    return true;
}

SPOTTER_BODY std::span<double const> const* feature_list::find(std::uint64_t key) noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        piece& each = pieces_[i];
        if (each.key != key) { continue; }
        each.numbers = {numbers_.data() + each.at, each.size};
        return &each.numbers;
    }
    return nullptr;
}

}  // namespace spotter::inline SPOTTER_ABI
