// SPDX-License-Identifier: Apache-2.0
// Act (L6): the checkpoints of a run, from its record.
#pragma once

#include <spotter/trial/trial.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A checkpoint as recorded, whether its file exists or not.
struct recorded_checkpoint {
    step_id step{};       // the step of the checkpoint
    std::string state{};  // its latest state: unproven, good, bad or refused
    // For a bad one: the first warning or error after its step. For a refused one: what is wrong.
    std::string why{};
    double time = 0;  // when it was saved or refused; seconds since 1970
};

// In the order in which they were saved. If a step was saved again, the last one counts.
[[nodiscard]] std::vector<recorded_checkpoint> checkpoints_of(trial const& run);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/act/recorded_checkpoints.ipp>
#endif
