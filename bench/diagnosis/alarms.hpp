// SPDX-License-Identifier: Apache-2.0
// What is noted of an alarm, in a training or in a replay of its record.
#pragma once

#include "outcome.hpp"

#include <spotter/core/step.hpp>
#include <spotter/rule/finding.hpp>

namespace diagnosis {

// Adds what was found when a step closed. Alarms before step `onset` are too early.
void note_alarm(spotter::step_alarm const& found, spotter::step_id step, std::uint64_t onset, verdict& into);

}  // namespace diagnosis
