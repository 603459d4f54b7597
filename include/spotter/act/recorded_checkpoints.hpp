// SPDX-License-Identifier: Apache-2.0
// Act (L6): what a record says of its run's checkpoints.
#pragma once

#include <spotter/trial/trial.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// What a record says of a checkpoint, whether its file is there or not.
struct recorded_checkpoint {
    step_id step{};       // of which it is
    std::string state{};  // as it was told last: unproven, good, bad or refused
    // Of one that is bad the first warning or error behind its step; of one that was refused what is wrong.
    std::string why{};
    double time = 0;  // when it was saved, or refused; seconds since 1970
};

// In the order in which they were saved. Of one that was saved again the last time counts.
[[nodiscard]] std::vector<recorded_checkpoint> checkpoints_of(trial const& run);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/act/recorded_checkpoints.ipp>
#endif
