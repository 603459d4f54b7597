// SPDX-License-Identifier: Apache-2.0
// Umbrella: responses that run when a rule fires: `on(rule, append_lines{"alerts.jsonl"}, run_command{"./alert.sh"})`.
#pragma once

#include <spotter/response/append_lines.hpp>
#include <spotter/response/print.hpp>
#include <spotter/response/run_command.hpp>
#include <spotter/rule/stop_flag.hpp>
