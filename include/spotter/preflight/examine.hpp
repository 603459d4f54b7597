// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): the examination: which experiments are made, in which order, and what is told of them.
#pragma once

#include <spotter/preflight/examination.hpp>
#include <spotter/preflight/result.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The net of which copies are examined: it must not change.
struct original_net {
    void const* net = nullptr;
    void (*show)(void const* net, parameter_visitor& visit) = nullptr;
    bool may_be_put_back = false;  // it is not const
};

// Nothing is thrown; what the program's functions throw is told. `original` may be null.
[[nodiscard]] preflight_result examine(examination const& exam, original_net const* original) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/preflight/examine.ipp>
#endif
