// SPDX-License-Identifier: Apache-2.0
// Workbench, diff: deflate by zlib, for compressed archives (numpy.savez_compressed).
#pragma once

#include "diff/zip_reader.hpp"

namespace spotter::inline SPOTTER_ABI {

// Null where the workbench is built without zlib (SPOTTER_WITH_ZLIB).
[[nodiscard]] inflate_function inflate_here() noexcept;

}  // namespace spotter::inline SPOTTER_ABI
