// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the places of a tensor's observations, in the order of writing.
#pragma once

#include <spotter/format/rows.hpp>
#include <spotter/format/steps_outline.hpp>
#include <spotter/trial/no_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// The place of a row: a body in a segment, or a row inside of a steps row (which packs several steps).
struct row_place {
    std::uint32_t segment = 0;       // by place in the index
    std::uint32_t bytes = 0;         // size of the body
    std::uint64_t offset = 0;        // of the body, in the segment
    std::uint32_t part = whole_row;  // number of the row within a steps row

    // Compares the order of writing; rows of one steps row are not ordered.
    [[nodiscard]] constexpr bool is_behind(row_place const& other) const noexcept {
        return segment != other.segment ? segment > other.segment : offset > other.offset;
    }
};

// One observation or scalar of a tensor.
struct track_entry {
    step_id step{};             // of the observation
    std::uint64_t ordinal = 0;  // of its step; of a scalar between steps that of the next close
    row_place place{};          // of its row
    bool is_scalar = false;     // its row holds one number
    bool loose = false;         // a scalar between steps
    bool has_values = false;    // kept, inside or outside of the row
};

// Reads the rows that entries refer to; must outlive them.
struct row_source {
    void const* context = nullptr;  // first argument of `bytes`
    // Returns the body of a row; empty if it is gone.
    byte_view (*bytes)(void const* context, row_place const& place) = nullptr;

    // The body of a row; empty if there is none.
    [[nodiscard]] byte_view of(row_place const& place) const {
        return bytes != nullptr ? bytes(context, place) : byte_view{};
    }
};

// Makes the entry of a row inside of a steps row.
[[nodiscard]] track_entry entry_of(steps_outline const& in, row_place place,
                                   steps_outline::found_row const& row) noexcept;

// Entries of a steps row are mostly evenly spaced in it. They are stored as a run: the first entry, the distance and
// the count. If a row holds more entries than bytes, only its place is stored, and the entries are decoded on access.
class entry_list {
    struct run {
        track_entry first{};
        std::uint64_t index_stride = 0, ordinal_stride = 0;
        std::uint32_t part_stride = 0, count = 1;
        // The run is all `count` rows of this id (the writer's) in the steps row at the place of `first`.
        tensor_id in_row = no_tensor;

        [[nodiscard]] track_entry at(std::uint32_t which) const noexcept;
    };

public:
    // Returns entries by value: they are made on access.
    class iterator {
    public:
        using value_type = track_entry;
        using difference_type = std::ptrdiff_t;
        using reference = track_entry;
        using iterator_category = std::input_iterator_tag;

        iterator(run const* at, run const* end, row_source source) : run_{at}, end_{end}, source_{source} { open(); }
        [[nodiscard]] track_entry operator*() const noexcept;
        iterator& operator++();
        friend bool operator==(iterator const& a, iterator const& b) noexcept {
            return a.run_ == b.run_ && a.which_ == b.which_;
        }

    private:
        struct unpacking {
            unpacking(byte_view body, tensor_id id) noexcept : outline{body}, rows{outline, id} {}
            unpacking(unpacking const&) = delete;
            unpacking& operator=(unpacking const&) = delete;

            steps_outline outline;
            steps_outline::rows_of rows;
            steps_outline::found_row found{};
        };
        void open();

        run const* run_;
        run const* end_;
        row_source source_;
        std::uint32_t which_ = 0;
        std::shared_ptr<unpacking> row_{};  // set if the run is a whole row
    };

    // Sets the source of the rows.
    void read_from(row_source source) noexcept { source_ = source; }
    void clear() noexcept;

