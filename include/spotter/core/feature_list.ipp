// SPDX-License-Identifier: Apache-2.0
// The bodies of feature_list.hpp.
#pragma once

#include <spotter/core/feature_list.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool feature_list::add(std::uint64_t key, std::span<double const> numbers) noexcept {
    if (!pieces_.grow(count_ + 1) || !numbers_.grow(used_ + numbers.size())) { return false; }
    pieces_[count_++] = {key, used_, numbers.size()};
    for (double const each : numbers) { numbers_[used_++] = each; }
    return true;
}

SPOTTER_BODY bool feature_list::find(std::uint64_t key, std::span<double const>& numbers) const noexcept {
    for (std::size_t i = 0; i < count_; ++i) {
        if (pieces_[i].key != key) { continue; }
        numbers = numbers_of(pieces_[i]);
        return true;
    }
    return false;
}

SPOTTER_BODY tensor_ref feature_list::values(tensor_ref const& at_hand) noexcept {
    if (live()) { return at_hand; }
    tensor_ref const loaded = load_(from_);
    lacking_ = lacking_ || loaded.absent();
    return loaded;
}

// In a replay without memory the next rule extracts the feature again; in a loop the record would lack it.
SPOTTER_BODY void feature_list::keep(std::uint64_t key, std::span<double const> numbers) noexcept {
    if (!add(key, numbers) && live()) { lack(); }
}

SPOTTER_BODY error feature_list::trouble() const noexcept {
    if (!lacking_) { return {}; }
    return {errc::out_of_memory,
            "no memory for what a rule extracts of values; it does not see the tensor, or a replay does not"};
}

}  // namespace spotter::inline SPOTTER_ABI
