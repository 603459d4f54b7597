// SPDX-License-Identifier: Apache-2.0
// The bodies of entry_list.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/trial/entry_list.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY track_entry entry_of(steps_outline const& in, row_place place,
                                  steps_outline::found_row const& row) noexcept {
    place.part = row.part;
    return {row.step, in.first_ordinal() + row.at, place, row.scalar, false, row.scalar};
}

SPOTTER_BODY track_entry entry_list::run::at(std::uint32_t which) const noexcept {
    track_entry entry = first;
    entry.step.index += which * index_stride;
    entry.ordinal += which * ordinal_stride;
    entry.place.part += which * part_stride;
    return entry;
}

SPOTTER_BODY track_entry entry_list::iterator::operator*() const noexcept {
    return row_ ? entry_of(row_->outline, run_->first.place, row_->found) : run_->at(which_);
}

SPOTTER_BODY entry_list::iterator& entry_list::iterator::operator++() {
    ++which_;
    bool const more = row_ ? row_->rows.next(row_->found) : which_ < run_->count;
    if (!more) {
        ++run_;
        open();
    }
    return *this;
}

SPOTTER_BODY void entry_list::iterator::open() {
    which_ = 0;
    for (row_ = nullptr; run_ != end_ && run_->in_row != no_tensor; ++run_) {
        row_ = std::make_shared<unpacking>(source_.of(run_->first.place), run_->in_row);
        if (row_->outline.lacks_memory()) { detail::say_no_memory(); }
        if (row_->rows.next(row_->found)) { return; }
        row_ = nullptr;
    }
}

SPOTTER_BODY void entry_list::clear() noexcept {
    runs_.clear();
    for (std::vector<reach>& each : reaches_) { each.clear(); }
    reached_ = 0;
    size_ = 0;
}

SPOTTER_BODY void entry_list::push_back(track_entry const& entry) {
    if (entry.place.part != whole_row && !runs_.empty() && continues(runs_.back(), entry)) {
        ++runs_.back().count;
    } else {
        runs_.push_back({entry});
    }
    ++size_;
}

SPOTTER_BODY void entry_list::push_row(row_place const& place, tensor_id in_row, std::uint64_t count) {
    run all{};
    all.first.place = place;
    all.count = static_cast<std::uint32_t>((std::min)(count, std::uint64_t{0xFFFFFFFFU}));
    all.in_row = in_row;
    runs_.push_back(all);
    size_ += as_size(count);
}

SPOTTER_BODY bool entry_list::append(entry_list const& more) {
    if (more.empty()) { return true; }
    if (!empty()) {
        row_place const& last = runs_.back().first.place;
        if (!more.runs_.front().first.place.is_behind(last)) { return false; }
    }
    runs_.insert(runs_.end(), more.runs_.begin(), more.runs_.end());
    size_ += more.size_;
    return true;
}

SPOTTER_BODY entry_list::iterator entry_list::end() const {
    run const* const last = runs_.data() + runs_.size();
    return {last, last, source_};
}

SPOTTER_BODY entry_list::iterator entry_list::from(std::size_t number) const {
    run const* at = runs_.data();
    run const* const last = at + runs_.size();
    for (; at != last && at->count <= number; ++at) { number -= at->count; }
    iterator it{at, last, source_};
    for (; number > 0; --number) { ++it; }
    return it;
}

SPOTTER_BODY void entry_list::reach_out() const {
    if (reached_ + 1 >= runs_.size()) { return; }
    bool sorted[mode_count];
    for (bool& each : sorted) { each = true; }
    auto const add = [&](step_id first, std::uint64_t last, std::size_t which) {
        auto const mode = static_cast<std::size_t>(first.mode);
        std::vector<reach>& all = reaches_[mode];
        sorted[mode] = sorted[mode] && (all.empty() || all.back().first <= first.index);
        all.push_back({first.index, last, all.empty() ? last : (std::max)(last, all.back().furthest), which});
    };
    for (std::size_t i = reached_; i + 1 < runs_.size(); ++i) {
        run const& each = runs_[i];
        if (each.in_row != no_tensor) {
            steps_reader::each_run(byte_reader{source_.of(each.first.place)},
                                   [&](step_id first, step_id last) { add(first, last.index, i); });
        } else if (!each.first.loose) {
            add(each.first.step, each.first.step.index + (each.count - 1) * each.index_stride, i);
        }
    }
    for (std::size_t mode = 0; mode < mode_count; ++mode) {
        if (!sorted[mode]) { sort_reaches(reaches_[mode]); }
    }
    reached_ = runs_.size() - 1;
}

SPOTTER_BODY std::vector<entry_list::reach>::const_iterator entry_list::behind(std::vector<reach> const& all,
                                                                               std::uint64_t index) noexcept {
    auto const begins_after = [](std::uint64_t wanted, reach const& each) { return wanted < each.first; };
    if (all.size() < 16 || index <= all.front().first || index >= all.back().first) {
        return std::upper_bound(all.begin(), all.end(), index, begins_after);
    }
    double const share =
        static_cast<double>(index - all.front().first) / static_cast<double>(all.back().first - all.front().first);
    auto const guess = all.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(all.size() - 1));
    if (guess + 1 != all.end() && guess->first <= index && index < (guess + 1)->first) { return guess + 1; }
    return guess->first <= index ? std::upper_bound(guess, all.end(), index, begins_after)
                                 : std::upper_bound(all.begin(), guess, index, begins_after);
}

SPOTTER_BODY void entry_list::sort_reaches(std::vector<reach>& all) {
    std::sort(all.begin(), all.end(),
              [](reach const& a, reach const& b) { return a.first != b.first ? a.first < b.first : a.run < b.run; });
    std::uint64_t furthest = 0;
    for (reach& each : all) { each.furthest = furthest = (std::max)(furthest, each.last); }
}

SPOTTER_BODY bool entry_list::continues(run& last, track_entry const& entry) noexcept {
    track_entry const& first = last.first;
    if (first.place.part == whole_row || last.in_row != no_tensor || entry.place.segment != first.place.segment ||
        entry.place.offset != first.place.offset || entry.is_scalar != first.is_scalar ||
        entry.has_values != first.has_values || entry.step.mode != first.step.mode ||
        entry.step.index < first.step.index) {
        return false;
    }
    if (last.count == 1) {
        last.index_stride = entry.step.index - first.step.index;
        last.ordinal_stride = entry.ordinal - first.ordinal;
        last.part_stride = entry.place.part - first.place.part;
        return true;
    }
    return entry.step.index == first.step.index + last.count * last.index_stride &&
           entry.ordinal == first.ordinal + last.count * last.ordinal_stride &&
           entry.place.part == first.place.part + last.count * last.part_stride;
}

}  // namespace spotter::inline SPOTTER_ABI
