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
#include <spotter/report/sentence.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY std::string bytes_text(std::uint64_t bytes) {
    std::string text;
    sentence_writer out{[](void* to, std::string_view piece) { static_cast<std::string*>(to)->append(piece); }, &text};
    out.bytes(bytes);
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
