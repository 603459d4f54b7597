// SPDX-License-Identifier: Apache-2.0
// Trial (L4): where rows of a record are lost, and which steps they may have been of: what stands before them may have
// been superseded.
#pragma once

#include <spotter/format/sidecar.hpp>
#include <spotter/trial/entry_list.hpp>

#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Of any attempt, or nobody knows of which.
inline constexpr std::uint32_t unknown_attempt = 0xFFFFFFFFU;

// Filled in the order of writing. A place is known by its sidecar, or by what is left around it: within an attempt the
// indices of a mode rise, so rows between train(4) and train(9) were of these, unless more closings are missing than
// that.
class lost_rows {
public:
    [[nodiscard]] bool empty() const noexcept { return places_.empty(); }

    // Rows that come next are of this attempt; `ordinal` is that of the next close.
    void begin_attempt(std::uint32_t attempt) noexcept;
    // `ordinal`: of the close that came next when they were written. `among`: the steps that they can be of, where that
    // is known.
    enum class known : std::uint8_t {
        nothing,  // not even that they were of this attempt
        attempt,  // that they were
        range,    // that, and of all steps from `among` any may be there, also one from before the loop went back
    };
    void add(std::uint32_t segment, std::uint64_t offset, std::uint64_t ordinal, step_span const* among = nullptr,
             known what = known::attempt);
    // A write of this attempt that was not finished, at the end of a segment: what it was of may have taken the place
    // of what is there. That there was more is not said of it.
    void add_tail(std::uint32_t segment, std::uint64_t ordinal);
    // A close that can be read; `apart`: how far those just before it are, where they are not told one by one.
    void close(step_id step, std::uint64_t ordinal, std::uint64_t apart = 0) noexcept;
    // The closings from one ordinal to another may all be of later steps than those that were met, among these. Else
    // the loop went back in them.
    [[nodiscard]] bool rises(step_span const* among, std::uint64_t from, std::uint64_t to) const noexcept;

    // Whether rows of the step may be lost behind an entry, in that attempt (unknown_attempt: in any). What was written
    // before the entry's own step was closed is of another observation in that step, if it is of one at all: then
    // `within_step`.
    enum class doubt : std::uint8_t { none, within_step, superseded };
    // That of an entry, for a step and an attempt.
    [[nodiscard]] doubt behind(track_entry const& entry, step_id step, std::uint32_t attempt) const noexcept;
    // Anywhere; at the end of what was not finished only with `tails`.
    [[nodiscard]] bool may_hold(step_id step, std::uint32_t attempt, bool tails = false) const noexcept;

private:
    struct place {
        std::uint32_t segment = 0;  // by place in the index
        std::uint64_t offset = 0;   // of the rows behind it at most
        std::uint32_t attempt = unknown_attempt;
        bool limited = false, anything = false, range = false, tail = false;
        bool counted = false;  // `closes` were lost, and `next` is the first one behind them
        std::uint64_t ordinal = 0, closes = 0;
        step_id next{};
        bool before[3]{}, behind[3]{};  // whether a close of that mode bounds it
        std::uint64_t apart[3]{};       // so far at least are two of them
        step_span steps[3]{}, among[3]{};

        [[nodiscard]] bool is_of(std::uint32_t wanted) const noexcept;
        [[nodiscard]] bool may_hold(step_id step) const noexcept;
        void widen(step_span const* more) noexcept;
        // So many closings have room in it while the indices rise.
        [[nodiscard]] std::uint64_t room() const noexcept;
    };

    [[nodiscard]] place place_at(std::uint32_t segment, std::uint64_t offset, std::uint64_t ordinal) const noexcept;
    [[nodiscard]] std::uint64_t least_apart(std::size_t m) const noexcept;

    std::vector<place> places_{};
    std::uint32_t attempt_ = unknown_attempt;
    bool met_[3]{};  // a close of that mode in this attempt; the last of them:
    std::uint64_t last_[3]{};
    std::uint64_t apart_[3]{};    // the smallest distance of two that rise; 0: there were none
    std::size_t unbounded_[3]{};  // from here on places await a close of that mode
    std::size_t uncounted_ = 0;   // and any close
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/lost_rows.ipp>
#endif
