// SPDX-License-Identifier: Apache-2.0
// Replay (L5): the steps of several records as one sequence.
#pragma once

#include <spotter/trial/recorded.hpp>
#include <spotter/trial/step_list.hpp>

#include <cstdint>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// A step has one place, in whichever records it is. If a record closed it several times (a rewind, a resumed run), its
// last close matches the last close of the others, since the run continued from there; earlier closes are steps of
// their own, counted from the last one back. The order is that of the first record. Steps that only a later record has
// follow all that it had before.
class step_order {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFFU;

    void add(step_list const& list);
    // Calls `use(step, entry)` for each, in order.
    template <class Use>
    void each(Use&& use) const {
        for (std::uint32_t entry = head_; entry != none; entry = next_[entry]) { use(steps_[entry], entry); }
    }
    // The index of a record's close for an entry; `none` where the record has no such step.
    [[nodiscard]] std::uint32_t closing(std::size_t record, std::uint32_t entry) const noexcept;

private:
    struct known {
        step_id step{};
        std::uint32_t again = 0;  // how often the record closed it again later
        std::uint32_t entry = none;
    };
    [[nodiscard]] static bool comes_first(known const& a, known const& b) noexcept;
    [[nodiscard]] std::uint32_t insert_behind(std::uint32_t last, step_id step);

    std::vector<step_id> steps_{};                        // by entry
    std::vector<std::uint32_t> next_{};                   // by entry: the one after it
    std::vector<std::vector<std::uint32_t>> closings_{};  // by record and entry
    std::vector<known> known_{};                          // sorted
    std::uint32_t head_ = none;
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
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

#endif
