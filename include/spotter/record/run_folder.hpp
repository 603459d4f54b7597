// SPDX-License-Identifier: Apache-2.0
// Record (L4): finds a run's folder from that of one of its workers.
#pragma once

#include <spotter/config.hpp>

#include <cstdint>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// Removes the worker's part of the path; worker 0 has none.
[[nodiscard]] constexpr std::string_view run_folder_of(std::string_view folder, std::uint32_t worker) noexcept {
    while (folder.size() > 1 && folder.back() == '/') { folder.remove_suffix(1); }
    return worker == 0 ? folder : folder.substr(0, folder.rfind('/'));
}

}  // namespace spotter::inline SPOTTER_ABI::detail
