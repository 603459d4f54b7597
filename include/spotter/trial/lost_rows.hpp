// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the places of lost rows, and the steps that they may belong to: such rows may supersede those before
// them.
#pragma once

#include <spotter/format/sidecar.hpp>
#include <spotter/trial/entry_list.hpp>

#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Any attempt, or an unknown one.
inline constexpr std::uint32_t unknown_attempt = 0xFFFFFFFFU;

// Filled in the order of writing. The steps of a place are known from its sidecar, or from its neighbours: indices of a
// mode increase within an attempt. So lost rows between train(4) and train(9) belong to these steps, unless more closes
// are missing than fit in between.
class lost_rows {
public:
    [[nodiscard]] bool empty() const noexcept { return places_.empty(); }

    // The following rows are of this attempt.
    void begin_attempt(std::uint32_t attempt) noexcept;
    // `ordinal`: of the next close at the time of writing. `among`: the steps that the rows can belong to, if known.
    enum class known : std::uint8_t {
        nothing,  // not even the attempt
        attempt,  // the attempt
        range,    // the attempt; and any step of `among` is possible, because the loop may have gone back
    };
    void add(std::uint32_t segment, std::uint64_t offset, std::uint64_t ordinal, step_span const* among = nullptr,
             known what = known::attempt);
    // An incomplete write of this attempt at the end of a segment. It may supersede earlier rows; it is not evidence
    // that more rows existed.
    void add_tail(std::uint32_t segment, std::uint64_t ordinal);
    // Adds a readable close. `apart`: the distance of the closes before it, if these are not added one by one.
    void close(step_id step, std::uint64_t ordinal, std::uint64_t apart = 0) noexcept;
    // Whether all closes between two ordinals fit, with increasing indices, between the known ones and within `among`.
    // Otherwise the loop went back there.
    [[nodiscard]] bool rises(step_span const* among, std::uint64_t from, std::uint64_t to) const noexcept;

    // Whether lost rows behind an entry may belong to the step, in that attempt (unknown_attempt: any). within_step:
    // they were written before the entry's step was closed, so they can only be further observations in that step.
    enum class doubt : std::uint8_t { none, within_step, superseded };
    // For an entry, a step and an attempt.
    [[nodiscard]] doubt behind(track_entry const& entry, step_id step, std::uint32_t attempt) const noexcept;
    // Anywhere in the record; places of add_tail() only with `tails`.
    [[nodiscard]] bool may_hold(step_id step, std::uint32_t attempt, bool tails = false) const noexcept;

private:
    struct place {
        std::uint32_t segment = 0;  // by place in the index
        std::uint64_t offset = 0;   // upper bound: of the rows behind it
        std::uint32_t attempt = unknown_attempt;
        bool limited = false, anything = false, range = false, tail = false;
        bool counted = false;  // `closes` closes were lost; `next` follows them
        std::uint64_t ordinal = 0, closes = 0;
        step_id next{};
        bool before[3]{}, behind[3]{};  // whether a close of that mode is known before, behind
        std::uint64_t apart[3]{};       // smallest distance of two closes
        step_span steps[3]{}, among[3]{};

        [[nodiscard]] bool is_of(std::uint32_t wanted) const noexcept;
        [[nodiscard]] bool may_hold(step_id step) const noexcept;
        void widen(step_span const* more) noexcept;
        // How many closes fit in while the indices increase.
        [[nodiscard]] std::uint64_t room() const noexcept;
    };

    [[nodiscard]] place place_at(std::uint32_t segment, std::uint64_t offset, std::uint64_t ordinal) const noexcept;
    [[nodiscard]] std::uint64_t least_apart(std::size_t m) const noexcept;

    std::vector<place> places_{};
    std::uint32_t attempt_ = unknown_attempt;
    bool met_[3]{};  // whether this attempt has a close of that mode; the last one:
    std::uint64_t last_[3]{};
    std::uint64_t apart_[3]{};    // smallest distance of two increasing closes; 0: none
    std::size_t unbounded_[3]{};  // the first place without a later close of that mode
    std::size_t uncounted_ = 0;   // the first place without any later close
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/lost_rows.ipp>
#endif