    void push_back(track_entry const& entry);
    // Adds all `count` entries of an id in the steps row at that place.
    void push_row(row_place const& place, tensor_id in_row, std::uint64_t count);
    // Appends entries of the same tensor. False, and nothing changed, if they are not behind these.
    [[nodiscard]] bool append(entry_list const& more);
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] iterator begin() const { return {runs_.data(), runs_.data() + runs_.size(), source_}; }
    [[nodiscard]] iterator end() const;
    // The entry with that number in the order of writing, or end(). Costs a step for each row before it.
    [[nodiscard]] iterator from(std::size_t number) const;

    // Calls take(row_place) for the rows of the entries, in order; may repeat a row.
    template <class Take>
    void each_row(Take&& take) const {
        for (run const& each : runs_) { take(each.first.place); }
    }
    // Calls take(entry) for the entries at a step, without scalars between steps, in order. A binary search among the
    // runs, independent of the number of entries.
    template <class Take>
    void each_at(step_id step, Take&& take) const {
        if (runs_.empty()) { return; }
        reach_out();
        auto const& reaches = reaches_[static_cast<std::size_t>(step.mode)];
        auto it = behind(reaches, step.index);
        std::size_t const none = runs_.size();
        std::size_t only = none;
        std::vector<std::size_t> several;
        for (; it != reaches.begin() && std::prev(it)->furthest >= step.index; --it) {
            std::size_t const which = std::prev(it)->run;
            if (only == none) {
                only = which;
            } else if (only != which || !several.empty()) {
                if (several.empty()) { several.push_back(only); }
                several.push_back(which);
            }
        }
        if (several.empty()) {
            if (only != none) { each_in_run_at(runs_[only], step, take); }
        } else {
            std::sort(several.begin(), several.end());
            several.erase(std::unique(several.begin(), several.end()), several.end());
            for (std::size_t const which : several) { each_in_run_at(runs_[which], step, take); }
        }
        each_in_run_at(runs_.back(), step, take);
    }

private:
    // The steps of one mode in a run, and the furthest step of all runs that begin no later.
    struct reach {
        std::uint64_t first = 0, last = 0, furthest = 0;
        std::size_t run = 0;
    };
    static void sort_reaches(std::vector<reach>& all);
    // The first reach that begins after a step; looked up directly if the runs are evenly spaced.
    [[nodiscard]] static std::vector<reach>::const_iterator behind(std::vector<reach> const& all,
                                                                   std::uint64_t index) noexcept;
    // Adds new runs to reaches_, except the last one, which may grow.
    void reach_out() const;

    template <class Take>
    void each_in_run_at(run const& each, step_id step, Take& take) const {
        if (each.in_row != no_tensor) { return each_in_row_at(each, step, take); }
        if (each.first.loose || each.first.step.mode != step.mode || each.first.step.index > step.index) { return; }
        std::uint64_t const distance = step.index - each.first.step.index;
        if (each.index_stride == 0) {
            for (std::uint32_t i = 0; distance == 0 && i < each.count; ++i) { take(each.at(i)); }
        } else if (distance % each.index_stride == 0 && distance / each.index_stride < each.count) {
            take(each.at(static_cast<std::uint32_t>(distance / each.index_stride)));
        }
    }
    template <class Take>
    void each_in_row_at(run const& all, step_id step, Take&& take) const {
        byte_view const body = source_.of(all.first.place);
        bool there = false;
        steps_reader::each_run(byte_reader{body}, [&](step_id first, step_id last) {
            there = there || (first.mode == step.mode && first.index <= step.index && step.index <= last.index);
        });
        if (!there) { return; }
        steps_outline const outline{body};
        if (outline.lacks_memory()) { detail::say_no_memory(); }
        steps_outline::rows_of rows{outline, all.in_row};
        for (steps_outline::found_row row; rows.next(row);) {
            if (row.step == step) { take(entry_of(outline, all.first.place, row)); }
        }
    }
    // Whether `entry` continues a run. Sets the run's distance at its second entry.
    [[nodiscard]] static bool continues(run& last, track_entry const& entry) noexcept;

    std::vector<run> runs_{};
    mutable std::vector<reach> reaches_[mode_count]{};  // sorted by `first`; mutable: a trial has one thread
    mutable std::size_t reached_ = 0;                   // number of runs in reaches_
    std::size_t size_ = 0;
    row_source source_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>

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
#endif
