// SPDX-License-Identifier: Apache-2.0
// Rule (L2): how much a rule could judge, so that silence is not mistaken for health.
#pragma once

#include <spotter/config.hpp>

#include <cstdint>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// One leaf rule over a whole run. A rule with judged == 0 could not run, and `reason` says why.
struct coverage {
    std::string_view rule{};      // its name, or the one given with `named`
    std::uint64_t matched = 0;    // tensors that it watches
    std::uint64_t judged = 0;     // closes that it decided
    std::uint64_t undecided = 0;  // closes at which something was observed but nothing could be decided
    std::uint64_t fired = 0;      // closes at which its condition held
    std::string_view reason{};    // why it could not judge, or not everything that it should; otherwise empty

    // It decided at least one close.
    [[nodiscard]] constexpr bool could_run() const noexcept { return judged > 0; }
};

}  // namespace spotter::inline SPOTTER_ABI
