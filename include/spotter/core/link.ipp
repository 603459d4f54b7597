// SPDX-License-Identifier: Apache-2.0
// The body of link.hpp.
#pragma once

#include <spotter/core/link.hpp>

namespace spotter::inline SPOTTER_ABI {

char const link_spotter_compiled_or_include_spotter_implementation_hpp_in_one_file = 0;

}  // namespace spotter::inline SPOTTER_ABI
