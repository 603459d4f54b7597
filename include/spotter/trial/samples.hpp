// SPDX-License-Identifier: Apache-2.0
// Trial (L4): opens the machine's samples beside a run, which are a record of their own (ext/system.hpp).
#pragma once

#include <spotter/trial/trial.hpp>

namespace spotter::inline SPOTTER_ABI {

// The samples of one worker, from the local file system; errc::not_a_run if there are none. A sample is a step of
// mode::predict.
[[nodiscard]] result<trial> open_samples(trial const& run, worker of) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/samples.ipp>
#endif
