// SPDX-License-Identifier: Apache-2.0
// Report (L5): the state of the hook itself as text: what was observed, stored, dropped and refused, and the first
// failure.
#pragma once

#include <spotter/hook/health.hpp>
#include <spotter/report/describe.hpp>

namespace spotter::inline SPOTTER_ABI {

// Of hook.health(). One line, and one more for each kind of failure.
[[nodiscard]] std::string describe(health_report const& it);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/report/sentence.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string describe(health_report const& it) { return detail::sentence_of<std::string>(it); }

}  // namespace spotter::inline SPOTTER_ABI

#endif
