// SPDX-License-Identifier: Apache-2.0
// The bodies of step_list.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/trial/step_list.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY closed_step step_list::iterator::operator*() const noexcept {
    return from_->made(from_->stretches_[at_], which_);
}

SPOTTER_BODY step_list::iterator& step_list::iterator::operator++() noexcept {
    if (++which_ == from_->stretches_[at_].count) {
        ++at_;
        which_ = 0;
    }
    return *this;
}

SPOTTER_BODY void step_list::push_back(closed_step const& closed) {
    single_.push_back(closed);
    if (stretches_.empty() || stretches_.back().told > 0) {
        stretches_.push_back({size_, 0, single_.size() - 1, 0, closed.ordinal, {}, 0, 0, 0, false});
    }
    ++stretches_.back().count;
    ++size_;
}

SPOTTER_BODY void step_list::append(steps_outline const& row) {
    row.each_run([&](step_id first, std::uint64_t distance, std::uint64_t at, std::uint64_t count, bool holds) {
        stretches_.push_back({size_, count, at, row.told_steps(), row.first_ordinal() + at, first, distance,
                              row.first_time(), row.last_time(), holds});
        size_ += count;
    });
}

SPOTTER_BODY step_list::iterator step_list::from(std::size_t index) const noexcept {
    if (index >= size_) { return end(); }
    auto const behind = std::upper_bound(stretches_.begin(), stretches_.end(), index,
                                         [](std::uint64_t it, stretch const& each) { return it < each.position; });
    auto const at = static_cast<std::size_t>(behind - stretches_.begin()) - 1;
    return {*this, at, index - stretches_[at].position};
}

SPOTTER_BODY std::optional<closed_step> step_list::find(std::uint64_t ordinal) const noexcept {
    auto const behind = std::upper_bound(stretches_.begin(), stretches_.end(), ordinal,
                                         [](std::uint64_t it, stretch const& each) { return it < each.ordinal; });
    if (behind == stretches_.begin()) { return std::nullopt; }
    stretch const& mine = *std::prev(behind);
    if (mine.told > 0) {
        if (ordinal - mine.ordinal >= mine.count) { return std::nullopt; }
        return made(mine, ordinal - mine.ordinal);
    }
    auto const first = single_.begin() + static_cast<std::ptrdiff_t>(mine.place);
    auto const last = first + static_cast<std::ptrdiff_t>(mine.count);
    auto const found = std::lower_bound(
        first, last, ordinal, [](closed_step const& each, std::uint64_t wanted) { return each.ordinal < wanted; });
    if (found == last || found->ordinal != ordinal) { return std::nullopt; }
    return *found;
}

SPOTTER_BODY closed_step step_list::made(stretch const& from, std::uint64_t which) const noexcept {
    if (from.told == 0) { return single_[as_size(from.place + which)]; }
    return {step_id{from.step.mode, from.step.index + which * from.distance}, from.ordinal + which,
            detail::packed_time(from.first_time, from.last_time, from.place + which, from.told), from.holds};
}

}  // namespace spotter::inline SPOTTER_ABI
