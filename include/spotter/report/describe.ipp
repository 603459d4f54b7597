// SPDX-License-Identifier: Apache-2.0
// The bodies of describe.hpp.
#pragma once

#include <spotter/report/describe.hpp>
#include <spotter/report/sentence.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY std::string describe(step_id step) { return detail::sentence_of<std::string>(step); }

SPOTTER_COLD_BODY std::string describe(finding const& it) { return detail::sentence_of<std::string>(it); }

SPOTTER_COLD_BODY std::string describe(step_alarm const& it) { return detail::sentence_of<std::string>(it); }

SPOTTER_COLD_BODY std::string describe(error const& it) { return detail::sentence_of<std::string>(it); }

}  // namespace spotter::inline SPOTTER_ABI
