// SPDX-License-Identifier: Apache-2.0
// Trial (L4): the samples of the machine that lie beside a run, a record of their own (ext/system.hpp).
#pragma once

#include <spotter/trial/trial.hpp>

namespace spotter::inline SPOTTER_ABI {

// Of one worker, in the file system of this machine; errc::not_a_run where there are none. A sample is a step of
// mode::predict.
[[nodiscard]] result<trial> open_samples(trial const& run, worker of) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/samples.ipp>
#endif
