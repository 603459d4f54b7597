// SPDX-License-Identifier: Apache-2.0
// Hook (L3): what does not come from the loop: the alarm of its next step tells it.
#pragma once

#include <spotter/hook/sink.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// A sink may have `bool stop_asked()` and, why, `std::string_view stop_reason()` (record/stop_file.hpp): somebody
// outside asks the run to stop. It is a warning that asks for decision::stop, and is told at every close until it is
// taken back. And it may have `tell_news(step, alarm)`, of who works beside it (options::beside).
template <class Sink>
void tell_from_outside([[maybe_unused]] Sink& sink, [[maybe_unused]] step_id step,
                       [[maybe_unused]] step_alarm& into) noexcept {
    if constexpr (requires { sink.tell_news(step, into); }) { sink.tell_news(step, into); }
    if constexpr (requires { sink.stop_asked(); }) {
        if (!sink.stop_asked()) { return; }
        finding asked;
        asked.told_by(rule_id::stop_file);
        asked.reason = "somebody outside asks the run to stop";
        asked.remedy = "Save what is needed and leave the loop; remove the file `stop` to go on.";
        asked.step = step;
        asked.severity = severity::warning;
        asked.decision = decision::stop;
        asked.decision_is_set = true;
        asked.detail << sink.stop_reason();
        into.add(asked);
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
