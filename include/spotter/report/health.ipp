// SPDX-License-Identifier: Apache-2.0
// The bodies of health.hpp.
#pragma once

#include <spotter/report/health.hpp>
#include <spotter/report/sentence.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::string describe(health_report const& it) { return detail::sentence_of<std::string>(it); }

}  // namespace spotter::inline SPOTTER_ABI
