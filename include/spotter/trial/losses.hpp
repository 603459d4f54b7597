// SPDX-License-Identifier: Apache-2.0
// Trial (L4): data that was recorded and is lost, as far as the rest of the record shows: damage, truncated ends,
// missing steps. All counts of losses are made here.
#pragma once

#include <spotter/trial/index.hpp>
#include <spotter/trial/lost_end.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// The losses of a record.
struct run_losses {
    std::uint64_t steps = 0;       // closed steps that cannot be read, with their values
    std::uint64_t places = 0;      // of trial::damage()
    std::uint64_t bytes = 0;       // in these places
    std::vector<lost_end> ends{};  // of segments
    // Losses while recording: observations and scalars, observations without their values, closes.
    std::uint64_t dropped = 0, thinned = 0, closes = 0;  // as counted by the writers
    error trouble{};                                     // the folder could not be examined: there may be more losses

    // Written data cannot be read.
    [[nodiscard]] bool damaged() const noexcept { return steps > 0 || places > 0 || !ends.empty() || trouble; }
    // Likewise, or data was never written: findings of the run may differ from those of a replay.
    [[nodiscard]] bool any() const noexcept { return damaged() || dropped > 0 || thinned > 0 || closes > 0; }
};

namespace detail {

struct seen_segment {
    std::uint32_t number = 0;
    bool there = false;
    std::uint64_t bytes = 0;
    segment_head head{};
    bool has_head = false;
    bool thinned = false;  // rewritten without values, hence shorter
};

// The segments of a folder, and what the sidecars and the file `lost` show beyond them.
struct folder_losses {
    std::vector<seen_segment> segments{};
    std::vector<lost_end> ends{};
    std::uint64_t run_id = 0;  // 0: no head is readable
    error trouble{};
};
[[nodiscard]] folder_losses look_for_losses(file_system& files, std::string const& folder);

// The number of lost closed steps of one worker. Ordinals are consecutive, so an ordinal without a close was lost. The
// exception is the ordinal of a step that was open when its attempt ended: the next attempt continues behind it.
[[nodiscard]] std::uint64_t count_lost_steps(worker_index const& index, folder_losses const& folder);

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/losses.ipp>
#endif
