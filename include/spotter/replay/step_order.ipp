// SPDX-License-Identifier: Apache-2.0
// The bodies of step_order.hpp.
#pragma once

#include <spotter/replay/step_order.hpp>

#include <algorithm>
#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void step_order::add(step_list const& list) {
    std::vector<closed_step> const closed(list.begin(), list.end());
    std::vector<std::uint32_t> sorted(closed.size());
    for (std::uint32_t i = 0; i < sorted.size(); ++i) { sorted[i] = i; }
    std::sort(sorted.begin(), sorted.end(), [&](std::uint32_t a, std::uint32_t b) {
        return closed[a].step != closed[b].step ? closed[a].step < closed[b].step : a > b;
    });
    std::vector<known> mine(closed.size());  // in the record's order
    std::uint32_t again = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        step_id const step = closed[sorted[i]].step;
        again = i > 0 && closed[sorted[i - 1]].step == step ? again + 1 : 0;
        mine[sorted[i]] = {step, again, none};
        auto const found = std::lower_bound(known_.begin(), known_.end(), mine[sorted[i]], comes_first);
        if (found != known_.end() && !comes_first(mine[sorted[i]], *found)) { mine[sorted[i]].entry = found->entry; }
    }
    std::vector<std::uint32_t>& places = closings_.emplace_back(steps_.size(), none);
    std::vector<std::uint32_t> rank(steps_.size());  // position of each entry so far
    std::uint32_t count = 0;
    each([&](step_id, std::uint32_t entry) { rank[entry] = ++count; });
    std::uint32_t last = none, last_rank = 0;  // the last entry of those that the record had so far
    for (std::uint32_t i = 0; i < mine.size(); ++i) {
        if (mine[i].entry == none) {
            last = mine[i].entry = insert_behind(last, mine[i].step);
        } else if (rank[mine[i].entry] > last_rank) {
            last = mine[i].entry;
            last_rank = rank[last];
        }
        if (places.size() <= mine[i].entry) { places.resize(mine[i].entry + std::size_t{1}, none); }
        places[mine[i].entry] = i;
    }
    known_.insert(known_.end(), mine.begin(), mine.end());
    std::sort(known_.begin(), known_.end(), comes_first);
    known_.erase(
        std::unique(known_.begin(), known_.end(), [](known const& a, known const& b) { return a.entry == b.entry; }),
        known_.end());
}

SPOTTER_BODY std::uint32_t step_order::closing(std::size_t record, std::uint32_t entry) const noexcept {
    std::vector<std::uint32_t> const& places = closings_[record];
    return entry < places.size() ? places[entry] : none;
}

SPOTTER_BODY bool step_order::comes_first(known const& a, known const& b) noexcept {
    return a.step != b.step ? a.step < b.step : a.again < b.again;
}

SPOTTER_BODY std::uint32_t step_order::insert_behind(std::uint32_t last, step_id step) {
    auto const fresh = static_cast<std::uint32_t>(steps_.size());
    steps_.push_back(step);
    std::uint32_t& link = last == none ? head_ : next_[last];
    std::uint32_t const behind = std::exchange(link, fresh);
    next_.push_back(behind);
    return fresh;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
