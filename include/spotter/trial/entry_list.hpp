// SPDX-License-Identifier: Apache-2.0
// Trial (L4): where the observations of one tensor are, in the order of writing.
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

// Where a row is: its body at `offset` of a segment, or which one it is of a steps row there.
struct row_place {
    std::uint32_t segment = 0;       // its place in the index
    std::uint32_t bytes = 0;         // of the body
    std::uint64_t offset = 0;        // of the body, in the segment
    std::uint32_t part = whole_row;  // which row of a steps row it is

    // In the order of writing; of the rows of one steps row none is.
    [[nodiscard]] constexpr bool is_behind(row_place const& other) const noexcept {
        return segment != other.segment ? segment > other.segment : offset > other.offset;
    }
};

// One observation or scalar of a tensor.
struct track_entry {
    step_id step{};             // at which it was observed
    std::uint64_t ordinal = 0;  // of its step; for a loose scalar of the step that closes next
    row_place place{};          // where its row is
    bool is_scalar = false;     // one number in its row
    bool loose = false;         // a scalar between steps
    bool has_values = false;    // kept, in the row or beside it
};

// Where the rows are that entries point at; it outlives them.
struct row_source {
    void const* context = nullptr;  // handed to `bytes`
    // The body of a row; empty where it is gone.
    byte_view (*bytes)(void const* context, row_place const& place) = nullptr;

    // The body of a row; empty where there is none.
    [[nodiscard]] byte_view of(row_place const& place) const {
        return bytes != nullptr ? bytes(context, place) : byte_view{};
    }
};

// What an entry says of a row that stands in a steps row.
[[nodiscard]] track_entry entry_of(steps_outline const& in, row_place place,
                                   steps_outline::found_row const& row) noexcept;

// Entries out of one steps row are mostly evenly spaced in it: such are kept as the first one, the distance and how
// many. Of a row that holds more of them than bytes it is kept where it is, and they are made as they are asked for.
class entry_list {
    struct run {
        track_entry first{};
        std::uint64_t index_stride = 0, ordinal_stride = 0;
        std::uint32_t part_stride = 0, count = 1;
        // All `count` of this id (the writer's) in the steps row at the place of `first`.
        tensor_id in_row = no_tensor;

        [[nodiscard]] track_entry at(std::uint32_t which) const noexcept;
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
        std::shared_ptr<unpacking> row_{};  // where the run is one
    };

    // Where the rows are that it points at.
    void read_from(row_source source) noexcept { source_ = source; }
    void clear() noexcept;

    void push_back(track_entry const& entry);
    // All of an id, `count` of them, in the steps row at that place.
    void push_row(row_place const& place, tensor_id in_row, std::uint64_t count);
    // More of the same tensor. False where they do not come behind these, and nothing has changed.
    [[nodiscard]] bool append(entry_list const& more);
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] iterator begin() const { return {runs_.data(), runs_.data() + runs_.size(), source_}; }
    [[nodiscard]] iterator end() const;
    // The entry of that number in the order of writing, or the end. Costs a step for each row before it.
    [[nodiscard]] iterator from(std::size_t number) const;

    // Calls take(row_place) for the rows that they are in, in order; for one several times.
    template <class Take>
    void each_row(Take&& take) const {
        for (run const& each : runs_) { take(each.first.place); }
    }
    // Calls take(entry) for those at a step, loose ones left out, in order. Costs a search among the runs, however many
    // there are.
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
    // Steps of one mode that a run has, and how far those go that begin no later.
    struct reach {
        std::uint64_t first = 0, last = 0, furthest = 0;
        std::size_t run = 0;
    };
    static void settle(std::vector<reach>& all);
    // The first that begins after a step; where they are evenly spaced it is looked for in one place.
    [[nodiscard]] static std::vector<reach>::const_iterator behind(std::vector<reach> const& all,
                                                                   std::uint64_t index) noexcept;
    // Takes in the runs that came, but for the last one, which may grow.
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
    // Sets the distance where `entry` is the second of a run.
    [[nodiscard]] static bool continues(run& last, track_entry const& entry) noexcept;

    std::vector<run> runs_{};
    mutable std::vector<reach> reaches_[mode_count]{};  // in the order of `first`; a trial is one thread's
    mutable std::size_t reached_ = 0;                   // runs that were taken in
    std::size_t size_ = 0;
    row_source source_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/entry_list.ipp>
#endif
