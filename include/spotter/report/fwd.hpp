// SPDX-License-Identifier: Apache-2.0
// Forward declarations of report (L5).
#pragma once

#include <spotter/trial/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

struct print_report_t;

}  // namespace spotter::inline SPOTTER_ABI
