// SPDX-License-Identifier: Apache-2.0
// Hook (L3): somebody outside asks a run to stop: the loop hears it from the alarm of its next step.
#pragma once

#include <spotter/hook/sink.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// A sink may have `bool stop_asked()` and, why, `std::string_view stop_reason()` (record/stop_file.hpp). It is a warning that asks for
// decision::stop, and is told at every close until it is taken back.
template <class Sink>
void tell_stop_request([[maybe_unused]] Sink const& sink, [[maybe_unused]] step_id step,
                       [[maybe_unused]] step_alarm& into) noexcept {
    if constexpr (requires { sink.stop_asked(); }) {
        if (!sink.stop_asked()) { return; }
        finding asked;
        asked.rule = "stop_file";
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
