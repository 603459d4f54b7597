// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): pairs of tensors that are matched by name, and the hashes of both at a step.
#pragma once

#include <spotter/rule/machine.hpp>

namespace spotter::inline SPOTTER_ABI {

// The leader of a pair is judged, and named in findings. Either tensor may be declared first.
class hashed_pairs {
public:
    static constexpr stats_mask needs = stats_mask::hash | stats_mask::nonfinite;

    // `belong(leader, other)`: whether these names form a pair.
    template <class Belong>
    [[nodiscard]] constexpr bool declare(tensor_info const& tensor, bool leads, Belong belong) noexcept {
        std::size_t const room = tensor.id + std::size_t{1};
        if (!list_.grow(room) || !order_.grow(room)) { return false; }
        entry& mine = list_[tensor.id];
        mine.name = tensor.name;
        mine.leads = leads;
        for (std::size_t i = 0; i < list_.size(); ++i) {
            if (list_[i].name.empty() || list_[i].leads == leads) { continue; }
            entry& leader = leads ? mine : list_[i];
            if (belong(leader.name, leads ? list_[i].name : mine.name)) {
                leader.partner = leads ? static_cast<tensor_id>(i) : tensor.id;
            }
        }
        return true;
    }
    // Of several observations in a step the last counts. Tensors with a non-finite element are ignored.
    constexpr void observe(observation const& it) noexcept {
        if (!list_.holds(it.tensor.id) || !has(it.stats.has, needs) || it.stats.count == 0) { return; }
        entry& mine = list_[it.tensor.id];
        if (mine.leads && mine.close != close_) { order_[touched_++] = it.tensor.id; }
        mine.close = close_;
        mine.hash = it.stats.hash;
        mine.finite = it.stats.nonfinite() == 0;
    }
    // Calls `use(leader's id, its name, its hash, partner's id, partner's hash)` for each pair whose tensors were both
    // observed since the last close, in the order of observation. Then the next step begins.
    template <class Use>
    constexpr void close(Use&& use) noexcept {
        for (std::size_t i = 0; i < touched_; ++i) {
            entry const& mine = list_[order_[i]];
            if (!mine.finite || !list_.holds(mine.partner)) { continue; }
            entry const& other = list_[mine.partner];
            if (other.close == close_ && other.finite) {
                use(order_[i], mine.name, mine.hash, mine.partner, other.hash);
            }
        }
        touched_ = 0;
        ++close_;
    }

private:
    struct entry {
        std::string_view name{};
        tensor_id partner = no_tensor;  // set for a leader
        std::uint64_t hash = 0, close = 0;
        bool leads = false, finite = false;
    };
    slot_array<entry> list_;       // by tensor id
    slot_array<tensor_id> order_;  // leaders observed in this step
    std::size_t touched_ = 0;
    std::uint64_t close_ = 1;
};

}  // namespace spotter::inline SPOTTER_ABI
