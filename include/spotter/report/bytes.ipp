// SPDX-License-Identifier: Apache-2.0
// The bodies of bytes.hpp.
#pragma once

#include <spotter/config.hpp>
#include <spotter/report/bytes.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY std::string bytes_text(std::uint64_t bytes) {
    double const size = static_cast<double>(bytes);
    if (bytes < 1024) { return fmt::format("{} B", bytes); }
    if (bytes < 1048576) { return fmt::format("{:.1f} KiB", size / 1024); }
    return fmt::format("{:.1f} MiB", size / 1048576);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
