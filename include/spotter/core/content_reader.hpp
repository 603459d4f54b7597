// SPDX-License-Identifier: Apache-2.0
// Core (L0): parses a document that replaces the plan or the rules of a running loop (live_plan, live_rules).
#pragma once

#include <spotter/core/result.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// The writer thread calls `read`, beside the loop: it returns a new object, or null with `why` set. The loop copies
// what it needs from the object; `drop` deletes it.
struct content_reader {
    void* (*read)(std::string_view document, error& why) noexcept = nullptr;
    void (*drop)(void* content) noexcept = nullptr;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
