// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the closed steps of a record, in the order of closing.
#pragma once

#include <spotter/core/step.hpp>
#include <spotter/format/steps_outline.hpp>

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A loop that counts up is one range for each mode, so the cost of a query does not grow with the number of steps.
class step_ranges {
public:
    // A search among the ranges of its mode.
    void add(step_id step);
    // Whether the step was added.
    [[nodiscard]] bool contains(step_id step) const noexcept;
    // Whether a later index of the same mode was added.
    [[nodiscard]] bool any_after(step_id step) const noexcept;

private:
    std::map<std::uint64_t, std::uint64_t> ranges_[mode_count]{};  // from the first index of each range to its last
};

// One close of a step.
struct closed_step {
    step_id step{};
    std::uint64_t ordinal = 0;  // among all closes of the worker, from 0
    double time = 0;            // seconds since 1970, by the writer
    bool holds = false;         // something of the step was kept
};

// Steps of a steps row are mostly evenly spaced, and a row of thirty bytes may hold 65536 steps. They are stored as
// stretches and made on access. So memory grows with the bytes of a record, not with its number of steps.
class step_list {
    struct stretch {
        std::uint64_t position = 0;  // of the first step in the list
        std::uint64_t count = 0;
        std::uint64_t place = 0;         // of the first step: packed, in its row; otherwise in `single_`
        std::uint64_t stated_steps = 0;  // packed: number of steps in the row; otherwise 0
        std::uint64_t ordinal = 0;       // of the first step, like `step`
        step_id step{};
        std::uint64_t distance = 0;
        double first_time = 0, last_time = 0;  // of the row's steps
        bool holds = false;
    };

public:
    // Returns steps by value: they are made on access.
    class iterator {
    public:
        using value_type = closed_step;
        using difference_type = std::ptrdiff_t;
        using reference = closed_step;
        using iterator_category = std::input_iterator_tag;

        iterator(step_list const& from, std::size_t at, std::uint64_t which = 0) noexcept
            : from_{&from}, at_{at}, which_{which} {}
        [[nodiscard]] closed_step operator*() const noexcept;
        iterator& operator++() noexcept;
        friend bool operator==(iterator const& a, iterator const& b) noexcept {
            return a.at_ == b.at_ && a.which_ == b.which_;
        }

    private:
        step_list const* from_;
        std::size_t at_;
        std::uint64_t which_;
    };

    void push_back(closed_step const& closed);
    // Appends all closes of a steps row.
    void append(steps_outline const& row);

    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t size() const noexcept { return static_cast<std::size_t>(size_); }
    [[nodiscard]] iterator begin() const noexcept { return {*this, 0}; }
    [[nodiscard]] iterator end() const noexcept { return {*this, stretches_.size()}; }
    [[nodiscard]] closed_step front() const noexcept { return made(stretches_.front(), 0); }
    [[nodiscard]] closed_step back() const noexcept { return made(stretches_.back(), stretches_.back().count - 1); }
    // A search among the stretches.
    [[nodiscard]] closed_step operator[](std::size_t index) const noexcept { return *from(index); }
    [[nodiscard]] iterator from(std::size_t index) const noexcept;
    // The close with that ordinal; ordinals increase.
    [[nodiscard]] std::optional<closed_step> find(std::uint64_t ordinal) const noexcept;

private:
    [[nodiscard]] closed_step made(stretch const& from, std::uint64_t which) const noexcept;

    std::vector<stretch> stretches_{};
    std::vector<closed_step> single_{};  // steps that are not packed
    std::uint64_t size_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void step_ranges::add(step_id step) {
    auto& mine = ranges_[index_of(step.mode)];
    auto const next = mine.upper_bound(step.index);
    bool const meets_next = next != mine.end() && next->first == step.index + 1;
    if (next != mine.begin()) {
        auto const before = std::prev(next);
        if (step.index <= before->second) { return; }
        if (step.index == before->second + 1) {
            before->second = meets_next ? next->second : step.index;
            if (meets_next) { mine.erase(next); }
            return;
        }
    }
    std::uint64_t const last = meets_next ? next->second : step.index;
    mine.emplace(step.index, last);  // first, because it may throw
    if (meets_next) { mine.erase(next); }
}

SPOTTER_BODY bool step_ranges::contains(step_id step) const noexcept {
    auto const& mine = ranges_[index_of(step.mode)];
    auto const next = mine.upper_bound(step.index);
    return next != mine.begin() && step.index <= std::prev(next)->second;
}

SPOTTER_BODY bool step_ranges::any_after(step_id step) const noexcept {
    auto const& mine = ranges_[index_of(step.mode)];
    return !mine.empty() && std::prev(mine.end())->second > step.index;
}

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
    if (stretches_.empty() || stretches_.back().stated_steps > 0) {
        stretches_.push_back({size_, 0, single_.size() - 1, 0, closed.ordinal, {}, 0, 0, 0, false});
    }
    ++stretches_.back().count;
    ++size_;
}

SPOTTER_BODY void step_list::append(steps_outline const& row) {
    row.each_run([&](step_id first, std::uint64_t distance, std::uint64_t at, std::uint64_t count, bool holds) {
        stretches_.push_back({size_, count, at, row.stated_steps(), row.first_ordinal() + at, first, distance,
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
    if (mine.stated_steps > 0) {
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
    if (from.stated_steps == 0) { return single_[as_size(from.place + which)]; }
    return {step_id{from.step.mode, from.step.index + which * from.distance}, from.ordinal + which,
            detail::packed_time(from.first_time, from.last_time, from.place + which, from.stated_steps), from.holds};
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
