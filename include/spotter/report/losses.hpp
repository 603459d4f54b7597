// SPDX-License-Identifier: Apache-2.0
// Report (L5): the missing parts of a record, as a sentence.
#pragma once

#include <spotter/trial/losses.hpp>

#include <string>

namespace spotter::inline SPOTTER_ABI {

// "497 closed steps are lost; 2 places are damaged (88 B)"; empty where nothing is missing.
[[nodiscard]] std::string describe(run_losses const& it);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/report/losses.ipp>
#endif
