// SPDX-License-Identifier: Apache-2.0
// Hook (L3): findings that do not come from the loop; the alarm of its next step reports them.
#pragma once

#include <spotter/hook/sink_calls.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// The finding for a stop request (record/stop_file.hpp): a warning with decision::stop, at every close until the
// request is taken back.
[[nodiscard]] inline finding stop_request(step_id step, std::string_view reason) noexcept {
    finding asked;
    asked.attribute_to(rule_id::stop_file);
    asked.reason = "a request from outside asks the run to stop";
    asked.remedy = "Save what is needed and leave the loop; remove the file `stop` to go on.";
    asked.step = step;
    asked.severity = severity::warning;
    asked.decision = decision::stop;
    asked.decision_is_set = true;
    asked.detail << reason;
    return asked;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
