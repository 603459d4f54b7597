// SPDX-License-Identifier: Apache-2.0
// Response (L5): prints findings, one line each.
#pragma once

#include <spotter/rule/describe.hpp>

#include <cstdio>

namespace spotter::inline SPOTTER_ABI {

// `on(rule, print_finding{})`: to standard error, or another stream.
struct print_finding {
    using responds = void;
    static constexpr std::string_view name = "print_finding";
    std::FILE* stream = nullptr;  // null: standard error

    error operator()(finding const& found) const noexcept;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/response/print.ipp>
#endif
