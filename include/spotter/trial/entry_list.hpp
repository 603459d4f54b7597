// SPDX-License-Identifier: Apache-2.0
// Trial (L4): where the observations of one tensor are, in the order of writing.
#pragma once

#include <spotter/format/rows.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Where a row is: its body at `offset` of a segment, or which one it is of a steps row there.
struct row_place {
    std::uint32_t segment = 0;
    std::uint32_t bytes = 0;
    std::uint64_t offset = 0;
    std::uint32_t part = whole_row;
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

// Entries out of one steps row are mostly evenly spaced in it: such are kept as the first one, the distance and how many.
class entry_list {
    struct run {
        track_entry first{};
        std::uint64_t index_stride = 0, ordinal_stride = 0;
        std::uint32_t part_stride = 0, count = 1;

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

        explicit iterator(run const* at) noexcept : run_{at} {}
        [[nodiscard]] track_entry operator*() const noexcept { return run_->at(which_); }
        iterator& operator++() noexcept {
            if (++which_ == run_->count) {
                ++run_;
                which_ = 0;
            }
            return *this;
        }
        friend bool operator==(iterator const&, iterator const&) noexcept = default;

    private:
        run const* run_;
        std::uint32_t which_ = 0;
    };

    void push_back(track_entry const& entry) {
        if (entry.place.part != whole_row && !runs_.empty() && continues(runs_.back(), entry)) {
            ++runs_.back().count;
        } else {
            runs_.push_back({entry});
        }
        ++size_;
    }
    // More of the same tensor. False where they do not come behind these, and nothing has changed.
    [[nodiscard]] bool append(entry_list const& more) {
        if (more.empty()) { return true; }
        if (!empty() && !(std::pair{back().place.segment, back().place.offset} <
                          std::pair{more.front().place.segment, more.front().place.offset})) {
            return false;
        }
        runs_.insert(runs_.end(), more.runs_.begin(), more.runs_.end());
        size_ += more.size_;
        return true;
    }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] iterator begin() const noexcept { return iterator{runs_.data()}; }
    [[nodiscard]] iterator end() const noexcept { return iterator{runs_.data() + runs_.size()}; }

    // The first and the last of them; of what is not empty.
    [[nodiscard]] track_entry front() const noexcept { return runs_.front().first; }
    [[nodiscard]] track_entry back() const noexcept { return runs_.back().at(runs_.back().count - 1); }
    // Calls take(row_place) for the rows that they are in, in order; for one several times.
    template <class Take>
    void each_row(Take&& take) const {
        for (run const& each : runs_) { take(each.first.place); }
    }
    // Calls take(entry) for those at a step, loose ones left out.
    template <class Take>
    void each_at(step_id step, Take&& take) const {
        for (run const& each : runs_) {
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
    // Sets the distance where `entry` is the second of a run.
    [[nodiscard]] static bool continues(run& last, track_entry const& entry) noexcept {
        track_entry const& first = last.first;
        if (first.place.part == whole_row || entry.place.segment != first.place.segment ||
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
};

}  // namespace spotter::inline SPOTTER_ABI
