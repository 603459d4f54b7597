// SPDX-License-Identifier: Apache-2.0
// Core (L0): how a document becomes something that a run takes over while it goes on (live_plan, live_rules).
#pragma once

#include <spotter/core/result.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// `read` is called by who writes the run, beside the loop: a new object, or null and why. The loop copies what it needs
// of it.
struct content_reader {
    void* (*read)(std::string_view document, error& why) noexcept = nullptr;
    void (*drop)(void* content) noexcept = nullptr;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
