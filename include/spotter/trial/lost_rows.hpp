// SPDX-License-Identifier: Apache-2.0
// Trial (L4): where rows of a record are lost, and which steps they may have been of: what stands before them may have been superseded.
#pragma once

#include <spotter/format/sidecar.hpp>
#include <spotter/trial/entry_list.hpp>

#include <algorithm>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

inline constexpr std::uint32_t unknown_attempt = 0xFFFFFFFFU;

// Filled in the order of writing. A place is known by its sidecar, or by what is left around it: within an attempt the indices of
// a mode rise, so rows between train(4) and train(9) were of these, unless more closings are missing than that.
class lost_rows {
public:
    [[nodiscard]] bool empty() const noexcept { return places_.empty(); }

    // Rows that come next are of this attempt; `ordinal` is that of the next close.
    void begin_attempt(std::uint32_t attempt) noexcept {
        if (attempt == attempt_ && attempt != unknown_attempt) { return; }
        attempt_ = attempt;
        for (bool& each : met_) { each = false; }
        for (std::size_t& each : unbounded_) { each = places_.size(); }
        uncounted_ = places_.size();
    }
    // `ordinal`: of the close that came next when they were written. `among`: the steps that they can be of, where that is known.
    // `certain`: they were of this attempt.
    void add(std::uint32_t segment, std::uint64_t offset, std::uint64_t ordinal, step_span const* among = nullptr,
             bool certain = true) {
        bool const again = uncounted_ < places_.size() && places_.back().segment == segment &&
                           places_.back().ordinal == ordinal && places_.back().limited == (among != nullptr);
        if (again) {  // many rows of one step are one place
            places_.back().offset = offset;
            return places_.back().widen(among);
        }
        place it{segment, offset, certain ? attempt_ : unknown_attempt};
        it.ordinal = ordinal;
        it.anything = !certain;
        it.limited = among != nullptr;
        it.widen(among);
        for (std::size_t m = 0; m < 3; ++m) {
            it.before[m] = met_[m];
            it.steps[m] = {met_[m] ? last_[m] + 1 : 0, ~std::uint64_t{0}};
        }
        places_.push_back(it);
    }
    // A close that can be read.
    void close(step_id step, std::uint64_t ordinal) noexcept {
        auto const m = static_cast<std::size_t>(step.mode);
        for (; uncounted_ < places_.size(); ++uncounted_) {
            place& it = places_[uncounted_];
            it.counted = ordinal >= it.ordinal;
            it.closes = ordinal - it.ordinal;
            it.next = step;
        }
        for (std::size_t& i = unbounded_[m]; i < places_.size(); ++i) {
            place& it = places_[i];
            it.behind[m] = true;
            it.steps[m].last = step.index;
            it.anything = it.anything || it.steps[m].first > step.index;  // the loop went back in it
        }
        met_[m] = true;
        last_[m] = step.index;
    }

    // Whether rows of the step may be lost behind an entry, in that attempt (unknown_attempt: in any). What was written before the entry's
    // own step was closed is of another observation in that step, if it is of one at all: then `within_step`.
    enum class doubt : std::uint8_t { none, within_step, superseded };
    [[nodiscard]] doubt behind(track_entry const& entry, step_id step, std::uint32_t attempt) const noexcept {
        doubt found = doubt::none;
        for (std::size_t i = places_.size(); i > 0; --i) {
            place const& it = places_[i - 1];
            bool const behind =
                it.segment != entry.place.segment ? it.segment > entry.place.segment : it.offset > entry.place.offset;
            if (!behind || !it.is_of(attempt) || !it.may_hold(step)) { continue; }
            if (it.anything || it.ordinal != entry.ordinal) { return doubt::superseded; }
            found = doubt::within_step;
        }
        return found;
    }
    // Anywhere.
    [[nodiscard]] bool may_hold(step_id step, std::uint32_t attempt) const noexcept {
        return std::any_of(places_.begin(), places_.end(),
                           [=](place const& it) { return it.is_of(attempt) && it.may_hold(step); });
    }

private:
    struct place {
        std::uint32_t segment = 0;  // by place in the index
        std::uint64_t offset = 0;   // of the rows behind it at most
        std::uint32_t attempt = unknown_attempt;
        bool limited = false, anything = false;
        bool counted = false;  // `closes` were lost, and `next` is the first one behind them
        std::uint64_t ordinal = 0, closes = 0;
        step_id next{};
        bool before[3]{}, behind[3]{};  // whether a close of that mode bounds it
        step_span steps[3]{}, among[3]{};

        [[nodiscard]] bool is_of(std::uint32_t wanted) const noexcept {
            return wanted == unknown_attempt || attempt == unknown_attempt || attempt == wanted;
        }
        [[nodiscard]] bool may_hold(step_id step) const noexcept {
            auto const m = static_cast<std::size_t>(step.mode);
            if (limited && !among[m].holds(step.index)) { return false; }
            if (anything) { return true; }
            if (counted && closes == 0) { return step == next; }  // rows of the step that was open
            return steps[m].holds(step.index) || (counted && closes > room());
        }
        void widen(step_span const* more) noexcept {
            for (std::size_t m = 0; more != nullptr && m < 3; ++m) {
                if (more[m].first > more[m].last) { continue; }
                among[m].add(more[m].first);
                among[m].add(more[m].last);
            }
        }
        // So many closings have room in it while the indices rise.
        [[nodiscard]] std::uint64_t room() const noexcept {
            std::uint64_t all = 0;
            for (std::size_t m = 0; m < 3; ++m) {
                if (before[m] != behind[m]) { return ~std::uint64_t{0}; }
                all += before[m] ? steps[m].last - steps[m].first : 0;
            }
            return all;
        }
    };

    std::vector<place> places_{};
    std::uint32_t attempt_ = unknown_attempt;
    bool met_[3]{};  // a close of that mode in this attempt; the last of them:
    std::uint64_t last_[3]{};
    std::size_t unbounded_[3]{};  // from here on places await a close of that mode
    std::size_t uncounted_ = 0;   // and any close
};

}  // namespace spotter::inline SPOTTER_ABI
