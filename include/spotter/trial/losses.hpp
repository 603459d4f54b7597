// SPDX-License-Identifier: Apache-2.0
// Trial (L4): what was recorded once and is not there any more, as far as the rest of the record knows: damage, ends
// that were cut off, steps between others. The only place that counts it.
#pragma once

#include <spotter/trial/index.hpp>
#include <spotter/trial/lost_end.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// What a record lacks of what was given to it.
struct run_losses {
    std::uint64_t steps = 0;       // that were closed and cannot be read, values and all
    std::uint64_t places = 0;      // of trial::damage()
    std::uint64_t bytes = 0;       // in these places
    std::vector<lost_end> ends{};  // beyond what is there
    // While it was recorded: observations and scalars, observations that lost their values, closes.
    std::uint64_t dropped = 0, thinned = 0, closes = 0;  // by what the writers counted
    error trouble{};                                     // the folder could not be looked at: there may be more

    // Something that was written cannot be read.
    [[nodiscard]] bool damaged() const noexcept { return steps > 0 || places > 0 || !ends.empty() || trouble; }
    // Or never came to be written: what was judged inline may differ from a replay.
    [[nodiscard]] bool any() const noexcept { return damaged() || dropped > 0 || thinned > 0 || closes > 0; }
};

namespace detail {

struct seen_segment {
    std::uint32_t number = 0;
    bool there = false;
    std::uint64_t bytes = 0;
    segment_head head{};
    bool has_head = false;
    bool thinned = false;  // rewritten without values, and so shorter
};

// The segments of a folder, and what their sidecars and the file `lost` know beyond them.
struct folder_losses {
    std::vector<seen_segment> segments{};
    std::vector<lost_end> ends{};
    std::uint64_t run_id = 0;  // 0: no head can be read
    error trouble{};
};
[[nodiscard]] folder_losses look_for_losses(file_system& files, std::string const& folder);

// Closed steps of one worker that are known to have been and are not there: ordinals are given one by one, so that one
// which no close has was lost, but for that of a step which was open when its attempt ended: the next one counts on
// behind it.
[[nodiscard]] std::uint64_t count_lost_steps(worker_index const& index, folder_losses const& folder);

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/losses.ipp>
#endif
