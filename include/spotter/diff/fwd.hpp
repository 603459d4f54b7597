// SPDX-License-Identifier: Apache-2.0
// Forward declarations of diff (L6).
#pragma once

#include <spotter/trial/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

class dump;
class diff_side;
struct tensor_errors;
struct compared_tensor;
struct diff_options;
struct diff_report;
struct tensor_history;
struct tolerance;

}  // namespace spotter::inline SPOTTER_ABI
