// SPDX-License-Identifier: Apache-2.0
// Trial (L4): where the observations of one tensor are, in the order of writing.
#pragma once

#include <spotter/format/rows.hpp>
#include <spotter/format/steps_outline.hpp>
#include <spotter/trial/no_memory.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Where a row is: its body at `offset` of a segment, or which one it is of a steps row there.
struct row_place {
    std::uint32_t segment = 0;
    std::uint32_t bytes = 0;
    std::uint64_t offset = 0;
    std::uint32_t part = whole_row;

    // In the order of writing; of the rows of one steps row none is.
    [[nodiscard]] constexpr bool is_behind(row_place const& other) const noexcept {
        return segment != other.segment ? segment > other.segment : offset > other.offset;
    }
};

// One observation or scalar of a tensor.
struct track_entry {
    step_id step{};
    std::uint64_t ordinal = 0;  // of its step; for a loose scalar of the step that closes next
    row_place place{};
    bool is_scalar = false;
    bool loose = false;  // a scalar between steps
    bool has_values = false;
};

// Where the rows are that entries point at; it outlives them.
struct row_source {
    void const* context = nullptr;
    byte_view (*bytes)(void const* context, row_place const& place) = nullptr;

    [[nodiscard]] byte_view of(row_place const& place) const { return bytes != nullptr ? bytes(context, place) : byte_view{}; }
};

[[nodiscard]] inline track_entry entry_of(steps_outline const& in, row_place place,
                                          steps_outline::found_row const& row) noexcept {
    place.part = row.part;
    return {row.step, in.first_ordinal() + row.at, place, row.scalar, false, row.scalar};
}

// Entries out of one steps row are mostly evenly spaced in it: such are kept as the first one, the distance and how many. Of a row that
// holds more of them than bytes it is kept where it is, and they are made as they are asked for.
class entry_list {
    struct run {
        track_entry first{};
        std::uint64_t index_stride = 0, ordinal_stride = 0;
        std::uint32_t part_stride = 0, count = 1;
        tensor_id in_row = no_tensor;  // all of this id (the writer's) in the steps row at the place of `first`

        [[nodiscard]] track_entry at(std::uint32_t which) const noexcept {
            track_entry entry = first;
            entry.step.index += which * index_stride;
            entry.ordinal += which * ordinal_stride;
            entry.place.part += which * part_stride;
            return entry;
        }
    };

public:
    // Entries are made as they are met: by value.
    class iterator {
    public:
        using value_type = track_entry;
        using difference_type = std::ptrdiff_t;
        using reference = track_entry;
        using iterator_category = std::input_iterator_tag;

        iterator(run const* at, run const* end, row_source source) : run_{at}, end_{end}, source_{source} { open(); }
        [[nodiscard]] track_entry operator*() const noexcept {
            return row_ ? entry_of(row_->outline, run_->first.place, row_->found) : run_->at(which_);
        }
        iterator& operator++() {
            ++which_;
            bool const more = row_ ? row_->rows.next(row_->found) : which_ < run_->count;
            if (!more) {
                ++run_;
                open();
            }
            return *this;
        }
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
        void open() {
            which_ = 0;
            for (row_ = nullptr; run_ != end_ && run_->in_row != no_tensor; ++run_) {
                row_ = std::make_shared<unpacking>(source_.of(run_->first.place), run_->in_row);
                if (row_->outline.lacks_memory()) { detail::say_no_memory(); }
                if (row_->rows.next(row_->found)) { return; }
                row_ = nullptr;
            }
        }

        run const* run_;
        run const* end_;
        row_source source_;
        std::uint32_t which_ = 0;
        std::shared_ptr<unpacking> row_{};  // where the run is one
    };

    void read_from(row_source source) noexcept { source_ = source; }
    void clear() noexcept {
        runs_.clear();
        size_ = 0;
    }

    void push_back(track_entry const& entry) {
        if (entry.place.part != whole_row && !runs_.empty() && continues(runs_.back(), entry)) {
            ++runs_.back().count;
        } else {
            runs_.push_back({entry});
        }
        ++size_;
    }
    // All of an id, `count` of them, in the steps row at that place.
    void push_row(row_place const& place, tensor_id in_row, std::uint64_t count) {
        run all{};
        all.first.place = place;
        all.count = 0;
        all.in_row = in_row;
        runs_.push_back(all);
        size_ += static_cast<std::size_t>(count);
    }
    // More of the same tensor. False where they do not come behind these, and nothing has changed.
    [[nodiscard]] bool append(entry_list const& more) {
        if (more.empty()) { return true; }
        if (!empty()) {
            row_place const& last = runs_.back().first.place;
            if (!more.runs_.front().first.place.is_behind(last)) { return false; }
        }
        runs_.insert(runs_.end(), more.runs_.begin(), more.runs_.end());
        size_ += more.size_;
        return true;
    }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] iterator begin() const { return {runs_.data(), runs_.data() + runs_.size(), source_}; }
    [[nodiscard]] iterator end() const {
        run const* const last = runs_.data() + runs_.size();
        return {last, last, source_};
    }

    // Calls take(row_place) for the rows that they are in, in order; for one several times.
    template <class Take>
    void each_row(Take&& take) const {
        for (run const& each : runs_) { take(each.first.place); }
    }
    // Calls take(entry) for those at a step, loose ones left out.
    template <class Take>
    void each_at(step_id step, Take&& take) const {
        for (run const& each : runs_) {
            if (each.in_row != no_tensor) {
                each_in_row_at(each, step, take);
                continue;
            }
            if (each.first.loose || each.first.step.mode != step.mode || each.first.step.index > step.index) {
                continue;
            }
            std::uint64_t const distance = step.index - each.first.step.index;
            if (each.index_stride == 0) {
                for (std::uint32_t i = 0; distance == 0 && i < each.count; ++i) { take(each.at(i)); }
            } else if (distance % each.index_stride == 0 && distance / each.index_stride < each.count) {
                take(each.at(static_cast<std::uint32_t>(distance / each.index_stride)));
            }
        }
    }

private:
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
    // Sets the distance where `entry` is the second of a run.
    [[nodiscard]] static bool continues(run& last, track_entry const& entry) noexcept {
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

    std::vector<run> runs_{};
    std::size_t size_ = 0;
    row_source source_{};
};

}  // namespace spotter::inline SPOTTER_ABI
