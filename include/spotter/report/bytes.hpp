// SPDX-License-Identifier: Apache-2.0
// Report (L5): sizes in readable units.
#pragma once

#include <spotter/config.hpp>

#include <cstdint>
#include <string>

namespace spotter::inline SPOTTER_ABI::detail {

[[nodiscard]] std::string bytes_text(std::uint64_t bytes);

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/report/bytes.ipp>
#endif
