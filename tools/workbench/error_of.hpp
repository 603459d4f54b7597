// SPDX-License-Identifier: Apache-2.0
// Workbench: an error whose sentence is made of parts.
#pragma once

#include <spotter/core/result.hpp>

namespace spotter::inline SPOTTER_ABI {

template <class... Parts>
[[nodiscard]] error error_of(errc code, Parts const&... parts) noexcept {
    error why{code, {}};
    (why.what << ... << parts);
    return why;
}

}  // namespace spotter::inline SPOTTER_ABI
