// SPDX-License-Identifier: Apache-2.0
// Helpers for texts: whether an error's sentence contains a phrase, and the bytes of a text.
#pragma once

#include <spotter/core/result.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace spotter_test {

[[nodiscard]] inline bool says(spotter::error const& why, std::string_view words) {
    return why.what.view().find(words) != std::string_view::npos;
}

[[nodiscard]] inline std::span<std::byte const> bytes_in(std::string_view letters) {
    return std::as_bytes(std::span{letters});
}

}  // namespace spotter_test
